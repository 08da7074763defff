"""Damages and forges checkpoints, runs, corpora and saved tokenizers for as long as asked.

    python tests/fuzz/fuzz_folders.py --seconds 600
    python tests/fuzz/fuzz_folders.py --cases 1000 --seed 5 --target checkpoint
    python tests/fuzz/fuzz_folders.py --target run --only 1000000007       # that case again

Ends with status 1 where something does not hold, and says of each such case what was done, and which it is.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folder_checks

#: Cases of one process.
_BATCH = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=float, default=float("inf"))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=folder_checks.TARGETS, action="append", help="may be repeated; else all")
    parser.add_argument("--only", type=int, help="the one case of this seed")
    given = parser.parse_args()
    if given.only is None and min(given.cases, given.seconds) == float("inf"):
        parser.error("say how long: --seconds or --cases")
    targets = given.target or list(folder_checks.TARGETS)
    begun, done, found = time.monotonic(), 0, 0
    for start in itertools.count(given.seed * 1_000_000_000, _BATCH):
        for target in targets:
            seeds = [given.only] if given.only is not None else list(range(start, start + _BATCH))
            told = folder_checks.batch(target, seeds)
            done += len(seeds)
            found += told.count("FOUND")
            sys.stdout.write(told)
            sys.stdout.flush()
        if given.only is not None or done >= given.cases or time.monotonic() - begun >= given.seconds:
            break
    sys.stdout.write(f"{done:,} cases in {time.monotonic() - begun:,.0f} s: {found or 'nothing'} found\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
