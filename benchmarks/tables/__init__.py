"""Tables of the pages, made from ``benchmarks/results``: each is a function under the name that a page's mark has."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1] / "results"

#: Tables by name.
TABLES: dict[str, Callable[[], str]] = {}


def table(name: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Register a function that returns Markdown."""

    def registered(make: Callable[[], str]) -> Callable[[], str]:
        TABLES[name] = make
        return make

    return registered


def register() -> None:
    """Import the modules that register tables."""
    for name in ("correctness", "headline", "models", "readings", "restoration", "spacy", "speed", "tokenizers"):
        import_module(f"benchmarks.tables.{name}")


@cache
def load(name: str) -> Any:
    """Read a JSON file of results."""
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def rows(heads: Sequence[str], body: Iterable[Sequence[str]], numbers: int | None = None) -> str:
    """Return a Markdown table whose last ``numbers`` columns (all but the first) are aligned to the right."""
    numbers = len(heads) - 1 if numbers is None else numbers
    rule = ["---"] * (len(heads) - numbers) + ["---:"] * numbers
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, rule, *body))


def bold_best(cells: Sequence[str], values: Sequence[float]) -> list[str]:
    """Return the cells with those of the largest value in bold."""
    best = max(values)
    return [f"**{cell}**" if value == best else cell for cell, value in zip(cells, values, strict=True)]


@cache
def _sources() -> dict[str, dict[str, str]]:
    with (RESULTS / "sources.toml").open("rb") as file:
        return tomllib.load(file)


def footer(name: str) -> str:
    """Return the line below a table: date, version, hardware and command."""
    source = _sources()[name]
    return f"*{source['date']}, {source['version']}, {source['hardware']}: `{source['command']}`.*"


def number(value: float) -> str:
    """Return a figure with three digits that count."""
    decimals = sum(abs(value) < bound for bound in (100, 10, 0.1))
    return f"{value:,.{decimals}f}"
