"""Documents cut into overlapping windows, windows put into batches, and tokens pooled over their positions.

All of it is arithmetic on arrays: a :class:`Plan` says which ids go through the encoder together, and which of the
vectors that come out make up which token, with what weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phonemic.encoding import PACKED_CLS, PACKED_SEP
from phonemic.forms import beginnings
from phonemic.inventory import FORM_SHIFT

Ints = NDArray[np.int64]


class Aligned(NamedTuple):
    """One document: its positions, and which of them each token has.

    Attributes:
        ids: packed ids, int32 (N,).
        first: the first position of each token, int64 (T,).
        last: the position after its last one, int64 (T,); equal to ``first`` where the token has none.
    """

    ids: NDArray[np.int32]
    first: Ints
    last: Ints


class Plan(NamedTuple):
    """The windows that the encoder computes for some documents.

    Attributes:
        batches: ``input_ids``, int32 (B, L), and ``attention_mask``, bool (B, L), of each batch.
        rows: rows of the batches' vectors, laid out one after the other as (B * L, d): int64 (K,).
        weights: the weight of each, float32 (K,).
        offsets: token t of all documents is the weighted sum of ``rows[offsets[t]:offsets[t + 1]]``, int64 (T + 1,).
    """

    batches: list[tuple[NDArray[np.int32], NDArray[np.bool_]]]
    rows: Ints
    weights: NDArray[np.float32]
    offsets: Ints


def align(spans: NDArray[np.int32], starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """The positions that share a character with each token.

    Arguments:
        spans: half-open spans of the positions in the text, ascending, (N, 2).
        starts: the first character of each token, (T,).
        ends: the character after its last one, (T,).

    Returns:
        ``first`` and ``last`` as in :class:`Aligned`.
    """
    first = np.searchsorted(spans[:, 1], starts, side="right").astype(np.int64)
    last = np.searchsorted(spans[:, 0], ends, side="left").astype(np.int64)
    return first, np.maximum(first, last)


def window_starts(length: int, window: int, stride: int) -> list[int]:
    """Where the windows over a document begin: a stride apart, the last one moved back so that it is full.

    Every cut is between positions, and a position is a syllable or a character of something else: no syllable is cut.

    Arguments:
        length: positions of the document.
        window: positions of a window.
        stride: positions from the start of a window to that of the next, at most ``window``.
    """
    if length <= window:
        return [0] if length else []
    return [*range(0, length - window, stride), length - window]


def window_parts(ids: NDArray[np.int32], window: int, stride: int) -> list[tuple[int, int]]:
    """The windows over a document, half-open: as :func:`window_starts` has them, but none begins or ends among the
    bytes of a character, or between a position and the bytes of how it is written.

    Arguments:
        ids: of the document, (N,).
        window: positions of a window.
        stride: see :func:`window_starts`.
    """
    length = len(ids)
    if not (ids >> FORM_SHIFT).any():
        return [(start, min(start + window, length)) for start in window_starts(length, window, stride)]
    places = np.flatnonzero(np.concatenate([[True], beginnings(ids)[1:], [True]]))

    def cut(at: int, least: int) -> int:
        """The last place up to ``at`` where a part may end or begin, 0 where none is above ``least``."""
        found = int(places[np.searchsorted(places, at, side="right") - 1]) if at > least else 0
        return found if found > least else 0

    parts: list[tuple[int, int]] = []
    start = 0
    while not parts or parts[-1][1] < length:
        full = min(start + window, length)
        stop = cut(full, start) or full
        if parts and stop == parts[-1][1]:  # nothing new in it
            start = stop
            continue
        parts.append((start, stop))
        start = cut(min(start + stride, length - window, stop), start) or stop
    return parts


def plan(
    docs: Sequence[Aligned],
    window: int,
    stride: int,
    pooling: str,
    max_batch_positions: int,
    call_positions: float,
    distinct: bool = False,
) -> Plan:
    """Plans the encoding of documents.

    Arguments:
        docs: the documents.
        window: positions of text in a window; ``[CLS]`` and ``[SEP]`` come on top.
        stride: see :func:`window_starts`.
        pooling: ``"mean"`` over all positions of a token, or the ``"first"`` only.
        max_batch_positions: the padded size of a batch, rows times longest row; a longer window goes alone.
        call_positions: what each batch costs whatever its size, as so many positions: windows of other lengths are in a
            batch of their own where that saves more padding.
        distinct: windows of the same ids are computed once.
    """
    doc_offsets = np.cumsum([0, *(len(doc.ids) for doc in docs)])
    windows = [
        (stop - start, int(doc_offsets[number]) + start)
        for number, doc in enumerate(docs)
        for start, stop in window_parts(doc.ids, window, stride)
    ]
    ids = np.concatenate([doc.ids for doc in docs]) if docs else np.zeros(0, np.int32)
    alike: dict[tuple[int, bytes | int], list[int]] = {}
    for length, start in sorted(windows):
        alike.setdefault((length, ids[start : start + length].tobytes() if distinct else start), []).append(start)
    first = [(length, starts[0]) for (length, _), starts in alike.items()]
    others = {starts[0]: starts for starts in alike.values()}
    batches, positions, places, base = [], [], [], 0
    for group in _groups(first, max_batch_positions, call_positions):
        width = group[-1][0] + 2
        input_ids = np.zeros((len(group), width), np.int32)
        for row, (length, start) in enumerate(group):
            input_ids[row, 0], input_ids[row, length + 1] = PACKED_CLS, PACKED_SEP
            input_ids[row, 1 : length + 1] = ids[start : start + length]
            positions += [np.arange(other, other + length) for other in others[start]]
            places += [np.arange(length) + (base + row * width + 1)] * len(others[start])
        lengths = np.array([length + 2 for length, _ in group])
        batches.append((input_ids, np.arange(width) < lengths[:, None]))
        base += len(group) * width
    return Plan(batches, *_pool(docs, doc_offsets, _concatenate(positions), _concatenate(places), pooling))


def _groups(windows: list[tuple[int, int]], size: int, call: float) -> list[list[tuple[int, int]]]:
    """Windows in order of their length, cut where padding and calls together cost least, and where no more fit."""
    if not windows:
        return []
    lengths, counts = np.unique([length for length, _ in windows], return_counts=True)
    upto = np.concatenate([[0], np.cumsum(counts)])
    costs, cuts = np.zeros(len(upto)), np.zeros(len(upto), np.int64)
    for end, width in enumerate(lengths + 2, 1):  # the cheapest way to compute the windows up to this length
        ways = costs[:end] + (upto[end] - upto[:end]) * width + call
        cuts[end] = np.argmin(ways)
        costs[end] = ways[cuts[end]]
    groups: list[list[tuple[int, int]]] = []
    end = len(upto) - 1
    while end:
        groups.insert(0, windows[upto[cuts[end]] : upto[end]])
        end = int(cuts[end])
    return [part for group in groups for part in _by_padded_size(group, size)]


def _by_padded_size(windows: list[tuple[int, int]], size: int) -> list[list[tuple[int, int]]]:
    """Windows in order of their length, as many together as fit."""
    groups: list[list[tuple[int, int]]] = []
    for item in windows:
        if groups and (len(groups[-1]) + 1) * (item[0] + 2) <= size:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _pool(
    docs: Sequence[Aligned], doc_offsets: Ints, positions: Ints, places: Ints, pooling: str
) -> tuple[Ints, NDArray[np.float32], Ints]:
    """Rows, weights and offsets of the tokens, from the place of every position in every window that holds it."""
    places = places[np.argsort(positions, kind="stable")]
    counts = np.bincount(positions, minlength=int(doc_offsets[-1]))
    upto = np.concatenate([[0], np.cumsum(counts)])
    first = _concatenate([doc.first + offset for doc, offset in zip(docs, doc_offsets, strict=False)])
    last = _concatenate([doc.last + offset for doc, offset in zip(docs, doc_offsets, strict=False)])
    if pooling == "first":
        last = np.minimum(last, first + 1)
    lengths = upto[last] - upto[first]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.repeat(upto[first] - offsets[:-1], lengths) + np.arange(offsets[-1])
    # The share of a window in its position, and of a position in its token.
    weights = np.repeat(1 / counts, counts)[entries] / np.repeat(last - first, lengths)
    return places[entries], weights.astype(np.float32), offsets


def _concatenate(arrays: list[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *arrays])
