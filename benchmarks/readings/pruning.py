"""Leaves out the windows of a model that no decision needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.readings.features import SLOTS
from benchmarks.readings.train import Model, matrix

#: By how much a reading must still win where it won by more.
SURE = 1.0


def needed(model: Model, keys: NDArray[np.int64]) -> Model:
    """The model without windows that change no reading of these places, the lightest tried first.

    Every place is read as before, and as surely, up to SURE. Windows that stand at none of the places are kept.
    """
    if len(model.readings) < 2 or not len(keys) or not len(model.keys):
        return model
    known = matrix(keys[:, :SLOTS], model.keys).tocsc()
    scores = np.asarray(known @ model.weights)
    best = scores.argmax(1)
    least = np.minimum(_margins(scores, best), SURE)
    kept = np.ones(len(model.keys), bool)
    for feature in np.ptp(model.weights[:-1], 1).argsort(kind="stable").tolist():
        rows = known.indices[known.indptr[feature] : known.indptr[feature + 1]]
        if len(rows):
            without = scores[rows] - model.weights[feature]
            if (_margins(without, best[rows]) >= least[rows]).all():
                scores[rows], kept[feature] = without, False
    return Model(model.readings, model.keys[kept], model.weights[np.append(kept, True)])


def _margins(scores: NDArray[np.float64], best: NDArray[np.intp]) -> NDArray[np.float64]:
    """By how much a reading of each place leads the next one."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, best] = -np.inf
    found: NDArray[np.float64] = scores[rows, best] - others.max(1)
    return found
