"""Plots of results: a panel a task with a point an encoder; score against the ratio of noise, a line an encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import ceil
from pathlib import Path
from typing import Any

from phonemic.errors import InputError
from phonemic.files import replacing, require
from phonemic_bert.finetuning.results import Results, Summary
from phonemic_bert.finetuning.tabulation import name_of, robustness

_COLUMNS = 3


def _as_it_is(draw: Callable[..., None]) -> Callable[..., None]:
    """Draws with names as they are: none is a formula."""

    @wraps(draw)
    def drawn(results: Results, path: Path) -> None:
        with require("matplotlib", "finetune").rc_context({"text.parse_math": False}):
            draw(results, path)

    return drawn


@_as_it_is
def draw_scores(results: Results, path: Path) -> None:
    """Mean and standard deviation, a panel a task.

    Arguments:
        results: of a folder.
        path: the picture; its suffix says the format.

    Raises:
        InputError: matplotlib writes no such format.
        PhonemicError: matplotlib is not installed.
    """
    rows = sorted({row for _, row in results.cells})
    colours = _colours(rows)
    figure, panels = _panels([f"{name_of(column)}, {column[3]}" for column in results.columns], 0.9 + 0.28 * len(rows))
    for axes, column in zip(panels, results.columns, strict=True):
        present = [row for row in rows if (column, row) in results.cells]
        for at, row in enumerate(reversed(present)):
            found = Summary.of(results.cells[column, row].test.values())
            axes.errorbar(found.mean, at, xerr=found.deviation, fmt="o", color=colours[row], capsize=3)
        axes.set_yticks(range(len(present)), present[::-1], fontsize=8)
        axes.set_ylim(-0.6, len(present) - 0.4)
        axes.grid(axis="x", color="0.9")
    figure.supxlabel("mean ± standard deviation over seeds, times 100", fontsize=9)
    _save(figure, path)


@_as_it_is
def draw_robustness(results: Results, path: Path) -> None:
    """Score against the ratio of noise, a panel a task and noise; the band is one standard deviation to each side.

    Arguments:
        results: of a folder.
        path: the picture; its suffix says the format.

    Raises:
        InputError: no result has noise; matplotlib writes no such format.
        PhonemicError: matplotlib is not installed.
    """
    found = list(robustness(results))
    if not found:
        raise InputError("no result was tested with noise: run phonemic-bert finetune with --noise")
    rows = list(dict.fromkeys(row for _, _, curves in found for row in curves))
    colours = _colours(rows)
    figure, panels = _panels([f"{name_of(column)}, {noise}" for column, noise, _ in found], 3.0)
    for axes, (column, _, curves) in zip(panels, found, strict=True):
        for row, curve in curves.items():
            points = sorted(curve.items())
            ratios, means = [100 * ratio for ratio, _ in points], [one.mean for _, one in points]
            spread = [one.deviation or 0 for _, one in points]
            axes.plot(ratios, means, marker="o", markersize=3, color=colours[row], label=row)
            low, high = zip(*((mean - by, mean + by) for mean, by in zip(means, spread, strict=True)), strict=True)
            axes.fill_between(ratios, low, high, color=colours[row], alpha=0.15, linewidth=0)
        axes.set(xlabel="ratio of noise, %", ylabel=f"{column[3]}, times 100")
    named = {label: line for axes in panels for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(
        named.values(), named, loc="outside lower center", frameon=False, ncols=min(4, len(named)), fontsize=8
    )
    _save(figure, path)


def _panels(titles: Sequence[str], height: float) -> tuple[Any, list[Any]]:
    """A figure, and its axes, one a title."""
    columns = min(_COLUMNS, len(titles))
    rows = ceil(len(titles) / columns)
    figures = require("matplotlib.figure", "finetune")
    figure = figures.Figure(figsize=(4.2 * columns, height * rows + 0.5), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels[len(titles) :]:
        axes.remove()
    for axes, title in zip(panels, titles, strict=False):
        axes.set_title(title, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels[: len(titles)]


def _colours(rows: Sequence[str]) -> dict[str, Any]:
    shades = require("matplotlib", "finetune").colormaps["tab10" if len(rows) <= 10 else "tab20"]
    return {row: shades(at % shades.N) for at, row in enumerate(rows)}


def _save(figure: Any, path: Path) -> None:
    style = {"svg.hashsalt": "phonemic", "svg.fonttype": "path"}
    with require("matplotlib", "finetune").rc_context(style):
        known = figure.canvas.get_supported_filetypes()
        form = path.suffix.lower().removeprefix(".")
        if form not in known:
            raise InputError(f"{path}: not an image format; choose one of {', '.join(sorted(known))}")
        with replacing(path) as file:
            figure.savefig(file, format=form, metadata={"Date": None} if form == "svg" else None, dpi=130)
