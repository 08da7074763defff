"""Words that decide how their last character is read before words that begin with it: ``readings-endings.tsv``.

``python -m benchmarks.readings.endings DATA`` after ``benchmarks.readings.words``. In 虚假日期 a word ends with 假 and
another one, 假日, seems to begin with it. Which of the two is there is told by how often jieba has seen either of them
next to what the other one leaves. A word is listed if lexicons agree on it, if it is the likelier one on the whole, if
it is hardly ever much less likely, if the models misread it before such a word though not alone, and if no labelled
sentence has it with another reading.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import jieba

from benchmarks.readings import everyday, names
from benchmarks.readings.cpp import Case, cases, normal
from benchmarks.readings.labels import LEXICONS, agreed, lexicon
from benchmarks.readings.words import spoken, write
from phonemic.reading.context import Reader
from phonemic.reading.models import BY_SANDHI, LEFT, LISTS, joined, reading_data, reviewed

NAME = "readings-endings"

#: How often jieba has a word that is listed, and all words that a character may begin instead, at least.
FREQUENT, BEGUN = 20, 5
#: How likely the word is among both, at least; and how much likelier than it the others may be, in parts of it.
LIKELY, LOST = 0.9, 0.1
#: The particle or word is told by rules for parts of speech.
WITHOUT = frozenset("地") | frozenset(BY_SANDHI)
#: Neutral or not, as 得 of 变得 and of 得主, which are otherwise taken for one reading.
PARTICLES = "得"
#: Characters that may follow a word, other than words.
BEHIND = ("", "不", "升")


class Ending(NamedTuple):
    """A word, how its last character is read, and texts in which another word seems to begin with that."""

    word: str
    reading: str
    texts: list[str]


def frequencies() -> dict[str, int]:
    """Words of jieba's dictionary of at most four Han characters, and how often they were seen."""
    jieba.initialize()
    return {
        word: number
        for word, number in jieba.dt.FREQ.items()
        if number and len(word) <= 4 and all("一" <= char <= "\u9fff" for char in word)
    }


def differ(char: str, one: str, other: str) -> bool:
    """Whether two readings are more than a syllable with and without its tone."""
    return one != other and (char in PARTICLES or one[:-1] != other[:-1] or "5" not in (one[-1], other[-1]))


def endings(said: Mapping[str, Sequence[str]], chars: frozenset[str]) -> Iterator[Ending]:
    """The words that are likelier than the words that seem to begin with their last character.

    Arguments:
        said: words with numbered pinyin.
        chars: the characters with several readings.
    """
    seen = frequencies()
    total = sum(seen.values())
    first, last = Counter[str](), Counter[str]()
    ends, begins = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
    commonest = defaultdict[str, list[str]](list)
    for word, number in sorted(seen.items(), key=lambda row: (-row[1], row[0])):
        first[word[0]] += number
        last[word[-1]] += number
        commonest[word[0]] += [word] if len(commonest[word[0]]) < 3 else []
        if len(word) > 1 and word[-1] in chars:
            ends[word[-2:]][said[word][-1] if word in said else ""] += number
        if len(word) > 1 and word[0] in chars:
            begins[word[:2]][said[word][0] if word in said else ""] += number
    after = defaultdict[str, list[str]](list)
    for pair in begins:
        after[pair[0]].append(pair[1])
    for word, told in ends.items():
        char = word[1]
        if word not in said or seen.get(word, 0) < FREQUENT or char in WITHOUT:
            continue
        reading, texts = said[word][1], [word, f"在{word}，"]
        if told[reading] < 0.9 * told.total():
            continue
        ours = theirs = lost = 0.0
        for behind in after[char]:
            other = sum(n for one, n in begins[char + behind].items() if one and differ(char, one, reading))
            if other >= BEGUN:
                share = min(1.0, other / 50)
                own, its = told[reading] * first[behind] / total, last[word[0]] * other / total
                ours, theirs, lost = ours + own * share, theirs + its * share, lost + max(0.0, its - own)
                texts += [word + behind + end for end in BEHIND] + [word + end for end in commonest[behind]]
        if ours and ours >= LIKELY * (ours + theirs) and lost <= LOST * ours:
            yield Ending(word, reading, texts)


def misread(found: Sequence[Ending]) -> Iterator[Ending]:
    """Words that are read right alone, but not before words that seem to begin in them."""
    reader = Reader(joined(*(reviewed(name) for name in LISTS if name != NAME)))
    for ending in found:
        read = [normal(reader.read(text, 2 if number == 1 else 1) or "") for number, text in enumerate(ending.texts)]
        if read[0] == ending.reading and any(one != ending.reading for one in read):
            yield ending


def contradicted(found: Sequence[Ending], judged: Sequence[Case]) -> set[str]:
    """The words that a labelled sentence has with another reading."""
    told = {ending.word: ending.reading for ending in found}
    pairs = ((case.text[max(0, case.at - 1) : case.at + 1], case.reading) for case in judged)
    return {word for word, reading in pairs if word in told and told[word] != reading}


def main() -> None:
    """Writes the words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    chars = frozenset(char for char, model in reading_data().models.items() if len(model.readings) > 1)
    lexicons = {name: lexicon(name, chars) for name in LEXICONS}
    listed = agreed(lexicons)
    said = {word: spoken(word, pinyin, lexicons) for word, (pinyin, _) in listed.items()} | reviewed()
    said = {word: tuple(map(normal, pinyin)) for word, pinyin in said.items()}
    sources = {word: "; ".join(names) for word, (_, names) in listed.items()}
    found = list(misread(list(endings(said, chars))))
    judged = [*everyday.cases(), *names.sentences(), *cases(arguments.data / "zh" / "cpp")]
    wrong = contradicted(found, judged)
    rows = {
        ending.word: ([LEFT, ending.reading], sources.get(ending.word, "reviewed"))
        for ending in found
        if ending.word not in wrong
    }
    write(NAME, rows)
    print(f"{len(rows)} words; left out for labelled sentences: {' '.join(sorted(wrong))}")


if __name__ == "__main__":
    main()
