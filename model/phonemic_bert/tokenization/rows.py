"""Rows of model input as flat arrays, and the view of one row that transformers' BatchEncoding asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from phonemic.inventory import TRIPLE
from phonemic_bert.tokenization.positions import Positions
from phonemic_bert.tokenization.truncation import RowSource

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Row:
    """One row, under the names of ``tokenizers.Encoding``: BatchEncoding answers word_ids and the like through it."""

    overflowing: Sequence[Row] = ()

    def __init__(self, rows: Rows, index: int) -> None:
        self._rows = rows
        self._here = slice(int(rows.offsets[index]), int(rows.offsets[index + 1]))
        self.n_sequences = rows.n_sequences

    def __len__(self) -> int:
        return self._here.stop - self._here.start

    @property
    def ids(self) -> list[int]:
        """Input ids."""
        return self._list(self._rows.ids)

    @property
    def type_ids(self) -> list[int]:
        """Token types."""
        return self._list(self._rows.type_ids)

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding."""
        return self._list(self._rows.attention_mask)

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for special positions and padding, [UNK] among them, whatever its form."""
        return self._list(self._rows.special_tokens_mask)

    @property
    def tokens(self) -> list[str]:
        """Each position as a string."""
        return self._rows.tokens(self._rows.ids[self._here])

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Spans; (0, 0) for what is in no text."""
        return [(start, end) for start, end in self._rows.spans[self._here].tolist()]

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for the text, 1 for the second text of a pair, None for what is in neither."""
        return [None if number < 0 else number for number in self._list(self._rows.sequences)]

    @property
    def word_ids(self) -> list[int | None]:
        """The word of each position, None for what is in no text."""
        return [None if number < 0 else number for number in self._list(self._rows.words)]

    def token_to_sequence(self, token: int) -> int | None:
        """The text that a position is in."""
        return self.sequence_ids[token]

    def token_to_word(self, token: int) -> int | None:
        """The word that a position is in."""
        return self.word_ids[token]

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """The span of a position."""
        return None if self.sequence_ids[token] is None else self.offsets[token]

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """The half-open range of a word's positions."""
        inside = (self._rows.sequences[self._here] == sequence) & (self._rows.words[self._here] == word)
        places = np.flatnonzero(inside)
        return (int(places[0]), int(places[-1]) + 1) if len(places) else None

    def word_to_chars(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """The span of a word's positions."""
        tokens = self.word_to_tokens(word, sequence)
        return None if tokens is None else (self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1])

    def char_to_token(self, char: int, sequence: int = 0) -> int | None:
        """The position whose span holds a character."""
        spans = self._rows.spans[self._here]
        inside = (self._rows.sequences[self._here] == sequence) & (spans[:, 0] <= char) & (char < spans[:, 1])
        places = np.flatnonzero(inside)
        return int(places[0]) if len(places) else None

    def char_to_word(self, char: int, sequence: int = 0) -> int | None:
        """The word that holds a character."""
        token = self.char_to_token(char, sequence)
        return None if token is None else self.token_to_word(token)

    def _list(self, array: NDArray[Any]) -> list[int]:
        values: list[int] = array[self._here].tolist()
        return values


class Rows(Sequence[Row]):
    """All rows of a batch, one behind the other in flat arrays, padding included.

    Arguments:
        first: the texts.
        second: the second texts of pairs, or None.
        windows: what goes into each row.
        special_tokens: put [CLS] before the text and [SEP] behind each.
        width: the least length of a row; shorter ones are padded. A callable that is given the longest row's length.
        padding_side: ``"right"`` or ``"left"``.
        special_ids: the special symbols and their input ids.
        tokens: gives the strings of ids.
    """

    def __init__(
        self,
        first: Positions,
        second: Positions | None,
        windows: list[RowSource],
        special_tokens: bool,
        width: Any,
        padding_side: str,
        special_ids: Mapping[str, int],
        tokens: Callable[[NDArray[np.int32]], list[str]],
    ) -> None:
        self.tokens = tokens
        self.n_sequences = 1 if second is None else 2
        table = np.array([(text, *one, *other) for text, one, other in windows], np.int64).reshape(-1, 5)
        text, one, one_end, other, other_end = table.T
        edge = int(special_tokens)
        content = one_end - one + other_end - other + edge * (self.n_sequences + 1)
        lengths = np.maximum(content, width(int(content.max(initial=0))))
        self.samples = text
        self.begins = table[:, [1, 3]]  # the place in the text, and in the second one, of a row's first position
        self.offsets = np.concatenate([[0], lengths.cumsum()])

        row = np.repeat(np.arange(len(table)), lengths)
        column = np.arange(self.offsets[-1]) - self.offsets[row]
        if padding_side == "left":
            column -= (lengths - content)[row]
        inside = (column >= 0) & (column < content[row])
        self.ids = np.full(len(row), special_ids["[PAD]"], np.int32)
        self.ids[inside] = special_ids["[SEP]"]
        self.ids[(column == 0) & bool(edge)] = special_ids["[CLS]"]
        self.sequences = np.full(len(row), -1, np.int8)
        self.words = np.full(len(row), -1, np.int32)
        self.spans = np.zeros((len(row), 2), np.int32)
        self._place(0, first, column - edge, row, text, one, one_end)
        behind = column - (2 * edge + one_end - one)[row]
        if second is not None:
            self._place(1, second, behind, row, text, other, other_end)
        self.type_ids = (inside & (behind >= 0) & (second is not None)).astype(np.int8)
        self.attention_mask = inside.astype(np.int8)
        self.special_tokens_mask = np.isin(self.ids & TRIPLE, list(special_ids.values())).astype(np.int8)

    def _place(
        self,
        sequence: int,
        positions: Positions,
        column: NDArray[np.int64],
        row: NDArray[np.int64],
        text: NDArray[np.int64],
        start: NDArray[np.int64],
        stop: NDArray[np.int64],
    ) -> None:
        """Puts a part of each row's text where ``column``, counted from the part's begin, is within the part."""
        here = np.flatnonzero((column >= 0) & (column < (stop - start)[row]))
        source = (positions.offsets[text] + start)[row[here]] + column[here]
        self.ids[here] = positions.ids[source]
        self.words[here] = positions.words[source]
        self.spans[here] = positions.spans[source]
        self.sequences[here] = sequence

    def shaped(self, array: NDArray[Any]) -> NDArray[np.int64] | list[Any]:
        """A flat array as int64 (W, L, ...) where all rows are equally long, and as a list of lists where not."""
        lengths = np.diff(self.offsets)
        if len(lengths) and (lengths == lengths[0]).all():
            return array.reshape(len(lengths), lengths[0], *array.shape[1:]).astype(np.int64)
        return self.lists(array)

    def lists(self, array: NDArray[Any]) -> list[Any]:
        """A flat array as one list a row; spans as tuples."""
        values = array.tolist() if array.ndim == 1 else list(map(tuple, array.tolist()))
        offsets = self.offsets.tolist()
        return [values[start:end] for start, end in pairwise(offsets)]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [Row(self, number) for number in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} is out of range for {len(self)} rows")
        return Row(self, index % len(self))
