"""n-gram models of words, estimated from text: modified Kneser-Ney, pruned by what an n-gram adds to a shorter one.

Words are numbers from 0, which is between rows; an n-gram is packed 16 bits a word, the last word lowest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic.errors import InputError

Keys = NDArray[np.uint64]
Numbers = NDArray[np.float64]

_WORD = np.uint64(16)
#: Occurrences that have a discount of their own; the last is that of more.
_DISCOUNTED = 3


@dataclass
class Level:
    """The n-grams of one size, in order.

    Attributes:
        keys: packed, uint64 (N,).
        counts: occurrences; of the shorter ones the words that they were seen behind; float64 (N,).
        logs: logarithms of the probabilities, float64 (N,).
        weights: those of the weight with which what is not in the model falls back from here, float64 (N,).
    """

    keys: Keys
    counts: Numbers
    logs: Numbers
    weights: Numbers


def estimate(words: NDArray[np.integer[Any]], size: int, order: int, threshold: float) -> list[Level]:
    """Estimates a model.

    Arguments:
        words: the text as numbers, 0 between rows and at both ends; (N,).
        size: how many words there are, 65,536 at most.
        order: words of the longest n-gram.
        threshold: an n-gram is left out that makes the text less probable by fewer nats than this.

    Returns:
        The levels from unigrams on.

    Raises:
        InputError: the text is shorter than the longest n-gram by more than a word.
    """
    if len(words) < order - 1:
        raise InputError(f"a text of {len(words)} words and borders: n-grams of {order} need more")
    counted = [_counted(words, length) for length in range(1, order + 1)]
    for length in range(1, order):
        _continuations(counted[length - 1], counted[length], length)
    levels: list[Level] = []
    for length, (keys, counts) in enumerate(counted, 1):
        levels.append(_smoothed(keys, counts, length, size, levels))
    for length in range(order, 1, -1):
        _prune(levels, length, threshold)
    for length in range(2, order + 1):
        _weigh(levels, length)
    return levels


def _counted(words: NDArray[np.integer[Any]], length: int) -> tuple[Keys, Numbers]:
    """The n-grams of a length, in order, and their occurrences; a border of rows is their first word or their last."""
    count = len(words) - length + 1
    keys, inside = np.zeros(count, np.uint64), np.ones(count, bool)
    for at in range(length):
        part = words[at : at + count]
        keys = keys << _WORD | part.astype(np.uint64)
        if 0 < at < length - 1:
            inside &= part > 0
    if length > 1:
        inside &= (words[:count] > 0) | (words[length - 1 :] > 0) if length == 2 else True
        keys = keys[inside]
    found, counts = np.unique(keys, return_counts=True)
    return found, counts.astype(np.float64)


def _continuations(shorter: tuple[Keys, Numbers], longer: tuple[Keys, Numbers], length: int) -> None:
    """Counts the words that a shorter n-gram was seen behind; one that begins a row is behind nothing else."""
    keys, counts = shorter
    first = keys >> np.uint64(16 * (length - 1)) == 0
    suffixes = longer[0] & np.uint64((1 << 16 * length) - 1)
    behind = np.bincount(np.searchsorted(keys, suffixes), minlength=len(keys)).astype(np.float64)
    counts[:] = np.where(first & (length > 1), counts, np.maximum(behind, 1))


def _smoothed(keys: Keys, counts: Numbers, length: int, size: int, levels: list[Level]) -> Level:
    """Interpolated probabilities."""
    often = [float((counts == number).sum()) for number in range(1, _DISCOUNTED + 2)]
    share = often[0] / max(often[0] + 2 * often[1], 1)
    discounts = np.zeros(_DISCOUNTED + 1)
    for number in range(1, _DISCOUNTED + 1):
        before, after = often[number - 1], often[number]
        discounts[number] = min(max(number - (number + 1) * share * after / before, 0.1), number) if before else 0.5
    taken = discounts[np.minimum(counts, _DISCOUNTED).astype(int)]
    if length == 1:
        kept = np.full(size, taken.sum() / counts.sum() / size)
        kept[keys.astype(int)] += (counts - taken) / counts.sum()
        return Level(np.arange(size, dtype=np.uint64), kept, np.log(kept), np.zeros(size))
    history, own = _histories(keys, levels[-1].keys)
    total = np.bincount(own, counts, len(history))
    gamma = np.bincount(own, taken, len(history)) / total
    lower = np.exp(levels[-1].logs[np.searchsorted(levels[-1].keys, keys & np.uint64((1 << 16 * (length - 1)) - 1))])
    logs = np.log((counts - taken) / total[own] + gamma[own] * lower)
    levels[-1].weights[history] = np.log(gamma)
    return Level(keys, counts, logs, np.zeros(len(keys)))


def _histories(keys: Keys, shorter: Keys) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of the histories among the shorter n-grams, and of each n-gram which of these is its."""
    history, own = np.unique(keys >> _WORD, return_inverse=True)
    return np.searchsorted(shorter, np.asarray(history)), own


def _prune(levels: list[Level], length: int, threshold: float) -> None:
    """Leaves n-grams out that tell little; not the ones that longer ones begin with."""
    level, shorter = levels[length - 1], levels[length - 2]
    fallen = shorter.weights[np.searchsorted(shorter.keys, level.keys >> _WORD)]
    fallen = fallen + shorter.logs[np.searchsorted(shorter.keys, level.keys & np.uint64((1 << 16 * (length - 1)) - 1))]
    kept = level.counts * (level.logs - fallen) >= threshold
    if length < len(levels):
        kept[np.searchsorted(level.keys, np.unique(levels[length].keys >> _WORD))] = True
    for name in ("keys", "counts", "logs", "weights"):
        setattr(level, name, getattr(level, name)[kept])


def _weigh(levels: list[Level], length: int) -> None:
    """The weights of the histories, so that the probabilities of all words behind one are 1 together."""
    level, shorter = levels[length - 1], levels[length - 2]
    shorter.weights[:] = 0
    history, own = _histories(level.keys, shorter.keys)
    told = np.bincount(own, np.exp(level.logs), len(history))
    fallen = np.bincount(own, np.exp(_fallen(levels, level.keys, length)), len(history))
    shorter.weights[history] = np.log(np.maximum(1 - told, 1e-6)) - np.log(np.maximum(1 - fallen, 1e-6))


def _fallen(levels: list[Level], keys: Keys, length: int) -> Numbers:
    """The logarithms of the probabilities of n-grams' last words behind a history shorter by a word."""
    suffixes = keys & np.uint64((1 << 16 * (length - 1)) - 1)
    level = levels[length - 2]
    places = np.searchsorted(level.keys, suffixes).clip(max=max(len(level.keys) - 1, 0))
    found = level.keys[places] == suffixes if len(level.keys) else np.zeros(len(keys), bool)
    logs = np.empty(len(keys))
    logs[found] = level.logs[places[found]]
    if not found.all():
        rest = suffixes[~found]
        shorter = levels[length - 3]
        at = np.searchsorted(shorter.keys, rest >> _WORD).clip(max=len(shorter.keys) - 1)
        weights = np.where(shorter.keys[at] == rest >> _WORD, shorter.weights[at], 0)
        logs[~found] = weights + _fallen(levels, rest, length - 1)
    return logs
