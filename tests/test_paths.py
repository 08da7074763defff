"""The search of best paths in the core: what trying every path finds, whatever the tables and the bounds are."""

import math
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from phonemic.native._paths import build, paths

SIZE = 6
#: Nats by which a path that is behind the best one so far is given up.
HOPELESS = 12
ngram = st.lists(st.integers(0, SIZE - 1), min_size=2, max_size=4).map(tuple)
lattices = st.lists(
    st.lists(
        st.lists(
            st.tuples(st.integers(1, SIZE - 1), st.integers(-4, 0)),
            min_size=1,
            max_size=3,
            unique_by=lambda one: one[0],
        ),
        max_size=4,
    ),
    max_size=3,
)


@st.composite
def tables(draw):
    """n-grams with probabilities and weights; what an n-gram begins with is one, too.

    No weight is above 0, so that no word is more than certain: the search relies on that.
    """
    asked = draw(st.lists(ngram, max_size=25))
    closed = sorted({one[:size] for one in asked for size in range(2, len(one) + 1)}, key=lambda one: (len(one), one))
    return {one: (draw(st.integers(0, 255)), draw(st.integers(32, 255))) for one in closed}


def packed(words):
    return sum(word << 16 * at for at, word in enumerate(reversed(words)))


def table_of(ngrams):
    return build(
        np.array([packed(one) for one in ngrams], np.uint64),
        np.array([len(one) for one in ngrams], np.uint8),
        np.array([one for one, _ in ngrams.values()], np.uint8),
        np.array([one for _, one in ngrams.values()], np.uint8),
    )


def score(ngrams, unigrams, weights, order, words, costs):
    """The score of a row, as a model that falls back to shorter histories defines it."""
    return begun(ngrams, unigrams, weights, order, (*words, 0), costs)


def begun(ngrams, unigrams, weights, order, words, costs):
    """The same of the beginning of a row."""
    row, total = (0, *words), float(sum(costs))
    for at in range(1, len(row)):
        for size in range(min(order, at + 1), 0, -1):
            own = row[at - size + 1 : at + 1]
            if size == 1:
                total += float(weights[row[at - 1]]) + float(unigrams[own[0]])
            elif own in ngrams:
                total -= ngrams[own][0] / 16
                break
            elif size > 2 and own[:-1] in ngrams:
                total += 2 - ngrams[own[:-1]][1] / 16
    return total


@example(
    {(0, 0): (0, 0), (0, 1): (0, 0), (0, 0, 0): (0, 0), (0, 1, 1): (0, 0)},
    [[[(1, 0)], [(1, 0), (2, -1)]]],
    4,
    Random(1),
)
@settings(max_examples=150, deadline=None)
@given(tables(), lattices, st.integers(2, 4), st.randoms(use_true_random=False))
def test_the_best_of_all_paths(ngrams, rows, order, dice):
    unigrams = np.array([-dice.random() * 9 for _ in range(SIZE)], np.float32)
    weights = np.array([-dice.random() for _ in range(SIZE)], np.float32)
    flat = [one for row in rows for position in row for one in position]
    bounds = np.cumsum([0, *(len(position) for row in rows for position in row)]).astype(np.int64)
    ends = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    words = np.array([one for one, _ in flat], np.int32)
    costs = np.array([one for _, one in flat], np.float32)
    chosen, logs = paths(table_of(ngrams), unigrams, weights, order, words, costs, bounds, ends, 1000, True)
    own = {one: value for one, value in ngrams.items() if len(one) <= order}
    at = 0
    for row in rows:
        path = [flat[place] for place in chosen[at : at + len(row)]]
        scores = {
            one: score(own, unigrams, weights, order, *(zip(*one, strict=True) if one else ((), ())))
            for one in product(*row)
        }
        best = max(scores, key=scores.__getitem__)
        behind = [
            max(begun(own, unigrams, weights, order, *zip(*one, strict=True)) for one in product(*row[:size]))
            - begun(own, unigrams, weights, order, *zip(*best[:size], strict=True))
            for size in range(1, len(row) + 1)
        ]
        if row and max(behind) < HOPELESS:
            assert scores[tuple(path)] == pytest.approx(scores[best], abs=1e-3)
        for number, position in enumerate(row):
            others = [
                scores[tuple(one if here == number else path[here] for here in range(len(row)))] for one in position
            ]
            shares = np.exp(np.array(others) - max(others))
            begin, end = bounds[at + number : at + number + 2]
            assert np.exp(logs[begin:end]) == pytest.approx(shares / shares.sum(), abs=1e-3)
        at += len(row)


@pytest.mark.parametrize("beam", [1, 2, 7, 4096])
def test_long_rows_and_many_candidates(beam):
    dice = np.random.default_rng(3)
    ngrams = {tuple(one): (9, 30) for one in dice.integers(1, 1500, (4000, 2)).tolist()}
    count = np.array([1024, 1, *dice.integers(1, 40, 1500)])
    bounds = np.concatenate([[0], count.cumsum()]).astype(np.int64)
    words = dice.integers(1, 1500, bounds[-1]).astype(np.int32)
    rows = np.array([0, 0, 700, len(count), len(count)], np.int64)
    ones = np.full(1500, -7, np.float32)
    chosen, logs = paths(
        table_of(ngrams), ones, ones, 2, words, np.zeros(len(words), np.float32), bounds, rows, beam, True
    )
    assert ((bounds[:-1] <= chosen) & (chosen < bounds[1:])).all()
    assert np.add.reduceat(np.exp(logs), bounds[:-1]) == pytest.approx(np.ones(len(count)), abs=1e-3)


FITS = {
    "cells": table_of({(1, 2): (3, 4)}),
    "unigrams": np.zeros(SIZE, np.float32),
    "weights": np.zeros(SIZE, np.float32),
    "order": 2,
    "words": np.array([1, 2], np.int32),
    "costs": np.zeros(2, np.float32),
    "bounds": np.array([0, 2]),
    "rows": np.array([0, 1]),
    "beam": 8,
    "judged": True,
}


@pytest.mark.parametrize(
    "changed",
    [
        {"cells": np.zeros(3, np.uint64)},
        {"cells": np.zeros(0, np.uint64)},
        {"unigrams": np.zeros(0, np.float32)},
        {"weights": np.zeros(SIZE + 1, np.float32)},
        {"order": 1},
        {"order": 5},
        {"words": np.array([1, SIZE], np.int32)},
        {"words": np.array([-1, 1], np.int32)},
        {"words": np.zeros(0, np.int32), "costs": np.zeros(0, np.float32)},
        {"costs": np.zeros(1, np.float32)},
        {"costs": np.full(2, math.nan, np.float32)},
        {"costs": np.full(2, math.inf, np.float32)},
        {"costs": np.full(2, -math.inf, np.float32)},
        {"bounds": np.zeros(0, np.int64)},
        {"bounds": np.array([1, 2])},
        {"bounds": np.array([0, -1, 2]), "rows": np.array([0, 2])},
        {"bounds": np.array([0, 2, 2]), "rows": np.array([0, 2])},
        {"rows": np.zeros(0, np.int64)},
        {"rows": np.array([0, 1, 0, 1])},
        {"rows": np.array([0, 2])},
        {"rows": np.array([-1, 1])},
        {"beam": 0},
        {"beam": -5},
    ],
)
def test_what_does_not_fit_is_refused(changed):
    with pytest.raises(ValueError, match=r"fit|candidates|upwards|not of the model|NaN"):
        paths(**FITS | changed)


@pytest.mark.parametrize("size", [0, 1, 5, 255])
def test_ngrams_of_other_lengths_are_refused(size):
    one = np.array([1], np.uint8)
    with pytest.raises(ValueError, match="2 to 4 words"):
        build(np.array([7], np.uint64), np.array([size], np.uint8), one, one)
    with pytest.raises(ValueError, match="fit"):
        build(np.array([7], np.uint64), np.array([], np.uint8), one, one)
