"""Columns of Parquet files: texts, and ids with the tokenizer that made them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phonemic.errors import InputError
from phonemic.files.cells import MAX_LINE, IdRows, id_rows, row_of, text_cells, too_many
from phonemic.files.compressed import BLOCK, Advance
from phonemic.files.packages import require
from phonemic.files.writing import replacing
from phonemic.inventory import FALLBACKS, LANGUAGES, READINGS, vocabulary
from phonemic.lexicon.digests import digests
from phonemic.version import __version__

if TYPE_CHECKING:
    from phonemic.tokenizer import Tokenizer

#: Rows of ids that are decoded at a time, and the positions that they may have together, if they are of equal size.
_ROWS, _POSITIONS = 1024, 1 << 18

#: The message where pyarrow raises a UnicodeDecodeError.
NOT_UTF8 = "damaged, or the name of a column is not UTF-8; rename that column"

# --- reading


@contextmanager
def _parquet(path: str, column: str = "") -> Iterator[tuple[Any, int]]:
    """An open ParquetFile, which reads a column of strings as a dictionary, and the file's size; errors name it."""
    parquet, arrow_error = require("pyarrow.parquet"), require("pyarrow").ArrowException
    with open(path, "rb") as source:
        try:
            file = parquet.ParquetFile(source, buffer_size=BLOCK)
            if file.schema_arrow.names.count(column) == 1 and _is_string(file.schema_arrow.field(column).type):
                file = parquet.ParquetFile(source, metadata=file.metadata, buffer_size=BLOCK, read_dictionary=[column])
            yield file, os.fstat(source.fileno()).st_size
        except (arrow_error, OSError, IndexError) as error:  # the last of a place that a dictionary does not have
            raise InputError(f"{path}: damaged, or not a Parquet file ({error})") from error
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: {NOT_UTF8}") from error


@contextmanager
def parquet_file(path: str, column: str) -> Iterator[Any]:
    """An open ParquetFile for :func:`text_cells` of a column of strings; Arrow's errors, later ones too, come as
    InputError.

    Raises:
        InputError: the file is damaged or not Parquet, or the column is missing or does not hold strings.
        OSError: the file cannot be opened.
        PhonemicError: pyarrow is missing.
    """
    with _parquet(path, column) as (file, _):
        _check_column(path, file.schema_arrow, column, "string", _is_string)
        yield file


def _check_column(path: str, schema: Any, column: str, kind: str, fits: Callable[[Any], bool]) -> None:
    if (count := schema.names.count(column)) > 1:
        raise InputError(f"{path}: {count} columns are named {column!r}; rename all but one")
    wrong = "" if column in schema.names else f"no column {column!r}"
    if not wrong and not fits(schema.field(column).type):
        wrong = f"column {column!r} is {schema.field(column).type}, not {kind}"
    if wrong:
        present = ", ".join(f"{field.name} ({field.type})" for field in schema)
        raise InputError(f"{path}: {wrong}; the columns are: {present}")


def text_arrays(path: str, column: str, advance: Advance, max_line: int) -> Iterator[Any]:
    """A column of strings as Arrow arrays of a few rows each, large_binary: the UTF-8 may be damaged.

    Arguments:
        path: the Parquet file.
        column: its name.
        advance: is called with how many bytes of the file were read.
        max_line: bytes that a cell may have.

    Raises:
        InputError: the file is damaged or not Parquet, the column is missing or does not hold strings, or a cell is
            longer.
        OSError: the file cannot be opened.
    """
    binary = require("pyarrow").large_binary()
    with _parquet(path, column) as (file, size):
        _check_column(path, file.schema_arrow, column, "string", _is_string)
        for cells in text_cells(file, path, column, None, max_line):
            advance(size * len(cells) / file.metadata.num_rows)
            yield cells.cast(binary)


def _is_string(kind: Any) -> bool:
    """Whether an Arrow type is of strings, in a dictionary or not, or of nothing but nulls."""
    plain = kind.value_type if require("pyarrow.types").is_dictionary(kind) else kind
    return str(plain) in ("string", "large_string", "string_view", "null")


def _is_integer_list(kind: Any) -> bool:
    types = require("pyarrow.types")
    return bool((types.is_list(kind) or types.is_large_list(kind)) and types.is_integer(kind.value_type))


def read_ids(path: str, max_line: int = MAX_LINE) -> Iterator[IdRows]:
    """Rows of the column ``ids`` of a Parquet file, some at a time.

    Arguments:
        path: the file.
        max_line: positions that a row may have.

    Raises:
        InputError: the file is damaged or not Parquet, it has not one such column of lists of integers, or a row is
            longer.
        OSError: the file cannot be opened.
    """
    row = 0
    with _parquet(path) as (file, _):
        check_ids(path, file.schema_arrow)
        for at in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(at)
            rows, positions = group.num_rows, _positions(group)
            if min(positions, default=0) > rows * max(max_line, 1):
                which = f"row {row + 1}" if rows == 1 else f"one of the rows {row + 1} to {row + rows}"
                raise too_many(f"{path}, {which}", max_line)
            together = max(1, min(_ROWS, _POSITIONS * rows // max([*positions, 1])))
            for batch in file.iter_batches(together, [at], ["ids"]):
                yield from id_rows(batch.column(0), row_of(path), row, max_line)
                row += len(batch)


def _positions(group: Any) -> list[int]:
    """How many positions the column ``ids`` of a row group has; an empty row, or a null, counts as one.

    A column that is named "ids.x" cannot be told from a part of it, and its number is given too.
    """
    chunks = [group.column(at) for at in range(group.num_columns)]
    return [chunk.num_values for chunk in chunks if chunk.path_in_schema.split(".")[0] == "ids"]


def check_ids(path: str, schema: Any) -> None:
    """Raises InputError where a schema has not one column of lists of integers named ``ids``."""
    _check_column(path, schema, "ids", "list of integers", _is_integer_list)


def ids_tokenizer(path: str, lang: str | None = None) -> Tokenizer:
    """A tokenizer that decodes the ids in a Parquet file: of their language, checked against this version's vocabulary
    and forms, their fallback and how they were read.

    Arguments:
        path: the Parquet file.
        lang: the language to take where the file does not say it.

    Raises:
        InputError: the file says another language or none, or its vocabulary or forms are not this version's.
        OSError: the file cannot be opened.
    """
    with _parquet(path) as (file, _):
        metadata = file.schema_arrow.metadata or {}
    return tokenizer_of(metadata, path, lang)


def language_of(stored: Any, given: str | None, where: str) -> Any:
    """The language of ids: what is stored with them, or else what a user says.

    Raises:
        InputError: neither says it, or they differ.
    """
    if stored is None and given is None:
        raise InputError(f"{where}: does not say which language its ids are of; give --lang")
    if None not in (stored, given) and stored != given:
        raise InputError(f"{where}: its ids are of language {stored}, not {given}")
    return given if stored is None else stored


def tokenizer_of(metadata: Mapping[bytes, bytes], path: str, lang: str | None = None) -> Tokenizer:
    """As :func:`ids_tokenizer`, of what a schema's metadata say."""
    stored: dict[str, str] = {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in metadata.items()
        if key.startswith(b"phonemic.")
    }
    found = language_of(stored.get("phonemic.lang"), lang, path)
    if found not in LANGUAGES or stored.get("phonemic.vocabulary_checksum") not in (None, vocabulary(found).checksum):
        writer = stored.get("phonemic.version", "of an unknown version")
        raise InputError(f"{path}: its {found} vocabulary is not this version's; phonemic {writer} wrote it, use that")
    fallback = stored.get("phonemic.fallback", FALLBACKS[0])
    if fallback not in FALLBACKS:
        raise InputError(f"{path}: has an unknown fallback {fallback!r}; use the phonemic version that wrote it")
    readings = stored.get("phonemic.reading.context", READINGS[0])
    if readings not in READINGS or (readings != READINGS[0] and found != "zh"):
        raise InputError(f"{path}: has unknown readings {readings!r}; use the phonemic version that wrote it")
    flags = {name: _TRUTH.get(stored.get(f"phonemic.{name}", "false")) for name in _FLAGS}
    for name, value in flags.items():
        if value is None or (value and name != "form" and found != "zh"):
            raise InputError(f"{path}: has an unknown value of {name}; use the phonemic version that wrote it")
    from phonemic.tokenizer import Tokenizer

    options = {name: bool(value) for name, value in flags.items()}
    joiner = stored.get("phonemic.word_joiner") if options["form"] else None
    try:
        made = Tokenizer(found, fallback=fallback, readings=readings, word_joiner=joiner, **options)  # type: ignore[arg-type]
    except ValueError as error:
        raise InputError(f"{path}: {error}; use the phonemic version that wrote it") from error
    if stored.get("phonemic.forms_checksum") != made.checksums.get("forms_checksum"):
        writer = stored.get("phonemic.version", "of an unknown version")
        raise InputError(f"{path}: its {found} forms are not this version's; phonemic {writer} wrote it, use that")
    return made


_FLAGS = ("sandhi", "erhua", "form")
_TRUTH = {"true": True, "false": False}


# --- writing


@contextmanager
def ids_writer(
    path: str,
    tokenizer: Tokenizer,
    num_threads: int = 1,
    spans: bool = False,
    text: bool = False,
    overwrite: bool = True,
) -> Iterator[Callable[[list[str | None]], NDArray[np.uint8]]]:
    """A function that encodes texts and writes them to a Parquet file, a row group a call; see :func:`replacing`.

    It returns the kinds of the positions that it wrote, uint8 (N,).

    Arguments:
        path: the Parquet file. Column ``ids`` holds packed ids, list<int32>, one row per text and null for None. The
            file's metadata hold the version, the language, the vocabulary's checksum, the digests of the tables by
            which texts were read, the fallback, the readings, and
            sandhi, erhua and form where they are on; with form also its table's checksum and the word joiner.
        tokenizer: encodes.
        num_threads: threads that encode.
        spans: also write ``spans``, list<int32>: start and end of each position, in code points, one after the other.
        text: also write the ``text``.
        overwrite: whether a file that is there is replaced.

    Raises:
        OSError: the file cannot be written.
        PhonemicError: pyarrow is missing.
    """
    parquet = require("pyarrow.parquet")
    schema, table = ids_tables(tokenizer, num_threads, spans, text)

    def write(texts: list[str | None]) -> NDArray[np.uint8]:
        rows, kinds = table(texts)
        writer.write_table(rows, row_group_size=max(1, len(texts)))
        return kinds

    with replacing(path, overwrite) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        yield write


def ids_tables(
    tokenizer: Tokenizer, num_threads: int, spans: bool, text: bool
) -> tuple[Any, Callable[[list[str | None]], tuple[Any, NDArray[np.uint8]]]]:
    """The schema of ids, and a function that makes tables of it: texts to a table and the kinds of its positions.

    Arguments: see :func:`ids_writer`.

    Raises:
        PhonemicError: pyarrow is missing.
    """
    arrow = require("pyarrow")
    ids_type = arrow.list_(arrow.int32())
    types = {"ids": ids_type} | ({"spans": ids_type} if spans else {}) | ({"text": arrow.string()} if text else {})
    schema = arrow.schema(types.items(), metadata=_metadata(tokenizer))

    def lists(offsets: NDArray[np.int64], values: NDArray[np.int32], nulls: NDArray[np.bool_]) -> Any:
        ends = arrow.array(offsets, arrow.int32())
        return arrow.ListArray.from_arrays(ends, arrow.array(values), mask=arrow.array(nulls))

    def table(texts: list[str | None]) -> tuple[Any, NDArray[np.uint8]]:
        batch = tokenizer.encode_batch([row or "" for row in texts], num_threads, spans)
        nulls = np.array([row is None for row in texts], bool)
        columns: dict[str, Any] = {"ids": lists(batch.offsets, batch.ids, nulls)}
        if spans:
            columns["spans"] = lists(2 * batch.offsets, batch.spans.ravel(), nulls)
        if text:
            columns["text"] = texts
        return arrow.table(columns, schema=schema), batch.kinds

    return schema, table


def _metadata(tokenizer: Tokenizer) -> dict[str, str]:
    flags = {f"phonemic.{name}": "true" for name in _FLAGS if getattr(tokenizer, name)}
    if tokenizer.form and tokenizer.word_joiner:  # the bytes of one are not what the fallback would have
        flags["phonemic.word_joiner"] = tokenizer.word_joiner
    return flags | {
        "phonemic.version": __version__,
        "phonemic.lang": tokenizer.lang,
        **{f"phonemic.{name}": checksum for name, checksum in tokenizer.checksums.items()},
        **{f"phonemic.digest.{name}": digest for name, digest in digests(tokenizer.options).items()},
        "phonemic.fallback": tokenizer.fallback,
        "phonemic.reading.context": tokenizer.readings,
    }
