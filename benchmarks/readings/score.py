"""How many of the marked polyphones of a set in CPP's format are read right, by pypinyin and in context.

``python -m benchmarks.readings.score FOLDER [PART]``: FOLDER holds PART.sent and PART.lb. The development set is learnt
from, so that its figure flatters; CPP's test set is not at hand, and whoever has it measures it so.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.readings.cpp import Case, cases, normal
from benchmarks.readings.judge import Reader, context_reader, pypinyin_reader


def errors(judged: Sequence[Case], reader: Reader) -> Counter[str]:
    """Count the readings that differ from people's, as ``地 de5, not di4``."""
    found: Counter[str] = Counter()
    for case in judged:
        read = reader(case.text)
        mine = normal(read[case.at]) if len(read) == len(case.text) else "nothing"
        if mine != case.reading:
            found[f"{case.char} {mine}, not {case.reading}"] += 1
    return found


def main() -> None:
    """Prints the shares, and the commonest errors of the reading in context."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("part", nargs="?", default="test")
    parser.add_argument("--errors", type=int, default=0, help="how many of the commonest errors are shown")
    arguments = parser.parse_args()
    judged = cases(arguments.folder, arguments.part)
    for name, reader in (("pypinyin", pypinyin_reader), ("context", context_reader)):
        wrong = errors(judged, reader)
        print(f"{name}: {1 - wrong.total() / len(judged):.2%} of {len(judged):,} right")
    for line, count in wrong.most_common(arguments.errors):
        print(f"{count:5d}  {line}")


if __name__ == "__main__":
    main()
