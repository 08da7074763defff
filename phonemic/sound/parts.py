"""The parts of a text that may be near to some name, by what both cost against nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from phonemic.sound.sequences import LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.intp]

#: Rows of a text in which parts begin that are given at a time.
_BLOCK = 512


def parts_near(
    weights: NDArray[np.int64], gaps: NDArray[np.uint16], begin: Places, end: Places, cuts: Places, limit: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The parts of a text of whose length some name is, so that not all parts up to the longest name are looked at.

    Arguments:
        weights: what the names cost against nothing, int64 (G,).
        gaps: what each row of the text costs against nothing, uint16 (M,).
        begin: the rows with which parts may begin, ascending.
        end: those before which they may end, ascending.
        cuts: the ones that none goes beyond, ascending, the last of them M.
        limit: the greatest distance of a part from its name.

    Returns:
        Starts and stops, int64 (P,) each, by start and then by stop: those of neighbouring starts at a time.
    """
    sums = np.append(0, gaps.cumsum(dtype=np.int64))
    least, most = _merged(np.unique(weights), limit)
    blocks = np.searchsorted(begin, np.arange(0, len(gaps) + _BLOCK, _BLOCK))
    for first in (begin[start:stop] for start, stop in pairwise(blocks.tolist()) if start < stop):
        farthest = np.minimum(cuts[np.searchsorted(cuts, first, "right")], first + LONGEST)[:, None]
        start = np.searchsorted(sums, sums[first, None] + least)
        stop = np.searchsorted(sums, sums[first, None] + most, "right") - 1
        lowest = np.searchsorted(end, np.maximum(start, first[:, None] + 1))
        counts = np.maximum(np.searchsorted(end, np.minimum(stop, farthest), "right") - lowest, 0).ravel()
        if total := int(counts.sum()):
            within = np.arange(total) - np.repeat(counts.cumsum() - counts, counts)
            starts = np.repeat(np.repeat(first, len(least)), counts)
            stops = end[np.repeat(lowest.ravel(), counts) + within]
            yield starts.astype(np.int64), stops.astype(np.int64)


def _merged(weights: NDArray[np.int64], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends of the ranges within ``limit`` of some of the ascending weights, int64 (R,) each."""
    apart = np.flatnonzero(np.diff(weights) > 2 * limit) + 1
    parts = np.split(weights, apart) if len(weights) else []
    least, most = (np.array([part[at] for part in parts], np.int64) for at in (0, -1))
    return least - limit, most + limit
