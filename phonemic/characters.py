"""Unicode facts frozen in ``lexicon/characters.tsv``: the class of a character and what it folds to in the fallback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

#: The characters of a str, whatever a subclass of it (an Enum of str, say) says that it prints as.
plain: Callable[[str], str] = str.__str__

SPACE, IGNORABLE, JAMO, MARK, LETTER, OTHER = "SIJMLO"

DATA = Path(__file__).parent / "lexicon"


def rows() -> Iterator[tuple[range, str, str]]:
    """Rows of the file: code points, class, and the characters they fold to ("" where they fold to nothing)."""
    for line in (DATA / "characters.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            first, last, kind, *targets = line.split("\t")
            yield range(int(first, 16), int(last, 16) + 1), kind, "".join(targets)


@cache
def _tables() -> tuple[dict[int, str], dict[int, str]]:
    kinds: dict[int, str] = {}
    folds: dict[int, str] = {}
    for codes, kind, targets in rows():
        kinds.update(dict.fromkeys(codes, kind))
        folds.update(zip(codes, targets, strict=False))
    return kinds, folds


def kind_of(char: str) -> str:
    """SPACE, IGNORABLE, JAMO (a conjoining vowel or final), MARK, LETTER or OTHER."""
    return _tables()[0].get(ord(char), OTHER)


def fold(char: str) -> str | None:
    """The ASCII mark, digit or Latin letter (or one of ă â đ ê ô ơ ư) that stands for a character; None without one."""
    return _tables()[1].get(ord(char))
