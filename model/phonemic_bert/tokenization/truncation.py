"""Which part of each text goes into which row: transformers' truncation strategies and overlapping windows.

A cut falls between positions; with ``form=True`` never among the bytes of a character, nor between a position and the
bytes of how it is written, unless a row has no room for these.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

Part = tuple[int, int]

#: Where a text, given by its number, may be cut, in ascending order, its ends among them; None: before any position.
Places = Callable[[int], Sequence[int] | None]


def anywhere(text: int) -> None:
    """:data:`Places` of texts whose positions are whole each."""


class RowSource(NamedTuple):
    """One row: which text, and the half-open ranges of its positions (and of the second text of its pair)."""

    text: int
    first: Part
    second: Part


def windows(
    first: list[int],
    second: list[int] | None,
    strategy: str,
    limit: int | None,
    stride: int,
    side: str,
    overflow: bool,
    places: tuple[Places, Places] = (anywhere, anywhere),
) -> list[RowSource]:
    """Cuts texts, or pairs of texts, into rows.

    Arguments:
        first: positions of each text.
        second: positions of the other text of each pair, or None.
        strategy: ``"longest_first"``, ``"only_first"``, ``"only_second"`` or ``"do_not_truncate"``.
        limit: how many positions of text fit a row; None is any number.
        stride: how many positions two consecutive windows share.
        side: the side that is cut off, ``"right"`` or ``"left"``.
        overflow: return what is cut off as further windows, behind the window it was cut from.
        places: where the texts, and the other texts of the pairs, may be cut. A row is shorter, and two windows share
            more, where that asks for it.

    Raises:
        ValueError: the limit cannot be kept by cutting what the strategy cuts, or the stride leaves no progress.
    """
    rows: list[RowSource] = []
    others = second or [0] * len(first)
    for text, (one, other) in enumerate(zip(first, others, strict=True)):
        if limit is None or strategy == "do_not_truncate" or one + other <= limit:
            rows.append(RowSource(text, (0, one), (0, other)))
            continue
        keep_one, keep_other = _kept(text, one, other, strategy, limit, second is not None)
        parts = _parts(one, keep_one, stride, side, places[0](text))
        other_parts = _parts(other, keep_other, stride, side, places[1](text))
        rows.append(RowSource(text, parts[0], other_parts[0]))
        if overflow:
            if 0 in (keep_one, keep_other) and one and other:
                raise ValueError(f"text {text}: a row of {limit} positions has no room for both texts of the pair")
            if limit == 0:
                raise ValueError("no position of text fits in a row: max_length is too small for windows")
            rows += [RowSource(text, part, other_part) for part in parts[1:] for other_part in other_parts]
            rows += [RowSource(text, parts[0], other_part) for other_part in other_parts[1:]]
    return rows


def _kept(text: int, one: int, other: int, strategy: str, limit: int, pair: bool) -> tuple[int, int]:
    """How many positions of a text and of its partner stay."""
    if strategy == "longest_first":
        if not pair:
            return limit, 0
        short = min(one, other)
        long = short if short > limit else max(short, limit - short)
        if short + long > limit:
            short = limit // 2
            long = limit - short
        return (long, short) if one > other else (short, long)
    if strategy == "only_second" and not pair:
        raise ValueError("truncation='only_second' needs pairs of texts")
    rest = one + other - limit
    target = one if strategy == "only_first" else other
    if target <= rest:
        raise ValueError(
            f"text {text}: {one} + {other} positions do not fit in {limit} with truncation={strategy!r}, "
            "which would leave nothing of that text"
        )
    return (one - rest, other) if strategy == "only_first" else (one, other - rest)


def _parts(length: int, keep: int, stride: int, side: str, places: Sequence[int] | None) -> list[Part]:
    """The windows of one text: the one that stays, then the ones that are cut off."""
    if keep >= length:
        return [(0, length)]
    if keep == 0:
        return [(0, 0)]
    if stride >= keep:
        raise ValueError(f"stride={stride} must be smaller than the {keep} positions of text that fit in a row")
    if side == "left":
        mirrored = _parts(length, keep, stride, "right", places and [length - place for place in reversed(places)])
        return [(length - stop, length - start) for start, stop in mirrored]
    parts: list[Part] = []
    start = 0
    while not parts or parts[-1][1] < length:
        full = start + keep
        stop = length if full >= length else _cut(full, start, places) or full
        if parts and stop == parts[-1][1]:  # nothing new in it
            start = stop
            continue
        parts.append((start, stop))
        start = _cut(stop - stride, start, places) or stop
    return parts


def _cut(at: int, least: int, places: Sequence[int] | None) -> int:
    """The last place up to ``at`` where a text may be cut; 0 where none is above ``least``."""
    found = at if places is None or at <= least else places[bisect_right(places, at) - 1]
    return found if found > least else 0
