"""Compiles the rules and pypinyin's lexicon into tables-vi.bin and tables-zh.bin, which the core uses where they lie.

``setup.py`` runs this when the package is built; ``python -m phonemic.data.compile`` runs it by hand. The layout of the
numbers in each section is the contract with ``_core.pyx``, which reads them under the same names.
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phonemic import characters, inventory, mandarin, vietnamese
from phonemic.phrases import PhraseTable
from phonemic.tables import write_tables

# Vietnamese character entries, uint32: symbol | letter code << 8 | flags | tone value << 24.
NATIVE, FOREIGN, TRANSPARENT, SPACE, JAMO = 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 23
IGNORABLE, OTHER_MARK, TONE_MARK, QUALITY_MARK = 0 << 20, 1 << 20, 2 << 20, 3 << 20
#: A toned letter adds this plus the tone's number to the tone sum of its run, so that one tone is told from two.
ONE_TONE = 32

# Mandarin character entries, uint32: packed reading or fallback | flags << 24.
ZH_SPACE, ZH_TRANSPARENT, ZH_JAMO, ZH_HAN = 1 << 24, 1 << 25, 1 << 26, 1 << 27

IRREGULAR, STOP_CODA = 1, 2
HASH = 0x9E3779B97F4A7C15
CELL_BITS = 14

Tables = dict[str, NDArray[np.generic]]


def character_table(entries: NDArray[np.uint32]) -> Tables:
    """One entry per code point as a flat table of the basic plane and shared pages of 256 for the rest."""
    pages, index = np.unique(entries[0x10000:].reshape(-1, 256), axis=0, return_inverse=True)
    return {"bmp": entries[:0x10000], "astral": pages, "astral_index": index.reshape(-1).astype(np.uint16)}


def _code_points(kind: str) -> list[int]:
    return [code for codes, row_kind, _ in characters.rows() if row_kind == kind for code in codes]


def _fallback_symbols(lang: str) -> NDArray[np.uint32]:
    """For every code point the id that stands for it in the fallback."""
    vocabulary = inventory.vocabulary(lang)
    symbols = np.full(0x110000, inventory.UNK, np.uint32)
    for codes, _, targets in characters.rows():
        for code, target in zip(codes, targets, strict=False):
            plain = target if target in vocabulary else unicodedata.normalize("NFD", target)[0].replace("đ", "d")
            symbols[code] = vocabulary.id(plain) if plain in vocabulary else inventory.UNK
    return symbols


def _letter_codes() -> dict[str, int]:
    return {letter: number for number, letter in enumerate(vietnamese.ALPHABET, start=1)}


def _native_letters() -> dict[int, tuple[str, int]]:
    """Code point -> (letter without tone, number of its tone), for every letter of the alphabet in both cases."""
    letters = {}
    for letter in vietnamese.ALPHABET:
        for number, (_, mark) in enumerate(vietnamese.TONES.values()):
            char = unicodedata.normalize("NFC", letter + mark)
            if not mark or letter in vietnamese.VOWELS:
                letters[ord(char)] = letters[ord(char.upper())] = (letter, number)
    letters.update({ord(char): (letter, 0) for char, letter in vietnamese.LOOKALIKES.items()})
    return letters


def vietnamese_characters() -> NDArray[np.uint32]:
    """The character entries of the Vietnamese core."""
    codes = _letter_codes()
    entries = _fallback_symbols("vi")
    for rows, row_kind, targets in characters.rows():
        if row_kind == characters.LETTER:
            entries[rows.start : rows.stop] |= FOREIGN
            for code, target in zip(rows, targets, strict=False):
                entries[code] |= codes.get(target, 0) << 8
    for code, (letter, number) in _native_letters().items():
        entries[code] &= ~np.uint32(FOREIGN | 63 << 8)
        entries[code] |= NATIVE | codes[letter] << 8 | ((ONE_TONE + number) << 24 if number else 0)
    entries[_code_points(characters.SPACE)] |= SPACE
    entries[_code_points(characters.IGNORABLE)] |= TRANSPARENT | IGNORABLE
    entries[_code_points(characters.MARK)] |= TRANSPARENT | OTHER_MARK
    entries[_code_points(characters.JAMO)] |= TRANSPARENT | OTHER_MARK | JAMO
    for number, (_, mark) in enumerate(vietnamese.TONES.values()):
        for char in {mark, {"\u0300": "\u0340", "\u0301": "\u0341"}.get(mark, mark)} - {""}:
            entries[ord(char)] = TRANSPARENT | TONE_MARK | (ONE_TONE + number) << 24 | inventory.UNK
    for number, mark in enumerate(vietnamese.QUALITY_MARKS):
        entries[ord(mark)] = TRANSPARENT | QUALITY_MARK | number << 8 | inventory.UNK
    return entries


def quality_tables() -> Tables:
    """What a quality mark makes of a letter: in a syllable, and in the fallback, where a horn wins over the others."""
    codes, vocabulary = _letter_codes(), inventory.vocabulary("vi")
    compose = np.zeros((3, 64), np.uint8)
    for number, made in enumerate(vietnamese.QUALITY_MARKS.values()):
        for letter, result in made.items():
            compose[number, codes[letter]] = codes[result]
    fallback = compose.copy()
    fallback[2, [codes["ô"], codes["ơ"]]] = codes["ơ"]
    symbols = np.zeros(64, np.uint8)
    vowels = np.zeros(64, np.uint8)
    for letter, code in codes.items():
        symbols[code] = vocabulary.id(letter)
        vowels[code] = letter in vietnamese.VOWELS
    return {"compose": compose, "compose_fallback": fallback, "letter_symbols": symbols, "vowels": vowels}


def syllable_cells() -> NDArray[np.uint64]:
    """Open-addressing table of spellings: 42 bits of letters, 6 of flags, 8 of rime, 8 of onset; empty is 0."""
    codes, vocabulary = _letter_codes(), inventory.vocabulary("vi")
    cells = np.zeros(1 << CELL_BITS, np.uint64)
    for spelling in vietnamese.spellings().values():
        key = 0
        for letter in spelling.text:
            key = key << 6 | codes[letter]
        flags = IRREGULAR * spelling.irregular | STOP_CODA * (spelling.rime[-1] in vietnamese.STOPS)
        slot = key * HASH % (1 << 64) >> 64 - CELL_BITS
        while cells[slot]:
            slot = (slot + 1) % len(cells)
        value = flags << 16 | vocabulary.id(spelling.rime) << 8 | vocabulary.id(spelling.onset)
        cells[slot] = key << 22 | value
    return cells


def vietnamese_tables() -> Tables:
    """All sections of tables-vi.bin."""
    vocabulary = inventory.vocabulary("vi")
    tone_symbols = np.array([vocabulary.id(symbol) for symbol, _ in vietnamese.TONES.values()], np.uint8)
    return (
        character_table(vietnamese_characters())
        | quality_tables()
        | {"cells": syllable_cells(), "tone_symbols": tone_symbols}
    )


def mandarin_tables() -> Tables:
    """All sections of tables-zh.bin, from pypinyin's dictionaries."""
    lexicon = mandarin.lexicon()
    pack = inventory.vocabulary("zh").pack
    same = mandarin.compatibility_ideographs()
    han = [char for char in map(chr, range(0x3000, 0x110000)) if lexicon.han.match(char) or char in same]

    entries = _fallback_symbols("zh") * 0x010101
    for char in han:
        text = lexicon.characters.get(same.get(char, char))
        entries[ord(char)] = (entries[ord(char)] if text is None else pack(mandarin.factorize(text))) | ZH_HAN
    entries[_code_points(characters.SPACE)] |= ZH_SPACE
    entries[_code_points(characters.IGNORABLE)] |= ZH_TRANSPARENT
    entries[_code_points(characters.MARK)] |= ZH_TRANSPARENT
    entries[_code_points(characters.JAMO)] |= ZH_TRANSPARENT | ZH_JAMO

    phrases = {phrase: [pack(mandarin.factorize(text)) for text in texts] for phrase, texts in lexicon.phrases.items()}
    return character_table(entries) | PhraseTable.build(phrases, same).sections()


def main(folder: Path = characters.DATA) -> None:
    """Writes both files into ``folder``."""
    for lang, tables in (("vi", vietnamese_tables), ("zh", mandarin_tables)):
        write_tables(folder / f"tables-{lang}.bin", inventory.vocabulary(lang).checksum, tables())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
