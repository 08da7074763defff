"""The development set of CPP (Park and Lee 2020): sentences with one marked polyphone each, and its reading."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import NamedTuple

MARK = "▁"


class Case(NamedTuple):
    """A sentence without marks, the place of its polyphone, and the reading that people gave it, as ``le5``."""

    text: str
    at: int
    reading: str

    @property
    def char(self) -> str:
        """The polyphone."""
        return self.text[self.at]


def normal(reading: str) -> str:
    """Pinyin in one notation: ``lu:4`` and ``lü4`` as ``lv4``."""
    return reading.replace("u:", "v").replace("ü", "v")


def cases(folder: Path, part: str = "dev") -> list[Case]:
    """Reads ``part.sent`` and ``part.lb``.

    Arguments:
        folder: the folder of the two files.
        part: the name of both without its end.

    Raises:
        ValueError: the files do not belong together, or a line has no mark.
    """
    sentences = (folder / f"{part}.sent").read_text("utf-8").splitlines()
    labels = (folder / f"{part}.lb").read_text("utf-8").splitlines()
    if len(sentences) != len(labels):
        raise ValueError(f"{folder}: {len(sentences)} lines in {part}.sent, {len(labels)} in {part}.lb")
    found = []
    for number, (sentence, label) in enumerate(zip(sentences, labels, strict=True), start=1):
        before, mark, behind = sentence.partition(MARK)
        if not mark or behind[1:2] != MARK:
            raise ValueError(f"{folder / part}.sent, line {number}: no character between two {MARK}")
        found.append(Case(before + behind[0] + behind[2:], len(before), normal(label)))
    return found


def fold_of(case: Case, folds: int) -> int:
    """The fold of a case: by its sentence, so that a sentence with two polyphones is in one fold."""
    return zlib.crc32(case.text.encode()) % folds
