"""A long text in overlapping windows: what is said of its positions, cut into the windows and merged again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar

from transformers import BatchEncoding

T = TypeVar("T")


def windows_of(batch: BatchEncoding, stride: int, sequence: int = 0) -> list[Windows]:
    """The windows of each text of a batch, as ``return_overflowing_tokens=True`` gives them (cut off on the right).

    Arguments:
        batch: what the tokenizer returned for a list of texts.
        stride: what the tokenizer was given.
        sequence: which text of a pair was cut.
    """
    numbers = batch.get("overflow_to_sample_mapping")
    samples = range(len(batch["input_ids"])) if numbers is None else [int(number) for number in numbers]
    found: dict[int, list[tuple[int, int, int]]] = {}
    for row, sample in enumerate(samples):
        places = [at for at, number in enumerate(batch.sequence_ids(row)) if number == sequence]
        found.setdefault(sample, []).append((row, places[0] if places else 0, len(places)))
    return [
        Windows(
            tuple(row for row, _, _ in rows), tuple(start for _, start, _ in rows), tuple(n for *_, n in rows), stride
        )
        for rows in found.values()
    ]


class Windows(NamedTuple):
    """The rows of a batch that one text was cut into, in order.

    Attributes:
        rows: their indices in the batch.
        starts: where the text's positions begin in each row (1, behind [CLS]).
        counts: how many of them are in each row.
        stride: how many of them two consecutive rows share.
    """

    rows: tuple[int, ...]
    starts: tuple[int, ...]
    counts: tuple[int, ...]
    stride: int

    @property
    def begins(self) -> list[int]:
        """The text's position with which each row begins."""
        return list(accumulate((count - self.stride for count in self.counts[:-1]), initial=0))

    def merge(self, values: Sequence[Sequence[T]]) -> list[T]:
        """Values of the rows' positions as those of the text's: of several the one with the most context.

        Context is the distance to the nearer end of the row, where the text goes on there.

        Arguments:
            values: for each of the rows, a value a position, special ones and padding included.
        """
        begins = self.begins
        length = begins[-1] + self.counts[-1]
        best: list[tuple[float, T]] = []
        for begin, start, count, row in zip(begins, self.starts, self.counts, values, strict=True):
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
