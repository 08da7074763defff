"""Vietnamese words whose marks may be lost: where they stand, what they may have been, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from phonemic import vietnamese
from phonemic.characters import normalize

#: Pieces that are never words: code, addresses, handles, letters with digits or underscores between or next to them,
#: and those with capitals after small letters.
_STAYS = r"""`[^`\n]*`|(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+\.[\w.-]+|[@#]\w+|[^\W\d_]*[\d_]+[^\W\d_]\w*|[^\W\d_]+[\d_]\w*"""
_LETTER = r"[^\W\d_][\u0300-\u036f]*"
_TOKEN = re.compile(rf"(?P<stays>{_STAYS})|(?P<word>(?:{_LETTER})+)|(?P<number>\d+)|(?P<end>[.!?…;:\n]+)")
_CAMEL = re.compile(r"[^\W\d_]*[a-z][A-Z]")
_TONES = frozenset(mark for _, mark in vietnamese.TONES.values() if mark)


class Token(NamedTuple):
    """A piece of a text.

    Attributes:
        kind: ``"stays"``, ``"word"``, ``"number"`` or ``"end"`` (of a sentence).
        text: as it is.
        start: where, in code points.
    """

    kind: str
    text: str
    start: int


def tokens(text: str) -> Iterator[Token]:
    """The words of a text, and what is between them but spaces and marks within a sentence."""
    for found in _TOKEN.finditer(text):
        kind, own = found.lastgroup or "", found.group()
        if kind == "word" and _CAMEL.match(own):
            kind = "stays"
        yield Token(kind, own, found.start())


@lru_cache(1 << 16)
def canonical(word: str) -> str:
    """A word in lower case, its tone mark behind its letters: one string wherever that mark is put."""
    if word.isascii():
        return word.lower()
    letters, tone = "", ""
    for char in normalize("NFD", word.lower()):
        if char in _TONES:
            tone = char
        else:
            letters += char
    return normalize("NFC", letters) + tone


@lru_cache(1 << 16)
def bare(word: str) -> str:
    """The letters alone, in lower case: *Đường* is *duong*."""
    if word.isascii():
        return word.lower()
    return unmarked(word.lower())


def unmarked(text: str) -> str:
    """A text without diacritics; *đ* is *d*."""
    kept = (char for char in normalize("NFD", text) if not "\u0300" <= char <= "\u036f")
    return "".join(kept).replace("đ", "d").replace("Đ", "D")


def is_marked(word: str) -> bool:
    """Whether a word has any mark, *đ* included."""
    return not word.isascii() and canonical(word) != bare(word)


def is_syllable(word: str) -> bool:
    """Whether a word is spelled as the orthography allows."""
    return vietnamese.factorize(word, strict=True) is not None


def with_case(word: str, like: str) -> str:
    """Gives a word in lower case the case of the letters of another with the same letters."""
    if like.islower():
        return word
    letters = normalize("NFC", like)
    if len(letters) != len(word):
        return word
    return "".join(one.upper() if other.isupper() else one for one, other in zip(word, letters, strict=True))
