"""Leaves out of ``phonemic/lexicon/readings.npz`` the light windows that no reading of labelled places needs.

``python -m benchmarks.readings.pruning DATA WORK`` after ``benchmarks.readings.make``. The models of EARLIER are then
those of ``earlier.npz``, which were fitted before the words of texts were known and read these characters better.
"""

from __future__ import annotations

import argparse
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.readings import everyday, features, names, prepare
from benchmarks.readings.archive import write_arrays
from benchmarks.readings.common import HERE
from benchmarks.readings.cpp import cases
from benchmarks.readings.evidence import key_of
from benchmarks.readings.export import SLOTS_OF
from benchmarks.readings.features import SLOTS
from benchmarks.readings.make import LEAST
from benchmarks.readings.train import Examples, by_char, matrix
from phonemic.characters import DATA
from phonemic.reading.models import Model, _learnt

#: Windows of at least this weight are kept; by how much a reading must still win where it won by more.
LIGHT, SURE = 0.75, 3.0
#: Places of a character that must be read as before: of texts, and of what was made of them.
MOST, MOST_MADE = 4_000, 3_000


def needed(
    keys: NDArray[np.int64], known: NDArray[np.int64], weights: NDArray[np.float64], light: float, sure: float
) -> NDArray[np.bool_]:
    """Which windows are kept, the lightest tried first: every place is read as before, and as surely, up to ``sure``.

    Arguments:
        keys: windows of the places, (places, windows).
        known: the model's windows, sorted, (windows of the model,).
        weights: of each reading, the biases in the last row, (windows of the model + 1, readings).
        light: heavier windows are kept, as are windows at none of the places.
        sure: in the unit of the weights.
    """
    found = matrix(keys, known).tocsc()
    scores = np.asarray(found @ weights)
    best = scores.argmax(1)
    least = np.minimum(_margins(scores, best), sure)
    spread = np.ptp(weights[:-1], 1)
    kept = np.ones(len(known), bool)
    for window in spread.argsort(kind="stable").tolist():
        rows = found.indices[found.indptr[window] : found.indptr[window + 1]]
        if spread[window] >= light:
            break
        if len(rows):
            without = scores[rows] - weights[window]
            if (_margins(without, best[rows]) >= least[rows]).all():
                scores[rows], kept[window] = without, False
    return kept


def _margins(scores: NDArray[np.float64], best: NDArray[np.intp]) -> NDArray[np.float64]:
    """By how much a reading of each place leads the next one."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, best] = -np.inf
    found: NDArray[np.float64] = scores[rows, best] - others.max(1)
    return found


def pruned(model: Model, keys: NDArray[np.int64]) -> Model:
    """The model without windows that no place of these windows needs."""
    order = sorted(model.rows, key=key_of)
    known = np.array([*map(key_of, order)], np.int64)
    weights = np.array([*([0, *model.rows[feature]] for feature in order), model.bias], float)
    unit = np.ptp(weights[:-1], 1).min() / LEAST  # the lightest window that is exported weighs LEAST
    seen = keys[:, [SLOTS_OF.index(slot) for slot in range(model.slots)]]
    kept = needed(seen, known, weights, LIGHT * unit, SURE * unit)
    rows = {feature: model.rows[feature] for feature, keep in zip(order, kept, strict=True) if keep}
    return Model(model.readings, model.bias, rows, slots=model.slots)


def places(data: Path, work: Path) -> dict[str, NDArray[np.int64]]:
    """The windows of labelled places, of CPP's development set and of our sentences, by character."""
    found = dict[str, list[NDArray[np.int64]]]()

    def add(examples: Examples, most: int) -> None:
        for char, rows in by_char(examples, most).items():
            found.setdefault(chr(char), []).append(rows.keys[:, :SLOTS])

    for name in ("examples", "tagged"):
        texts, made = pickle.loads((work / f"{name}.pkl").read_bytes())
        add(texts, MOST)
        add(made, MOST_MADE)
    add(pickle.loads((work / "framed.pkl").read_bytes()), MOST_MADE)
    judged = [*cases(data / "zh" / "cpp"), *everyday.sentences()]
    where = features.places([case.text for case in judged], [case.at for case in judged])
    keys = prepare.setting(work / "setting.pkl").keys(where)[:, :SLOTS]
    for case, row in zip(judged, keys, strict=True):
        found.setdefault(case.char, []).append(row[None])
    return {char: np.concatenate(rows) for char, rows in found.items()}


def main() -> None:
    """Writes the file again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    arguments = parser.parse_args()
    path = DATA / "readings.npz"
    with np.load(path) as file, np.load(HERE / "earlier.npz") as before:
        made, earlier = ({name: each[name] for name in each.files} for each in (file, before))
    named = names.FAMILIES.keys() | {case.char for case in names.sentences()}
    seen = places(arguments.data, arguments.work)
    models = {
        char: pruned(model, seen[char]) if char in seen.keys() - named and model.rows else model
        for char, model in _learnt(made).items()
    }
    write_arrays(path, made | columns(models | _learnt(earlier), made["names"].tolist()))


def columns(models: dict[str, Model], named: list[str]) -> dict[str, NDArray[Any]]:
    """The arrays that :func:`export.export` writes of models."""
    numbers = {name: number for number, name in enumerate(named)}
    rows = [model for _, model in sorted(models.items())]
    windows = [(feature, row) for model in rows for feature, row in sorted(model.rows.items())]
    slots, firsts, seconds = zip(*(feature for feature, _ in windows), strict=True)
    readings = [numbers[name] for model in rows for name in model.readings[: len(model.bias)]]
    return {
        "chars": np.array(sorted(map(ord, models)), np.uint32),
        "counts": np.array([len(model.bias) for model in rows], np.uint8),
        "readings": np.array(readings, np.uint16),
        "bias": np.array([bias for model in rows for bias in model.bias], np.int32),
        "windows": np.array([model.slots for model in rows], np.uint8),
        "sizes": np.array([len(model.rows) for model in rows], np.int32),
        "slots": np.array(slots, np.uint8),
        "firsts": np.array(firsts, np.uint16),
        "seconds": np.array(seconds, np.uint16),
        "weights": np.array([weight for _, row in windows for weight in row], np.int16),
    }


if __name__ == "__main__":
    main()
