"""Makes the readings in context again from nothing: ``phonemic/lexicon/readings.npz`` and the lists.

``python -m benchmarks.readings.rebuild DATA WORK`` (needs g2pM, jieba, opencc-python-reimplemented, pypinyin-dict,
scipy and torch): labels raw text, fits the models, looks for the words that they misread, compiles both, and counts how
common each reading is. WORK must be empty, or have nothing but the labels of an earlier run (``teacher``), which are
used again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

#: More than labelling all of it takes.
MINUTES = "600"


def main() -> None:
    """Runs every step in a process of its own, so that each reads what the one before it has made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    arguments = parser.parse_args()
    data, work = arguments.data.resolve(), arguments.work.resolve()
    if work.exists() and any(path.name != "teacher" for path in work.iterdir()):
        parser.error(f"{work} has more than the labels of an earlier run")
    compiling = ("-m", "phonemic.compiling")
    for step in (
        ("-m", "benchmarks.readings.teacher", f"{data}/zh", f"{work}/teacher", "--minutes", MINUTES),
        ("-m", "benchmarks.readings.make", str(data), str(work)),
        ("-m", "benchmarks.readings.pruning", str(data), str(work)),
        ("-m", "benchmarks.readings.words", str(data), str(work)),
        ("-m", "benchmarks.readings.endings", str(data)),
        ("-m", "benchmarks.readings.frequencies", str(data)),
        compiling,
        ("-m", "benchmarks.readings.common", str(data)),
        compiling,
    ):
        begun = time.monotonic()
        subprocess.run([sys.executable, *step], check=True)
        print(f"{time.monotonic() - begun:5.0f} s: {' '.join(step[:2])}", flush=True)


if __name__ == "__main__":
    main()
