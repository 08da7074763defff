"""Adds words that running text shows to be misread to ``phonemic/lexicon/readings-words.tsv``.

``python -m benchmarks.readings.misread DATA`` after ``benchmarks.readings.words``, with tables made of its models.
A word of two or three characters is added where two of three lexicons (pypinyin's or its large one, CC-CEDICT, zdic)
agree on it, jieba finds it in the raw text at least MISREAD times with another of our readings, and nearly wherever its
characters stand side by side.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import jieba

from benchmarks.readings.judge import context_reader
from benchmarks.readings.labels import LEXICONS, lexicon
from benchmarks.readings.rivals import texts
from benchmarks.readings.words import SOURCES
from phonemic.characters import DATA
from phonemic.lexicon.models import reading_data, reviewed

MISREAD, ALONG = 2, 0.95
#: Looked at and left out: the lexicons have the reading of another sense, or an old one.
NOT_ADDED = "所得 相片 查查 落下 发卡 禁用 多个 单个 教会 反过来 不予".split()
SIZE = 8e6


def agreed(chars: frozenset[str]) -> dict[str, tuple[tuple[str, ...], list[str]]]:
    """Word -> its pinyin, and the lexicons that say so."""
    lexicons = {name: lexicon(name, chars) for name in LEXICONS}
    found = {}
    for word in set().union(*lexicons.values()):
        if len(word) not in (2, 3):
            continue
        say = {name: tuple(known[word]) for name, known in lexicons.items() if word in known}
        votes = dict(say)
        if "pypinyin" in votes:
            votes.pop("large_pinyin", None)  # which contains it
        pinyin, times = Counter(votes.values()).most_common(1)[0]
        if times > 1 and all(pinyin):
            found[word] = pinyin, [SOURCES[name] for name in LEXICONS if say.get(name) == pinyin]
    return found


def main() -> None:
    """Adds the words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    data = reading_data()
    words = agreed(frozenset(data.models))
    known = reviewed("readings-words") | reviewed()
    wrong: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    beside: Counter[str] = Counter()
    rows = texts(arguments.data, SIZE)
    for row in rows:
        ours, at = context_reader(row), 0
        for word in jieba.cut(row, HMM=False):
            if word in words and word not in known:
                inside[word] += 1
                heard = [reading.replace("ü", "v") for reading in ours[at : at + len(word)]]
                pairs = zip(word, heard, words[word][0], strict=True)
                wrong[word] += any(one != two for char, one, two in pairs if char in data.models and char not in "一不")
            at += len(word)
    asked = [word for word, times in wrong.items() if times >= MISREAD and word not in NOT_ADDED]
    for row in rows:
        for word in asked:
            beside[word] += row.count(word)
    along = [word for word in asked if inside[word] >= ALONG * beside[word]]
    kept = [word for word in along if all(_can(char, word, words) for char in word)]
    path = DATA / "readings-words.tsv"
    lines = path.read_text("utf-8").splitlines()
    lines += [f"{word}\t{' '.join(words[word][0])}\t{'; '.join(words[word][1])}" for word in kept]
    head = [line for line in lines if line.startswith("#")]
    path.write_text("\n".join([*head, *sorted(set(lines) - set(head)), ""]), "utf-8")
    print(f"{len(asked)} words misread, {len(kept)} added")


def _can(char: str, word: str, words: dict[str, tuple[tuple[str, ...], list[str]]]) -> bool:
    """Whether a model of the character has the word's reading."""
    model = reading_data().models.get(char)
    return model is None or words[word][0][word.index(char)] in model.readings


if __name__ == "__main__":
    main()
