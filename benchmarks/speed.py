"""Speed, memory and start-up of phonemic next to the least-work programs and other tools.

    python benchmarks/speed.py --data DIR [--quick] [--only PART ...]

Prints one table and writes it as JSON, from which benchmarks/report.py makes the pages. Everything is CPU time of one
thread, except where a row says otherwise; what is compared ran in turns, and a ratio is the median of the ratios of
runs next to each other.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import chart, compare, components, costs, ours
from benchmarks.environment import environment
from benchmarks.measurements import Measurement, line
from benchmarks.session import Session
from benchmarks.texts import MEGABYTE, MissingTextError
from benchmarks.timing import ROOT, RUNS
from phonemic.files.writing import write_json

RESULT = ROOT / "benchmarks" / "results" / "speed.json"
PARTS = {
    "limits": ours.limits,
    "spans": ours.spans,
    "forms": ours.forms,
    "threads": ours.threads,
    "sentence": costs.sentence,
    "memory": costs.memory,
    "start": costs.start_up,
    "scaling": costs.scaling,
    "worst": costs.worst,
    "spacy": components.components,
    "other_tools": compare.other_tools,
}


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.environ.get("PHONEMIC_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=data,
        required=not data,
        help="the folder of the real data, with vi/raw/news.txt.xz and zh/raw/*.xz (default: $PHONEMIC_DATA)",
    )
    parser.add_argument("--quick", action="store_true", help="2 MB of text instead of 20: a check, not a figure")
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=f"measure only: {', '.join(PARTS)}")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / "bench", help="where texts and programs are kept"
    )
    parser.add_argument(
        "--out", type=Path, help="the JSON file (default: benchmarks/results/speed.json for a whole run)"
    )
    chosen = parser.parse_args(arguments)
    if not (chosen.only or chosen.quick):
        chosen.out = chosen.out or RESULT
    return chosen


@contextmanager
def cores(part: str) -> Iterator[None]:
    """One core for us and for whatever we are compared with, since cores may differ; all of them for threads."""
    if part == "threads" or not hasattr(os, "sched_setaffinity"):
        yield
        return
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(every)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def measure(session: Session, parts: list[str]) -> list[Measurement]:
    """Measures the parts and prints each row as soon as it is there."""
    rows: list[Measurement] = []
    for part in parts:
        started = time.perf_counter()
        with cores(part):
            for row in PARTS[part](session):
                if not rows or row.group != rows[-1].group:
                    print(f"\n{row.group}", flush=True)
                rows.append(row)
                print(line(row), flush=True)
        print(f"({part}: {time.perf_counter() - started:.0f} s)", file=sys.stderr)
    return sorted(rows, key=lambda row: [other.group for other in rows].index(row.group))


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Measures, prints and writes; returns what it wrote."""
    chosen = options(arguments)
    session = Session(chosen.data.resolve(), chosen.build.resolve(), chosen.quick)
    where = environment()
    try:
        rows = measure(session, chosen.only or list(PARTS))
    except MissingTextError as error:
        raise SystemExit(f"{chosen.data}: {error}") from error
    finally:
        session.close()
    result: dict[str, Any] = {
        "environment": where,
        "megabytes": session.size // MEGABYTE,
        "runs": RUNS,
        "rows": [row.as_dict() for row in rows],
    }
    if chosen.out:
        if chosen.out == RESULT:
            chart.draw(result, ROOT / "docs" / "images" / "benchmarks.svg")
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(chosen.out, result, indent=1)
    return result


if __name__ == "__main__":
    main()
