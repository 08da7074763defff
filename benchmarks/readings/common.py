"""Writes ``phonemic/lexicon/readings-common.tsv``: how common each reading of a character is in running text.

``python -m benchmarks.readings.common DATA``: counts what ``readings="context"`` reads in the texts that the teacher
labels (``benchmarks.readings.teacher``), as much of each kind. A character that is met less than LEAST times is left
out, and so is one that always has one reading.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.readings.disagreements import is_han
from benchmarks.readings.teacher import SOURCES, texts_of
from phonemic import Tokenizer
from phonemic.characters import DATA
from phonemic.inventory import vocabulary
from phonemic.mandarin import spell

HERE = Path(__file__).parent
#: Characters whose models and words stay those of an earlier fit, which reads them better.
EARLIER = "地得曾假"
#: Texts of each kind, texts of one batch, how often a character must be met, and by what shares are counted.
TEXTS, BATCH, LEAST, PARTS = 30_000, 1_000, 20, 1000


def counts(texts: Iterator[str]) -> Counter[tuple[int, int]]:
    """How often each character, as a code point, is read in each way, packed."""
    tokenizer, found = Tokenizer("zh", readings="context"), Counter[tuple[int, int]]()
    while rows := list(islice(texts, BATCH)):
        for encoding in tokenizer.encode_batch(rows, spans=True):
            points = np.frombuffer(encoding.text.encode("utf-32-le", "surrogatepass"), np.uint32)
            pairs = points[encoding.spans[:, 0]].astype(np.int64) << 24 | encoding.ids
            values, times = np.unique(pairs, return_counts=True)
            for value, many in zip(values.tolist(), times.tolist(), strict=True):
                found[value >> 24, value & 0xFFFFFF] += many
    return found


def main() -> None:
    """Writes the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    found = Counter[tuple[int, int]]()
    for name in SOURCES:
        found += counts(islice(texts_of(arguments.data / "zh", name), TEXTS))
    of_chars = dict[str, Counter[int]]()
    for (code, packed), times in found.items():
        if is_han(chr(code)):
            of_chars.setdefault(chr(code), Counter())[packed] = times
    unpack = vocabulary("zh").unpack
    lines = ["# How common each reading of a character is, in thousandths, by benchmarks/readings/common.py."]
    for char, rows in sorted(of_chars.items()):
        total = rows.total()
        if total >= LEAST and len(rows) > 1:
            cells = [
                f"{spell(unpack(packed), numbers=True).replace('ü', 'v')} {round(PARTS * times / total)}"
                for packed, times in rows.most_common()
            ]
            lines.append("\t".join([char, *cells]))
    (DATA / "readings-common.tsv").write_text("\n".join([*lines, ""]), "utf-8")
    print(f"{found.total():,} positions, {len(lines) - 1:,} characters in several readings")


if __name__ == "__main__":
    main()
