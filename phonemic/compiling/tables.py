"""Compiles the rules and the lexicons into the table files, which the core uses where they lie.

``setup.py`` runs this when the package is built; ``python -m phonemic.compiling`` runs it by hand. The layout of
the numbers in each section is the contract with ``_core.pyx``, which reads them under the same names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic import characters, inventory, mandarin, vietnamese
from phonemic.characters import normalize
from phonemic.compiling.contexts import compiled_contexts
from phonemic.compiling.polyphones import compiled_readings, shares
from phonemic.compiling.speech import compiled_speech
from phonemic.lexicon import entries
from phonemic.lexicon.entries import Tables, character_table
from phonemic.lexicon.forms import mandarin_forms, vietnamese_forms
from phonemic.lexicon.phrases import PhraseTable, pair_set
from phonemic.lexicon.tables import write_tables
from phonemic.reading.models import reading_data

IRREGULAR, STOP_CODA = 1, 2
HASH = 0x9E3779B97F4A7C15
CELL_BITS = 14


def _code_points(kind: str) -> list[int]:
    return [code for codes, row_kind, _ in characters.rows() if row_kind == kind for code in codes]


def fallback_symbols(lang: str) -> NDArray[np.uint32]:
    """For every code point the id that stands for it in the fallback."""
    vocabulary = inventory.vocabulary(lang)
    symbols = np.full(0x110000, inventory.UNK, np.uint32)
    for codes, _, targets in characters.rows():
        for code, target in zip(codes, targets, strict=False):
            plain = target if target in vocabulary else normalize("NFD", target)[0].replace("đ", "d")
            symbols[code] = vocabulary.id(plain) if plain in vocabulary else inventory.UNK
    return symbols


def _letter_codes() -> dict[str, int]:
    return {letter: number for number, letter in enumerate(vietnamese.ALPHABET, start=1)}


def _native_letters() -> dict[int, tuple[str, int]]:
    """Code point -> (letter without tone, number of its tone), for every letter of the alphabet in both cases."""
    letters = {}
    for letter in vietnamese.ALPHABET:
        for number, (_, mark) in enumerate(vietnamese.TONES.values()):
            char = normalize("NFC", letter + mark)
            if not mark or letter in vietnamese.VOWELS:
                letters[ord(char)] = letters[ord(char.upper())] = (letter, number)
    letters.update({ord(char): (letter, 0) for char, letter in vietnamese.LOOKALIKES.items()})
    return letters


def vietnamese_characters() -> NDArray[np.uint32]:
    """The character table of the Vietnamese core."""
    codes = _letter_codes()
    table = fallback_symbols("vi")
    for rows, row_kind, targets in characters.rows():
        if row_kind == characters.LETTER:
            table[rows.start : rows.stop] |= entries.FOREIGN
            for code, target in zip(rows, targets, strict=False):
                table[code] |= codes.get(target, 0) << 8
    for code, (letter, number) in _native_letters().items():
        table[code] &= ~np.uint32(entries.FOREIGN | 63 << 8)
        table[code] |= entries.NATIVE | codes[letter] << 8 | ((entries.ONE_TONE + number) << 24 if number else 0)
    table[_code_points(characters.SPACE)] |= entries.SPACE
    table[_code_points(characters.IGNORABLE)] |= entries.TRANSPARENT
    table[[ord(char) for char in characters.WORD_BREAKS]] = entries.JOINER
    table[_code_points(characters.MARK)] |= entries.TRANSPARENT | entries.OTHER_MARK
    table[_code_points(characters.JAMO)] |= entries.TRANSPARENT | entries.OTHER_MARK | entries.JAMO
    for number, (_, mark) in enumerate(vietnamese.TONES.values()):
        for char in {mark, {"\u0300": "\u0340", "\u0301": "\u0341"}.get(mark, mark)} - {""}:
            table[ord(char)] = (
                entries.TRANSPARENT | entries.TONE_MARK | (entries.ONE_TONE + number) << 24 | inventory.UNK
            )
    for number, mark in enumerate(vietnamese.QUALITY_MARKS):
        table[ord(mark)] = entries.TRANSPARENT | entries.QUALITY_MARK | number << 8 | inventory.UNK
    return table


def quality_tables() -> Tables:
    """The letter that a quality mark makes: in a syllable, and in the fallback, where a horn wins over the others."""
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
    han = [char for char in map(chr, range(0x2E80, 0x110000)) if lexicon.han.match(char) or char in same]

    table = fallback_symbols("zh") * 0x010101
    for char in han:
        text = lexicon.characters.get(same.get(char, char))
        table[ord(char)] = (table[ord(char)] if text is None else pack(mandarin.factorize(text))) | entries.ZH_HAN
    table[_code_points(characters.SPACE)] |= entries.ZH_SPACE
    table[_code_points(characters.IGNORABLE)] |= entries.ZH_TRANSPARENT
    table[_code_points(characters.MARK)] |= entries.ZH_TRANSPARENT
    table[_code_points(characters.JAMO)] |= entries.ZH_TRANSPARENT | entries.ZH_JAMO

    phrases = {phrase: [pack(mandarin.factorize(text)) for text in texts] for phrase, texts in lexicon.phrases.items()}
    changing = {
        phrase for phrase, ids in phrases.items() if ids != [table[ord(char)] & entries.PACKED for char in phrase]
    }
    for place, flag in ((0, entries.ZH_FIRST), (1, entries.ZH_SECOND)):
        members = {phrase[place] for phrase in changing}
        members |= {char for char, other in same.items() if other in members}
        table[[ord(char) for char in members]] |= np.uint32(flag)
    return (
        character_table(table)
        | PhraseTable.build(phrases, same, changing).sections("lexicon")
        | pair_sets(phrases, changing, same)
    )


def pair_sets(phrases: Iterable[str], changing: Iterable[str], same: Mapping[str, str]) -> Tables:
    """The sets by which the core tells where to look phrases up, in code points, with the characters' equals."""
    written: dict[str, list[int]] = {}
    for char, other in same.items():
        written.setdefault(other, [ord(other)]).append(ord(char))

    def codes(phrase: str) -> Iterator[Any]:
        return product(*(written.get(char, [ord(char)]) for char in phrase))

    inner = {pair for phrase in phrases for at in range(len(phrase) - 1) for pair in codes(phrase[at : at + 2])}
    pairs = {pair for phrase in changing for pair in codes(phrase[:2])}
    whole = {pair for phrase in changing if len(phrase) == 2 for pair in codes(phrase)}
    triples = {
        (first * 31 + second, third) for phrase in changing if phrase[2:] for first, second, third in codes(phrase[:3])
    }
    sets: dict[str, tuple[set[tuple[int, int]], int]] = {
        "inner": (inner, 21),
        "changing_pairs": (pairs, 19),
        "changing_whole": (whole, 17),
        "changing_triples": (triples, 18),
    }
    return {name: pair_set(members, bits) for name, (members, bits) in sets.items()}


def main(folder: Path = characters.DATA) -> None:
    """Writes the table files into ``folder``."""
    mandarin_sections = mandarin_tables()
    for name, tables in (
        ("vi", vietnamese_tables()),
        ("zh", mandarin_sections),
        ("zh-context", compiled_contexts(mandarin_sections)),
        ("zh-speech", compiled_speech(reading_data().simplified)),
        ("vi-forms", vietnamese_forms()),
        ("zh-forms", mandarin_forms()),
        ("zh-readings", compiled_readings(shares(reading_data()))),
    ):
        write_tables(folder / f"tables-{name}.bin", inventory.vocabulary(name[:2]).checksum, tables)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
