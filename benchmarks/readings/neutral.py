"""Writes phonemic/lexicon/speech-neutral.tsv: the words that ``sandhi=True`` has neutral tones for.

``python -m benchmarks.readings.neutral`` (needs pypinyin-dict and jieba)

* Words by hand, ``neutral.tsv`` next to this file: decisions, longer words that have the full tone, and where another
  word begins or ends within one.
* Words in use for which CC-CEDICT has nothing but a neutral tone where one of our readings has a full one.

What shorter words of the list say is not written again.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from benchmarks.readings.labels import numbered
from phonemic import Tokenizer
from phonemic.reading.models import reading_data

BY_HAND = Path(__file__).with_name("neutral.tsv")
OUTPUT = Path(__file__).parents[2] / "phonemic" / "lexicon" / "speech-neutral.tsv"
#: How often a word is in jieba's dictionary, at least; and how long it is, at most.
IN_USE, LONGEST = 20, 4
#: Neutral by a rule of grammar, which speech may also leave out, or parts of words by hand.
BY_RULE = "儿不得个来去是上下里边着住开"
#: The mark of a word by hand that CC-CEDICT is not asked for, nor for the words that hold it.
LEFT_OUT = "?"
CC_CEDICT = "CC-CEDICT"
Marks = list[str]


def rows(path: Path) -> dict[str, tuple[str, str]]:
    """Word -> its marks and source."""
    lines = path.read_text("utf-8").splitlines()
    return {word: (marks, source) for word, marks, source in (row.split("\t") for row in lines if row[0] != "#")}


def cedict() -> Iterator[tuple[str, list[set[str]]]]:
    """The words of CC-CEDICT in simplified characters, and the readings of each character; the shortest first."""
    simplified = reading_data().simplified
    table = importlib.import_module("pypinyin_dict.phrase_pinyin_data.cc_cedict").phrases_dict
    for word, choices in sorted(table.items(), key=lambda row: (len(row[0]), row[0])):
        said = [{numbered(text) for text in texts} for texts in choices]
        plain = all(simplified.get(char, char) == char for char in word)
        if 1 < len(word) == len(said) <= LONGEST and plain and all(map(all, said)):
            yield word, said


def frequencies() -> dict[str, int]:
    """How often jieba's dictionary has each of its words."""
    import jieba

    lines = (Path(jieba.__file__).parent / "dict.txt").read_text("utf-8").splitlines()
    return {word: int(count) for word, count, *_ in (line.split(" ") for line in lines)}


def within(word: str, known: Mapping[str, tuple[str, str]]) -> Marks:
    """Return the marks that known words give the characters of ``word``."""
    found: Marks = []
    while len(found) < len(word):
        at = len(found)
        ends = (end for end in range(len(word), at, -1) if word[at:end] in known)
        end = next(ends, 0)
        found += known[word[at:end]][0] if end else "-"
    return found


def _places(word: str, words: Collection[str]) -> set[int]:
    """The places of ``word`` that one of ``words`` covers."""
    spans = ((at, end) for at in range(len(word)) for end in range(at + 2, len(word) + 1))
    return {place for at, end in spans if word[at:end] in words for place in range(at, end)}


class Reader:
    """How the package reads words without sandhi, in both ways."""

    def __init__(self) -> None:
        self.ways = [Tokenizer("zh", readings=readings) for readings in ("pypinyin", "context")]

    def __call__(self, word: str) -> list[set[str]]:
        """The readings of each character."""
        texts = [way.decode(way.encode(word), to="numbers").replace("ü", "v").split() for way in self.ways]
        return [set(pair) for pair in zip(*texts, strict=True)]


def _neutral(word: str, said: list[set[str]], read: list[set[str]], skipped: set[int]) -> list[int]:
    """The places that have nothing but a neutral tone in CC-CEDICT, and a full one of that syllable in a reading."""
    return [
        at
        for at, (says, reads) in enumerate(zip(said, read, strict=True))
        if at and at not in skipped and word[at] not in BY_RULE and len(says) == 1
        if (reading := next(iter(says))).endswith("5")
        and any(other[:-1] == reading[:-1] and other != reading for other in reads)
    ]


def _changes(marks: str, read: Reader, word: str) -> bool:
    """Whether one of our readings, of the word alone or between others, has a full tone where the marks have none."""
    heard = zip(marks * 2, [*read(word), *read(f"那{word}的")[1:-1]], strict=True)
    return any(mark == "5" and any(one[-1] != "5" for one in reads) for mark, reads in heard)


def main() -> None:
    """Writes the file."""
    read, count = Reader(), frequencies()
    by_hand = rows(BY_HAND)
    left_out = {word for word, (marks, _) in by_hand.items() if marks == LEFT_OUT}
    found = {
        word: (marks, source)
        for word, (marks, source) in by_hand.items()
        if marks != LEFT_OUT and ("5" not in marks or "2" in marks or _changes(marks, read, word))
    }
    for word, said in cedict():
        if word not in by_hand and count.get(word, 0) >= IN_USE:
            marks = within(word, found)
            skipped = _places(word, left_out) | {at for at, mark in enumerate(marks) if mark == "5"}
            if neutral := _neutral(word, said, read(word), skipped):
                found[word] = "".join("5" if at in neutral else mark for at, mark in enumerate(marks)), CC_CEDICT
    head = (
        "# Words with neutral tones, written by benchmarks/readings/neutral.py. Columns: word, marks, source.\n"
        "# A mark for each character: 5 is neutral, 2 a third tone that changes before the third tone behind it.\n"
    )
    lines = [f"{word}\t{marks}\t{source}\n" for word, (marks, source) in sorted(found.items())]
    OUTPUT.write_text(head + "".join(lines), "utf-8")


if __name__ == "__main__":
    main()
