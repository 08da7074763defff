"""Documents packed into sequences of equal length, shuffled and masked from a seed and from nothing else.

Random bits come from numpy's Philox, a function of a key and a counter: (seed, purpose) and (epoch, sequence). So a
sequence's place in an epoch and its masks do not depend on what was drawn before, on the number of processes, or on
where a run was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.random import Philox
from torch import Tensor
from torch.utils.data import Dataset

from phonemic.forms import whole
from phonemic_bert.modeling import IGNORE
from phonemic_bert.pretraining.flat import opened, source
from phonemic_bert.pretraining.symbols import Symbols

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic_bert.pretraining.distillation import TeacherIds

#: A document is not cut to fill up a sequence if fewer of its positions than this would fit; the rest is padding.
MIN_PIECE = 16

SHUFFLING, MASKING, EVALUATION = range(3)


def random_bits(seed: int, purpose: int, epoch: int, sequence: int, count: int) -> NDArray[np.uint64]:
    """Random bits that follow from the arguments alone, uint64 (count,)."""
    bits: NDArray[np.uint64] = Philox(key=[seed, purpose], counter=[0, sequence, epoch, 0]).random_raw(count)
    return bits


def pack(
    offsets: NDArray[np.int64],
    length: int,
    left_out: Iterable[int] = (),
    ids: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Cuts documents into sequences, in their order, each as full as it gets.

    Each piece of a document takes two more positions, for [CLS] and [SEP]. A document is cut where the sequence ends,
    unless less than ``MIN_PIECE`` of it would fit. Every position of the documents is in one sequence.

    Arguments:
        offsets: document i is at ``offsets[i]:offsets[i + 1]`` of the flat ids, (D + 1,).
        length: positions of a sequence.
        left_out: documents that are in no sequence, in ascending order.
        ids: flat ids with forms, so that no document is cut within a character or an escape; None: it may be anywhere.

    Returns:
        Start and end of each sequence in the flat ids, int64 (S, 2).
    """
    cost = offsets + 2 * np.concatenate([[0], (np.diff(offsets) > 0).cumsum()])
    found: list[tuple[int, int]] = []
    first = 0
    for last in (*(int(number) for number in left_out), len(offsets) - 1):
        found += _pack(offsets, cost, length, first, last, ids)
        first = last + 1
    return np.array(found, np.int64).reshape(-1, 2)


def _pack(
    offsets: NDArray[np.int64],
    cost: NDArray[np.int64],
    length: int,
    first: int,
    last: int,
    ids: NDArray[np.int32] | None,
) -> Iterable[tuple[int, int]]:
    """The sequences of the documents ``first`` up to before ``last``."""
    if first >= last:
        return
    start, end = int(offsets[first]), int(offsets[last])
    while start < end:
        document = int(offsets.searchsorted(start, "right")) - 1
        rest = int(offsets[document + 1]) - start
        if rest + 2 >= length:
            stop = start + (length - 2 if ids is None else whole(ids[start : start + rest], length - 2))
        else:
            full = int(cost[document + 1]) + length - rest - 2
            behind = min(int(cost.searchsorted(full, "right")) - 1, last)
            stop, room = int(offsets[behind]), full - int(cost[behind]) - 2
            if behind < last and room >= MIN_PIECE:
                stop += room if ids is None else whole(ids[stop : offsets[behind + 1]], room)
        yield start, stop
        start = stop


class MaskedSequences(Dataset[dict[str, Tensor]]):
    """The masked sequences of a whole run, all epochs one behind the other: number i is what the run's i-th sample is.

    An item is, int64 (L,) each: ``input_ids``, ``labels`` (the id where a position was masked, -100 elsewhere),
    ``position_ids`` and ``documents`` (which document of the sequence a position belongs to; padding is one more). With
    a teacher also ``teacher_ids``: its input ids with the same positions masked, -1 where it knows none or cannot say
    what was there.

    Arguments:
        ids: flat ids, as in the corpus.
        offsets: of the documents in them.
        packed: what :func:`pack` gave.
        symbols: what the ids mean.
        length: positions of a sequence.
        probability: share of the positions that are masked, each drawn independently.
        replacement: ``"mask"``, or ``"80/10/10"``: 80 % become [MASK], 10 % a random symbol, 10 % stay.
        seed: of order and masks.
        count: items; None is one epoch in the order of the corpus, masked as for evaluation.
        restart_positions: positions count from the start of their document, not of the sequence.

    Attributes:
        teacher: what a teacher reads of the same documents; None, as it begins, where there is none.
    """

    def __init__(
        self,
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        packed: NDArray[np.int64],
        symbols: Symbols,
        length: int,
        probability: float,
        replacement: str,
        seed: int,
        count: int | None,
        restart_positions: bool,
    ) -> None:
        self.ids, self.offsets, self.packed, self.symbols = ids, offsets, packed, symbols
        self.length, self.seed, self.count, self.restart_positions = length, seed, count, restart_positions
        self.threshold = np.uint64(probability * 2**64)
        self.replacement = replacement
        self.teacher: TeacherIds | None = None
        self.order = lru_cache(2)(self._order)  # a batch may hold the end of one epoch and the start of the next

    def __len__(self) -> int:
        return len(self.packed) if self.count is None else self.count

    def __getstate__(self) -> dict[str, Any]:
        """Arrays that lie in files as the names of these: worker processes that are not forked map them again."""
        files = {name: source(getattr(self, name)) for name in ("ids", "offsets")}
        return {**self.__dict__, **{name: file for name, file in files.items() if file}, "order": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in ("ids", "offsets"):
            if isinstance(state[name], tuple):
                setattr(self, name, opened(*state[name]))
        self.order = lru_cache(2)(self._order)

    def _order(self, epoch: int) -> NDArray[np.int64]:
        return np.argsort(random_bits(self.seed, SHUFFLING, epoch, 0, len(self.packed)), kind="stable")

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        if index >= len(self):
            raise IndexError(f"sequence {index} is out of range for {len(self)} sequences")
        if self.count is None:
            return self.masked(index, 0, EVALUATION)
        epoch, place = divmod(index, len(self.packed))
        return self.masked(int(self.order(epoch)[place]), epoch, MASKING)

    def masked(self, sequence: int, epoch: int, purpose: int) -> dict[str, Tensor]:
        """One sequence with the masks of an epoch."""
        ids, documents, positions = self.unmasked(sequence)
        bits = random_bits(self.seed, purpose, epoch, sequence, 2 * self.length)
        chosen = (bits[: self.length] < self.threshold) & ~self.symbols.never_masked(ids)
        labels = np.where(chosen, ids, IGNORE)
        ids[chosen] = self._replaced(ids[chosen], bits[self.length :][chosen])
        arrays = {"input_ids": ids, "labels": labels, "position_ids": positions, "documents": documents}
        if self.teacher is not None:
            read = self.teacher.of(*self.packed[sequence])
            read = self._laid_out(read, self._lengths(sequence), self.teacher.symbols)
            # It has never been asked about what is [UNK] to it, so that it would expect something else there.
            masked = np.where((read < 0) | np.isin(read, self.teacher.symbols.special), -1, self.teacher.symbols.mask)
            arrays["teacher_ids"] = np.where(chosen, masked, read)
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def _replaced(self, ids: NDArray[np.int64], bits: NDArray[np.uint64]) -> NDArray[np.int64]:
        masked = np.full_like(ids, self.symbols.mask)
        if self.replacement == "mask":
            return masked
        kind, shift = bits % np.uint64(10), self.symbols.shift
        random = (bits // np.uint64(10) % np.uint64(self.symbols.size - shift)).astype(np.int64) + shift
        return np.where(kind < 8, masked, np.where(kind == 8, random, ids))

    def unmasked(self, sequence: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Input ids, document numbers and position ids of a sequence, int64 (L,) each."""
        start, stop = self.packed[sequence]
        lengths = self._lengths(sequence)
        used = int(lengths.sum())
        ids = self._laid_out(self.ids[start:stop] + self.symbols.shift, lengths, self.symbols)
        documents = np.full(self.length, len(lengths), np.int64)
        documents[:used] = np.repeat(np.arange(len(lengths)), lengths)
        positions = np.arange(self.length)
        if self.restart_positions:
            positions -= np.concatenate([lengths.cumsum() - lengths, [used]])[documents]
        return ids, documents, positions

    def _lengths(self, sequence: int) -> NDArray[np.int64]:
        """Positions of the pieces of documents in a sequence, [CLS] and [SEP] included."""
        start, stop = self.packed[sequence]
        first, last = self.offsets.searchsorted(start, "right"), self.offsets.searchsorted(stop, "left")
        edges = np.unique(np.concatenate([[start], self.offsets[first:last], [stop]]))
        lengths: NDArray[np.int64] = np.diff(edges) + 2
        return lengths

    def _laid_out(self, text: NDArray[Any], lengths: NDArray[np.int64], symbols: Symbols) -> NDArray[np.int64]:
        """Input ids of text as a sequence, (L,): [CLS] and [SEP] around each piece, and padding behind."""
        ends = lengths.cumsum()
        used = int(ends[-1])
        ids = np.full(self.length, symbols.pad, np.int64)
        inside = np.ones(used, bool)
        inside[ends - lengths] = inside[ends - 1] = False
        ids[:used][inside] = text
        ids[ends - lengths] = symbols.cls
        ids[ends - 1] = symbols.sep
        return ids


def collate(items: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Items as a batch, (B, L) each."""
    return {name: torch.stack([item[name] for item in items]) for name in items[0]}
