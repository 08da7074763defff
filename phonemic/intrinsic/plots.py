"""Plots of measured rows: bars for each dataset, rank against frequency, Rényi efficiency against its order."""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

from phonemic.files import replacing, require
from phonemic.intrinsic.measure import OURS, Measures
from phonemic.intrinsic.tabulation import title as named

#: Ours in reds, the others from dark to light in the order of the rows.
OUR_COLOURS = dict(zip(OURS, ("#c0392b", "#e8998d"), strict=True))

_BAR = 0.8


def draw(rows: list[Measures], folder: Path, form: str = "svg", only: Container[str] | None = None) -> list[Path]:
    """Writes all plots of the rows, a file for each kind and language.

    Arguments:
        rows: rows of :func:`phonemic.intrinsic.measure`.
        folder: where to; it is made.
        form: "svg", "png" or "pdf".
        only: the names of the files to write, without their endings; by default all.

    Returns:
        The files.

    Raises:
        PhonemicError: matplotlib is missing.
    """
    matplotlib = require("matplotlib", "baselines")
    kinds: dict[str, Callable[[Any, list[Measures]], object]] = {
        "renyi": lambda figure, some: _bars(figure, some, "renyi_efficiency", "Rényi efficiency"),
        "length": lambda figure, some: _bars(figure, some, "average_length", "tokens per text", log=True),
        "fertility": lambda figure, some: _bars(figure, some, "fertility", "tokens per whitespace-delimited unit"),
        "ranks": _ranks,
        "alpha": _alpha,
    }
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    style = {"svg.hashsalt": "phonemic", "svg.fonttype": "path", "font.size": 9, "text.parse_math": False}
    with matplotlib.rc_context(style):
        figures = require("matplotlib.figure", "baselines")
        for lang in dict.fromkeys(row["lang"] for row in rows):
            some = [row for row in rows if row["lang"] == lang]
            for name, plot in kinds.items():
                stem = f"intrinsic-{name}-{lang}"
                if stem == "intrinsic-fertility-zh" or (only is not None and stem not in only):
                    continue  # Chinese has no spaces
                figure = figures.Figure(figsize=(8, 4), layout="constrained")
                plot(figure, some)
                files.append(folder / f"{stem}.{form}")
                with replacing(files[-1]) as file:
                    figure.savefig(file, format=form, metadata={"Date": None} if form == "svg" else None, dpi=110)
    return files


def _colours(names: list[str]) -> dict[str, Any]:
    others = [name for name in names if name not in OURS]
    shades = require("matplotlib").colormaps["viridis"].resampled(len(others) + 1)
    colours = OUR_COLOURS | {name: shades(number) for number, name in enumerate(others)}
    return {name: colours[name] for name in names}


def _bars(figure: Any, rows: list[Measures], measure: str, title: str, log: bool = False) -> None:
    axes = figure.subplots()
    datasets = list(dict.fromkeys(named(row) for row in rows))
    names = list(dict.fromkeys(row["tokenizer"] for row in rows))
    width = _BAR / len(names)
    for number, (name, colour) in enumerate(_colours(names).items()):
        figures = {named(row): row[measure] for row in rows if row["tokenizer"] == name}
        places = [index + (number - (len(names) - 1) / 2) * width for index in range(len(datasets))]
        axes.bar(places, [figures.get(dataset) or 0 for dataset in datasets], width, label=name, color=colour)
    axes.set_xticks(range(len(datasets)), datasets)
    axes.set_ylabel(title)
    if log:
        axes.set_yscale("log")
    _finish(figure, axes)


def _ranks(figure: Any, rows: list[Measures]) -> None:
    """The dataset with the most texts, every tokenizer."""
    axes = figure.subplots()
    some = _largest(rows)
    colours = _colours([row["tokenizer"] for row in some])
    for row in some:
        if row["ranks"]:
            axes.plot(*zip(*row["ranks"], strict=True), label=row["tokenizer"], color=colours[row["tokenizer"]])
    axes.set(xscale="log", yscale="log", xlabel="rank", ylabel="share", title=some[0]["dataset"])
    _finish(figure, axes)


def _alpha(figure: Any, rows: list[Measures]) -> None:
    """The dataset with the most texts, every tokenizer."""
    axes = figure.subplots()
    some = _largest(rows)
    colours = _colours([row["tokenizer"] for row in some])
    for row in some:
        curve = [(order, value) for order, value in row["renyi_curve"] if value is not None]
        if curve:
            axes.plot(*zip(*curve, strict=True), label=row["tokenizer"], color=colours[row["tokenizer"]])
    axes.axvline(some[0]["alpha"], color="0.7", linewidth=0.8, zorder=0)
    axes.set(xlabel="α", ylabel="Rényi efficiency", title=some[0]["dataset"], ylim=(0, 1))
    _finish(figure, axes)


def _largest(rows: list[Measures]) -> list[Measures]:
    dataset = max(rows, key=lambda row: row["texts"])["dataset"]
    return [row for row in rows if row["dataset"] == dataset]


def _finish(figure: Any, axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right center", frameon=False, fontsize=8)
