"""The names of an index as sequences of symbols, in flat arrays: see :class:`phonemic.sound._search.Names`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic.sound.sounds import SYLLABLE, Sounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

Arrays = dict[str, "NDArray[Any]"]

#: The arrays and their dtypes; ``sounds`` has three columns, ``groups`` three.
DTYPES = {"sounds": "|u1", "symbols": "<u2", "groups": "<i8", "rows": "<u4", "order": "<u4"}

#: Positions that a name may have.
LONGEST = 1000

#: Names that an index may hold, and different syllables in them.
MOST_NAMES, MOST_SYMBOLS = 1 << 31, 1 << 16


def build(rows: NDArray[np.uint8], offsets: NDArray[np.int64], sounds: Sounds) -> Arrays:
    """The sequences of names.

    Arguments:
        rows: what is heard of all names, uint8 (P, 3); see :meth:`phonemic.sound.sounds.Sounds.heard`.
        offsets: name i is ``rows[offsets[i]:offsets[i + 1]]``, int64 (N + 1,).
        sounds: those of the language.

    Raises:
        ValueError: there are too many names, or too many different syllables in them.
    """
    lengths = np.diff(offsets)
    codes, symbols = np.unique(rows.astype(np.int32) @ np.array([1 << 16, 1 << 8, 1], np.int32), return_inverse=True)
    if len(lengths) >= MOST_NAMES or len(codes) >= MOST_SYMBOLS:
        raise ValueError(f"an index holds at most {MOST_NAMES - 1:,} names with {MOST_SYMBOLS - 1:,} syllables")
    table = np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1).astype(np.uint8)
    gaps = sounds.gaps[table[:, 0]].astype(np.int64)
    sums = np.concatenate([[0], gaps[symbols].cumsum()])
    weights = sums[offsets[1:]] - sums[offsets[:-1]]
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in ("symbols", "rows", "order")}
    groups, before = [], 0
    kinds, kind_of = np.unique(lengths << 32 | weights, return_inverse=True)
    by_kind = np.argsort(kind_of, kind="stable")
    bounds = np.searchsorted(kind_of[by_kind], np.arange(len(kinds) + 1)).tolist()
    for kind, (start, stop) in zip(kinds.tolist(), pairwise(bounds), strict=True):
        length, numbers = kind >> 32, by_kind[start:stop]
        block = symbols[offsets[numbers][:, None] + np.arange(length)].astype(">u2")
        keys = block.view(f"V{2 * length}")[:, 0] if length else np.zeros(len(numbers), "V1")
        order = np.argsort(keys, kind="stable")
        first = np.flatnonzero(np.concatenate([[True], keys[order][1:] != keys[order][:-1]]))
        groups.append([length, kind & 0xFFFFFFFF, len(first)])
        parts["symbols"].append(block[order[first]].reshape(-1))
        parts["rows"].append(before + first)
        parts["order"].append(numbers[order])
        before += len(numbers)
    parts["rows"].append(np.array([before]))
    empty = np.zeros(0, np.int64)
    made: Arrays = {name: np.concatenate([empty, *part]) for name, part in parts.items()}
    made |= {"sounds": table.reshape(-1), "groups": np.array(groups, np.int64).reshape(-1)}
    return {name: np.ascontiguousarray(made[name], dtype) for name, dtype in DTYPES.items()}


def check(arrays: Arrays, sounds: Sounds, names: int) -> None:
    """Checks arrays that a file holds: no index in them is out of bounds.

    Arguments:
        arrays: those of :func:`build`.
        sounds: those of the language.
        names: how many names there are.

    Raises:
        ValueError: one is; the message says of what.
    """
    table, groups = arrays["sounds"], arrays["groups"]
    rows, order = arrays["rows"], arrays["order"]
    _need(len(table) % 3 == 0 and len(groups) % 3 == 0 and len(order) == names, "sounds, groups and names")
    sizes = (len(sounds.onsets), len(sounds.rimes) - 1, len(sounds.tones) - 1)  # no name has an unknown sound
    _need(bool(np.all(table.reshape(-1, 3) < np.array(sizes))), "sounds")
    _need(not len(arrays["symbols"]) or int(arrays["symbols"].max()) < len(table) // 3, "symbols")
    lengths, weights, count = groups.reshape(-1, 3).T
    _need(bool(np.all((lengths >= 0) & (lengths <= LONGEST) & (count > 0) & (count <= names))), "groups")
    _need(bool(np.all((weights >= 0) & (weights <= lengths * SYLLABLE))), "groups")
    _need(sum(lengths.tolist()[g] * count.tolist()[g] for g in range(len(count))) == len(arrays["symbols"]), "groups")
    _need(len(rows) == 1 + sum(count.tolist()), "rows")
    _need(rows[0] == 0 and rows[-1] == names and bool(np.all(rows[1:] > rows[:-1])), "rows")
    _need(names == 0 or int(order.max()) < names, "order")
    seen = np.zeros(names, bool)
    seen[order] = True
    _need(bool(seen.all()), "order")


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"its {what} do not fit together")
