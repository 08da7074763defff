"""Tables of the pages, made from ``benchmarks/results``: each is a function under the name that a page's mark has."""

from __future__ import annotations

import json
import re
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
def sources() -> dict[str, dict[str, Any]]:
    """Read the parts of footers that the results do not have, by the name of their file."""
    with (RESULTS / "sources.toml").open("rb") as file:
        found: dict[str, dict[str, Any]] = tomllib.load(file)
    return found


#: Generations of processors by family and model.
GENERATIONS = {(6, 167): "Rocket Lake", (23, 1): "Zen", (25, 1): "Zen 3", (26, 2): "Zen 5"}


def processor(name: str) -> str:
    """Return a processor of an ``environment`` with its generation: ``AMD EPYC, family 25 (Zen 3)``.

    Raises:
        KeyError: its generation is not in the table.
    """
    found = re.fullmatch(r"(.+?)(?: Processor)? \(family (\d+), model (\d+)\)", name)
    if not found:
        return name
    family, model = int(found[2]), int(found[3])
    return f"{found[1].replace('(R)', '')}, family {family} ({GENERATIONS[family, model]})"


def environment(name: str, part: str = "") -> dict[str, Any]:
    """Return where a file of results, or one of its parts, was measured; empty where the file does not say."""
    if not (RESULTS / f"{name}.json").exists():
        return {}
    found = load(name)[part] if part else load(name)
    where: dict[str, Any] = found.get("environment", {}) if isinstance(found, dict) else {}
    return where


def _versions(names: Iterable[str], where: dict[str, Any]) -> str:
    """Return packages with their versions; one that the environment lacks is named with its version."""
    known = {"python": where.get("python", "")} | where.get("versions", {}) | where.get("tokenizers", {})
    known = {name.lower(): version.partition("+")[0] for name, version in known.items()}
    return ", ".join(name if " " in name else f"{name} {known[name.lower()]}" for name in names)


def footer(name: str, part: str = "") -> str:
    """Return the line below a table: date, versions, hardware and command.

    Arguments:
        name: of the file of results.
        part: of the file, where each has an ``environment`` of its own.
    """
    source, where = sources()[name], environment(name, part)
    date = where["date"][:10] if where else source["date"]
    hardware = source["hardware"].format(processor=processor(where["processor"]) if where else "")
    return f"*{date}, {_versions(source['versions'], where)}, {hardware}: `{source['command']}`.*"


def number(value: float) -> str:
    """Return a figure with three digits that count."""
    decimals = sum(abs(value) < bound for bound in (100, 10, 0.1))
    return f"{value:,.{decimals}f}"
