"""Compiles all readings of characters into tables-zh-readings.bin, which ``phonemic.readings_of`` reads.

Of the characters that have several, in order: ``chars`` uint32; ``begins`` uint32, where the rows of each begin, and
where the last ones end; ``readings`` int32, packed; ``shares`` uint16, in thousandths of running text.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np

from phonemic import mandarin
from phonemic.characters import DATA
from phonemic.inventory import vocabulary
from phonemic.lexicon.entries import Tables
from phonemic.reading.models import ReadingData, numbered


def common() -> dict[str, dict[str, int]]:
    """The shares of ``readings-common.tsv``: character -> numbered pinyin -> thousandths."""
    rows = [
        line.split("\t") for line in (DATA / "readings-common.tsv").read_text("utf-8").splitlines() if line[0] != "#"
    ]
    pairs = {char: [cell.split() for cell in cells] for char, *cells in rows}
    return {char: {reading: int(share) for reading, share in cells} for char, cells in pairs.items()}


def shares(data: ReadingData) -> dict[str, dict[str, int]]:
    """The readings of each polyphone: numbered pinyin -> thousandths, the commonest first.

    Traditional characters have the shares of the ones that they are read as.
    """
    from pypinyin.constants import PINYIN_DICT

    lexicon, known, found = mandarin.lexicon(), common(), dict[str, dict[str, int]]()
    for code, text in PINYIN_DICT.items():
        char = chr(code)
        if not lexicon.han.match(char):
            continue
        told = known.get(char) or (known.get(data.simplified.get(char, "")) if char in data.models else None)
        usual = data.alone.get(char) or (
            data.models[char].readings[0] if char in data.models else numbered(text.split(",")[0])
        )
        rows = dict(told or {usual: 1000})
        for reading in map(numbered, text.split(",")):
            rows.setdefault(reading, 0)
        if len(rows) > 1:
            found[char] = dict(sorted(rows.items(), key=lambda row: -row[1]))
    return found


def compiled_readings(rows: Mapping[str, Mapping[str, int]]) -> Tables:
    """All sections of the file."""
    chars = sorted(rows)
    pack = vocabulary("zh").pack
    packed = [[pack(mandarin.factorize(reading)) for reading in rows[char]] for char in chars]
    return {
        "chars": np.array([*map(ord, chars)], np.uint32),
        "begins": np.cumsum([0, *map(len, packed)]).astype(np.uint32),
        "readings": np.array([*chain.from_iterable(packed)], np.int32),
        "shares": np.array([share for char in chars for share in rows[char].values()], np.uint16),
    }
