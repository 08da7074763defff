"""Texts as positions with candidates, and the best path through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phonemic_bert.restoration.ngrams import Ngrams

#: Positions that are searched together at most; what is longer is cut.
LONGEST = 400


class Candidates(NamedTuple):
    """The candidates of a position.

    Attributes:
        words: numbers of the model's words, int32 (C,).
        costs: what is added to the score of each, float32 (C,).
    """

    words: NDArray[np.int32]
    costs: NDArray[np.float32]


class Position(NamedTuple):
    """A position of a text.

    Attributes:
        start: where it begins, in code points.
        end: where it ends.
        candidates: what it may be; one is what it is.
    """

    start: int
    end: int
    candidates: Candidates


def single(word: int) -> Candidates:
    """The candidates of a position that is known."""
    return Candidates(np.array([word], np.int32), np.zeros(1, np.float32))


@dataclass
class Lattice:
    """The positions of a text, and those before which a row of words ends.

    Attributes:
        positions: from left to right.
        breaks: their numbers before which a row ends.
        bare: all marks of the text are lost.
    """

    positions: list[Position] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    bare: bool = False

    def with_costs(self, costs: Mapping[int, NDArray[np.float32]]) -> Lattice:
        """The same with costs added to those of some positions' candidates.

        Arguments:
            costs: of each of these positions, by its number.
        """
        positions = [
            each._replace(candidates=Candidates(each.candidates.words, each.candidates.costs + costs[number]))
            if number in costs
            else each
            for number, each in enumerate(self.positions)
        ]
        return Lattice(positions, list(self.breaks), self.bare)

    def add(self, start: int, end: int, candidates: Candidates) -> None:
        """Adds a position."""
        if len(self.positions) - (self.breaks[-1] if self.breaks else 0) >= LONGEST:
            self.end_row()
        self.positions.append(Position(start, end, candidates))

    def end_row(self) -> None:
        """Ends a row of words, where it has any."""
        if len(self.positions) > (self.breaks[-1] if self.breaks else 0):
            self.breaks.append(len(self.positions))


class Solved(NamedTuple):
    """The best path through a lattice.

    Attributes:
        places: of each position the place of the chosen candidate.
        logs: of each position the logarithms of its candidates' probabilities where all others are as chosen; empty
            unless asked for.
    """

    places: list[int]
    logs: list[NDArray[np.float32]]


def solve(ngrams: Ngrams, lattices: Sequence[Lattice], judged: bool = False) -> list[Solved]:
    """The best paths through lattices.

    Arguments:
        ngrams: the model of words.
        lattices: those of texts.
        judged: also give the probabilities of candidates.
    """
    candidates = [position.candidates for lattice in lattices for position in lattice.positions]
    if not candidates:
        return [Solved([], []) for _ in lattices]
    sizes = np.array([len(one.words) for one in candidates], np.int64)
    bounds = np.concatenate([np.zeros(1, np.int64), sizes.cumsum()])
    rows = _rows(lattices)
    words = np.concatenate([one.words for one in candidates])
    costs = np.concatenate([one.costs for one in candidates])
    chosen, logs = ngrams.paths(words, costs, bounds, rows, judged)
    places = (chosen - bounds[:-1]).tolist()
    split = np.split(logs, bounds[1:-1]) if judged else []
    found, at = [], 0
    for lattice in lattices:
        end = at + len(lattice.positions)
        found.append(Solved(places[at:end], split[at:end]))
        at = end
    return found


def _rows(lattices: Iterable[Lattice]) -> NDArray[np.int64]:
    rows, at = [0], 0
    for lattice in lattices:
        lattice.end_row()
        rows += [at + one for one in lattice.breaks]
        at += len(lattice.positions)
    return np.array(rows, np.int64)
