"""The tables of written forms: the frozen rows of ``forms-*.tsv``, and what the core looks up of them.

A row of a symbol of the fallback has the letters (in both cases), marks or digits that fold to it; one of a Mandarin
syllable has the characters that are read so; one of a Vietnamese syllable has its spellings: the standard one, that
with the other of i and y ("-" where there is none), the others. The place in a row is part of a form
(``phonemic/forms.py``), so rows never change; ``make_forms.py`` made them.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from phonemic import mandarin, vietnamese
from phonemic.characters import DATA, normalize
from phonemic.inventory import vocabulary
from phonemic.lexicon.entries import Tables, character_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Places that a form has room for.
MOST_VARIANTS, MOST_CHARACTERS, MOST_SPELLINGS = 31, 126, 4

HASH = 0x9E3779B97F4A7C15
CELL_BITS = 14
#: Code points that Vietnamese is written with lie below this.
LETTERS = 0x1F00
LETTER, TONE_MARK, QUALITY_MARK = (kind << 10 for kind in (1, 2, 3))
UPPER, HAS_QUALITY = 1 << 9, 1 << 12


class Rows(NamedTuple):
    """The rows of a language.

    Attributes:
        symbols: a symbol of the fallback -> its variants, of one character, or of two: lower and upper case.
        syllables: pinyin with a tone number -> characters, a str; a standard spelling without its tone -> other
            spellings.
        checksum: CRC-32 of the file, eight hexadecimal digits: another checksum means other forms.
    """

    symbols: dict[str, list[str]]
    syllables: dict[str, Sequence[str]]
    checksum: str


@cache
def forms(lang: str) -> Rows:
    """The rows of ``"vi"`` or ``"zh"``."""
    data = (DATA / f"forms-{lang}.tsv").read_bytes()
    symbols: dict[str, list[str]] = {}
    syllables: dict[str, Sequence[str]] = {}
    for line in data.decode().split("\n")[:-1]:
        kind, key, *cells = line.split("\t")
        if kind == "symbol":
            symbols[key] = cells
        else:
            syllables[key] = cells[0] if lang == "zh" else cells
    return Rows(symbols, syllables, f"{zlib.crc32(data):08x}")


def variant_form(upper: int, rank: int) -> int:
    """The form of a character of the fallback, without a space before it."""
    return 1 + 2 * upper + 4 * rank


def _characters(first: dict[str, int]) -> Tables:
    """The table of characters that have a form of their own, one byte a code point."""
    table = np.zeros(0x110000, np.uint32)
    table[[ord(char) for char in first]] = list(first.values())
    pages = character_table(table)
    return {
        "first.bmp": pages["bmp"].astype(np.uint8),
        "first.astral": pages["astral"].astype(np.uint8),
        "first.astral_index": pages["astral_index"],
    }


def _fallback(lang: str) -> dict[str, int]:
    return {
        char: variant_form(upper, rank)
        for variants in forms(lang).symbols.values()
        for rank, variant in enumerate(variants)
        for upper, char in enumerate(variant)
    }


def mandarin_forms() -> Tables:
    """All sections of tables-zh-forms.bin.

    ``first`` is the form of a character as the lexicon reads it alone. ``ranked`` has the characters of each syllable,
    those of the syllable in row (onset, rime, tone) from ``begins[row]`` to ``begins[row + 1]``, and ``slots`` each
    symbol's number among onsets, rimes and tones, 255 for none.
    """
    vocab, lexicon = vocabulary("zh"), mandarin.lexicon()
    sides = [["[EMPTY]", *vocab.by_role("onset")], vocab.by_role("rime"), ["[EMPTY]", *vocab.by_role("tone")]]
    slots = np.full((3, 256), 255, np.uint8)
    for side, symbols in enumerate(sides):
        slots[side, [vocab.id(symbol) for symbol in symbols]] = range(len(symbols))
    shape = tuple(map(len, sides))
    rows = {mandarin.factorize(pinyin): characters for pinyin, characters in forms("zh").syllables.items()}
    first, ranked, lengths = _fallback("zh"), list[int](), np.zeros(shape, np.int64)
    same = mandarin.compatibility_ideographs()
    for triple, characters in sorted(
        rows.items(), key=lambda row: [slots[side, vocab.id(symbol)] for side, symbol in enumerate(row[0])]
    ):
        lengths[tuple(slots[side, vocab.id(symbol)] for side, symbol in enumerate(triple))] = len(characters)
        ranked += map(ord, characters)
        for rank, char in enumerate(characters, start=1):
            usual = lexicon.characters.get(same.get(char, char))
            if usual is not None and mandarin.factorize(usual) == triple:
                first[char] = rank
    begins = np.concatenate([[0], lengths.reshape(-1).cumsum()]).astype(np.uint16)
    return _characters(first) | {
        "slots": slots.reshape(-1),
        "shape": np.array(shape, np.int32),
        "begins": begins,
        "ranked": np.array(ranked, np.uint32),
    }


def vietnamese_forms() -> Tables:
    """All sections of tables-vi-forms.bin.

    ``letters`` says of each code point below ``LETTERS`` which letter it is (6 bits), its tone (3 bits), and the flags
    above; ``spellings`` is an open-addressing table: 42 bits of letters, and 9 bits: a spelling's number and the two
    places that the tone mark may have.
    """
    codes = {letter: number for number, letter in enumerate(vietnamese.ALPHABET + "ð", start=1)}
    letters = np.zeros(LETTERS, np.uint16)
    for letter, code in codes.items():
        for tone, (_, mark) in enumerate(vietnamese.TONES.values()):
            lower = normalize("NFC", letter + mark)
            if mark and letter not in vietnamese.VOWELS:
                continue
            quality = HAS_QUALITY * (len(normalize("NFD", letter)) > 1)
            letters[ord(lower)] = code | tone << 6 | LETTER | quality
            letters[ord(lower.upper())] = code | tone << 6 | LETTER | quality | UPPER
    for tone, (_, mark) in enumerate(vietnamese.TONES.values()):
        if mark:
            letters[ord(mark)] = tone << 6 | TONE_MARK
    for number, mark in enumerate(vietnamese.QUALITY_MARKS):
        letters[ord(mark)] = number | QUALITY_MARK
    return _characters(_fallback("vi")) | {"letters": letters, "spellings": _spelling_cells(codes)}


def _spelling_cells(codes: dict[str, int]) -> NDArray[Any]:
    cells = np.zeros(1 << CELL_BITS, np.uint64)
    for number, text, (new, old) in _numbered():
        key = 0
        for letter in text:
            key = key << 6 | codes[letter]
        slot = key * HASH % (1 << 64) >> 64 - CELL_BITS
        while cells[slot]:
            slot = (slot + 1) % len(cells)
        cells[slot] = key << 22 | number | new << 3 | old << 6
    return cells


def _numbered() -> list[tuple[int, str, tuple[int, int]]]:
    """Every spelling with its number among those of its syllable, and the places of its tone mark."""
    rows, found = forms("vi").syllables, []
    for spelling in vietnamese.spellings().values():
        if vietnamese.standard(spelling.onset, spelling.rime) == spelling:
            found.append((0, spelling.text, spelling.bearers))
            for number, text in enumerate(rows.get(spelling.text, ()), start=2):
                if text != "-":
                    new = vietnamese.spelled(text).bearers[0]
                    found.append((number, text, (new, new)))
    return found
