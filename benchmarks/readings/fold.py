"""Adds the weights of phrases to those of windows: a phrase's vote is a window with what stands there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.readings.features import SLOTS, TIER_BITS, vote_key
from benchmarks.readings.train import Model

#: (length of a phrase, place of its target) -> number of the window that the others stand in.
WINDOW_OF = {(2, 1): 0, (2, 0): 1, (3, 2): 6, (3, 1): 7, (3, 0): 8}


def window_key(phrase: str, at: int) -> int:
    """The feature that says that the rest of a phrase stands around its target."""
    value = WINDOW_OF[len(phrase), at]
    for place, char in enumerate(phrase):
        if place != at:
            value = value << 21 | ord(char)
    return value


class Votes:
    """The phrases' votes for each character: windows, and the features that they stand for.

    Arguments:
        phrases: phrase -> readings with their tiers, ``hang2/0``.
        parts: three characters of longer ones, likewise.
        chars: those that vary.
        numbers: reading -> its number.
    """

    def __init__(
        self,
        phrases: Mapping[str, Sequence[str]],
        parts: Mapping[str, Sequence[str]],
        chars: frozenset[str],
        numbers: Mapping[str, int],
    ) -> None:
        found: dict[str, dict[int, int]] = {char: {} for char in chars}
        for kind, rows in (("whole", phrases), ("part", parts)):
            for phrase, votes in rows.items():
                for at, (char, vote) in enumerate(zip(phrase, votes, strict=True)):
                    reading, _, tier = vote.partition("/")
                    if char not in chars or reading not in numbers or (len(phrase), at) not in WINDOW_OF:
                        continue
                    number = (1 - at if len(phrase) == 2 else 2) if kind == "whole" else 3
                    feature = vote_key(number, int(tier) << TIER_BITS | numbers[reading])
                    found[char].setdefault(window_key(phrase, at), feature)
        self.rows = {
            ord(char): (np.array([*rows], np.int64), np.array([*rows.values()], np.int64))
            for char, rows in found.items()
        }

    def folded(self, model: Model, char: int) -> Model:
        """The model with windows only; it reads as before."""
        windows, features = self.rows[char]
        at = np.minimum(np.searchsorted(model.keys, features), max(len(model.keys) - 1, 0))
        there = model.keys[at] == features if len(model.keys) else np.zeros(len(features), bool)
        windows, at = windows[there], at[there]
        own = model.keys >> 42 < SLOTS
        keys = np.union1d(model.keys[own], windows)
        weights = np.zeros((len(keys) + 1, len(model.readings)))
        weights[np.searchsorted(keys, model.keys[own])] = model.weights[:-1][own]
        np.add.at(weights, np.searchsorted(keys, windows), model.weights[:-1][at])
        weights[-1] = model.weights[-1]
        return Model(model.readings, keys, weights)
