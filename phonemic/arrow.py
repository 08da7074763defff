"""Arrow strings to Arrow lists of packed ids, without a Python object a text; and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic.errors import DecodingError, InputError, PhonemicError
from phonemic.files.cells import id_rows
from phonemic.files.jsons import HALF
from phonemic.inventory import unpack
from phonemic.tokenizer import Tokenizer, encode_rows

try:
    import pyarrow as pa
except ImportError as missing:
    raise PhonemicError('phonemic.arrow needs pyarrow: pip install "phonemic[arrow]"') from missing


_ROWS = 1 << 16  # offsets that are narrowed at a time

#: Bytes of UTF-8 in int64 or int32 offsets: row i is ``data[offsets[i]:offsets[i + 1]]``.
Texts = tuple[NDArray[np.uint8], NDArray[np.integer[Any]]]


def encode(
    data: Any,
    tokenizer: Tokenizer,
    num_threads: int = 1,
    *,
    column: str = "text",
    triples: bool = False,
    spans: bool = False,
) -> Any:
    """Encodes Arrow strings.

    Arguments:
        data: a pyarrow Array or ChunkedArray of type string, large_string or string_view, or a dictionary of them; or
            nothing but nulls; or a RecordBatch or Table with such a column.
        tokenizer: encodes.
        num_threads: threads that share the work (the GIL is released).
        column: the column of a RecordBatch or Table.
        triples: also give ``triples``, list<uint8>: onset, rime and tone ids of each position in turn.
        spans: also give ``spans``, list<int32>: start and end of each position in turn, half-open, in bytes of the
            text's UTF-8.

    Returns:
        ``ids``, list<int32> of packed ids: one row per text, null for null. An Array or ChunkedArray gives it as one
        with the same chunks, or, where triples or spans are requested too, as structs that hold all of them. A
        RecordBatch or Table comes back with the new columns behind its own; columns of these names are replaced.

    Raises:
        TypeError: not Arrow data of strings.
        ValueError: num_threads is below 1.
        InputError: a text is not UTF-8 or an array has more positions than a list can hold (2**31 - 1 values), and the
            message names the row; or there is no such column.
    """
    if isinstance(data, pa.RecordBatch | pa.Table):
        found = encode(_column(data, column), tokenizer, num_threads, triples=triples, spans=spans)
        return _with_columns(data, _fields(found) if triples or spans else {"ids": found})
    if isinstance(data, pa.ChunkedArray):
        chunks, start = [], 0
        for chunk in data.chunks:
            chunks.append(_encode(chunk, tokenizer, num_threads, start, triples, spans))
            start += len(chunk)
        return pa.chunked_array(chunks, _type(triples, spans))
    if not isinstance(data, pa.Array):
        raise TypeError(f"expected a pyarrow Array, ChunkedArray, RecordBatch or Table, not {type(data).__name__}")
    return _encode(data, tokenizer, num_threads, 0, triples, spans)


def decode(
    data: Any,
    tokenizer: Tokenizer,
    *,
    column: str = "ids",
    to: str | None = None,
    style: str = "new",
    skip_special_tokens: bool = True,
    dialect: str | None = None,
    errors: str = "strict",
) -> Any:
    """Writes lists of packed ids as Arrow strings; see :meth:`phonemic.Tokenizer.decode`.

    Arguments:
        data: a pyarrow Array or ChunkedArray of lists or large lists of integers, or nothing but nulls; or a
            RecordBatch or Table with such a column.
        tokenizer: whose ids they are.
        column: the column of a RecordBatch or Table.
        to: ``"spelling"``, ``"pinyin"`` or another notation; None: the text where ids have forms, else the first.
        style: Vietnamese tone-mark placement, ``"new"`` or ``"old"``.
        skip_special_tokens: leave out [CLS], [PAD] and the others.
        dialect: the city whose Vietnamese is written, in IPA.
        errors: ``"strict"``, or ``"replace"`` for U+FFFD where ids with forms are of no text, or their text has half of
            a surrogate pair, which Arrow's strings do not hold.

    Returns:
        A text per row, null for null: string of lists, large_string of large lists. An Array or ChunkedArray gives one
        with the same chunks. A RecordBatch or Table comes back with the column ``text`` behind its own, in the place of
        one of that name.

    Raises:
        TypeError: not Arrow data of lists of integers.
        ValueError: ``to``, ``style``, ``dialect`` or ``errors`` does not fit.
        DecodingError: ids are of no text; the message names the row, counted from 0, and the position.
        InputError: a list holds a null or what is not an int32, and the message names the row; the array is damaged, or
            its texts do not fit one array (2 GB) and should be decoded in smaller chunks; or there is no such column.
    """
    way = {"to": to, "style": style, "skip_special_tokens": skip_special_tokens, "dialect": dialect, "errors": errors}
    if isinstance(data, pa.RecordBatch | pa.Table):
        return _with_columns(data, {"text": decode(_column(data, column), tokenizer, **way)})  # type: ignore[arg-type]
    if not isinstance(data, pa.Array | pa.ChunkedArray):
        raise TypeError(f"expected a pyarrow Array, ChunkedArray, RecordBatch or Table, not {type(data).__name__}")
    lists, kind = pa.types.is_list(data.type) or pa.types.is_large_list(data.type), data.type
    if not (pa.types.is_null(kind) or (lists and pa.types.is_integer(kind.value_type))):
        raise TypeError(f"expected an array of lists of integers, not {kind}")
    made = pa.large_string() if pa.types.is_large_list(kind) else pa.string()
    tokenizer.decode_batch([], **way)  # type: ignore[arg-type]  # what does not fit is refused without rows, too
    if isinstance(data, pa.Array):
        return _texts(data, made, tokenizer, 0, way)
    chunks, start = [], 0
    for chunk in data.chunks:
        chunks.append(_texts(chunk, made, tokenizer, start, way))
        start += len(chunk)
    return pa.chunked_array(chunks, made)


def _texts(array: Any, kind: Any, tokenizer: Tokenizer, first_row: int, way: dict[str, Any]) -> Any:
    """The texts of an Array of lists of ids, some rows at a time."""
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), kind)
    row, parts = first_row, [pa.array([], kind)]
    try:
        array.validate(full=True)  # damaged offsets would be followed out of the buffers
    except pa.ArrowException as error:
        raise InputError(f"a damaged array of {array.type}: {error}") from error
    for ids, offsets, nulls in id_rows(array, "row {}".format, first_row, None):
        try:
            texts = tokenizer.decode_batch(ids, offsets, **way)
        except DecodingError as error:
            raise DecodingError(f"row {row + error.row}: {str(error).partition(': ')[2]}") from error
        parts.append(_strings_of(texts, kind, nulls, row, way["errors"]))
        row += len(texts)
    try:
        return pa.concat_arrays(parts)
    except pa.ArrowException as error:
        raise InputError(f"the texts of {len(array)} rows do not fit one array: decode smaller chunks") from error


def _strings_of(texts: list[str], kind: Any, nulls: NDArray[np.bool_], row: int, errors: str) -> Any:
    try:
        return pa.array(texts, kind, mask=nulls)
    except UnicodeEncodeError as error:
        if errors == "replace":
            return pa.array([HALF.sub("\ufffd", text) for text in texts], kind, mask=nulls)
        at = next(at for at, text in enumerate(texts) if HALF.search(text))
        raise DecodingError(
            f"row {row + at}: half of a surrogate pair, which Arrow's strings do not hold; errors='replace' writes "
            "U+FFFD for it"
        ) from error


def _column(data: Any, column: str) -> Any:
    """The column of a RecordBatch or Table.

    Raises:
        InputError: there is not one of that name, or there are several.
    """
    if column not in data.schema.names:
        raise InputError(f"no column {column!r}; the columns are: {', '.join(data.schema.names)}")
    if data.schema.names.count(column) > 1:
        raise InputError(f"{data.schema.names.count(column)} columns are named {column!r}; rename all but one")
    return data[column]


def _with_columns(data: Any, added: dict[str, Any]) -> Any:
    """A RecordBatch or Table with columns behind its own, in the place of those of their names."""
    kept = [at for at, name in enumerate(data.schema.names) if name not in added]
    schema = pa.schema(
        [data.schema.field(at) for at in kept] + [pa.field(name, array.type) for name, array in added.items()],
        metadata=data.schema.metadata,
    )
    return type(data).from_arrays([*(data.column(at) for at in kept), *added.values()], schema=schema)


def _type(triples: bool, spans: bool) -> Any:
    """The type of what :func:`encode` gives for an array."""
    ids = pa.list_(pa.int32())
    fields = {"ids": ids} | ({"triples": pa.list_(pa.uint8())} if triples else {}) | ({"spans": ids} if spans else {})
    return pa.struct(fields.items()) if triples or spans else ids


def _fields(structs: Any) -> dict[str, Any]:
    """The fields of an array, or chunked array, of structs."""
    names = [structs.type.field(index).name for index in range(structs.type.num_fields)]
    return dict(zip(names, structs.flatten(), strict=True))


def _encode(
    array: Any, tokenizer: Tokenizer, num_threads: int, first_row: int, with_triples: bool, with_spans: bool
) -> Any:
    array = _decoded(array)
    try:
        ids, ends, spans, _ = encode_rows(tokenizer.core, *utf8(array), num_threads, with_spans, word_ids=False)
    except InputError as error:
        where = f" (counted from row {first_row}, where its chunk begins)" if first_row else ""
        raise InputError(f"{error}{where}") from error
    widest = 3 if with_triples else 2 if with_spans else 1
    if len(ids) * widest >= 1 << 31:
        raise InputError(f"{len(ids)} positions do not fit one list array; encode smaller chunks")
    nulls = array.is_null() if array.null_count else None
    lists: dict[str, tuple[int, NDArray[Any]]] = {"ids": (1, ids)}
    if with_triples:
        lists["triples"] = 3, unpack(ids).ravel()
    if spans is not None:
        lists["spans"] = 2, spans.ravel()
    offsets = _narrowed(ends)
    columns = {
        name: pa.ListArray.from_arrays(
            pa.array(offsets if width == 1 else offsets * width), pa.array(values), mask=nulls
        )
        for name, (width, values) in lists.items()
    }
    if len(columns) == 1:
        return columns["ids"]
    return pa.StructArray.from_arrays(list(columns.values()), list(columns), mask=nulls)


def _narrowed(ends: NDArray[np.int64]) -> NDArray[np.int32]:
    """The numbers as int32, in the memory where they lie."""
    narrow = ends.view(np.int32)[: len(ends)]
    for at in range(0, len(ends), _ROWS):
        narrow[at : at + _ROWS] = ends[at : at + _ROWS]
    return narrow


def _sound(array: Any) -> Any:
    """An array of strings, once Arrow's own code can read what its offsets or views point to.

    Raises:
        InputError: they point outside it.
    """
    try:
        raw = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}.get(str(array.type))
        if raw:
            array.view(getattr(pa, raw)()).validate(full=True)  # of strings UTF-8 too, without naming the row
    except pa.ArrowException as error:
        raise InputError(f"a damaged array of {array.type}: {error}") from error
    return array


def _decoded(array: Any) -> Any:
    """The array, or what a dictionary's indices stand for: nulls among its values are nulls then.

    Raises:
        InputError: an index is of no value.
    """
    if not pa.types.is_dictionary(array.type):
        return array
    try:
        values = _sound(array.dictionary)
        if str(values.type) == "string_view":  # which Arrow cannot decode
            array = pa.DictionaryArray.from_arrays(array.indices, _unviewed(values))
        return array.dictionary_decode()
    except pa.ArrowException as error:
        raise InputError(f"a damaged array of {array.type}: {error}") from error


def _unviewed(array: Any) -> Any:
    """Views of strings as large_string, whether they are UTF-8 or not."""
    return array.view(pa.binary_view()).cast(pa.large_binary()).view(pa.large_string())


def utf8(array: Any) -> Texts:
    """The UTF-8 of an Array of strings (see :func:`encode`) and where each row begins; a null is an empty text.

    Raises:
        TypeError: not an array of strings.
        InputError: its offsets, views or indices point outside it.
    """
    strings = _strings(array)
    _, offset_buffer, data = strings.buffers()
    width: type[np.integer[Any]] = np.int64 if pa.types.is_large_string(strings.type) else np.int32
    offsets: NDArray[np.integer[Any]] = np.zeros(1, width)
    if offset_buffer is not None and len(strings):
        offsets = np.frombuffer(offset_buffer, width)[strings.offset : strings.offset + len(strings) + 1]
    return np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8), offsets


def _strings(array: Any) -> Any:
    """The array as string or large_string, with nulls as empty texts."""
    array = _decoded(array)
    kind = array.type
    if pa.types.is_null(kind):
        array = array.cast(pa.string())
    elif str(kind) == "string_view":
        array = _unviewed(_sound(array))
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise TypeError(f"expected an array of strings, not {kind}")
    return _sound(array).fill_null("") if array.null_count else array
