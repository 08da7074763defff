"""Words that the models read otherwise alone than two lexicons do, as lines of ``phonemic/lexicon/readings-words.tsv``.

``python -m benchmarks.readings.words WORK`` after ``benchmarks.readings.make``, with tables compiled from its models. A
word is taken where CC-CEDICT and one more lexicon agree on it, and the labelled text hardly ever says otherwise.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from benchmarks.readings.fold import WINDOW_OF, window_key
from benchmarks.readings.labels import LEXICONS, lexicon
from phonemic import Tokenizer
from phonemic.characters import DATA
from phonemic.lexicon.models import reading_data, reviewed

#: A place says otherwise where the teachers read it so; this share of the places of a word may.
OTHERWISE = 0.05
#: These two have much from each other: of no word that the text has not is their word enough.
ALIKE = frozenset(["CC-CEDICT", "phrase-pinyin-data large"])
SOURCES = {
    "pypinyin": "pypinyin",
    "large_pinyin": "phrase-pinyin-data large",
    "cc_cedict": "CC-CEDICT",
    "zdic_cibs": "zdic",
}


def candidates(chars: frozenset[str]) -> dict[str, tuple[tuple[str, ...], list[str]]]:
    """Word of two or three characters -> its pinyin, and the lexicons that say so, CC-CEDICT among them."""
    lexicons = {name: lexicon(name, chars) for name in LEXICONS}
    found = {}
    for word, pinyin in lexicons["cc_cedict"].items():
        agree = [name for name in LEXICONS if lexicons[name].get(word) == pinyin]
        known = [name for name in LEXICONS if word in lexicons[name]]
        if len(word) in (2, 3) and len(agree) > 1 and 2 * len(agree) > len(known) and all(pinyin):
            found[word] = tuple(pinyin), [SOURCES[name] for name in agree]
    return found


def main() -> None:
    """Writes the words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    arguments = parser.parse_args()
    with np.load(arguments.work / "places.npz") as made:
        chars, keys, told = made["chars"], made["keys"], made["told"]
        names = made["names"].tolist()
    tokenizer, data = Tokenizer("zh", readings="context"), reading_data()
    learnt = frozenset(map(chr, np.unique(chars)))
    wrong: dict[tuple[str, int], str] = {}
    words = candidates(learnt)
    for word, (pinyin, _) in words.items():
        heard = tokenizer.decode(tokenizer.encode(word).ids, to="numbers").replace("ü", "v").split()
        for at, (char, reading) in enumerate(zip(word, pinyin, strict=True)):
            if char in learnt and heard[at] != reading and reading in data.models[char].readings:
                wrong[word, at] = reading
    asked = {(ord(word[place]), window_key(word, place)): (word, place) for word, place in wrong}
    counts: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    columns = sorted({WINDOW_OF[len(word), at] for word, at in wrong})
    by_char = defaultdict(set)
    for code, key in asked:
        by_char[code].add(key)
    for code, own in by_char.items():
        rows = np.flatnonzero(chars == code)
        wanted = np.array(sorted(own))
        for column in columns:
            values = keys[rows, column]
            for row in np.flatnonzero(np.isin(values, wanted)).tolist():
                counts[asked[code, int(values[row])]][names[told[rows[row]]]] += 1
    kept = set()
    for (word, at), reading in wrong.items():
        seen = counts[word, at]
        others = sum(seen.values()) - seen[reading]
        if others <= OTHERWISE * seen[reading] and (seen[reading] or not ALIKE.issuperset(words[word][1])):
            kept.add(word)
    lines = [
        f"{word}\t{' '.join(words[word][0])}\t{'; '.join(words[word][1])}" for word in sorted(kept - reviewed().keys())
    ]
    print(f"{len(wrong)} places read otherwise, {len(lines)} words kept")
    head = [line for line in (DATA / "readings-words.tsv").read_text("utf-8").splitlines() if line.startswith("#")]
    (DATA / "readings-words.tsv").write_text("\n".join([*head, *lines, ""]), "utf-8")


if __name__ == "__main__":
    main()
