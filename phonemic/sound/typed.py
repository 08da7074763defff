"""Mandarin names as they are typed in Latin letters: pinyin with tones or without, or first letters of syllables; and
with characters among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phonemic.errors import PinyinError
from phonemic.inventory import EMPTY, Triple
from phonemic.mandarin import INITIALS
from phonemic.sound.sequences import LONGEST
from phonemic.sound.sounds import ANY, LEAST, SYLLABLE, sounds
from phonemic.writing.pinyin import cuts

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Letters each of which begins a syllable; *a*, *e*, *o*, *w* and *y* begin those without an onset.
_FIRST_LETTERS = re.compile(r"[bpmfdtnlgkhjqxrzcswyaeo]+")

_HAN = re.compile("([\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)")

#: So many ways to cut what is typed together into syllables are searched for.
_MOST_CUTS = 16

#: How far a syllable may be from its first letter, in thousandths: *z* stands for *zh*, too.
_NEAR_LETTER = 100

_ANY_DISTANCE = 2 * SYLLABLE * LONGEST


class Typed(NamedTuple):
    """A typed query.

    Attributes:
        rows: of onset, rime and tone, uint8 (N, 3); what was not typed is the row that is near to all.
        limit: the greatest distance at which a name is meant, in thousandths of a syllable.
    """

    rows: NDArray[np.uint8]
    limit: int


def typed(text: str, heard: Callable[[str], NDArray[np.uint8]]) -> list[Typed]:
    """The ways to read what may be pinyin; none for anything else.

    Arguments:
        text: pinyin (``zhang1 san1``, ``Zhāng Sān``), whose tones may be left out (``zhangsan``), or first letters
            (``zs``); with characters before, among or behind them (``zhang三``, ``张s``).
        heard: gives the rows of characters, as of :class:`Typed`.
    """
    pieces = [(piece, at % 2 == 1) for at, piece in enumerate(_HAN.split(text)) if any(map(str.isalnum, piece))]
    if all(is_han for _, is_han in pieces):
        return []
    if not any(is_han for _, is_han in pieces):
        return _read(text, fewest=2)
    ways = [[Typed(heard(piece), _ANY_DISTANCE)] if is_han else _read(piece, fewest=1) for piece, is_han in pieces]
    return [_joined(way) for way in islice(product(*ways), _MOST_CUTS)]


def _read(text: str, fewest: int) -> list[Typed]:
    """The ways to read letters; of first letters, there must be a few."""
    try:
        ways = cuts(text, _MOST_CUTS)
    except PinyinError:
        letters = "".join(text.lower().split())
        if len(letters) < fewest or not _FIRST_LETTERS.fullmatch(letters):
            return []
        rows = [(_row("onset", _onset(letter)), ANY, ANY) for letter in letters]
        return [Typed(_array(rows), _NEAR_LETTER * len(rows) + LEAST)]
    return [Typed(_array([*map(_sounds, way)]), _ANY_DISTANCE) for way in ways if way]


def _joined(parts: tuple[Typed, ...]) -> Typed:
    """Parts of a query as one; where a letter stands for a syllable, each syllable must be as near."""
    rows = np.concatenate([part.rows for part in parts])
    letters = any(part.limit < _ANY_DISTANCE for part in parts)
    return Typed(rows, _NEAR_LETTER * len(rows) + LEAST if letters else _ANY_DISTANCE)


def _sounds(triple: Triple) -> tuple[int, int, int]:
    onset, rime, tone = triple
    return _row("onset", onset), _row("rime", rime), ANY if tone == EMPTY else _row("tone", tone)


def _array(rows: list[tuple[int, int, int]]) -> NDArray[np.uint8]:
    found = sounds("zh")
    any_of = np.array([0, len(found.rimes) - 1, len(found.tones) - 1])
    made = np.array(rows, np.int64)
    return np.ascontiguousarray(np.where(made == ANY, any_of, made), np.uint8)


def _row(part: str, symbol: str) -> int:
    return sounds("zh").symbols[part].index(symbol)


def _onset(letter: str) -> str:
    return INITIALS.get(letter, EMPTY)
