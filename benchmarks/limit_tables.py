"""Writes the tables of the least-work programs from phonemic's own lexicon."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from phonemic import Tokenizer
from phonemic.inventory import UNK
from phonemic.phrases import CODE_BITS
from phonemic.tables import read_tables

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
    path = Path(str(resources.files("phonemic"))) / "data" / "tables-zh.bin"
    tables = read_tables(path, Tokenizer("zh").vocab.checksum)
    pages = tables["lexicon.code_pages"].reshape(-1, 256)
    chars: dict[int, str] = {}
    for point in range(0x110000):
        code = int(pages[tables["lexicon.code_index"][point >> 8], point & 255])
        if code:
            chars.setdefault(code, chr(point))
    children: dict[int, list[tuple[int, int]]] = {}
    for cell in tables["lexicon.cells"][tables["lexicon.cells"] != 0].tolist():
        key = cell & 0xFFFFFFFF
        children.setdefault(key >> CODE_BITS, []).append((key & (1 << CODE_BITS) - 1, cell >> 35))
    values, pool = tables["lexicon.values"], tables["lexicon.pool"]

    def below(node: int, prefix: str) -> Iterator[tuple[str, list[int]]]:
        if values[node] and len(prefix) > 1:
            start = int(values[node]) - 1
            yield prefix, pool[start : start + len(prefix)].tolist()
        for code, following in children.get(node, ()):
            yield from below(following, prefix + chars[code])

    return sorted(found for code, char in chars.items() for found in below(code, char))


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
