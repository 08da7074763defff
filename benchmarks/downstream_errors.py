"""Errors of the downstream runs, counted in their predictions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic_bert.finetuning.results import Results, SeedRuns, Summary
from phonemic_bert.finetuning.tabulation import Table
from phonemic_bert.inspection.confusions import (
    CORRECT,
    MISSED,
    SPURIOUS,
    WRONG_BOTH,
    WRONG_BOUNDARY,
    WRONG_LABEL,
    outcomes_of,
)
from phonemic_bert.inspection.predictions import PredictionRecord, read_predictions

OUTCOMES = (CORRECT, WRONG_BOUNDARY, WRONG_LABEL, WRONG_BOTH, MISSED, SPURIOUS)

#: The row of what is in the test set.
GOLD = "the most frequent label"


def error_tables(results: Results) -> Iterator[Table]:
    """Tables of the errors of one language's runs; of runs without predictions nothing.

    First, how often the label that is predicted most often is predicted: near 100 % the model has learned no more than
    which label is frequent, and the row of gold labels says what that scores. Then, for each task with span F1, what
    became of the gold spans, and what was found besides, per 100 gold spans.
    """
    shares: dict[str, dict[str, Summary]] = defaultdict(dict)
    spans: dict[str, dict[str, list[Summary]]] = defaultdict(dict)
    for (column, row), point in results.cells.items():
        title = " ".join(filter(None, column[1:3]))
        read = [read_predictions(str(path)) for path in _predictions(point)]
        if not read:
            continue
        runs, forms = zip(*read, strict=True)
        if forms[0] == "label":
            shares[row][title] = Summary.of(_most_frequent([one.predicted for one in run]) for run in runs)
            shares[GOLD][title] = Summary.of([_most_frequent([one.gold for one in runs[0]])])
        elif column[-1] == "span-f1":
            counted = [_outcomes(run) for run in runs]
            spans[title][row] = [Summary.of(one[name] for one in counted) for name in OUTCOMES]
    titles = sorted({title for row in shares.values() for title in row})
    names = [*sorted(shares.keys() - {GOLD}), *([GOLD] if shares else [])]
    if titles:
        cells = tuple(tuple(shares[name].get(title) for title in titles) for name in names)
        heading = ("encoder", *titles)
        yield Table("Share of the label that is predicted most often, %", heading, tuple(names), cells, ranked=False)
    for title, rows in sorted(spans.items()):
        cells = tuple(tuple(rows[row]) for row in sorted(rows))
        yield Table(f"{title}: per 100 gold spans", ("encoder", *OUTCOMES), tuple(sorted(rows)), cells, ranked=False)


def _predictions(point: SeedRuns) -> Iterator[Path]:
    for run in point.runs:
        path = run.path.with_suffix(".predictions.jsonl")
        if path.exists():
            yield path


def _most_frequent(labels: Sequence[str]) -> float:
    return Counter(labels).most_common(1)[0][1] / len(labels)


def _outcomes(records: Sequence[PredictionRecord]) -> dict[str, float]:
    counts = Counter(one.outcome for record in records for one in outcomes_of("spans", record))
    gold = max(counts.total() - counts[SPURIOUS], 1)
    return {name: counts[name] / gold for name in OUTCOMES}
