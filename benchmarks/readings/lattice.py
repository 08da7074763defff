"""Whether the most probable path of words should decide: jieba's, by its frequencies, against our models and words.

``python -m benchmarks.readings.lattice DATA WORK`` after ``benchmarks.readings.make``. Where the path has a word of
several characters that lexicons agree on, its reading is taken instead of ours.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import jieba
import numpy as np

from benchmarks.readings import everyday, folds
from benchmarks.readings.cpp import Case, cases, normal
from benchmarks.readings.judge import context_reader
from benchmarks.readings.labels import LEXICONS, agreed, lexicon
from benchmarks.readings.words import spoken
from phonemic.reading.models import reading_data

TESTS = Path(__file__).resolve().parents[2] / "tests"


def path(text: str) -> Iterator[tuple[str, int]]:
    """For each character the word that it is in, and where in it."""
    for word in jieba.cut(text, HMM=False):
        yield from ((word, place) for place in range(len(word)))


def main() -> None:
    """Prints what the path of words would make better and worse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    arguments = parser.parse_args()
    chars = frozenset(reading_data().models) - frozenset("一不")
    lexicons = {name: lexicon(name, chars) for name in LEXICONS}
    says = {word: spoken(word, pinyin, lexicons) for word, (pinyin, _) in agreed(lexicons).items()}

    def compare(name: str, judged: Sequence[Case], ours: Sequence[str]) -> None:
        better = worse = right = count = 0
        for case, read in zip(judged, map(normal, ours), strict=True):
            if case.char in chars:
                word, place = [*path(case.text)][case.at]
                told = normal(says[word][place]) if len(word) > 1 and word in says else read
                count, right = count + 1, right + (read == case.reading)
                better += told == case.reading != read
                worse += read == case.reading != told
        print(
            f"{name}: {count:,} characters, ours {right / count:.2%}, by words {(right + better - worse) / count:.2%}"
        )
        print(f"  made right {better}, made wrong {worse}")

    judged, known = cases(arguments.data / "zh" / "cpp"), folds.words()
    with np.load(arguments.work / "folds.npz") as made:
        told = made["told"].tolist()
    compare("CPP, folds", judged, [folds.decided(case, known) or one for case, one in zip(judged, told, strict=True)])
    for file in ("everyday", "names"):
        ours = everyday.sentences(TESTS / f"{file}.txt")
        compare(f"tests/{file}.txt", ours, [context_reader(case.text)[case.at] for case in ours])


if __name__ == "__main__":
    main()
