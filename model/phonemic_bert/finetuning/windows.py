"""A long text in overlapping windows: what is said of its positions, cut into the windows and merged again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from phonemic_bert.finetuning.encoded import Encoded

T = TypeVar("T")


def windows_of(encoded: Encoded, stride: int, sequence: int = 0) -> list[Windows]:
    """The windows of each text of a batch.

    Arguments:
        encoded: texts that were encoded with ``stride``, so cut off on the right.
        stride: likewise; what two consecutive rows share, where ``encoded`` does not say where each begins.
        sequence: which text of a pair was cut.
    """
    assert encoded.sequences is not None
    inside = encoded.sequences == sequence
    before = np.concatenate([[0], np.cumsum(inside)])[encoded.offsets]
    counts = np.diff(before)
    firsts = np.append(np.flatnonzero(inside), 0)[before[:-1]] - encoded.offsets[:-1]
    starts = np.where(counts > 0, firsts, 0).tolist()
    bounds = [0, *(np.flatnonzero(np.diff(encoded.samples)) + 1).tolist(), len(encoded)]
    every = counts.tolist()
    known = None if encoded.begins is None else encoded.begins[:, sequence].tolist()
    return [
        Windows(
            tuple(range(first, last)),
            tuple(starts[first:last]),
            tuple(every[first:last]),
            tuple(known[first:last]) if known is not None else _regular(every[first:last], stride),
        )
        for first, last in pairwise(bounds)
    ]


def _regular(counts: Sequence[int], stride: int) -> tuple[int, ...]:
    """Where rows of so many positions begin if each shares ``stride`` with the next."""
    return tuple(accumulate((count - stride for count in counts[:-1]), initial=0))


class Windows(NamedTuple):
    """The rows of a batch that one text was cut into, in order.

    Attributes:
        rows: their indices in the batch.
        starts: where the text's positions begin in each row (1, behind [CLS]).
        counts: how many of them are in each row.
        begins: the text's position with which each row begins.
    """

    rows: tuple[int, ...]
    starts: tuple[int, ...]
    counts: tuple[int, ...]
    begins: tuple[int, ...]

    def merge(self, values: Sequence[Sequence[T]]) -> list[T]:
        """Values of the rows' positions as those of the text's: of several the one with the most context.

        Context is the distance to the nearer end of the row, where the text continues there.

        Arguments:
            values: for each of the rows, a value a position, special ones and padding included.
        """
        length = self.begins[-1] + self.counts[-1]
        best: list[tuple[float, T]] = []
        for begin, start, count, row in zip(self.begins, self.starts, self.counts, values, strict=True):
            for at in range(count):
                left = at if begin else float("inf")
                right = count - 1 - at if begin + count < length else float("inf")
                here = min(left, right), row[start + at]
                if begin + at == len(best):
                    best.append(here)
                elif here[0] > best[begin + at][0]:
                    best[begin + at] = here
        return [value for _, value in best]

    def cut(self, values: Sequence[T], lengths: Sequence[int], fill: T) -> list[list[T]]:
        """Values of the text's positions as those of each row's: the inverse of :meth:`merge`.

        Arguments:
            values: a value a position of the text.
            lengths: of the rows, special positions and padding included.
            fill: the value of those.
        """
        rows = []
        for begin, start, count, length in zip(self.begins, self.starts, self.counts, lengths, strict=True):
            row = [fill] * length
            row[start : start + count] = values[begin : begin + count]
            rows.append(row)
        return rows
