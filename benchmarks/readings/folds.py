"""CPP's development set by models that were fitted without its fold, and by the lexicon overrides before them.

``python -m benchmarks.readings.folds DATA WORK`` after ``benchmarks.readings.rebuild``. The words that CPP's own
sentences are a source of are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.readings.cpp import Case, cases
from phonemic.reading.context import reader
from phonemic.reading.models import LEFT, Feature, reviewed, windows


def words() -> dict[str, dict[Feature, str]]:
    """Character -> the features of lexicon overrides, and the readings."""
    found: dict[str, dict[Feature, str]] = {}
    for word, pinyin in reviewed("readings-words", without="CPP dev").items():
        for at, reading in enumerate(pinyin):
            if reading != LEFT:
                found.setdefault(word[at], {})[windows(word, at)] = reading
    return found


def decided(case: Case, known: dict[str, dict[Feature, str]]) -> str:
    """Return the reading that a word gives a case, if one does."""
    own = known.get(case.char, {})
    features = reader().features(case.text, case.at) if own else []
    return next((own[feature] for feature in features if feature in own), "")


def main() -> None:
    """Prints both shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    arguments = parser.parse_args()
    judged, known = cases(arguments.data / "zh" / "cpp"), words()
    with np.load(arguments.work / "folds.npz") as made:
        told = made["told"].tolist()
    by_words = [decided(case, known) for case in judged]
    right = sum(one == case.reading for one, case in zip(told, judged, strict=True))
    both = sum((word or one) == case.reading for word, one, case in zip(by_words, told, judged, strict=True))
    there = [(word, case) for word, case in zip(by_words, judged, strict=True) if word]
    print(f"models {right / len(judged):.2%}, with words {both / len(judged):.2%}; words decide {len(there)}, ", end="")
    print(f"right {sum(word == case.reading for word, case in there) / max(1, len(there)):.2%}")


if __name__ == "__main__":
    main()
