"""Measurements, one per row of the table: one figure, what it must reach, and the runs that it comes from."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.timing import ratio


@dataclass
class Measurement:
    """One figure.

    Attributes:
        group: the part of the table.
        what: what is measured.
        against: with what it is compared ("" with nothing).
        value: the figure; None where it could not be measured.
        unit: of the figure (``x`` is a ratio).
        at_least: what it must reach; with ``less`` what it must not exceed.
        aim: what it should reach.
        less: whether less is better.
        ours: our speed, MB of UTF-8 a CPU second, median.
        other: the speed of what it is compared with.
        note: what a reader must know, or why there is no figure.
        runs: seconds of each run, ours and the other's; those at one index were taken side by side.
        details: further figures.
    """

    group: str
    what: str
    against: str = ""
    value: float | None = None
    unit: str = "x"
    at_least: float | None = None
    aim: float | None = None
    less: bool = False
    ours: float | None = None
    other: float | None = None
    note: str = ""
    runs: dict[str, list[float]] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """``aim met``, ``met``, ``missed``, ``not measured``, or "" where nothing is required."""
        if self.value is None:
            return "not measured"
        if self.at_least is None and self.aim is None:
            return ""
        if _reaches(self.value, self.aim, self.less):
            return "aim met"
        return "met" if _reaches(self.value, self.at_least, self.less) else "missed"

    def as_dict(self) -> dict[str, Any]:
        """The row as it is in the JSON file."""
        return {**asdict(self), "verdict": self.verdict}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Measurement:
        """The row of :meth:`as_dict`."""
        return cls(**{name: value for name, value in record.items() if name != "verdict"})


def _bound(row: Measurement, value: float | None) -> str:
    return "" if value is None else f"{'≤' if row.less else '≥'} {value:,g}"


def number(value: float | None, unit: str = "") -> str:
    """Return a figure with three digits that count; ratios with a sign."""
    if value is None:
        return ""
    decimals = sum(abs(value) < bound for bound in (100, 10, 0.1))
    text = f"{value:,.{decimals}f}"
    return f"{text} x" if unit == "x" else f"{text} {unit}".strip()


def line(row: Measurement) -> str:
    """Return a row for the terminal."""
    bounds = ", ".join(filter(None, (_bound(row, row.at_least), f"aim {_bound(row, row.aim)}" if row.aim else "")))
    figures = f"{number(row.ours):>8} {number(row.other):>9} {number(row.value, row.unit):>12}"
    return f"{row.what:<44} {row.against:<28} {figures}  {bounds:<20} {row.verdict:<13} {row.note}".rstrip()


def _reaches(value: float, bound: float | None, less: bool) -> bool:
    return bound is not None and (value <= bound if less else value >= bound)


def megabytes(size: int, seconds: list[float]) -> float:
    """MB per second, median."""
    return size / 1e6 / statistics.median(seconds)


def speed_ratio(row: Measurement, ours: list[float], our_size: int, other: list[float], other_size: int) -> Measurement:
    """Fills a row in with our speed over the other's: the median of the paired ratios."""
    row.ours, row.other = megabytes(our_size, ours), megabytes(other_size, other)
    row.value = ratio(other, ours) * our_size / other_size
    row.runs = {"ours": ours, "other": other}
    row.details |= {"our_bytes": our_size, "other_bytes": other_size}
    return row


def time_ratio(
    row: Measurement, changed: list[float], plain: list[float], changed_size: int, plain_size: int
) -> Measurement:
    """Fills a row in with how many times as long the changed task takes."""
    row.ours, row.other = megabytes(changed_size, changed), megabytes(plain_size, plain)
    row.value, row.less = ratio(changed, plain), True
    row.runs = {"ours": changed, "other": plain}
    row.details |= {"our_bytes": changed_size, "other_bytes": plain_size}
    return row
