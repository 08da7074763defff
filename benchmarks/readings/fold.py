"""Adds the weights of phrases to those of windows: a phrase's vote is a window with its contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.readings.features import AGAINST, SLOTS, TIER_BITS, VOTES, vote_key
from benchmarks.readings.train import Model

#: (length of a phrase, place of its target) -> number of the window that the others stand in.
WINDOW_OF = {(2, 1): 0, (2, 0): 1, (3, 2): 6, (3, 1): 7, (3, 0): 8}
_CHAR = (1 << 21) - 1


def window_key(phrase: str, at: int) -> int:
    """The feature that says that the rest of a phrase is around its target."""
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
        behind: what speaks against a reading, see ``prepare.meetings``.
        before: likewise.
        chars: the characters whose reading varies.
        numbers: reading -> its number.
    """

    def __init__(
        self,
        phrases: Mapping[str, Sequence[str]],
        parts: Mapping[str, Sequence[str]],
        behind: Mapping[str, Sequence[str]],
        before: Mapping[str, Sequence[str]],
        chars: frozenset[str],
        numbers: Mapping[str, int],
    ) -> None:
        found: dict[str, dict[tuple[int, int], int]] = {char: {} for char in chars}
        for kind, rows in (("whole", phrases), ("part", parts), ("behind", behind), ("before", before)):
            for phrase, votes in rows.items():
                for at, (char, vote) in enumerate(zip(phrase, votes, strict=True)):
                    reading, _, tier = vote.partition("/")
                    if char not in chars or reading not in numbers or (len(phrase), at) not in WINDOW_OF:
                        continue
                    number = (1 - at if len(phrase) == 2 else 2) if kind == "whole" else VOTES.index(kind)
                    feature = vote_key(number, int(tier) << TIER_BITS | numbers[reading])
                    said = number if number >= AGAINST else 0
                    found[char].setdefault((window_key(phrase, at), said), feature)
        self.rows = {
            ord(char): (np.array([key for key, _ in rows], np.int64), np.array([*rows.values()], np.int64))
            for char, rows in found.items()
        }

    def folded(self, model: Model, char: int) -> Model:
        """The model with windows only; it reads as before but where nothing would be misread without a vote against."""
        windows, features = self.rows[char]
        at = np.minimum(np.searchsorted(model.keys, features), max(len(model.keys) - 1, 0))
        there = model.keys[at] == features if len(model.keys) else np.zeros(len(features), bool)
        own = model.keys >> 42 < SLOTS
        usual = model.readings[model.weights[-1].argmax()] if len(model.readings) else -1
        there &= np.isin(windows, model.keys[own]) | ((features & (1 << TIER_BITS) - 1) != usual)
        windows, features, at = windows[there], features[there], at[there]
        for_them = features >> 42 < SLOTS + AGAINST
        keys = np.union1d(model.keys[own], windows)
        weights = np.zeros((len(keys) + 1, len(model.readings)))
        weights[np.searchsorted(keys, model.keys[own])] = model.weights[:-1][own]
        np.add.at(weights, np.searchsorted(keys, windows[for_them]), model.weights[:-1][at[for_them]])
        weights[-1] = model.weights[-1]
        whole = Model(model.readings, keys, weights)
        needed = np.flatnonzero(~for_them)
        needed = needed[_misleading(whole, windows[needed], features[needed])]
        np.add.at(weights, np.searchsorted(keys, windows[needed]), model.weights[:-1][at[needed]])
        return whole


def _misleading(model: Model, windows: NDArray[np.int64], features: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the phrase of two that a window speaks against would be read as it is by its own window alone."""
    number, first, second = windows >> 42, windows >> 21 & _CHAR, windows & _CHAR
    behind = number == WINDOW_OF[3, 0]
    single = np.where(behind, WINDOW_OF[2, 0] << 21 | first, WINDOW_OF[2, 1] << 21 | second)
    at = np.minimum(np.searchsorted(model.keys, single), max(len(model.keys) - 1, 0))
    scores = np.where((model.keys[at] == single)[:, None], model.weights[:-1][at], 0) + model.weights[-1]
    said = features & (1 << TIER_BITS) - 1
    found: NDArray[np.bool_] = model.readings[scores.argmax(1)] == said
    found &= model.readings[model.weights[-1].argmax()] != said
    return found
