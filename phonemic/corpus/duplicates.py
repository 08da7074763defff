"""Exact and near duplicates: keys of the kept lines, and which lines share a key with one before them.

A line has one key for its exact text and one for each band of its MinHash signature, which rensa computes from runs
of positions. A line is dropped when a line before it, in the order of the sources, has one of its keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phonemic.corpus.options import Options
from phonemic.corpus.tokenizing import TokenizedLines
from phonemic.files import replacing, require

#: Values of a signature, and its seed.
_VALUES, _SEED = 128, 1

#: Positions in a run: a Vietnamese syllable says more than a Mandarin one.
_RUN = {"vi": 3, "zh": 5}

#: Odd, from the golden ratio: consecutive multiples are spread over 64 bits.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def bands(near: float) -> tuple[int, int]:
    """Bands, and values a band, of which at most 128 are used: the pair whose S-curve rises nearest to ``near``.

    Two lines whose runs have the Jaccard similarity s share a band with the probability 1 - (1 - s ** values) ** bands,
    which rises steepest about (1 / bands) ** (1 / values).
    """
    pairs = [(_VALUES // values, values) for values in range(1, _VALUES + 1)]
    return min(pairs, key=lambda pair: (abs((1 / pair[0]) ** (1 / pair[1]) - near), pair[1]))


def keys_of(tokenized: TokenizedLines, lines: NDArray[np.int64], options: Options) -> NDArray[np.uint64]:
    """The keys of some lines of a chunk.

    Arguments:
        tokenized: the lines.
        lines: which, (B,).
        options: ``exact`` and ``near`` say which keys.

    Returns:
        uint64 (B, K); where ``exact`` is set the first column is the text's.
    """
    columns = []
    if options.exact:
        text, offsets = tokenized.data.tobytes(), tokenized.offsets
        starts, stops = offsets[lines].tolist(), offsets[lines + 1].tolist()
        digests = b"".join(
            hashlib.blake2b(text[start:stop].strip(), digest_size=8).digest()
            for start, stop in zip(starts, stops, strict=True)
        )
        columns.append(np.frombuffer(digests, "<u8").reshape(-1, 1))
    if options.near is not None:
        columns.append(_band_keys(tokenized, lines, options.near, _RUN[options.tokenizer.lang]))
    return np.concatenate(columns, axis=1).astype(np.uint64)


def _band_keys(tokenized: TokenizedLines, lines: NDArray[np.int64], near: float, run: int) -> NDArray[np.uint64]:
    starts, lengths = tokenized.sound_ends[lines], np.diff(tokenized.sound_ends)[lines]
    offsets = np.concatenate([[0], lengths.cumsum()])
    ids = tokenized.sounds[np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)]
    hashes, counts = _run_hashes(ids, offsets, run)
    count, values = bands(near)
    signatures = require("rensa", "corpus").RMinHash.digest_matrix_from_flat_token_hashes(
        hashes, np.concatenate([[0], counts.cumsum()]).astype(np.uint64), _VALUES, _SEED
    )
    matrix = np.array(signatures.to_rows(), np.uint64).reshape(len(lines), _VALUES)[:, : count * values]
    places = np.arange(1, count * values + 1, dtype=np.uint64)
    mixed: NDArray[np.uint64] = _mix(matrix + places * _SPREAD).reshape(len(lines), count, values)
    return _mix(mixed.sum(axis=2, dtype=np.uint64))


def _run_hashes(
    ids: NDArray[np.int32], offsets: NDArray[np.int64], run: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A hash of each run of ``run`` positions in a line (a shorter line is one run), and how many runs a line has."""
    lengths = np.diff(offsets)
    left = np.repeat(offsets[1:], lengths) - np.arange(len(ids))  # positions to the line's end
    wide = np.concatenate([ids.astype(np.uint64) + np.uint64(1), np.zeros(run, np.uint64)])
    sums = np.zeros(len(ids), np.uint64)
    for step, place in enumerate(np.arange(1, run + 1, dtype=np.uint64) * _SPREAD):
        sums += np.where(left > step, _mix(wide[step : step + len(ids)] + place), np.uint64(0))
    first = np.zeros(len(ids), bool)
    first[offsets[:-1][lengths > 0]] = True
    return _mix(sums[(left >= run) | first]), np.where(lengths > 0, np.maximum(lengths - run + 1, 1), 0)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of splitmix64: a bijection that spreads every bit."""
    mixed = values.copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    return mixed


def save_keys(path: Path, lines: NDArray[np.int64], keys: NDArray[np.uint64]) -> None:
    """Writes keys, each column in ascending order next to the lines' numbers.

    Arguments:
        path: the file.
        lines: numbers of the lines in their part, ascending (B,).
        keys: uint64 (B, K).
    """
    order = np.argsort(keys, axis=0, kind="stable")
    with replacing(path) as file:
        np.save(file, np.stack([np.take_along_axis(keys, order, 0).T, lines[order].T.astype(np.uint64)]))


def find_drops(parts: Sequence[int], paths: Sequence[Path], column: int, low: int, high: int) -> NDArray[np.int64]:
    """The lines that share a key of one column with a line before, of the keys from ``low`` to ``high`` inclusive.

    Arguments:
        parts: the part that each file is of, ascending.
        paths: what :func:`save_keys` wrote, in the order of the lines.
        column: the column of keys.
        low: the lowest key.
        high: the highest.

    Returns:
        Part and line of each, in ascending order: int64 (D, 2).
    """
    keys, owners, lines = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for part, path in zip(parts, paths, strict=True):
        stored = np.load(path, mmap_mode="r")
        start = np.searchsorted(stored[0, column], np.uint64(low), side="left")
        stop = np.searchsorted(stored[0, column], np.uint64(high), side="right")
        keys.append(np.array(stored[0, column, start:stop]))
        lines.append(np.array(stored[1, column, start:stop]).astype(np.int64))
        owners.append(np.full(stop - start, part, np.int64))
    # Lines of one key stay in the order of the sources: each file is one run of lines, and the sort is stable.
    joined = np.concatenate(keys)
    order = np.argsort(joined, kind="stable")
    again = order[1:][joined[order[1:]] == joined[order[:-1]]]
    owner, line = np.concatenate(owners)[again], np.concatenate(lines)[again]
    return np.stack([owner, line], axis=1)[np.lexsort((line, owner))]


def drops_of(part: int, paths: Iterable[Path]) -> NDArray[np.int64]:
    """The lines of one part in what :func:`find_drops` returned and was saved, ascending: int64 (D,)."""
    found = [np.zeros(0, np.int64)]
    for path in paths:
        pairs = np.load(path, mmap_mode="r")
        start, stop = np.searchsorted(pairs[:, 0], [part, part + 1])
        found.append(np.array(pairs[start:stop, 1]))
    return np.unique(np.concatenate(found))
