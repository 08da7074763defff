"""Whether a word should decide: how many places it makes right and wrong, and in which wider windows it must not.

A word that decides is a window, and so is what keeps it from deciding where it crosses the border of words (的确 in
目的|确定): a wider window, which is looked at first.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.readings.export import SLOTS_OF
from benchmarks.readings.features import CLASS_WINDOWS, SLOTS, WINDOWS
from benchmarks.readings.train import Examples
from phonemic.reading.models import Feature, Model

#: The windows of two places.
_OF_TWO = frozenset(number for number, places in enumerate((*WINDOWS, *CLASS_WINDOWS)) if len(places) == 2)
#: The slots of one place next to a character, and those of two places on the same side.
_WIDER = {3: 0, 4: 2}
#: Windows that keep a word from deciding: at most so many of one word, of so many places each at least.
MOST_KEPT, LEAST_KEPT = 40, 0.5


class Place(NamedTuple):
    """The places of a character: windows (places, SLOTS), the readings, their weights, and ours without words."""

    keys: NDArray[np.int64]
    readings: NDArray[np.int32]
    weights: NDArray[np.float32]
    ours: NDArray[np.int32]


class Verdict(NamedTuple):
    """The places that a word makes right and wrong, and the windows that keep it from deciding, by reading."""

    right: float
    wrong: float
    kept: dict[Feature, int]


def key_of(feature: Feature) -> int:
    """A feature as fitting has it."""
    slot, first, second = feature
    number = SLOTS_OF.index(slot)
    value = number << 21 | first
    return value << 21 | second if number in _OF_TWO else value


def scores(model: Model, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """(places, readings that have weights): what the weights of the windows add up to, without words."""
    total: NDArray[np.int64] = np.tile(np.array(model.bias, np.int64), (len(keys), 1))
    known = np.array([*map(key_of, model.rows)], np.int64)
    order = known.argsort()
    rows = np.array([*model.rows.values()], np.int64).reshape(len(known), len(model.bias) - 1)[order]
    known = known[order]
    for number, slot in enumerate(SLOTS_OF):
        if slot < model.slots and len(known):
            at = np.minimum(np.searchsorted(known, keys[:, number]), len(known) - 1)
            there = known[at] == keys[:, number]
            total[there, 1:] += rows[at[there]]
    return total


class Evidence:
    """Labelled places of all characters.

    Arguments:
        examples: several sets of them.
        names: of the readings, by number.
        against: the texts of three characters in which a word is likelier to end before the third, or to begin behind
            the first, than a phrase of two (``prepare.meetings``).
    """

    def __init__(self, examples: Sequence[Examples], names: Sequence[str], against: Container[str]) -> None:
        self.examples, self.against = examples, against
        self.numbers = {name: number for number, name in enumerate(names)}
        self.rows = dict[int, list[tuple[int, NDArray[np.int64]]]]()
        for part, rows in enumerate(examples):
            order = rows.chars.argsort(kind="stable")
            chars, starts = np.unique(rows.chars[order], return_index=True)
            for char, own in zip(chars.tolist(), np.split(order, starts[1:]), strict=True):
                self.rows.setdefault(char, []).append((part, own))

    def places(self, char: str, model: Model, features: Iterable[Feature]) -> Place | None:
        """The places of a character where one of the features is found."""
        keys, readings, weights = [], [], []
        wanted = np.array([key_of(feature) for feature in features], np.int64)
        for part, own in self.rows.get(ord(char), []):
            some = self.examples[part]
            windows = some.keys[own][:, :SLOTS]
            there = np.isin(windows, wanted).any(1)
            shares = some.shares[own[there]]
            keys.append(windows[there])
            readings.append(some.readings[own[there], shares.argmax(1)])
            weights.append(shares.max(1))
        if not keys:
            return None
        joined = np.concatenate(keys)
        ours = np.array([self.numbers.get(name, -1) for name in model.readings[: len(model.bias)]], np.int32)
        return Place(joined, np.concatenate(readings), np.concatenate(weights), ours[scores(model, joined).argmax(1)])

    def verdicts(self, char: str, model: Model, told: Mapping[Feature, str]) -> dict[Feature, Verdict]:
        """A verdict for each feature that would decide on a reading; one that the labels have not got is taken."""
        places = self.places(char, model, told)
        return {
            feature: self._verdict(char, places, feature, self.numbers[said])
            if places and said in self.numbers
            else Verdict(1, 0, {})
            for feature, said in told.items()
        }

    def _verdict(self, char: str, places: Place, feature: Feature, reading: int) -> Verdict:
        rows = np.flatnonzero((places.keys == key_of(feature)).any(1))
        readings, weights, ours = places.readings[rows], places.weights[rows], places.ours[rows]
        right = weights[(readings == reading) & (ours != reading)].sum()
        wrong = (readings != reading) & (ours == readings)
        kept = dict[Feature, int]()
        if feature[0] in _WIDER:
            slot = _WIDER[feature[0]]
            beside = places.keys[rows, SLOTS_OF.index(slot)]
            for key in np.unique(beside[wrong]):
                pair = chr(key >> 21 & 0x1FFFFF) + chr(key & 0x1FFFFF)
                if (char + pair if slot else pair + char) not in self.against:
                    continue
                there = beside == key
                votes = np.bincount(readings[there], weights[there])
                if votes.argmax() != reading and votes.max() >= LEAST_KEPT and votes.max() > 0.8 * votes.sum():
                    kept[slot, int(key >> 21 & 0x1FFFFF), int(key & 0x1FFFFF)] = int(votes.argmax())
            mass = {one: weights[beside == key_of(one)].sum() for one in kept}
            kept = {one: kept[one] for one in sorted(kept, key=lambda one: -mass[one])[:MOST_KEPT]}
            wrong &= ~np.isin(beside, [key_of(one) for one in kept])
        return Verdict(float(right), float(weights[wrong].sum()), kept)
