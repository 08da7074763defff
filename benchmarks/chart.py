"""The bar chart: MB per second of phonemic, the limits and other tools, one panel per language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.measurements import Measurement
from benchmarks.session import LANGS

COLOURS = {"us": "#c0392b", "limit": "#7f8c8d", "other": "#2c5f8a"}
NAMES = {"vi": "Vietnamese", "zh": "Mandarin"}


def bars(result: dict[str, Any], lang: str) -> list[tuple[str, float, str]]:
    """Label, MB/s and kind of each bar, the slowest first."""
    found: dict[str, tuple[float, str]] = {}
    for row in (Measurement.from_dict(record) for record in result["rows"]):
        language, _, source = row.what.partition(", ")
        if (
            language != lang
            or row.ours is None
            or row.other is None
            or row.group not in ("Share of the limit", "Other tools")
        ):
            continue
        found.setdefault(f"phonemic, {source}", (row.ours, "us"))
        found[row.against] = row.other, "limit" if row.against.startswith("limit") else "other"
    found.pop("limit copy", None)
    return sorted(((name, *bar) for name, bar in found.items()), key=lambda bar: bar[1])


def draw(result: dict[str, Any], path: Path) -> bool:
    """Writes the chart; false where there is nothing to draw, or no matplotlib."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return False
    panels = {lang: bars(result, lang) for lang in LANGS}
    panels = {lang: rows for lang, rows in panels.items() if rows}
    if not panels:
        return False
    longest = max(map(len, panels.values()))
    with mpl.rc_context({"svg.hashsalt": "phonemic", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(6 * len(panels), 0.8 + 0.27 * longest), layout="constrained")
        for axes, (lang, rows) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
            names, speeds, kinds = zip(*rows, strict=True)
            drawn = axes.barh(names, speeds, color=[COLOURS[kind] for kind in kinds])
            axes.bar_label(drawn, [f"{speed:,.0f}" if speed >= 100 else f"{speed:.3g}" for speed in speeds], padding=3)
            axes.set(xscale="log", xlabel="MB of UTF-8 per CPU second, one thread", title=NAMES[lang])
            axes.set_xlim(right=max(speeds) * 4)
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None})
    return True
