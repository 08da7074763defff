"""The spelling of each id, kept where the core looks it up when it decodes.

A table grows with the ids that are met. Any number of threads may read it while one adds to it, or replaces it by a
larger one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phonemic.errors import DecodingError
from phonemic.native._decode import decode_rows, move_cells, put_cell
from phonemic.native._spaced import space_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic._core import Core

#: The rows that need more cells, the ids that do, and the rows that are left to plain Python.
Left = tuple[list[int], list[int], list[int]]

# Layout of a cell: native/cells.pxd.
UNITS, CODE_SHIFT = 14, 8
PLAIN, LETTER, DIGIT, SKIPPED, SLOW = (number << 3 for number in range(5))
#: A table that would hold more ids than this is begun anew.
MOST_CELLS, SMALLEST = 1 << 17, 1 << 12


@dataclass(frozen=True, slots=True)
class Piece:
    """The spelling of an id.

    Attributes:
        text: the text.
        kind: ``PLAIN``; ``LETTER`` or ``DIGIT``, runs of which are written together; ``SKIPPED``; or ``SLOW``, for what
            takes more than a look-up.
        code: the number of a letter of the Vietnamese alphabet, 0 for all else.
    """

    text: str
    kind: int = PLAIN
    code: int = 0


class _Table(NamedTuple):
    keys: NDArray[np.uint32]
    cells: NDArray[np.uint16]


def _empty(size: int) -> _Table:
    return _Table(np.zeros(size, np.uint32), np.zeros((size, UNITS + 2), np.uint16))


class Pieces:
    """The table of one way of writing.

    Arguments:
        piece: gives the text that an id is written as.
        forms: whether positions have forms; else units are separated by spaces.
        core: reads runs of Vietnamese letters, so that none is written that would be read as a syllable; or None.
    """

    def __init__(self, piece: Callable[[int], Piece], forms: bool, core: Core | None) -> None:
        self._piece = piece
        self._forms = forms
        self._core = core
        self._table, self._held = _empty(SMALLEST), 0
        self._lock = Lock()

    def write(
        self, ids: NDArray[np.int32], offsets: NDArray[np.int64], slow: Callable[[NDArray[np.int32]], str]
    ) -> list[str]:
        """The texts of rows of ids.

        Arguments:
            ids: ids of the vocabulary, with or without forms, contiguous int32 (N,).
            offsets: row i is ``ids[offsets[i]:offsets[i + 1]]``; int64 (B + 1,), within ``ids``, none below the last.
            slow: writes a row for which looking up is not enough.

        Raises:
            DecodingError: ``slow`` does; the error has the row.
        """

        def run(table: _Table, texts: list[str], waiting: NDArray[np.uint8]) -> Left:
            return decode_rows(ids, offsets, table.keys, table.cells, self._forms, self._core, texts, waiting)

        return self._written(run, len(offsets) - 1, lambda row: slow(ids[offsets[row] : offsets[row + 1]]))

    def write_into(
        self,
        texts: list[str],
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        spans: NDArray[np.int32],
        parts: NDArray[np.uint8],
        slow: Callable[[int], str],
        *,
        cased: bool,
        merging: bool,
    ) -> list[str]:
        """The texts of rows of ids, with their syllables written anew; ``SKIPPED`` is a piece that stays as it is.

        Arguments:
            texts: the text of each row.
            ids: contiguous int32 (N,).
            offsets: as in :meth:`write`.
            spans: of each id, contiguous int32 (N, 2).
            parts: of each row, whether only the part of its text is written that its positions cover; uint8 (B,).
            slow: writes a row, by its number, for which looking up is not enough.
            cased: whether syllables take the case of their letters: ``native/_spaced.pyx`` then asks for the pieces of
                ``id | case << 24``.
            merging: whether 儿 may be merged with the syllable before it.

        Raises:
            ValueError: ``slow`` does.
        """
        forms = self._forms

        def run(table: _Table, written: list[str], waiting: NDArray[np.uint8]) -> Left:
            return space_rows(
                texts, ids, offsets, spans, table.keys, table.cells, forms, cased, merging, parts, written, waiting
            )

        return self._written(run, len(offsets) - 1, slow)

    def _written(
        self,
        run: Callable[[_Table, list[str], NDArray[np.uint8]], Left],
        rows: int,
        slow: Callable[[int], str],
    ) -> list[str]:
        """The rows, as often as a larger table is needed."""
        texts: list[str] = [""] * rows
        waiting = np.ones(rows, np.uint8)
        while rows:
            table = self._table
            again, missing, left = run(table, texts, waiting)
            for row in left:
                try:
                    texts[row] = slow(row)
                except DecodingError as error:
                    error.row = row
                    raise
            if not again:
                break
            waiting[:] = 0
            waiting[again] = 1
            if self._held + len(missing) > MOST_CELLS:  # begun anew, it must have all that these rows need
                _, missing, _ = run(_empty(SMALLEST), texts, waiting)
            self._learn(set(missing))
        return texts

    def _learn(self, missing: set[int]) -> None:
        """Puts ids into the table."""
        cells = {packed: _cell(self._piece(packed)) for packed in missing}
        with self._lock:
            if self._held and self._held + len(missing) > MOST_CELLS:
                self._table, self._held = _empty(SMALLEST), 0
            size = len(self._table.keys)
            while size < 2 * (self._held + len(missing)):
                size *= 2
            if size > len(self._table.keys):
                larger = _empty(size)
                move_cells(*self._table, *larger)
                self._table = larger
            self._held += sum(put_cell(*self._table, packed, cell) for packed, cell in cells.items())


def _cell(piece: Piece) -> NDArray[np.uint16]:
    cell = np.zeros(UNITS + 2, np.uint16)
    units = np.frombuffer(piece.text.encode("utf-16-le", "surrogatepass"), np.uint16)
    highest = max(map(ord, piece.text), default=0)
    if len(units) > UNITS:
        cell[1] = SLOW
        return cell
    cell[0] = len(units)
    cell[1] = (highest > 0x7F) | (highest > 0xFF) << 1 | (highest > 0xFFFF) << 2 | piece.kind | piece.code << CODE_SHIFT
    cell[2 : 2 + len(units)] = units
    return cell
