"""Fits the models of readings in context: to the teachers' labels, then to CPP's dev set, judged fold by fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.readings import features, labels
from benchmarks.readings.cpp import Case, fold_of
from benchmarks.readings.features import Places, Voter

MOST_EXAMPLES, RAREST, FOLDS = 5_000, 3, 5
#: The weight of a phrase's vote by its tier, and of the usual reading, before any example.
TRUST, FIRST = (3.5, 3.0, 2.5, 2.0, 2.5, 2.0, 1.5, 1.0, 2.0, 1.5, 1.0, 0.5), 1.0


#: Steps of a fit that moves a model where nothing holds it.
ALONE = 60


class Examples(NamedTuple):
    """Places of polyphones: the character, its features, and how probable each of a few readings is."""

    chars: NDArray[np.uint32]
    keys: NDArray[np.int64]
    readings: NDArray[np.int32]
    shares: NDArray[np.float32]

    def and_more(self, other: Examples) -> Examples:
        """Both, one behind the other."""
        columns: Any = zip(self, other, strict=True)
        return Examples(*(np.concatenate(column) for column in columns))


class Marked(NamedTuple):
    """Places and how probable each of a few readings is there, (places, MOST)."""

    where: Places
    readings: NDArray[np.int32]
    shares: NDArray[np.float32]

    def examples(self, keys: Callable[[Places], NDArray[np.int64]]) -> Examples:
        """The places with their features."""
        return Examples(self.where.points[self.where.at], keys(self.where), self.readings, self.shares)


class Sentences(NamedTuple):
    """Sentences of one character: its features, how it is read, and how much each sentence weighs."""

    keys: NDArray[np.int64]
    gold: NDArray[np.int32]
    weight: NDArray[np.float64]

    def and_more(self, other: Sentences | None) -> Sentences:
        """Both, one behind the other."""
        if other is None:
            return self
        both = np.concatenate([self.keys, other.keys]), np.concatenate([self.gold, other.gold])
        return Sentences(*both, np.concatenate([self.weight, other.weight]))


class Model(NamedTuple):
    """A character's readings, its sorted features, and their weights, (features + 1, readings); the bias is last."""

    readings: NDArray[np.int32]
    keys: NDArray[np.int64]
    weights: NDArray[np.float64]

    def scores(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """(places, readings)."""
        found: NDArray[np.float64] = matrix(keys, self.keys) @ self.weights
        return found


def matrix(keys: NDArray[np.int64], known: NDArray[np.int64]) -> sp.csr_matrix:
    """Features as a sparse matrix of ones over the known features and the bias."""
    at = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
    there = (known[at] == keys) & (keys >= 0) if len(known) else np.zeros(keys.shape, bool)
    columns = np.concatenate([at, np.full((len(keys), 1), len(known))], 1)
    there = np.concatenate([there, np.ones((len(keys), 1), bool)], 1)
    ends = np.concatenate([[0], there.sum(1).cumsum()])
    ones = np.ones(ends[-1], np.float32)
    return sp.csr_matrix((ones, columns[there], ends), shape=(len(keys), len(known) + 1))


def fit(
    x: sp.csr_matrix,
    target: NDArray[np.float64],
    start: NDArray[np.float64],
    ridge: float,
    steps: int,
) -> NDArray[np.float64]:
    """Multinomial logistic weights for soft targets, held near ``start``."""
    turned = x.T.tocsr()

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(start.shape)
        scores = x @ weights
        scores -= scores.max(1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        moved = weights - start
        gradient = turned @ (np.exp(logs) * target.sum(1, keepdims=True) - target) + ridge * moved
        return -(target * logs).sum() + 0.5 * ridge * (moved * moved).sum(), gradient.ravel()

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps})
    fitted: NDArray[np.float64] = found.x.reshape(start.shape)
    return fitted


def _shares_of(files: Sequence[Path], most: int) -> NDArray[np.float64]:
    """How large a share of the labelled places of each character is kept, (0x110000,)."""
    counts = np.zeros(0x110000, np.int64)
    for file in files:
        with np.load(file) as loaded:
            counts += np.bincount(loaded["text"][loaded["places"]], minlength=0x110000)
    return np.minimum(1.0, most / np.maximum(counts, 1))


def taught(
    folder: Path,
    voters: list[Voter],
    weights: NDArray[np.float64],
    final: Voter,
    most: int = MOST_EXAMPLES,
    only: Iterable[int] | None = None,
) -> Marked:
    """About so many places of each polyphone, or of these, drawn from all texts, as all teachers together read them.

    Words of ``final`` are read as it has them, whatever the teachers say.
    """
    chosen = None if only is None else np.array([*only], np.uint32)
    files = sorted(folder.glob("*-*.npz"))
    share, dice, made = _shares_of(files, most), np.random.default_rng(0), list[Marked]()
    for file in files:
        with np.load(file) as loaded:
            where = features.spread(loaded["text"], loaded["starts"], loaded["places"], loaded["begins"])
            told, sure = loaded["classes"].astype(np.int32), loaded["sure"]
        chars = where.points[where.at]
        kept = dice.random(len(chars)) < share[chars]
        if chosen is not None:
            kept &= np.isin(chars, chosen)
        where = where._replace(at=where.at[kept])
        readings, votes = labels.candidates(labels.opinions(where, told[kept], sure[kept], voters))
        shares = labels.shares(votes @ weights, readings).astype(np.float32)
        said, _ = final.longest(where)
        readings[said >= 0], shares[said >= 0] = -1, 0
        readings[said >= 0, 0], shares[said >= 0, 0] = said[said >= 0], 1
        made.append(Marked(where, readings, shares))
    return joined(made)


def joined(parts: Sequence[Marked]) -> Marked:
    """Places of several texts, one behind the other."""
    begins = np.cumsum([0, *(len(part.where.points) for part in parts[:-1])])
    spans = [
        part.where.words + begin for part, begin in zip(parts, begins, strict=True) if part.where.words is not None
    ]
    where = Places(
        np.concatenate([part.where.points for part in parts]),
        np.concatenate([part.where.at + begin for part, begin in zip(parts, begins, strict=True)]),
        np.concatenate(spans, 1),
    )
    columns = [(part.readings, part.shares) for part in parts]
    return Marked(where, *(np.concatenate(column) for column in zip(*columns, strict=True)))


def targets(examples: Examples, readings: NDArray[np.int32]) -> NDArray[np.float64]:
    """(places, readings): the examples' shares in the order of the readings of a character."""
    return np.stack([(examples.shares * (examples.readings == reading)).sum(1) for reading in readings], 1)


def prior(known: NDArray[np.int64], readings: NDArray[np.int32], first: int) -> NDArray[np.float64]:
    """Weights before any example: a phrase's vote is for its reading, and the first reading is the usual one."""
    weights = np.zeros((len(known) + 1, len(readings)))
    for number in range(len(features.VOTES)):
        for tier, trust in enumerate(TRUST):
            votes = features.vote_key(number, tier << features.TIER_BITS | readings.astype(np.int64))
            at = np.minimum(np.searchsorted(known, votes), max(len(known) - 1, 0))
            for column, (place, vote) in enumerate(zip(at, votes, strict=True)):
                if len(known) and known[place] == vote:
                    weights[place, column] = trust if number < features.AGAINST else -trust
    weights[-1, readings == first] = FIRST
    return weights


def votes_for(readings: NDArray[np.int32]) -> NDArray[np.int64]:
    """Every vote that a phrase can cast for one of the readings."""
    return np.concatenate(
        [
            features.vote_key(number, tier << features.TIER_BITS | readings.astype(np.int64))
            for number in range(len(features.VOTES))
            for tier in range(len(TRUST))
        ]
    )


def teach(
    examples: Examples, candidates: dict[int, list[int]], ridge: float, steps: int, only: frozenset[int] | None = None
) -> dict[int, Model]:
    """A model for each polyphone from the teachers' labels.

    Arguments:
        examples: what the teachers say.
        candidates: character -> its readings, the usual one first.
        ridge: how strongly weights are held near what is known before.
        steps: of the fit.
        only: the characters, None for all of ``candidates``.
    """
    order = examples.chars.argsort(kind="stable")
    chars, starts = np.unique(examples.chars[order], return_index=True)
    groups = dict(zip(chars.tolist(), np.split(order, starts[1:]), strict=True))
    models = {}
    for char in sorted(only or candidates):
        rows = groups.get(char, np.zeros(0, np.int64))
        own = Examples(examples.chars[rows], examples.keys[rows], examples.readings[rows], examples.shares[rows])
        readings = np.unique(candidates[char]).astype(np.int32)
        known, times = np.unique(own.keys, return_counts=True)
        known = np.union1d(known[(times >= RAREST) & (known >= 0)], votes_for(readings))
        weights = prior(known, readings, candidates[char][0])
        if len(readings) > 1 and len(rows):
            target = np.round(targets(own, readings) * 50) / 50  # what is all but sure is sure
            weights = fit(matrix(own.keys, known), target, weights, ridge, steps)
        models[char] = Model(readings, known, weights)
    return models


def by_char(examples: Examples, most: int) -> dict[int, Examples]:
    """At most so many examples of each character, as far apart as they can be."""
    order = examples.chars.argsort(kind="stable")
    chars, starts = np.unique(examples.chars[order], return_index=True)
    groups = zip(chars.tolist(), np.split(order, starts[1:]), strict=True)
    found = {}
    for char, own in groups:
        rows = own[np.linspace(0, len(own) - 1, min(most, len(own))).astype(int)]
        found[char] = some(examples, rows)
    return found


def adapt(model: Model, sentences: Sentences, ridge: float, kept: Examples | None, steps: int) -> Model:
    """The model moved towards what people read; features that only their sentences have are added.

    Arguments:
        model: as the teachers have it.
        sentences: what people read; each has a weight, that of ``kept`` is 1.
        ridge: how strongly the weights are held near the model's.
        kept: what is still to be read as before. People's sentences are chosen for their rare readings: fitted to them
            alone, 什 is *shí* and 部分 *bù fēn*.
        steps: of the fit, where there are such.
    """
    keys, gold, weight = sentences
    known = np.union1d(model.keys, keys[keys >= 0])
    readings = np.union1d(model.readings, gold).astype(np.int32)
    if len(readings) < 2:
        return model._replace(readings=readings, weights=np.zeros((len(model.keys) + 1, len(readings))))
    start = np.zeros((len(known) + 1, len(readings)))
    columns = np.searchsorted(readings, model.readings)
    if len(model.readings):
        lowest = model.weights[-1].min() - 2.0
        start[-1] = lowest  # a reading that the teachers never give
        start[np.ix_(np.append(np.searchsorted(known, model.keys), len(known)), columns)] = model.weights
    target = weight[:, None] * (gold[:, None] == readings[None, :]).astype(float)
    if kept is None:
        return Model(readings, known, fit(matrix(keys, known), target, start, ridge, ALONE))
    target = np.concatenate([target, targets(kept, readings)])
    return Model(readings, known, fit(matrix(np.concatenate([keys, kept.keys]), known), target, start, ridge, steps))


def prune(model: Model, least: float) -> Model:
    """Without the features whose weights differ by less than ``least``; of each feature the mean weight is 0."""
    weights = model.weights - model.weights.mean(1, keepdims=True)
    kept = np.ptp(weights[:-1], 1) >= least if weights.shape[1] > 1 else np.zeros(len(model.keys), bool)
    return Model(model.readings, model.keys[kept], weights[np.append(kept, True)])


def read(models: dict[int, Model], chars: NDArray[np.uint32], keys: NDArray[np.int64]) -> NDArray[np.int32]:
    """The most probable reading of each place; -1 where there is no model."""
    found = np.full(len(chars), -1, np.int32)
    for char in np.unique(chars):
        rows = np.flatnonzero(chars == char)
        model = models.get(int(char))
        if model and len(model.readings):
            found[rows] = model.readings[model.scores(keys[rows]).argmax(1)]
    return found


def some(examples: Examples, rows: NDArray[Any]) -> Examples:
    """The examples of these rows."""
    return Examples(examples.chars[rows], examples.keys[rows], examples.readings[rows], examples.shares[rows])


def sixth(examples: Examples) -> Examples:
    """One in six, to judge by."""
    return some(examples, np.arange(len(examples.chars)) % 6 == 0)


def without_sixth(examples: Examples) -> Examples:
    """The others."""
    return some(examples, np.arange(len(examples.chars)) % 6 > 0)


def right(model: Model, examples: Examples) -> NDArray[np.bool_]:
    """Return the examples that the model reads as is most probable."""
    wanted = examples.readings[np.arange(len(examples.chars)), examples.shares.argmax(1)]
    found: NDArray[np.bool_] = model.readings[model.scores(examples.keys[:, : features.SLOTS]).argmax(1)] == wanted
    return found


def judge(
    judged: list[Case],
    keys: NDArray[np.int64],
    gold: NDArray[np.int32],
    move: Callable[[int, NDArray[np.intp]], Model],
    finish: Callable[[int, Model], Model],
) -> NDArray[np.int32]:
    """How each case is read by models that were fitted without its fold; -1 where there is none.

    Arguments:
        judged: the cases.
        keys: their features, (cases, features).
        gold: what people read.
        move: makes the model of a character that is moved towards cases, of which it is given the numbers.
        finish: makes of a character's model what is kept of it: one of windows.
    """
    fold = np.array([fold_of(case, FOLDS) for case in judged])
    chars = np.array([ord(case.char) for case in judged])
    told = np.full(len(judged), -1, np.int32)
    for char in np.unique(chars).tolist():
        rows = np.flatnonzero(chars == char)
        for number in np.unique(fold[rows]):
            fitted, tested = rows[fold[rows] != number], rows[fold[rows] == number]
            model = move(char, fitted)
            if len(model.readings):
                model = finish(char, model)
                found = model.scores(keys[tested][:, : features.SLOTS]).argmax(1)
                told[tested] = model.readings[found]
    return told
