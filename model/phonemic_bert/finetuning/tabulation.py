"""Result tables: mean ± standard deviation over seeds, the best in bold and the second underlined."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from phonemic.errors import InputError, printable
from phonemic.intrinsic.tabulation import latex_text
from phonemic_bert.finetuning.results import Column, Results, SeedRuns, Summary, difference

NONE = "–"
LANGUAGES = {"vi": "Vietnamese", "zh": "Chinese"}

T = TypeVar("T")

#: How each format shows the best and the second.
Marks = tuple[Callable[[T], T], Callable[[T], T]]


@dataclass(frozen=True)
class Table:
    """A table before it is written.

    Attributes:
        title: what it shows, and in what figures.
        heading: the first cell of each column.
        names: the first cell of each row.
        cells: the summaries, a list a row; None where there is none.
        ranked: whether the best of a column is marked.
        signed: whether figures have a sign.
    """

    title: str
    heading: tuple[str, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[Summary | None, ...], ...]
    ranked: bool = True
    signed: bool = False

    def written(self, plain: Callable[[str], T], marks: Marks[T]) -> list[list[T]]:
        """Heading and rows: names and figures through ``plain``, the best two of a column through marks."""
        rows = [[plain(cell) for cell in self.heading]]
        for name, cells in zip(self.names, self.cells, strict=True):
            rows.append([plain(name), *(plain(self._figure(cell)) for cell in cells)])
        if self.ranked and len(self.names) > 1:
            for at, column in enumerate(zip(*self.cells, strict=True), 1):
                means = [None if cell is None else round(cell.mean, 2) for cell in column]
                best = sorted({mean for mean in means if mean is not None}, reverse=True)[:2]
                for row, mean in zip(rows[1:], means, strict=True):
                    if mean in best:
                        row[at] = marks[best.index(mean)](row[at])
        return rows

    def _figure(self, cell: Summary | None) -> str:
        if cell is None:
            return NONE
        mean = format(cell.mean, "+.2f" if self.signed else ".2f")
        spread = "" if cell.deviation is None else f" ± {cell.deviation:.2f}"
        return f"{mean}{spread} ({cell.count})"


def score_tables(results: Results) -> Iterator[Table]:
    """The test scores, a table a language: a row an encoder, a column a task."""
    for lang, columns in _languages(results):
        rows = results.rows(lang)
        cells = [[_summary(results.cells.get((column, row))) for column in columns] for row in rows]
        yield _table(f"{LANGUAGES.get(lang, lang)}: mean ± standard deviation (seeds), times 100", columns, rows, cells)


def difference_tables(results: Results, against: str) -> Iterator[Table]:
    """The lead of each encoder over a reference, over the seeds that both have, with the standard error.

    Arguments:
        results: of a folder.
        against: the reference, a row.

    Raises:
        InputError: there is no such row.
    """
    known = sorted({row for _, row in results.cells})
    if against not in known:
        raise InputError(f"unknown encoder {against!r}: choose one of {', '.join(known)}")
    for lang, columns in _languages(results):
        rows = [row for row in results.rows(lang) if row != against]
        if against in results.rows(lang) and rows:
            cells = [[_difference(results.cells, column, row, against) for column in columns] for row in rows]
            title = f"{LANGUAGES.get(lang, lang)}: difference from {against} ± its standard error (common seeds)"
            yield _table(title, columns, rows, cells, ranked=False, signed=True)


def robustness_tables(results: Results) -> Iterator[Table]:
    """The test scores by the ratio of noise, a table a task and noise: a row an encoder, a column a ratio."""
    for column, noise, curves in robustness(results):
        ratios = sorted({ratio for curve in curves.values() for ratio in curve})
        title = f"{name_of(column)}, {column[3]}, {noise}: mean ± standard deviation (seeds), times 100"
        heading = ("encoder", *(f"{100 * ratio:g} %" for ratio in ratios))
        cells = tuple(tuple(curve.get(ratio) for ratio in ratios) for curve in curves.values())
        yield Table(title, heading, tuple(curves), cells)


def robustness(results: Results) -> Iterator[tuple[Column, str, dict[str, dict[float, Summary]]]]:
    """The task, the noise, and each encoder's scores by ratio; ratio 0 is the test set as it is.

    Ratio 0 counts the seeds that were tested with noise, so that a curve begins with the runs that it continues with.
    """
    for column in results.columns:
        points = {row: point for (found, row), point in results.cells.items() if found == column}
        for noise in dict.fromkeys(noise for point in points.values() for noise in point.noise()):
            curves = {}
            for row, point in points.items():
                scores = point.noise().get(noise)
                if scores:
                    seeds = set().union(*scores.values())
                    clean = {seed: score for seed, score in point.test.items() if seed in seeds}
                    by_ratio = {0.0: clean, **scores}
                    curves[row] = {ratio: Summary.of(by_ratio[ratio].values()) for ratio in sorted(by_ratio)}
            yield column, noise, curves


def markdown(tables: Sequence[Table]) -> str:
    """Markdown, its columns aligned in the source as well."""
    return "\n\n".join(_markdown(table) for table in tables)


def _markdown(table: Table) -> str:
    rows = table.written(lambda text: text.replace("|", r"\|"), ("**{}**".format, "<u>{}</u>".format))
    widths = [max(3, *(len(row[at]) for row in rows)) for at in range(len(rows[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [
        [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        for row in (rows[0], rule, *rows[1:])
    ]
    return "\n".join([f"{table.title}.", "", *("| " + " | ".join(line) + " |" for line in lines)])


def latex(tables: Sequence[Table]) -> str:
    """LaTeX, for the package booktabs."""
    return "\n\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    rows = table.written(_plain_latex, (r"\textbf{{{}}}".format, r"\underline{{{}}}".format))
    lines = [" & ".join(row).replace(NONE, "--") + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_plain_latex(table.title)}.}}",
            rf"\begin{{tabular}}{{l{'r' * (len(rows[0]) - 1)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _plain_latex(text: str) -> str:
    return latex_text(text).replace("±", r"$\pm$")


def comma_separated(results: Results) -> str:
    """CSV, a line a task and encoder: for spreadsheets, with all digits."""
    file = io.StringIO()
    fields = "lang task target metric encoder parameters seeds mean deviation dev hyperparameters".split()  # noqa: SIM905
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(fields)
    for (column, row), point in results.cells.items():
        found = Summary.of(point.test.values())
        lang, title, target, metric = column
        chosen = "; ".join(f"{name}={value}" for name, value in point.first["hyperparameters"].items())
        parameters = point.first.fields.get("parameters", "")
        deviation = "" if found.deviation is None else found.deviation
        figures = (found.count, found.mean, deviation, 100 * point.dev)
        writer.writerow((lang, title, target, metric, row, parameters, *figures, chosen))
    return file.getvalue().removesuffix("\n")


def comma_separated_tables(tables: Sequence[Table]) -> str:
    """CSV of tables, a line a cell, with all digits; ``spread`` is what the title says is after ±."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("table", "encoder", "column", "seeds", "mean", "spread"))
    for table in tables:
        for name, cells in zip(table.names, table.cells, strict=True):
            for column, cell in zip(table.heading[1:], cells, strict=True):
                if cell is not None:
                    spread = "" if cell.deviation is None else cell.deviation
                    writer.writerow((table.title, name, column, cell.count, cell.mean, spread))
    return file.getvalue().removesuffix("\n")


WRITERS: dict[str, Callable[[Sequence[Table]], str]] = {
    "markdown": markdown,
    "latex": latex,
    "csv": comma_separated_tables,
}


def show(tables: Sequence[Table], console: Any) -> None:
    """Writes tables to a rich console, which becomes wider where a table would be cut."""
    from rich.table import Table as Screen
    from rich.text import Text

    for table in tables:
        rows = table.written(
            lambda cell: Text(printable(cell)),
            (lambda best: Text(best.plain, "bold"), lambda second: Text(second.plain, "underline")),
        )
        screen = Screen(title=printable(table.title))
        for place, heading in enumerate(rows[0]):
            screen.add_column(heading, justify="right" if place else "left")
        for row in rows[1:]:
            screen.add_row(*row)
        wide = console.options.update(max_width=10_000)
        console.width = max(console.width, console.measure(screen, options=wide).maximum)
        console.print(screen)


def name_of(column: Column) -> str:
    """The task's title, and its target where it has several."""
    return f"{column[1]} {column[2]}".strip()


def _languages(results: Results) -> Iterator[tuple[str, list[Column]]]:
    for lang in dict.fromkeys(column[0] for column in results.columns):
        yield lang, [column for column in results.columns if column[0] == lang]


def _table(title: str, columns: Sequence[Column], rows: Sequence[str], cells: Any, **options: bool) -> Table:
    heading = ("encoder", *(f"{name_of(column)}, {column[3]}" for column in columns))
    return Table(title, heading, tuple(rows), tuple(map(tuple, cells)), **options)


def _summary(point: SeedRuns | None) -> Summary | None:
    return None if point is None else Summary.of(point.test.values())


def _difference(cells: Mapping[tuple[Column, str], SeedRuns], column: Column, row: str, against: str) -> Summary | None:
    one, two = cells.get((column, row)), cells.get((column, against))
    return None if one is None or two is None else difference(one, two)
