"""Hash tables of the readings in context: features and words by 32 bits of their hash, in buckets of four.

``native/context.pxd`` looks them up; ``compiling/contexts.py`` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

#: A bucket has so many entries.
IN_BUCKET = 4


def hash_of(slot: int, first: int, second: int) -> int:
    """32 bits of three numbers of at most 32 bits; counts in arrays as in numbers."""
    value = (slot * 0x85EBCA6B + first * 0x9E3779B1 + second * 0xC2B2AE35) % (1 << 32)
    value = (value ^ value >> 15) * 0x2C1B3C6D % (1 << 32)
    return value ^ value >> 16


def key_of(value: int, buckets: int) -> int:
    """The key of a hash: the number of the bucket that it belongs to << 15 | its lower bits."""
    return (value >> 16) * buckets >> 16 << 15 | value & 0x7FFF


def layout(keys: Iterable[int], buckets: int) -> list[list[int]] | None:
    """The keys in each bucket, and in one behind the last: that of a full bucket is in the next. None if full."""
    homes: list[list[int]] = [[] for _ in range(buckets + 1)]
    for key in dict.fromkeys(keys):
        homes[key >> 15].append(key)
    over: list[int] = []
    for number, own in enumerate(homes):
        homes[number], over = [*over, *own][:IN_BUCKET], [*over, *own][IN_BUCKET:]
        if any(key >> 15 < number for key in over):
            return None
    return None if over else homes


def fewest(hashes: NDArray[np.uint64]) -> int:
    """How many buckets give every hash a place: as few as do, about seven in ten places of which are taken."""
    count = max(1, round(len(hashes) / (0.7 * IN_BUCKET)))
    while layout(key_of(hashes, count).tolist(), count) is None:  # type: ignore[arg-type, attr-defined]  # counts in arrays as in numbers
        count += 1 + count // 50
    return count
