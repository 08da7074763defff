"""The table from the JSON file, in the terminal and in docs/results/speed.md: ``python benchmarks/report.py``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measurements import Measurement
from benchmarks.timing import ROOT

RESULT = ROOT / "benchmarks" / "results" / "speed.json"
PAGE = ROOT / "docs" / "results" / "speed.md"
BEGIN, END = "<!-- speed: made by benchmarks/report.py -->", "<!-- speed: end -->"
HEADS = ("what", "against", "ours, MB/s", "other, MB/s", "figure", "required", "aim", "", "note")


def number(value: float | None, unit: str = "") -> str:
    """A figure with three digits that count; ratios with a sign."""
    if value is None:
        return ""
    decimals = sum(abs(value) < bound for bound in (100, 10, 0.1))
    text = f"{value:,.{decimals}f}"
    return f"{text} x" if unit == "x" else f"{text} {unit}".strip()


def _bound(row: Measurement, value: float | None) -> str:
    return "" if value is None else f"{'≤' if row.less else '≥'} {value:,g}"


def cells(row: Measurement) -> list[str]:
    """A row of the table."""
    return [
        row.what,
        row.against,
        number(row.ours),
        number(row.other),
        number(row.value, row.unit),
        _bound(row, row.at_least),
        _bound(row, row.aim),
        row.verdict,
        row.note,
    ]


def line(row: Measurement) -> str:
    """A row for the terminal."""
    what, against, ours, other, figure, at_least, aim, verdict, note = cells(row)
    bounds = ", ".join(text for text in (at_least, aim and f"aim {aim}") if text)
    return f"{what:<44} {against:<28} {ours:>8} {other:>9} {figure:>12}  {bounds:<20} {verdict:<13} {note}".rstrip()


def markdown(rows: Iterable[Measurement]) -> str:
    """One table a group."""
    parts = []
    for group, members in groupby(rows, key=lambda row: row.group):
        table = [HEADS, ("---",) * len(HEADS), *(cells(row) for row in members)]
        parts.append(f"### {group}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in table))
    return "\n\n".join(parts)


def section(result: dict[str, Any]) -> str:
    """What stands between the marks of the page."""
    where = result["environment"]
    rows = [Measurement.from_dict(record) for record in result["rows"]]
    verdicts = [row.verdict for row in rows]
    aims, met, missed, absent = (verdicts.count(verdict) for verdict in ("aim met", "met", "missed", "not measured"))
    versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items() if version)
    facts = [
        f"Measured {where['date']} at commit {where['commit']} on {where['processor']}, {where['cores']} cores, "
        f"{where['system']}, Python {where['python']}, {where['compiler']}.",
        f"Versions: {versions}.",
        f"Text: {result['megabytes']} MB of distinct lines per language, {result['runs']} runs. "
        f"Of the figures with a target, {aims} reach the aim, {met} what is required, and {missed} miss it; "
        f"{absent} rows could not be measured.",
        "![MB per second, logarithmic](../images/benchmarks.svg)" if result.get("chart") else "",
    ]
    return "\n\n".join([fact for fact in facts if fact] + [markdown(rows)])


def put_between(page: Path, begin: str, end: str, made: str) -> None:
    """Replaces what stands between two marks of a page.

    Raises:
        ValueError: the page lacks them.
    """
    text = page.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{page}: must hold the line {begin!r} and the line {end!r} once each")
    before, _, rest = text.partition(begin)
    _, _, behind = rest.partition(end)
    page.write_text(f"{before}{begin}\n\n{made}\n\n{end}{behind}", encoding="utf-8")


def write_page(result: dict[str, Any], page: Path) -> None:
    """Writes the tables into the page."""
    put_between(page, BEGIN, END, section(result))


def main() -> None:
    """Writes the page and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--result", type=Path, default=RESULT, help="the JSON file of speed.py")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write into")
    options = parser.parse_args()
    result = json.loads(options.result.read_text(encoding="utf-8"))
    for record in result["rows"]:
        print(line(Measurement.from_dict(record)))
    write_page(result, options.page)


if __name__ == "__main__":
    main()
