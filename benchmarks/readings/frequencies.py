"""Writes ``phonemic/lexicon/words.npz``: words and how rare they are, for places that two words share.

``python -m benchmarks.readings.frequencies DATA`` after ``benchmarks.readings.endings``; needs jieba. A word that would
have labelled sentences, or reviewed words, read wrong as often as right is SILENT: it says nothing about readings.
"""

from __future__ import annotations

import argparse
from collections import Counter
from math import log
from pathlib import Path

import jieba
import numpy as np

from benchmarks.readings import cpp, everyday, names
from benchmarks.readings.archive import write_arrays
from benchmarks.readings.cpp import Case, normal
from phonemic.characters import DATA
from phonemic.reading.context import Reader
from phonemic.reading.models import reading_data, reviewed
from phonemic.reading.segmentation import HAN, LONGEST, PER_NAT, SILENT, Words

#: How often jieba has a word, at least.
FREQUENT = 20


def costs() -> dict[str, int]:
    """The words of jieba's dictionary, the commonest first, with their costs."""
    jieba.initialize()
    total = jieba.dt.total
    frequent = {
        word: number
        for word, number in jieba.dt.FREQ.items()
        if number >= FREQUENT and len(word) <= LONGEST and all(ord(char) in HAN for char in word)
    }
    order = sorted(frequent, key=lambda word: (-frequent[word], word))
    return {word: round(PER_NAT * log(total / frequent[word])) for word in order}


def silent(numbers: dict[str, int], data: Path) -> set[str]:
    """The words by which as many labelled places would be read wrong as right, with the slightest advantage."""
    lists = reading_data()
    reader, without = Reader(lists, Words(numbers, margin=0)), Reader(lists, Words({}))
    right, wrong = Counter[str](), Counter[str]()
    listed = [
        Case(word, at, said) for word, pinyin in reviewed().items() for at, said in enumerate(map(normal, pinyin))
    ]
    for case in [*cpp.cases(data / "zh" / "cpp"), *everyday.cases(), *names.sentences(), *listed]:
        word = reader.decider(case.text, case.at) if case.char in lists.models else None
        if word:
            before, after = (normal(each.read(case.text, case.at) or "") for each in (without, reader))
            right[word] += after == case.reading != before
            wrong[word] += before == case.reading != after
    return {word for word, times in wrong.items() if times >= max(1, right[word])}


def main() -> None:
    """Writes the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    numbers = costs()
    quiet = silent(numbers, arguments.data)
    numbers = {word: cost | (SILENT if word in quiet else 0) for word, cost in numbers.items()}
    order = sorted(numbers, key=lambda word: (len(word), word))
    chars = np.array([[*map(ord, word), 0, 0][:LONGEST] for word in order], np.uint16)
    found = np.array([numbers[word] for word in order], np.uint8)
    write_arrays(DATA / "words.npz", {"chars": np.ascontiguousarray(chars.T), "numbers": found})
    print(f"{len(numbers)} words, {len(quiet)} silent: {' '.join(sorted(quiet))}")


if __name__ == "__main__":
    main()
