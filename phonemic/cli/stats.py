"""``phonemic stats``: the measures of tokenizers on texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from phonemic import intrinsic
from phonemic.cli.common import (
    claim,
    force_option,
    input_options,
    input_texts,
    print_figures,
    print_json,
    print_table,
    say,
    tokenizer_options,
)
from phonemic.cli.progress import progress
from phonemic.errors import InputError
from phonemic.intrinsic.measure import Measures
from phonemic.intrinsic.tabulation import cells, title
from phonemic.tokenizer import Tokenizer

#: The formats that have an option, and what it writes.
_LAYOUTS = {"json": "JSON", "markdown": "a Markdown table", "latex": "a LaTeX table"}

#: Measures of a row that the vertical table and the JSON object of a single row leave out.
_PLOTTED = ("dataset", "lang", "form", "tokenizer", "renyi_curve", "ranks")


def _order(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 <= value < math.inf:
        raise click.BadParameter(f"{value} is not a finite number of at least 0")
    return value


def _formats(command: Any) -> Any:
    for name, written in reversed(_LAYOUTS.items()):
        effect = f"Write {written} instead of a table for the terminal."
        command = click.option(f"--{name}", is_flag=True, help=effect)(command)
    return command


def _layout(given: Mapping[str, bool]) -> str:
    """The format that an option asks for, or the table for the terminal."""
    names = [name for name in _LAYOUTS if given[name]]
    if len(names) > 1:
        raise click.UsageError(f"give one of {' and '.join(f'--{name}' for name in names)}")
    return names[0] if names else "table"


@click.command()
@input_options(required=False)
@tokenizer_options
@click.option(
    "--tokenizer",
    "names",
    multiple=True,
    metavar="NAME",
    help='Measure Phonemic, a baseline, the tokenizer of a .py file, or "all". Repeatable.',
)
@click.option("--tokenizers", "folder", metavar="FOLDER", help="The folder of the baselines' files.")
@click.option("--task", "task_names", multiple=True, metavar="NAME", help="Measure a dataset of the paper. Repeatable.")
@click.option("--data", metavar="FOLDER", help="The folder of the datasets, each in its own folder.")
@click.option("--normalize", type=click.Choice(["NFC", "NFD"]), help="Normalize the texts to a Unicode form first.")
@click.option("--alpha", default=2.5, show_default=True, callback=_order, help="The order of the Rényi entropy.")
@click.option(
    "--plots",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also draw plots into this folder.",
)
@_formats
@force_option
def stats(
    *,
    inputs: tuple[str, ...],
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
    threads: int,
    tokenizer: Tokenizer,
    names: tuple[str, ...],
    folder: str | None,
    task_names: tuple[str, ...],
    data: str | None,
    normalize: Any,
    alpha: float,
    plots: Path | None,
    force: bool,
    **given: bool,
) -> None:
    """Measures texts: fertility, lengths, Rényi efficiency and coverage. Nulls of a Parquet column are skipped.

    Without --tokenizer and --task, the output is one column (or one JSON object) for our tokenizer; otherwise it is one
    row for each dataset and tokenizer.
    """
    if not (inputs or task_names) or (task_names and not data):
        raise click.UsageError("give files IN..., or datasets with --task NAME --data FOLDER")
    layout = _layout(given)
    claim(sorted(plots.glob("intrinsic-*.svg")) if plots else (), force)
    chosen = [name for part in names for name in (_all(tokenizer, folder) if part == "all" else [part])]
    tokenizers = intrinsic.tokenizers(dict.fromkeys(chosen or ["Phonemic"]), tokenizer.lang, folder)
    for name in intrinsic.OURS.keys() & tokenizers.keys():
        try:
            tokenizers[name] = Tokenizer.from_options(replace(tokenizer.options, **intrinsic.OURS[name]))
        except ValueError as error:
            raise click.UsageError(f"{name}: {error}") from error
    rows: list[Measures] = []
    options: dict[str, Any] = {"alpha": alpha, "form": normalize, "num_threads": threads}
    options["word_joiner"] = tokenizer.word_joiner
    if inputs:
        with input_texts(inputs, column, errors, max_line, encoding) as chunks:
            texts = ([text for text in chunk if text is not None] for chunk in chunks)
            title = ", ".join(Path(path).name for path in inputs)
            rows += intrinsic.measure(title, tokenizer.lang, texts, tokenizers, **options)
    for name in task_names:
        rows += measure_task(name, str(data), tokenizers, tokenizer.lang, **options)
    _write(rows, layout, single=not names and not task_names)
    if plots is not None:
        from phonemic.intrinsic.plots import draw

        draw(rows, plots)


def _all(tokenizer: Tokenizer, folder: str | None) -> list[str]:
    """The tokenizers that are available; without those of ours that tell no forms, where they are to."""
    named = intrinsic.available(tokenizer.lang, folder)
    return [name for name in named if not (tokenizer.form and "fallback" in intrinsic.OURS.get(name, ()))]


def measure_task(name: str, data: str, tokenizers: Any, lang: str | None = None, **options: Any) -> list[Measures]:
    """Measures tokenizers on a dataset of the paper, with progress on stderr.

    Raises:
        InputError: no such dataset, one of another language, or a file is missing.
    """
    from phonemic import tasks

    try:
        dataset = tasks.get(name)
    except ValueError as error:
        raise InputError(str(error)) from error
    if lang not in (None, dataset.lang):
        raise InputError(f"{dataset.title} is in language {dataset.lang}, not {lang}")
    with progress("texts") as count:

        def advance(texts: int) -> None:
            count(dataset.title, texts, 0)

        texts = intrinsic.chunks(dataset.texts(dataset.find(data)))
        return intrinsic.measure(dataset.title, dataset.lang, texts, tokenizers, advance=advance, **options)


def _write(rows: list[Measures], layout: str, single: bool) -> None:
    """A row for each tokenizer; the measures of a single row one below the other, or as one JSON object."""
    if layout != "table" and not (single and layout == "json"):
        say(intrinsic.table(rows, layout))
    elif not single:
        for name, some in groupby(rows, key=title):
            heading, *body = cells(some)
            print_figures(name, heading[1:], [line[1:] for line in body])
    else:
        measures = {name: value for name, value in rows[0].items() if name not in _PLOTTED}
        if layout == "json":
            print_json(measures)
        else:
            print_table(("measure", "value"), ((name.replace("_", " "), _shown(measures[name])) for name in measures))


def _shown(value: float | None) -> str:
    if value is None:
        return "nan"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
