"""The character entries of the tables: one uint32 a code point, whose layout ``_core.pyx`` shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic.inventory import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tables = dict[str, "NDArray[Any]"]

# Vietnamese: symbol | letter code << 8 | flags | tone value << 24.
NATIVE, FOREIGN, TRANSPARENT, SPACE, JOINER, JAMO = (1 << bit for bit in (16, 17, 18, 19, 22, 23))
#: The kind of a transparent character; the others are ignorable.
OTHER_MARK, TONE_MARK, QUALITY_MARK = 1 << 20, 2 << 20, 3 << 20
#: A toned letter adds this plus the tone's number to the tone sum of its run, so that one tone is told from two.
ONE_TONE = 32

#: A letter or digit of the packed fallback that does not stand in a run of letters.
PACKS = 1 << 31

# Mandarin: packed reading or fallback | flags << 24.
ZH_SPACE, ZH_TRANSPARENT, ZH_JAMO, ZH_HAN, ZH_JOINER = (1 << bit for bit in (24, 25, 26, 27, 28))
#: A character with which a user's phrase begins: its run is read phrase by phrase.
ZH_EXACT = 1 << 29
#: Can be the first, and the second, character of a phrase that changes a reading.
ZH_FIRST, ZH_SECOND = 1 << 30, 1 << 31
#: In the tables of readings in context: the lower bits are the number of the model that reads the character.
ZH_MODEL = ZH_SECOND
#: A letter or digit of the packed fallback; a ZH_JAMO is ZH_TRANSPARENT as well.
ZH_PACKS = ZH_JAMO
PACKED = 0xFFFFFF

#: The layout of the tables of readings in context: another number with each change that the core must know of.
CONTEXT_LAYOUT = 2


def character_table(entries: NDArray[np.uint32]) -> Tables:
    """A table of all code points: the basic plane flat, the rest as pages of 256 that equal ranges share."""
    pages, index = np.unique(entries[0x10000:].reshape(-1, 256), axis=0, return_inverse=True)
    return {"bmp": entries[:0x10000], "astral": pages.reshape(-1), "astral_index": index.reshape(-1).astype(np.uint16)}


def entry(tables: Mapping[str, NDArray[Any]], char: str) -> int:
    """The entry of a character."""
    code = ord(char)
    if code < 0x10000:
        return int(tables["bmp"][code])
    return int(tables["astral"][int(tables["astral_index"][(code >> 8) - 256]) << 8 | code & 255])


def with_entries(tables: Tables, changes: Mapping[str, int]) -> Tables:
    """Tables in which some characters have other entries; the arrays that change are copies."""
    bmp, astral, index = tables["bmp"].copy(), tables["astral"], tables["astral_index"].copy()
    own = set()
    for char, value in changes.items():
        code = ord(char)
        if code < 0x10000:
            bmp[code] = value
            continue
        page = (code >> 8) - 256
        if page not in own:  # the page may be shared
            own.add(page)
            start = int(index[page]) << 8
            index[page] = len(astral) >> 8
            astral = np.concatenate([astral, astral[start : start + 256]])
        astral[(int(index[page]) << 8) + (code & 255)] = value
    return tables | {"bmp": bmp, "astral": astral, "astral_index": index}


def with_packing(tables: Tables, vocab: Vocabulary) -> Tables:
    """Tables of the packed fallback: letters and digits are marked as such, and ``classes`` tells which a symbol is."""
    classes = np.zeros(256, np.uint8)
    for symbol in vocab.by_role("fallback"):
        classes[vocab.id(symbol)] = 1 if symbol.isalpha() else 2 if symbol.isdigit() else 0
    flag, repeat = (PACKS, 1) if vocab.lang == "vi" else (ZH_PACKS, 0x010101)
    changed: Tables = {"classes": classes}
    for name in ("bmp", "astral"):
        entries = tables[name]
        symbols = entries & 255
        packs = (entries == symbols * repeat) & (classes[symbols] > 0)
        changed[name] = entries | np.where(packs, np.uint32(flag), np.uint32(0))
    return tables | changed
