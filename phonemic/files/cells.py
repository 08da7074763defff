"""The cells of a column, strings or ids, a few at a time: a small file may hold gigabytes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from phonemic.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes that a line or a cell may have, unless more are requested.
MAX_LINE = 64 << 20

#: Rows that are read at a time, and about the bytes that they may have together, if they are of equal size.
ROWS, _BYTES = 1024, 64 << 20

#: Bytes that an array which is given has at most, but for one cell that is longer.
_PIECE = 8 << 20

#: Positions of the rows of ids that are given at a time, but for one row that is longer.
IDS = 1 << 16


class IdRows(NamedTuple):
    """Some rows of ids.

    Attributes:
        ids: packed ids, int32 (N,).
        offsets: row i is ``ids[offsets[i]:offsets[i + 1]]``; int64 (B + 1,).
        nulls: which rows are null, bool (B,).
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    nulls: NDArray[np.bool_]

    def lists(self) -> list[list[int] | None]:
        """A list per row, None for a null."""
        bounds = self.offsets.tolist()
        return [
            None if null else self.ids[bounds[row] : bounds[row + 1]].tolist()
            for row, null in enumerate(self.nulls.tolist())
        ]


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


def id_rows(cells: Any, named: Callable[[int], str], row: int, max_line: int | None) -> Iterator[IdRows]:
    """The rows of an Arrow array of lists of integers, a few at a time.

    Arguments:
        cells: the array.
        named: what a row of a number is called in errors.
        row: the number of the first of them.
        max_line: positions that a row may have; None for any number.

    Raises:
        InputError: one is longer, or has something else than packed ids; the message names it.
    """
    from pyarrow.compute import list_value_length

    sizes = list_value_length(cells).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if max_line is not None and len(long := np.flatnonzero(sizes > max_line)):
        raise too_many(named(row + int(long[0])), max_line)
    nulls = cells.is_null().to_numpy(zero_copy_only=False)
    for start, stop in _pieces(sizes + 1, IDS):
        offsets = np.concatenate([[0], np.cumsum(sizes[start:stop])])
        values = cells.slice(start, stop - start).flatten()
        ids, wrong = _packed(values)
        if len(wrong):
            at = int(np.searchsorted(offsets, wrong[0], "right")) - 1
            told = f"position {wrong[0] - offsets[at]}: {values[wrong[0]]} is not a packed id"
            raise InputError(f"{named(row + start + at)}: {told}")
        yield IdRows(ids, offsets, nulls[start:stop])


def _packed(values: Any) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Arrow integers as ids, and the places of the ones that are none."""
    wrong = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else np.zeros(len(values), bool)
    ids = values.fill_null(0).to_numpy(zero_copy_only=False) if values.null_count else values.to_numpy()
    if ids.dtype != np.int32:
        wrong = wrong | (ids < -(1 << 31)) | (ids > 0x7FFFFFFF)
    return ids.astype(np.int32, copy=False), np.flatnonzero(wrong)


def row_of(path: str) -> Callable[[int], str]:
    """The function that names a row of a file, whose first is row 1, by its number from 0."""
    return lambda row: f"{path}, row {row + 1}"


def too_many(which: str, max_line: int) -> InputError:
    """The error of a row of ids that is too long."""
    return InputError(f"{which}: has more than {max_line:,} positions; if it is one text, raise --max-line")


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
