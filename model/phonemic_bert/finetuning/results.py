"""The result files of a folder: read, told apart by their settings, and the point of the grid chosen."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from phonemic.errors import InputError
from phonemic.files.jsons import loads

FORMAT = 1

#: The fields of a result file, and their types.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "task": str, "target": (str, type(None)), "title": str, "lang": str, "metric": str, "encoder": str, "seed": int,
    "hyperparameters": dict, "settings": dict, "dev": dict, "test": dict,
}  # fmt: skip
#: What else tells runs apart whose scores may not be averaged.
_CONDITIONS = ("settings", "divided", "limits")
#: Settings that say how a run is computed, not what.
_HOW = ("machine", "grid")

Scores = Mapping[int, float]
Column = tuple[str, str, str, str]  # language, title, target, metric


@dataclass(frozen=True)
class Result:
    """One run.

    Attributes:
        path: its file.
        key: the part of the file's name before the seed: a hash over all that determines the run but the seed.
        fields: what is in the file.
    """

    path: Path
    key: str
    fields: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    @property
    def column(self) -> Column:
        """The column that scores are comparable within: language, title, target and metric."""
        target = self["target"] if self["target"] not in (None, "label") else ""
        return self["lang"], self["title"], target, self["metric"]

    @property
    def conditions(self) -> dict[str, Any]:
        """The settings in which runs of one encoder on one task may differ, but a mean's may not; flat."""
        found: dict[str, Any] = {}
        for name in _CONDITIONS:
            _flatten("" if name == "settings" else name, self.fields.get(name), found)
        return {name: value for name, value in found.items() if name.partition(".")[0] not in _HOW}

    def score(self, fold: str) -> float:
        """The task's metric on dev or test, from 0 to 1."""
        return float(self[fold][self["metric"]])


@dataclass(frozen=True)
class SeedRuns:
    """The runs of one encoder on one task at one point of the grid, which differ by nothing but their seeds."""

    runs: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """One of the runs, for what they have in common."""
        return self.runs[0]

    @property
    def dev(self) -> float:
        """The mean score on the dev sets."""
        return fmean(run.score("dev") for run in self.runs)

    @property
    def test(self) -> Scores:
        """The score on the test set by seed."""
        return {run["seed"]: run.score("test") for run in self.runs}

    def noise(self) -> Mapping[str, Mapping[float, Scores]]:
        """The score on the noised test set: by the noise and its options, its ratio, and the seed."""
        found: dict[str, dict[float, dict[int, float]]] = {}
        for run in self.runs:
            for one in run.fields.get("noise") or ():
                options = ", ".join(f"{name}={value}" for name, value in (one.get("options") or {}).items())
                name = f"{one['name']} ({options})" if options else one["name"]
                scores = found.setdefault(name, {}).setdefault(float(one["ratio"]), {})
                scores[run["seed"]] = float(one["test"][run["metric"]])
        return found


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation (n - 1; None of one score) and number of scores, the first two times 100."""

    mean: float
    deviation: float | None
    count: int

    @classmethod
    def of(cls, scores: Iterable[float]) -> Summary:
        """The mean of scores from 0 to 1."""
        values = [100 * score for score in scores]
        return cls(fmean(values), stdev(values) if len(values) > 1 else None, len(values))


@dataclass(frozen=True)
class Results:
    """The results of a folder.

    Attributes:
        cells: the chosen point by column (see :attr:`Result.column`) and row. A row is an encoder; where runs of it
            on one task differ in their conditions, what they differ in is behind its name.
        problems: what was left out and why, and where rows are not comparable.
    """

    cells: Mapping[tuple[Column, str], SeedRuns]
    problems: tuple[str, ...]

    @property
    def columns(self) -> list[Column]:
        """The columns, in order."""
        return list(dict.fromkeys(column for column, _ in self.cells))

    def rows(self, lang: str) -> list[str]:
        """The rows of a language."""
        return sorted({row for column, row in self.cells if column[0] == lang})


def read(folder: Path) -> Results:
    """Reads all result files below a folder and chooses the point of the grid by its mean score on dev.

    Of several points only those with the most seeds are chosen from, so that one seed's luck wins nothing.

    Arguments:
        folder: what ``phonemic-bert finetune --results`` was given.

    Raises:
        InputError: there is no such folder, or no result in it.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    results, problems = [], []
    for path in sorted(folder.rglob("*.json")):
        if (path.parent / "config.json").exists():
            continue  # of a model that was saved there
        try:
            results.append(_result(path))
        except (ValueError, OSError) as error:
            problems.append(f"{path}: left out: {error}")
    if not results:
        raise InputError("\n".join([f"{folder}: holds no result of phonemic-bert finetune", *problems]))
    columns: dict[Column, dict[str, dict[str, list[Result]]]] = defaultdict(lambda: defaultdict(dict))
    for result in results:
        columns[result.column][result["encoder"]].setdefault(_canonical(result.conditions), []).append(result)
    cells: dict[tuple[Column, str], SeedRuns] = {}
    for column, encoders in sorted(columns.items()):
        for encoder, by_conditions in sorted(encoders.items()):
            for conditions, apart in _told_apart(list(by_conditions)).items():
                row = f"{encoder} [{apart}]" if apart else encoder
                cells[column, row] = _chosen(by_conditions[conditions], problems)
        _compare(column, {row: point for (found, row), point in cells.items() if found == column}, problems)
    return Results(cells, tuple(problems))


def difference(point: SeedRuns, other: SeedRuns) -> Summary | None:
    """The mean difference over the seeds that both have, and its standard error in place of the deviation; times 100.

    None where they have no seed in common.
    """
    one, two = point.test, other.test
    common = sorted(set(one) & set(two))
    if not common:
        return None
    found = Summary.of(one[seed] - two[seed] for seed in common)
    error = None if found.deviation is None else found.deviation / math.sqrt(found.count)
    return Summary(found.mean, error, found.count)


def _result(path: Path) -> Result:
    """One file.

    Raises:
        ValueError: it is not one.
    """
    try:
        fields = loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(fields, dict) or "format" not in fields or "seed" not in fields:
        raise ValueError("is not a result of phonemic-bert finetune")
    if fields["format"] != FORMAT:
        raise ValueError(f"format {fields['format']!r}, but this version reads {FORMAT}")
    for name, kind in _FIELDS.items():
        if name not in fields or not isinstance(fields[name], kind):
            raise ValueError(f"{name} is missing or of the wrong type")
    scores = [fields["dev"], fields["test"], *(one.get("test") for one in _noise(fields))]
    for found in scores:
        score = found.get(fields["metric"]) if isinstance(found, dict) else None
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise ValueError(f"a score of {fields['metric']} is missing or not a number")
    return Result(path, path.stem.rpartition("-seed-")[0], fields)


def _noise(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    noise = fields.get("noise") or []
    if not isinstance(noise, list) or not all(isinstance(one, dict) and {"name", "ratio"} <= set(one) for one in noise):
        raise ValueError("noise is not a list of objects with name and ratio")
    for one in noise:
        ratio, options = one["ratio"], one.get("options") or {}
        known = isinstance(ratio, int | float) and not isinstance(ratio, bool) and 0 <= ratio <= 1
        if not known or not isinstance(one["name"], str) or not isinstance(options, dict):
            raise ValueError("a noise's name, ratio or options are of the wrong type")
    return noise


def _chosen(runs: Sequence[Result], problems: list[str]) -> SeedRuns:
    """The point of the grid with the best mean score on dev; says what it does not choose from."""
    first = runs[0]
    where = f"{first['title']}, {first['encoder']}"
    points: dict[tuple[str, str], dict[int, Result]] = defaultdict(dict)
    for run in runs:
        seeds = points[_canonical(run["hyperparameters"]), run.key]
        if run["seed"] in seeds:
            problems.append(f"{run.path}: left out: {seeds[run['seed']].path} is the same run")
        seeds.setdefault(run["seed"], run)
    if len({hyperparameters for hyperparameters, _ in points}) < len(points):
        keys = ", ".join(sorted({key for _, key in points}))
        told = f"the runs {keys} differ in the encoder's weights, the data or how they were computed"
        problems.append(f"{where}: {told}; not averaged together")
    most = max(map(len, points.values()))
    short = sum(len(seeds) < most for seeds in points.values())
    if short:
        problems.append(f"{where}: {short} of {len(points)} points of the grid have not all {most} seeds; left out")
    whole = [SeedRuns(tuple(seeds[seed] for seed in sorted(seeds))) for seeds in points.values() if len(seeds) == most]
    return max(whole, key=lambda point: point.dev)


def _told_apart(several: Sequence[str]) -> dict[str, str]:
    """The labels that tell conditions apart: the settings in which they differ; empty for one alone."""
    loaded = [loads(conditions) for conditions in several]
    names = sorted({name for one in loaded for name in one if len({_canonical(a.get(name)) for a in loaded}) > 1})
    return {
        conditions: ", ".join(f"{name.rpartition('.')[2]}={one.get(name)}" for name in names)
        for conditions, one in zip(several, loaded, strict=True)
    }


def _compare(column: Column, points: Mapping[str, SeedRuns], problems: list[str]) -> None:
    """Says where the rows of a column were not run under the same conditions."""
    conditions = {row: _canonical(point.first.conditions) for row, point in points.items()}
    apart = _told_apart(sorted(set(conditions.values())))
    if len(apart) > 1:
        said = "; ".join(f"{row} {apart[found]}" for row, found in conditions.items())
        problems.append(f"{column[1]}: the rows were not run under the same settings: {said}")


def _flatten(name: str, value: Any, found: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _flatten(f"{name}.{key}" if name else str(key), inner, found)
    else:
        found[name] = value


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
