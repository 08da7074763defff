"""Filters of readings in context: which windows may change a model's usual reading, the one of its highest bias.

A place none of whose windows is in a filter has the usual reading, without weights being fetched. So what only has the
key of a window that the model knows, which it takes for that window, counts where another window is in a filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phonemic.reading.buckets import hash_of
from phonemic.reading.models import DECIDING, Feature, Model

#: About how often one window of each slot is met: two characters, one, the class of one, the classes of two.
_OFTEN = (1e-5,) * 3 + (5e-4,) * 6 + (8e-3,) * 2 + (2e-4,)
#: Parts into which what another reading must gain is cut, to be shared out among the slots.
_PARTS = 64
#: Words of 64 bits of a filter: at most, and for how many windows there is one.
_MOST_WORDS, _PER_WORD = 512, 3


def _thresholds(gains: list[NDArray[np.int64]], least: int) -> NDArray[np.int64]:
    """For each slot how much a window of it may gain unseen, so that all together gain less than ``least``.

    Arguments:
        gains: of each slot's windows, sorted.
        least: what another reading must gain.
    """
    levels = np.arange(_PARTS + 1) * (least - 1) // _PARTS
    value = np.zeros(_PARTS + 1)
    chosen = []
    for slot, own in enumerate(gains):
        unseen = _OFTEN[slot] * np.searchsorted(own, levels, side="right")
        total = np.full((_PARTS + 1, _PARTS + 1), -1.0)
        for part, more in enumerate(unseen):
            total[part:, part] = value[: _PARTS + 1 - part] + more
        chosen.append(total.argmax(1))
        value = total.max(1)
    found, left = np.zeros(len(gains), np.int64), _PARTS
    for slot in reversed(range(len(gains))):
        part = chosen[slot][left]
        found[slot], left = levels[part], left - part
    return found


def telling(model: Model) -> list[Feature]:
    """Windows without which a model gives its usual reading: words, and what speaks enough for another one."""
    best = model.bias.index(max(model.bias))
    found = {feature for feature in model.words if feature[0] < model.slots}
    rows = [(feature, [0, *row]) for feature, row in model.rows.items() if feature[0] < model.slots]
    for reading, bias in enumerate(model.bias):
        gains = [(feature, row[reading] - row[best]) for feature, row in rows if row[reading] > row[best]]
        least = model.bias[best] - bias + (reading > best)
        if reading == best or least < 1:
            found.update(feature for feature, _ in gains)
            continue
        sorted_gains = [
            np.sort(np.array([gain for feature, gain in gains if feature[0] == slot], np.int64))
            for slot in range(model.slots)
        ]
        thresholds = _thresholds(sorted_gains, least)
        found.update(feature for feature, gain in gains if gain > thresholds[feature[0]])
    return sorted(found)


class Filters(NamedTuple):
    """Both filters of a model: words of 64 bits, none where every place is to be weighed."""

    windows: NDArray[np.uint64]
    beside: NDArray[np.uint64]

    @classmethod
    def of(cls, model: Model) -> Filters:
        """Make the filters of a model."""
        told = telling(model)
        return cls(filter_of(model, told), beside(model, told))

    def has_beside(self, before: int, behind: int) -> bool:
        """Whether what is seen before or behind a character may be part of a telling window."""
        return not len(self.beside) or any(
            _is_beside(self.beside, seen, at) for at, seen in enumerate((before, behind))
        )

    def has_any(self, windows: Sequence[Feature]) -> bool:
        """Whether any of some windows may be a telling one."""
        return not len(self.windows) or any(_is_in(self.windows, hash_of(*feature)) for feature in windows)


def _is_in(words: NDArray[np.uint64], value: int) -> bool:
    word = int(words[(value & 0x7FFF) * len(words) >> 15])
    return bool(word >> (value >> 15 & 63) & word >> (value >> 21 & 63) & 1)


def _is_beside(words: NDArray[np.uint64], seen: int, side: int) -> bool:
    value = (seen << 1 | side) * 0x9E3779B1 % (1 << 32)
    return bool(int(words[value * len(words) >> 32]) >> (value >> 11 & 63) & 1)


def filter_of(model: Model, windows: Sequence[Feature]) -> NDArray[np.uint64]:
    """Words of which the two bits of each telling window are set; none where every place is to be weighed."""
    if model.by_script:
        return np.zeros(0, np.uint64)
    words: list[int] = [0] * min(max(4, len(windows) // _PER_WORD), _MOST_WORDS)
    for feature in windows:
        value = hash_of(*feature)
        words[(value & 0x7FFF) * len(words) >> 15] |= 1 << (value >> 15 & 63) | 1 << (value >> 21 & 63)
    return np.array(words, np.uint64)


def beside(model: Model, windows: Sequence[Feature]) -> NDArray[np.uint64]:
    """Words of which a bit is set for a character next to the model's of each telling window.

    None where windows without such a character are looked at.
    """
    if model.by_script or model.slots > DECIDING:
        return np.zeros(0, np.uint64)
    nearest = {0: (1, 0), 2: (0, 1), 3: (0, 0), 4: (0, 1)}
    seen = {(feature[1 + nearest[feature[0]][0]], nearest[feature[0]][1]) for feature in windows if feature[0] != 1}
    seen |= {(before, 0) for slot, before, behind in windows if slot == 1 and (behind, 1) not in seen}
    words: list[int] = [0] * min(max(1, len(seen) // _PER_WORD), _MOST_WORDS)
    for char, side in seen:
        value = (char << 1 | side) * 0x9E3779B1 % (1 << 32)
        words[value * len(words) >> 32] |= 1 << (value >> 11 & 63)
    return np.array(words, np.uint64)
