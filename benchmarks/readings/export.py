"""Writes ``phonemic/lexicon/readings.npz``: the models with windows only, in whole numbers.

Arrays: ``names``, the readings by number. For each of ``chars`` ``counts`` of its ``readings`` and ``bias``,
how many ``windows`` are looked at, and ``sizes`` of its features. Of these ``slots``, ``firsts`` and ``seconds`` (see
``phonemic.reading.context``), with ``weights``, one for each reading but the first. In UTF-8: ``simplified``, pairs of
a traditional and a simplified character; ``traditional``, the characters of traditional text only; and ``classed``, the
characters that ``classes`` has a class of.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.readings import script
from benchmarks.readings.archive import write_arrays
from benchmarks.readings.features import SLOTS, WINDOWS
from benchmarks.readings.fold import Votes
from benchmarks.readings.labels import numbered
from benchmarks.readings.prepare import Setting, usual
from benchmarks.readings.train import Examples, Model, prune
from phonemic.reading.models import ALL_SLOTS, DECIDING, MOST_SCORED, SCRIPTS, WIDTHS

#: The number of a window here -> its slot there: those of two characters come first.
SLOTS_OF = (3, 4, 5, 6, 7, 8, 0, 1, 2, 9, 10, 11)
_SLOTS = np.array(SLOTS_OF)
_MASK = (1 << 21) - 1
#: So few places may be read otherwise by a model with fewer windows.
NARROW = 0.02


def fewer(model: Model, names: list[str]) -> Model:
    """The model with its most usual readings only, as many as may have weights; without what is not pinyin (*ging*)."""
    order = np.argsort(-model.weights[-1], kind="stable")
    kept = np.sort([at for at in order if numbered(names[model.readings[at]])][:MOST_SCORED]).astype(int)
    return Model(model.readings[kept], model.keys, model.weights[:, kept])


def whole(model: Model) -> Model:
    """The weights relative to those of the first reading, as whole numbers of as many bits as there is room for."""
    weights = model.weights - model.weights[:, :1]
    most = (1 << WIDTHS[weights.shape[1]] - 1) - 1
    scale = max(np.abs(weights[:-1]).max(initial=0) / most, 1e-9)
    rounded = np.round(weights / scale)
    kept = rounded[:-1].any(1)
    return Model(model.readings, model.keys[kept], rounded[np.append(kept, True)])


def places(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The slots of features, and the one or two numbers that stand there."""
    single = keys >> 42 == 0
    number = np.where(single, keys >> 21, keys >> 42)
    if (single & (number > 5) & (number < len(WINDOWS))).any():
        raise AssertionError("a window of two characters looks like one of one")
    first = np.where(single, keys & _MASK, keys >> 21 & _MASK)
    return _SLOTS[number], first, np.where(single, 0, keys & _MASK)


def finished(char: int, model: Model, votes: Votes, names: list[str], least: float, narrow: frozenset[int]) -> Model:
    """Return the parts of a model that are kept.

    Arguments:
        char: its character.
        model: as it was fitted.
        votes: of the phrases.
        names: of the readings.
        least: features whose weights differ by less are left out.
        narrow: the characters whose models look at the windows only that words may stand in.
    """
    folded = prune(fewer(votes.folded(model, char), names), least)
    if char in narrow:
        kept = places(folded.keys)[0] < DECIDING
        folded = Model(folded.readings, folded.keys[kept], folded.weights[np.append(kept, True)])
    return whole(folded)


def narrow_enough(
    models: dict[int, Model], examples: Examples, finish: Callable[[int, Model], Model]
) -> frozenset[int]:
    """The characters that all but NARROW of the examples read in one way by the windows only that words may stand in.

    Arguments:
        models: by character.
        examples: of the teachers.
        finish: makes of a model one of all windows.
    """
    found = set()
    order = examples.chars.argsort(kind="stable")
    chars, starts = np.unique(examples.chars[order], return_index=True)
    for char, rows in zip(chars.tolist(), np.split(order, starts[1:]), strict=True):
        if (
            len(models[char].readings) > 1
            and changed_by_fewer(finish(char, models[char]), examples.keys[rows]) < NARROW
        ):
            found.add(char)
    return frozenset(found)


def changed_by_fewer(model: Model, keys: NDArray[np.int64]) -> float:
    """The share of places that a model reads otherwise by the windows only that words may stand in."""
    keys = keys[:, :SLOTS]
    return float((model.scores(keys).argmax(1) != model.scores(few_windows(keys)).argmax(1)).mean())


def few_windows(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The features without those of windows that words may not stand in."""
    few = keys.copy()
    few[:, np.flatnonzero(_SLOTS >= DECIDING)] = -1
    return few


def export(out: Path, rows: dict[int, Model], made: Setting, narrow: frozenset[int]) -> None:
    """Writes the file.

    Arguments:
        out: the file.
        rows: the finished models, by character.
        made: what they were fitted with.
        narrow: see :func:`finished`.
    """
    rows = dict(sorted(rows.items()))
    features = []
    for model in rows.values():
        slots, first, second = places(model.keys)
        seen = (first < 1 << 16) & (second < 1 << 16)
        order = np.lexsort((second[seen], first[seen], slots[seen]))
        features.append(
            [column[seen][order] for column in (slots, first, second)] + [model.weights[:-1, 1:][seen][order]]
        )
    simplified = script.simplified()
    standard = usual()
    classed = [code for code in range(0x10000) if made.classes[code]]
    traditional = sorted(char for char in simplified if char not in standard and char not in SCRIPTS)

    def utf8(text: str) -> np.ndarray:
        return np.frombuffer(text.encode(), np.uint8)

    arrays = {
        "names": np.array(made.names),
        "chars": np.array([*rows], np.uint32),
        "counts": np.array([len(model.readings) for model in rows.values()], np.uint8),
        "readings": np.concatenate([model.readings for model in rows.values()]).astype(np.uint16),
        "bias": np.concatenate([model.weights[-1] for model in rows.values()]).astype(np.int32),
        "windows": np.array([DECIDING if char in narrow else ALL_SLOTS for char in rows], np.uint8),
        "sizes": np.array([len(columns[0]) for columns in features], np.int32),
        "slots": np.concatenate([columns[0] for columns in features]).astype(np.uint8),
        "firsts": np.concatenate([columns[1] for columns in features]).astype(np.uint16),
        "seconds": np.concatenate([columns[2] for columns in features]).astype(np.uint16),
        "weights": np.concatenate([columns[3].ravel() for columns in features]).astype(np.int16),
        "simplified": utf8("".join(char + other for char, other in sorted(simplified.items()) if char not in SCRIPTS)),
        "traditional": utf8("".join(traditional)),
        "classed": utf8("".join(map(chr, classed))),
        "classes": made.classes[classed],
    }
    write_arrays(out, arrays)
