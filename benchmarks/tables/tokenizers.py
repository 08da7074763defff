"""Statistics of tokenizers next to the paper's, from ``intrinsic.json``."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.tables import footer, load, table
from benchmarks.timing import ROOT
from phonemic.intrinsic.measure import Measures
from phonemic.intrinsic.tabulation import Table, markdown, written

RESULT = ROOT / "benchmarks" / "results" / "intrinsic.json"
PAPER = ROOT / "benchmarks" / "paper" / "intrinsic.tsv"
IMAGES = ROOT / "docs" / "images"

#: The plots that the page shows.
PLOTS = ("intrinsic-renyi-zh", "intrinsic-ranks-zh", "intrinsic-alpha-vi", "intrinsic-fertility-vi")

Result = dict[str, Any]


def paper() -> dict[tuple[str, str, str, str], float]:
    """The paper's figures by language, measure, dataset and tokenizer."""
    with PAPER.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {(row["lang"], row["measure"], row["dataset"], row["tokenizer"]): float(row["value"]) for row in rows}


def beside(result: Result, lang: str, measure: str) -> Table:
    """A measure of each dataset: what was measured, and below it what the paper prints."""
    rows = [row for row in result["rows"] if row["lang"] == lang]
    names = sorted(dict.fromkeys(row["tokenizer"] for row in rows), key=lambda name: not name.startswith("Phonemic"))
    figures = paper()
    first = ["input"] if measure == "average_length" else []
    body = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        some = {row["tokenizer"]: row for row in rows if row["dataset"] == dataset}
        inputs = [written("average_input_length", next(iter(some.values()))["average_input_length"])] if first else []
        body.append([dataset, *inputs, *(written(measure, some.get(name, {}).get(measure)) for name in names)])
        printed = [figures.get((lang, measure, dataset, name)) for name in names]
        if any(printed):
            inputs = (
                [written("average_input_length", figures[lang, "average_input_length", dataset, ""])] if first else []
            )
            body.append(["the paper", *inputs, *(written(measure, value) for value in printed)])
    return [["dataset", *first, *names], *body]


def vocabulary(result: Result) -> Table:
    """Entries of each vocabulary."""
    sizes = {
        row["tokenizer"]: (row["lang"], row["vocab_size"]) for row in result["rows"] if row["tokenizer"] != "Phonemic"
    }
    ours = {(row["lang"], row["vocab_size"]) for row in result["rows"] if row["tokenizer"] == "Phonemic"}
    printed = {name: value for (_, measure, _, name), value in paper().items() if measure == "vocab_size"}
    body = [
        [name, f"{size:,}", f"{printed[name]:,.0f}" if name in printed else "-"] for name, (_, size) in sizes.items()
    ]
    body += [[f"Phonemic ({lang})", f"{size:,}", f"{size:,}"] for lang, size in sorted(ours)]
    return [["tokenizer", "entries", "the paper"], *body]


def coverage(result: Result) -> Table:
    """Types and occurrences, and how many of them are native, in Vietnamese."""
    keys = ("types", "native_types", "occurrences", "native_occurrences")
    figures = paper()
    body = []
    for row in result["rows"]:
        if (row["lang"], row["tokenizer"]) != ("vi", "Phonemic"):
            continue
        body.append([row["dataset"], *_covered([row[key] for key in keys])])
        printed = [figures.get(("vi", key, row["dataset"], "Phonemic")) for key in keys]
        if None not in printed:
            body.append(["the paper", *_covered(printed)])
    return [["dataset", "types", "native", "coverage", "occurrences", "native", "coverage"], *body]


def _covered(counts: list[Any]) -> list[str]:
    types, native_types, occurrences, native = counts
    return [
        *(f"{types:,.0f}", f"{native_types:,.0f}", f"{native_types / types:.0%}"),
        *(f"{occurrences:,.0f}", f"{native:,.0f}", f"{native / occurrences:.0%}"),
    ]


def forms(rows: list[Measures]) -> Table:
    """Fertility, length and Rényi efficiency of the same texts in NFC and in NFD."""
    keys = {"fertility": "fertility", "average_length": "length", "renyi_efficiency": "Rényi"}
    by_key = {(row["dataset"], row["tokenizer"], row["form"]): row for row in rows}
    body = [
        [dataset, name, *(written(key, by_key[dataset, name, form][key]) for key in keys for form in ("NFC", "NFD"))]
        for dataset, name in dict.fromkeys((row["dataset"], row["tokenizer"]) for row in rows)
    ]
    heads = [head for name in keys.values() for head in (f"{name}, NFC", "NFD")]
    return [["dataset", "tokenizer", *heads], *body]


def packed(result: Result) -> Table:
    """Fertility and length of the default and of the packed fallback next to the subword tokenizers."""
    names = ("Phonemic", "Phonemic-packed", "PhoBERT", "PhoBERT-unsegmented", "mBERT", "XLM-R")
    by_key = {(row["dataset"], row["tokenizer"]): row for row in result["rows"] if row["lang"] == "vi"}
    body = [
        [dataset, label, *(written(key, by_key.get((dataset, name), {}).get(key)) for name in names)]
        for dataset in dict.fromkeys(dataset for dataset, _ in by_key)
        for key, label in (("fertility", "fertility"), ("average_length", "length"))
    ]
    return [["dataset", "", *names], *body]


def _registered(name: str, made: Callable[[Result], Table]) -> None:
    table(f"tokenizers: {name}")(lambda: f"{markdown(made(load('intrinsic')))}\n\n{footer('intrinsic')}")


_registered("vocabulary", vocabulary)
_registered("vi coverage", coverage)
_registered("forms", lambda result: forms(result["forms"]))
_registered("packed", packed)
for _lang, _measure, _key in (
    ("zh", "renyi", "renyi_efficiency"), ("zh", "length", "average_length"), ("vi", "fertility", "fertility"),
    ("vi", "renyi", "renyi_efficiency"), ("vi", "length", "average_length"),
):  # fmt: skip
    _registered(f"{_lang} {_measure}", partial(beside, lang=_lang, measure=_key))
