"""The readings that a Chinese character can have, and how common each is."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic.inventory import UNKNOWN_ID, vocabulary
from phonemic.lexicon.entries import PACKED, ZH_HAN, entry
from phonemic.lexicon.tables import read_tables, tables_of, tables_path
from phonemic.writing.notations import speller

if TYPE_CHECKING:
    from numpy.typing import NDArray


@cache
def _tables() -> dict[str, NDArray[Any]]:
    return read_tables(tables_path("zh-readings"), vocabulary("zh").checksum)


def readings_of(char: str, to: str | None = None) -> dict[str, float]:
    """Return all readings of a Chinese character, the commonest first.

    >>> from phonemic import readings_of
    >>> list(readings_of("行"))[:2]
    ['xíng', 'háng']
    >>> readings_of("人", to="numbers")
    {'ren2': 1.0}

    Arguments:
        char: one Han character.
        to: the notation, ``"pinyin"`` (the default), ``"numbers"``, ``"zhuyin"`` or ``"ipa"``.

    Returns:
        Each reading with its share in running text, as ``readings="context"`` reads it; 0.0 is below 0.05 %, or is not
        known because the character is rare. Empty for a character of which no reading is known (𠮷).

    Raises:
        ValueError: ``char`` is not one Han character, or the notation is not one of Mandarin.
    """
    if not isinstance(char, str) or len(char) != 1 or not (usual := entry(tables_of("zh"), char)) & ZH_HAN:
        raise ValueError(f"readings_of takes one Han character, not {char!r}")
    symbols, spell, tables = vocabulary("zh"), speller("zh", to), _tables()
    at = int(np.searchsorted(tables["chars"], ord(char)))
    if at == len(tables["chars"]) or tables["chars"][at] != ord(char):
        packed = int(usual & PACKED)
        return {spell(symbols.unpack(packed)): 1.0} if packed != UNKNOWN_ID else {}
    rows = slice(int(tables["begins"][at]), int(tables["begins"][at + 1]))
    pairs = zip(tables["readings"][rows].tolist(), tables["shares"][rows].tolist(), strict=True)
    return {spell(symbols.unpack(packed)): share / 1000 for packed, share in pairs}
