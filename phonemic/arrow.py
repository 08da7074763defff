"""Arrow strings in, Arrow lists of packed ids out, without a Python object a text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic.errors import InputError, PhonemicError
from phonemic.tokenizer import Tokenizer, encode_rows

try:
    import pyarrow as pa
except ImportError as missing:
    raise PhonemicError('phonemic.arrow needs pyarrow: pip install "phonemic[arrow]"') from missing


_ROWS = 1 << 16  # offsets that are narrowed at a time


def encode(array: Any, tokenizer: Tokenizer, num_threads: int = 1) -> Any:
    """Encodes an Arrow array of strings.

    Arguments:
        array: a pyarrow Array or ChunkedArray of type string, large_string or string_view, or a dictionary of them.
        tokenizer: encodes.
        num_threads: threads that share the work (the GIL is released).

    Returns:
        ``list<int32>`` of packed ids (ListArray, or ChunkedArray with the same chunks): a row a text, null for null.

    Raises:
        TypeError: not an array of strings.
        InputError: a text is not UTF-8, or an array has more than 2**31 - 1 positions; the message names the row.
    """
    if isinstance(array, pa.ChunkedArray):
        chunks, start = [], 0
        for chunk in array.chunks:
            chunks.append(_encode(chunk, tokenizer, num_threads, start))
            start += len(chunk)
        return pa.chunked_array(chunks, pa.list_(pa.int32()))
    if not isinstance(array, pa.Array):
        raise TypeError(f"expected a pyarrow Array or ChunkedArray, not {type(array).__name__}")
    return _encode(array, tokenizer, num_threads, 0)


def _encode(array: Any, tokenizer: Tokenizer, num_threads: int, first_row: int) -> Any:
    strings = _strings(array)
    _, offset_buffer, data = strings.buffers()
    width: type[np.integer[Any]] = np.int64 if pa.types.is_large_string(strings.type) else np.int32
    offsets: NDArray[np.integer[Any]] = np.zeros(1, width)
    if offset_buffer is not None and len(strings):
        offsets = np.frombuffer(offset_buffer, width)[strings.offset : strings.offset + len(strings) + 1]
    bytes_ = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    try:
        ids, ends, _, _ = encode_rows(tokenizer.core, bytes_, offsets, num_threads, spans=False, word_ids=False)
    except InputError as error:
        where = f" (counted from row {first_row}, where its chunk begins)" if first_row else ""
        raise InputError(f"{error}{where}") from error
    if len(ids) >= 1 << 31:
        raise InputError(f"{len(ids)} positions do not fit one list array; encode smaller chunks")
    mask = array.is_null() if array.null_count else None
    return pa.ListArray.from_arrays(pa.array(_narrowed(ends)), pa.array(ids), mask=mask)


def _narrowed(ends: NDArray[np.int64]) -> NDArray[np.int32]:
    """The numbers as int32, in the memory where they lie."""
    narrow = ends.view(np.int32)[: len(ends)]
    for at in range(0, len(ends), _ROWS):
        narrow[at : at + _ROWS] = ends[at : at + _ROWS]
    return narrow


def _strings(array: Any) -> Any:
    """The array as string or large_string, with nulls as empty texts."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if str(kind) == "string_view":
        array = array.cast(pa.large_string())
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise TypeError(f"expected an array of strings, not {kind}")
    return array.fill_null("") if array.null_count else array
