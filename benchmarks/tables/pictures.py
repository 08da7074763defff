"""Pictures of the pages, drawn from ``benchmarks/results``: needs matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import chart, curves
from benchmarks.tables import load
from benchmarks.tables.models import TASKS, clean, encoders, noisy, scores

RATIOS = (7.5, 15, 22.5, 30, 37.5)


def homophones(path: Path) -> None:
    """Draw the scores of all encoders on the Mandarin tasks by the share of homophones."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    found, names = scores(), encoders("Chinese")
    style: dict[Any, Any] = {
        "svg.hashsalt": "phonemic",
        "svg.fonttype": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(9.6, 3.0), layout="constrained")
        for panel, task in zip(figure.subplots(1, len(TASKS["Chinese"])), TASKS["Chinese"], strict=True):
            for name in names:
                rest = [found[noisy(task, "homophones"), name, f"{ratio:g} %"] for ratio in RATIOS]
                points = [found[clean("Chinese"), name, task], *rest]
                panel.plot((0, *RATIOS), [mean for mean, _, _ in points], marker=".", label=name)
            panel.set_title(task.replace("-f1", " F1"), fontsize="medium")
            panel.set_xticks((0, 15, 30))
            panel.set_xlabel("% homophones", fontsize="small")
            panel.grid(alpha=0.3)
        handles, labels = panel.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(names), frameon=False, fontsize="small")
        figure.savefig(path, metadata={"Date": None})


def draw(folder: Path) -> None:
    """Draw all pictures that come from results."""
    homophones(folder / "homophones.svg")
    curves.draw(load("curves"), folder / "curves.svg")
    chart.draw(load("speed"), folder / "benchmarks.svg")
