"""The cells of a column, strings or ids, a few at a time: a small file may hold gigabytes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from phonemic.errors import InputError

#: Bytes that a line or a cell may have, unless more are asked for.
MAX_LINE = 64 << 20

#: Rows that are read at a time, and about the bytes that they may have together, if they are alike.
ROWS, _BYTES = 1024, 64 << 20

#: Bytes that an array which is given has at most, but for one cell that is longer.
_PIECE = 8 << 20

#: Positions of which Python lists are made at a time.
_LISTED = 1 << 16


def text_cells(file: Any, path: str, column: str, groups: Iterable[int] | None, max_line: int) -> Iterator[Any]:
    """The cells of a column as Arrow arrays, large_string or large_binary, of no more than about 8 MB each.

    Arguments:
        file: a ParquetFile that reads the column as a dictionary, so that a string which is repeated is held once.
        path: names it in the error.
        column: its name.
        groups: the row groups; None is all of them.
        max_line: bytes that a cell may have.

    Raises:
        InputError: a cell is longer; the message names its row, counted from the first of the groups.
    """
    row = 0
    for group in range(file.metadata.num_row_groups) if groups is None else groups:
        for batch in file.iter_batches(_rows(file.metadata.row_group(group), column), [group], [column]):
            cells = batch.column(0)
            if str(cells.type) == "null":
                cells = cells.cast("large_string")
            sizes = _sizes(cells)
            if len(long := np.flatnonzero(sizes > max_line)):
                raise InputError(
                    f"{path}, row {row + long[0] + 1}: is longer than {max_line:,} bytes; if it is one text, "
                    "raise --max-line"
                )
            for start, stop in _pieces(sizes, _PIECE):
                yield _plain(cells.slice(start, stop - start))
            row += len(cells)


def id_lists(cells: Any, path: str, row: int, max_line: int) -> Iterator[list[int] | None]:
    """The rows of an Arrow array of lists, ``row`` of them before.

    Raises:
        InputError: one is longer than ``max_line``.
    """
    from pyarrow.compute import list_value_length

    sizes = list_value_length(cells).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if len(long := np.flatnonzero(sizes > max_line)):
        raise too_many(path, f"row {row + long[0] + 1}", max_line)
    for start, stop in _pieces(sizes + 1, _LISTED):
        yield from cells.slice(start, stop - start).to_pylist()


def too_many(path: str, which: str, max_line: int) -> InputError:
    """The error of a row of ids that is too long."""
    return InputError(f"{path}, {which}: has more than {max_line:,} positions; if it is one text, raise --max-line")


def _rows(group: Any, column: str) -> int:
    """How many rows of a row group are read at a time."""
    chunks = [group.column(at) for at in range(group.num_columns)]
    size = max((chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema == column), default=0)
    return int(max(1, min(ROWS, _BYTES * group.num_rows // max(size, 1))))


def _sizes(cells: Any) -> Any:
    """The bytes of each cell, int64 (rows,); of a null 0."""
    from pyarrow.compute import binary_length as length

    if not hasattr(cells, "dictionary"):
        return length(cells).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if not len(cells.dictionary):
        return np.zeros(len(cells), np.int64)
    values = length(cells.dictionary).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    indices = cells.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return np.where(cells.is_null().to_numpy(zero_copy_only=False), 0, values[indices])


def _pieces(sizes: Any, most: int) -> Iterator[tuple[int, int]]:
    """Where an array is cut, so that the sizes in no part of it are together above what they may be, but for one."""
    start = 0
    ends = np.cumsum(sizes)
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, "right")))
        yield start, stop
        start = stop


def _plain(cells: Any) -> Any:
    """Strings instead of places in a dictionary."""
    from pyarrow.compute import index_in

    if hasattr(cells, "dictionary"):
        used = cells.indices.unique().drop_null()
        chosen = cells.dictionary.take(used)
        places = index_in(cells.indices, value_set=used)
        cells = chosen.cast(_large(chosen)).take(places)
    return cells.cast(_large(cells))


def _large(cells: Any) -> Any:
    import pyarrow as arrow

    return arrow.large_binary() if "binary" in str(cells.type) else arrow.large_string()
