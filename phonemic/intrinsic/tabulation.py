"""Rows of measures as tables: for the screen, Markdown, LaTeX and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

FORMATS = ("table", "json", "markdown", "latex")

#: Measure, its heading and how it is written.
COLUMNS = {
    "vocab_size": ("entries", ",d"),
    "fertility": ("fertility", ".4f"),
    "renyi_efficiency": ("Rényi", ".4f"),
    "average_input_length": ("input", ".2f"),
    "average_length": ("length", ".2f"),
    "token_coverage": ("token coverage", ".1%"),
    "type_coverage": ("type coverage", ".1%"),
    "unknown_share": ("unknown", ".2%"),
}

_LATEX = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)

Table = list[list[str]]


def written(measure: str, value: Any) -> str:
    """A figure as the tables write it; a dash where there is none."""
    return "-" if value is None else format(value, COLUMNS[measure][1])


def cells(rows: Iterable[dict[str, Any]]) -> Table:
    """A heading, and a line for each dataset and tokenizer. Chinese has no spaces, so fertility is left out there."""
    rows = list(rows)
    columns = [key for key in COLUMNS if key != "fertility" or any(row["lang"] != "zh" for row in rows)]
    heading = ["dataset", "tokenizer", *(COLUMNS[key][0] for key in columns)]
    body = [[title(row), row["tokenizer"], *(written(key, row[key]) for key in columns)] for row in rows]
    return [heading, *body]


def title(row: dict[str, Any]) -> str:
    """The dataset, and the normal form that it was put into."""
    return " ".join(filter(None, (row["dataset"], row["form"])))


def pivot(rows: Iterable[dict[str, Any]], measure: str, first: Sequence[str] = ()) -> Table:
    """One measure as the paper shows it: a line for each dataset in each form, a column for each tokenizer.

    Arguments:
        rows: rows of :func:`phonemic.intrinsic.measure`.
        measure: a key of ``COLUMNS``.
        first: measures of the dataset itself that come before the tokenizers', such as ``average_input_length``.
    """
    rows = list(rows)
    datasets = list(dict.fromkeys(title(row) for row in rows))
    names = list(dict.fromkeys(row["tokenizer"] for row in rows))
    by_key = {(title(row), row["tokenizer"]): row for row in rows}
    heading = ["dataset", *(COLUMNS[key][0] for key in first), *names]
    body = []
    for dataset in datasets:
        one = next(row for row in rows if title(row) == dataset)
        figures = [by_key.get((dataset, name), {}).get(measure) for name in names]
        body.append(
            [dataset, *(written(key, one[key]) for key in first), *(written(measure, value) for value in figures)]
        )
    return [heading, *body]


def markdown(table: Table) -> str:
    """A Markdown table; columns of figures are set to the right."""
    heading, *body = table
    rule = ["---" if not _figures(body, column) else "---:" for column in range(len(heading))]
    lines = [[cell.replace("|", r"\|") for cell in line] for line in (heading, rule, *body)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def latex(table: Table) -> str:
    """A LaTeX tabular with the rules of the package booktabs."""
    heading, *body = table
    spec = "".join("r" if _figures(body, column) else "l" for column in range(len(heading)))
    lines = [" & ".join(map(latex_text, line)) + r" \\" for line in table]
    head = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", lines[0], r"\midrule"]
    return "\n".join([*head, *lines[1:], r"\bottomrule", r"\end{tabular}"])


def latex_text(text: str) -> str:
    """A text as LaTeX writes it."""
    return text.translate(_LATEX)


def table(rows: Iterable[dict[str, Any]], form: str) -> str:
    """Rows in a text format.

    Arguments:
        rows: rows of :func:`phonemic.intrinsic.measure`.
        form: "json", "markdown" or "latex".

    Raises:
        ValueError: another format.
    """
    if form == "json":
        return json.dumps(list(rows), ensure_ascii=False, indent=2, allow_nan=False)
    writers = {"markdown": markdown, "latex": latex}
    if form not in writers:
        raise ValueError(f"no format {form!r}: choose one of json, {', '.join(writers)}")
    return writers[form](cells(rows))


def _figures(body: Table, column: int) -> bool:
    """Whether a column holds figures."""
    return all(line[column][:1].isdigit() or line[column] == "-" for line in body)
