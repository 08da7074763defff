"""Writes the tables of the least-work programs from phonemic's own lexicon."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from phonemic import Tokenizer
from phonemic.inventory import UNK
from phonemic.lexicon.phrases import phrases_of
from phonemic.lexicon.tables import tables_of

UNKNOWN = UNK * 0x010101
LETTER_CODES = 255


def vietnamese_tables(text: str, letters: Path, runs: Path) -> None:
    """Writes the letters, the most frequent first, and every run of the text with its id."""
    counts = Counter(text)
    low = [char for char in map(chr, range(0x3000)) if char.isalpha() and len(char.lower()) == 1]
    frequency: Counter[str] = Counter()
    for char in low:
        frequency[char.lower()] += counts[char]
    codes = {char: code for code, (char, _) in enumerate(frequency.most_common(LETTER_CODES), start=1)}
    rows = [f"{ord(char)}\t{codes[char.lower()]}\n" for char in low if char.lower() in codes]
    letters.write_text("".join(rows), encoding="ascii")
    known = "".join(char for char in low if char.lower() in codes)
    letter_runs = Counter(re.findall(f"[{known}]+", text))
    byte_runs = Counter(re.findall(r"(?:[A-Za-z]|[^\x00-\x7f])+", text))
    units = [unit for unit, _ in (letter_runs | byte_runs).items()]
    batch = Tokenizer("vi").encode_batch(units)
    first = batch.ids[np.minimum(batch.offsets[:-1], len(batch.ids) - 1)]
    packed = np.where(batch.lengths == 1, first, UNKNOWN).tolist()
    lines = [f"{unit}\t{id_}\t{int(unit in letter_runs)}\n" for unit, id_ in zip(units, packed, strict=True)]
    runs.write_text("".join(lines), encoding="utf-8")


@cache
def phrases() -> list[tuple[str, list[int]]]:
    """The lexicon's phrases of two characters or more with the packed readings, out of the compiled tables."""
    return sorted((phrase, readings) for phrase, readings in phrases_of(tables_of("zh")).items() if len(phrase) > 1)


def mandarin_tables(characters: Path, phrase_file: Path) -> None:
    """Writes the id of every character of the basic plane, and every phrase with its readings."""
    points = [point for point in range(0x10000) if not 0xD800 <= point < 0xE000]
    batch = Tokenizer("zh").encode_batch([chr(point) for point in points])
    ids = np.zeros(0x10000, np.int64)
    one = batch.lengths == 1
    ids[np.array(points)[one]] = batch.ids[batch.offsets[:-1][one]]
    characters.write_text(
        "".join(f"{point}\t{packed}\n" for point, packed in enumerate(ids.tolist())), encoding="ascii"
    )
    lines = []
    for phrase, readings in phrases():
        if all(ord(char) < 0x10000 for char in phrase):
            changes = readings != [ids[ord(char)] for char in phrase]
            lines.append(f"{phrase}\t{int(changes)}\t{' '.join(map(str, readings))}\n")
    phrase_file.write_text("".join(lines), encoding="utf-8")
