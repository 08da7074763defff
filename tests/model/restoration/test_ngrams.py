"""n-gram models: their probabilities add up, the search finds what trying everything finds, files come back whole."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phonemic_bert.errors import CheckpointError
from phonemic_bert.restoration.estimation import estimate
from phonemic_bert.restoration.ngrams import Ngrams

SIZE = 7
rows = st.lists(st.lists(st.integers(1, SIZE - 1), min_size=1, max_size=6), min_size=1, max_size=12)


def stream(rows):
    return np.array([0, *(word for row in rows for word in [*row, 0])], np.uint16)


def probability(levels, history, word):
    """As a back-off model defines it, from its arrays."""
    for length in range(min(len(levels), len(history) + 1), 0, -1):
        own = [*history[len(history) - length + 1 :], word]
        level, key = levels[length - 1], sum(one << 16 * at for at, one in enumerate(reversed(own)))
        found = np.flatnonzero(level.keys == key)
        if len(found):
            return fallen(levels, history, length) + level.logs[found[0]]
    raise AssertionError("every word is a unigram")


def fallen(levels, history, length):
    total = 0.0
    for size in range(length, min(len(levels), len(history) + 1)):
        own = history[len(history) - size :]
        key = sum(one << 16 * at for at, one in enumerate(reversed(own)))
        level = levels[size - 1]
        found = np.flatnonzero(level.keys == key)
        total += level.weights[found[0]] if len(found) else 0.0
    return total


@pytest.mark.parametrize("threshold", [0.0, 0.7])
@settings(max_examples=40)
@given(rows, st.integers(2, 4))
def test_probabilities_add_up(threshold, rows, order):
    levels = estimate(stream(rows), SIZE, order, threshold)
    for row in [[], *rows]:
        for end in range(len(row) + 1):
            history = [0, *row[:end]][-(order - 1) :]
            total = sum(math.exp(probability(levels, history, word)) for word in range(SIZE))
            assert total == pytest.approx(1, abs=2e-3)


def test_what_follows_more_often_is_likelier():
    levels = estimate(stream([[1, 2, 3]] * 8 + [[1, 2, 4]] * 2 + [[5, 4]] * 9), SIZE, 3, 0.0)
    assert probability(levels, [1, 2], 3) > probability(levels, [1, 2], 4) > probability(levels, [1, 2], 5)
    assert probability(levels, [5], 4) > probability(levels, [5], 3)


def score(model, row, costs):
    """The score of a path, by the tables of the model in eight bits."""
    keys = [dict(zip(part["keys"].tolist(), range(len(part["keys"])), strict=True)) for part in model.parts[1:]]
    words, total = [0, *row, 0], sum(costs)
    for at in range(1, len(words)):
        for size in range(min(model.order, at + 1), 0, -1):
            own = words[at - size + 1 : at + 1]
            if size == 1:
                total += float(model.parts[0]["weights"][words[at - 1]]) + float(model.parts[0]["logs"][own[0]])
                break
            place = keys[size - 2].get(sum(one << 16 * at for at, one in enumerate(reversed(own))))
            if place is not None:
                total -= model.parts[size - 1]["probabilities"][place] / 16
                break
            if size > 2:
                before = keys[size - 3].get(sum(one << 16 * at for at, one in enumerate(reversed(own[:-1]))))
                total += 0 if before is None else 2 - model.parts[size - 2]["weights"][before] / 16
    return total


lattices = st.lists(
    st.lists(
        st.tuples(st.integers(1, SIZE - 1), st.integers(-3, 0)), min_size=1, max_size=4, unique_by=lambda one: one[0]
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60)
@given(rows, lattices, st.integers(2, 3))
def test_the_path_is_the_best_of_all(rows, lattice, order):
    model = Ngrams.of_levels("vi", list("abcdefg"), estimate(stream(rows), SIZE, order, 0.0))
    flat = [one for position in lattice for one in position]
    bounds = np.cumsum([0, *map(len, lattice)])
    words, costs = np.array([one[0] for one in flat], np.int32), np.array([one[1] for one in flat], np.float32)
    chosen, logs = model.paths(words, costs, bounds, np.array([0, len(lattice)]), judged=True, beam=64)
    found = score(model, words[chosen].tolist(), costs[chosen].tolist())
    best = max(score(model, *map(list, zip(*path, strict=True))) for path in product(*lattice))
    assert found == pytest.approx(best, abs=1e-3)
    for at, position in enumerate(lattice):
        others = []
        for one in position:
            path = [flat[place] if number != at else one for number, place in enumerate(chosen.tolist())]
            others.append(score(model, *map(list, zip(*path, strict=True))))
        shares = np.exp(np.array(others) - max(others))
        assert np.exp(logs[bounds[at] : bounds[at + 1]]) == pytest.approx(shares / shares.sum(), abs=1e-3)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_saved_models_come_back(tmp_path, order):
    dice = np.random.default_rng(7)
    levels = estimate(stream([dice.integers(1, SIZE, 5).tolist() for _ in range(50)]), SIZE, order, 0.5)
    made = Ngrams.of_levels("vi", list("abcdefg"), levels, {"own": np.arange(3)})
    made.save(tmp_path / "model")
    back = Ngrams.load(tmp_path / "model")
    assert (back.lang, back.words, back.order) == ("vi", made.words, order)
    assert back.more["own"].tolist() == [0, 1, 2]
    for one, other in zip(made.parts, back.parts, strict=True):
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_what_does_not_fit_is_refused():
    model = Ngrams.of_levels("vi", list("abcdefg"), estimate(stream([[1, 2]]), SIZE, 2, 0.0))
    fits = {
        "words": np.array([1, 2], np.int32),
        "costs": np.zeros(2, np.float32),
        "bounds": np.array([0, 2]),
        "rows": np.array([0, 1]),
    }
    assert model.paths(**fits)[0].shape == (1,)
    for changed in (
        {"words": np.array([1, SIZE], np.int32)},
        {"words": np.array([1, -1], np.int32)},
        {"costs": np.zeros(3, np.float32)},
        {"costs": np.full(2, np.nan, np.float32)},
        {"costs": np.full(2, -np.inf, np.float32)},
        {"bounds": np.array([0, 0, 2]), "rows": np.array([0, 2])},
        {"bounds": np.array([0, 3])},
        {"rows": np.array([0, 2])},
        {"rows": np.array([1, 0, 1])},
    ):
        with pytest.raises(ValueError, match=r"fit|not of the model|candidates|upwards|NaN"):
            model.paths(**fits | changed)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"null", b"\x80"])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(CheckpointError, match="model: damaged, or not saved n-grams"):
        Ngrams.load(tmp_path / "model")
