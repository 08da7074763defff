"""Unicode facts frozen in ``lexicon/characters.tsv``: the class of a character and what it folds to in the fallback."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Literal

#: The characters of a str, whatever a subclass of it (an Enum of str, say) says that it prints as.
plain: Callable[[str], str] = str.__str__

SPACE, IGNORABLE, JAMO, MARK, LETTER, OTHER = "SIJMLO"

#: Ignorable characters that part words in Vietnamese: zero width space, and U+FEFF, which is a byte order mark or one
#: of these. The joiners (U+200C, U+200D, U+2060) belong to the character before them, as all others do.
WORD_BREAKS = "\u200b\ufeff"

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


#: Where Python's own normalization may have many marks to sort, for which it takes quadratic time. None is a word
#: character.
_MANY_MARKS = re.compile(r"[^\w\s\x00-\x7f]{31,}")


def normalize(form: Literal["NFC", "NFD"], text: str) -> str:
    """``unicodedata.normalize``, in time linear in the text (but for sorting), however many marks stand together.

    Arguments:
        form: the normal form.
        text: any text.
    """
    return unicodedata.normalize(form, text if text.isascii() else _MANY_MARKS.sub(_sorted_marks, text))


def _sorted_marks(run: re.Match[str]) -> str:
    """A run in canonical order: each stretch of marks by its combining classes, and within a class as it is."""
    parts = "".join(unicodedata.normalize("NFD", char) for char in run[0])
    stretches = groupby(parts, lambda char: unicodedata.combining(char) != 0)
    return "".join("".join(sorted(some, key=unicodedata.combining) if marks else some) for marks, some in stretches)
