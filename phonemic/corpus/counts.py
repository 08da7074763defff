"""Counts of a corpus while it is prepared; those of parts add up to those of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phonemic.inventory import KINDS, kinds_of

#: A line of this many positions or more is counted with the longest.
LONGEST = 1024

#: Bins of the share of native units.
SHARE_BINS = 20

#: The fates of a line. "empty" has no unit, "foreign" too few native ones; the duplicates are as a line before.
STATUSES = ("kept", "empty", "foreign", "duplicate", "near_duplicate")
KEPT, EMPTY, FOREIGN, DUPLICATE, NEAR_DUPLICATE = range(len(STATUSES))


class Counts(dict[str, NDArray[np.int64]]):
    """Arrays of counts by name.

    ``lines`` and ``bytes`` of each status; ``units`` and ``native`` units of all lines read and of those kept;
    ``shares``, lines by the share of native units; ``positions``, ``characters``, ``lengths`` (lines by positions),
    ``ids`` (frequency of each id, (3, V) for the three slots), ``kinds`` and ``forms`` (of each form, (128,)) of
    positions, of kept lines.
    """

    def add(self, other: Mapping[str, ArrayLike]) -> None:
        """Adds other counts, in place."""
        for name, values in other.items():
            array = np.asarray(values, np.int64)
            self[name] = self[name] + array if name in self else array

    def to_json(self) -> dict[str, Any]:
        """Lists of numbers."""
        return {name: array.tolist() for name, array in self.items()}


def line_counts(
    statuses: NDArray[np.int64], sizes: NDArray[np.int64], native: NDArray[np.int64], units: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """Counts of lines.

    Arguments:
        statuses: index into STATUSES of each line, (B,).
        sizes: bytes of each line, (B,).
        native: native units of each line, (B,).
        units: units of each line, (B,).
    """
    kept = statuses == KEPT
    some = units > 0
    bins = native[some] * SHARE_BINS // units[some]
    return {
        "lines": np.bincount(statuses, minlength=len(STATUSES)),
        "bytes": np.bincount(statuses, sizes, len(STATUSES)).astype(np.int64),
        "units": np.array([units.sum(), units[kept].sum()]),
        "native": np.array([native.sum(), native[kept].sum()]),
        "shares": np.bincount(bins, minlength=SHARE_BINS + 1),
    }


def id_counts(
    ids: NDArray[np.int32], lengths: NDArray[np.int64], characters: NDArray[np.int32], id_count: int | None
) -> dict[str, NDArray[np.int64]]:
    """Counts of the ids of kept lines.

    Arguments:
        ids: ids of all lines, (N,).
        lengths: positions of each line, (B,).
        characters: characters of each line, (B,).
        id_count: ids of a baseline lie in ``range(id_count)``; None for packed ids.
    """
    counts = {
        "positions": np.array([len(ids)]),
        "characters": np.array([characters.sum()], np.int64),
        "lengths": np.bincount(np.minimum(lengths, LONGEST), minlength=LONGEST + 1),
    }
    if id_count is not None:
        return counts | {"ids": np.bincount(ids, minlength=id_count)}
    # Two counts instead of three: onset and rime together, and tone.
    halves = ids.view(np.uint16) if ids.flags.c_contiguous else np.ascontiguousarray(ids).view(np.uint16)
    both = np.bincount(halves[::2], minlength=1 << 16).reshape(256, 256)
    tones = np.bincount(halves[1::2] & 255, minlength=256)
    kinds = np.bincount(kinds_of(ids), minlength=len(KINDS))
    return counts | {"ids": np.stack([both.sum(axis=0), both.sum(axis=1), tones]), "kinds": kinds}
