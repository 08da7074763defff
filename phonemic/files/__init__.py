"""Texts from files and ids to and from Parquet, in chunks, so that memory does not grow with the file."""

from __future__ import annotations

import bz2
import codecs
import importlib
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from phonemic.errors import InputError, PhonemicError
from phonemic.files.cells import text_cells
from phonemic.files.writing import naming, replacing
from phonemic.inventory import FALLBACKS, LANGUAGES, vocabulary
from phonemic.version import __version__

if TYPE_CHECKING:
    from phonemic.tokenizer import Tokenizer

__all__ = [
    "CHUNK",
    "COMPRESSIONS",
    "MAX_LINE",
    "Advance",
    "blocks",
    "ids_tokenizer",
    "ids_writer",
    "limited",
    "naming",
    "parquet_file",
    "read_ids",
    "read_texts",
    "replacing",
    "require",
    "text_cells",
]

#: Bytes of text that are held, encoded and written at a time. A longer line is held whole: it is one text.
CHUNK = 8 << 20

#: Bytes that a line may have, unless more are asked for.
MAX_LINE = 64 << 20

#: Bytes of compressed data that are unfolded at a time: a call returns all that they unfold to.
_FED = 1 << 10

#: Bytes read at a time. Of compressed input few, because they may unfold to many thousand times as much.
_BLOCK, _COMPRESSED_BLOCK = 1 << 20, 16 << 10

#: The endings of compressed files.
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")

#: Rows of Parquet decoded at a time.
_ROWS = 1024

#: Called with the bytes of a file that were read since the last call.
Advance = Callable[[float], object]


def require(package: str, extra: str = "cli") -> Any:
    """Imports an optional package, which an extra of this one installs.

    Raises:
        PhonemicError: it is not installed; the message says what to install.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise PhonemicError(f'this needs {package.partition(".")[0]}: pip install "phonemic[{extra}]"') from error


# --- reading text


def read_texts(
    path: str,
    column: str = "text",
    errors: str = "strict",
    advance: Advance = lambda size: None,
    chunk: int = CHUNK,
    max_line: int = MAX_LINE,
) -> Iterator[list[str | None]]:
    r"""Reads texts, a list of about ``chunk`` bytes at a time.

    Arguments:
        path: plain UTF-8 text, one text a line; that as .gz, .bz2, .xz or .zst; Parquet; or "-" for plain text on
            standard input. Only "\n" and "\r\n" end a line. A byte order mark at the start of a file is no part of
            its text.
        column: the Parquet column; its nulls come as None.
        errors: "strict" or "replace", what to do about invalid UTF-8.
        advance: is told how many bytes of the file were read.
        chunk: how many bytes of text a list holds.
        max_line: bytes that a line, or a cell of Parquet, may have. It is held whole, with its ids, and a small
            compressed file may be one.

    Raises:
        InputError: invalid UTF-8 (the message names the line and the byte), a line that is too long, a damaged or
            truncated file, a column that is missing or no string.
        OSError: the file cannot be opened.
        PhonemicError: a package is missing.
    """
    if _suffix(path) == ".parquet":
        return _parquet_texts(path, column, errors, advance, chunk, max_line)
    lines = _whole_lines(limited(blocks(path, advance), max_line, _name(path)), chunk)
    return _decoded(_name(path), lines, errors)


def limited(blocks: Iterable[bytes], max_line: int, name: str) -> Iterator[bytes]:
    """The blocks, as long as no line in them is longer.

    Raises:
        InputError: one is; the message names it.
    """
    line, held = 1, 0
    for block in blocks:
        start = 0
        while (end := block.find(b"\n", start)) >= 0 and held + end - start <= max_line:
            line, held, start = line + 1, 0, end + 1
            if len(block) - start <= max_line:  # no line that ends in it is too long
                end = block.rfind(b"\n", start) + 1
                line, start = line + block.count(b"\n", start, end), max(start, end)
                break
        held += len(block) - start
        if held > max_line:
            raise InputError(
                f"{name}, line {line}: is longer than {max_line:,} bytes; if it is one text, --max-line raises that"
            )
        yield block


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()


def _not_utf8(error: UnicodeDecodeError) -> str:
    return f"not UTF-8 ({error.reason}); --errors replace puts U+FFFD for what is wrong"


def _name(path: str) -> str:
    return "standard input" if path == "-" else path


def blocks(path: str, advance: Advance = lambda size: None) -> Iterator[bytes]:
    """The bytes of a file, decompressed where its name ends in .gz, .bz2, .xz or .zst.

    Raises:
        InputError: damaged or truncated compressed data.
        OSError: the file cannot be opened or read.
        PhonemicError: a package is missing.
    """
    compressed = _suffix(path) in COMPRESSIONS
    with naming(_name(path)), nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as file:
        raw = _raw_blocks(cast(BufferedReader, file), _COMPRESSED_BLOCK if compressed else _BLOCK, advance)
        yield from _decompressed(path, raw) if compressed else raw


def _raw_blocks(file: BufferedReader, size: int, advance: Advance) -> Iterator[bytes]:
    # One system call at a time: a signal that comes between two calls of a longer read would wait for the next data.
    while block := file.read1(size):
        advance(len(block))
        yield block


def _decompressed(path: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """All members (frames) of a compressed file.

    The decompressors are used directly because the file objects around them end a truncated .zst, and an empty .gz,
    without an error.
    """
    start, damage = _decompressor(_suffix(path))
    member = start()
    try:
        for block in _fed(blocks):
            rest = block
            while rest:
                if member.eof:
                    rest = rest.lstrip(b"\0")  # padding between members, which no member begins with
                    member = start() if rest else member
                if rest:
                    yield from _unfolded(member, rest)
                    rest = member.unused_data
    except damage as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the file could not be read
        raise InputError(f"{path}: damaged {_suffix(path)} file ({error})") from error
    if not member.eof:
        raise InputError(f"{path}: truncated {_suffix(path)} file (it ends before its end mark)")


def _unfolded(member: Any, data: bytes) -> Iterator[bytes]:
    """What data unfolds to, a block at a time where the decompressor can do so (zstandard's cannot)."""
    if isinstance(member, type(zlib.decompressobj())):
        while len(block := member.decompress(data, _BLOCK)) == _BLOCK or member.unconsumed_tail:
            yield block
            data = member.unconsumed_tail
        yield block
    elif isinstance(member, bz2.BZ2Decompressor | lzma.LZMADecompressor):
        yield member.decompress(data, _BLOCK)
        while not (member.needs_input or member.eof):
            yield member.decompress(b"", _BLOCK)
    else:
        yield member.decompress(data)


def _fed(blocks: Iterable[bytes]) -> Iterator[bytes]:
    for block in blocks:
        for at in range(0, len(block), _FED):
            yield block[at : at + _FED]


def _decompressor(suffix: str) -> tuple[Callable[[], Any], type[Exception]]:
    """What makes a decompressor of one member, and what that raises on damaged data."""
    if suffix == ".gz":
        return lambda: zlib.decompressobj(wbits=31), zlib.error
    if suffix == ".bz2":
        return bz2.BZ2Decompressor, OSError
    if suffix == ".xz":
        return lzma.LZMADecompressor, lzma.LZMAError
    zstandard = require("zstandard")
    return zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError


def _whole_lines(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Joins blocks to chunks of about ``size`` bytes that end with a line, so that no character is cut."""
    parts: list[bytes] = []
    held = 0
    for block in blocks:
        parts.append(block)
        held += len(block)
        if held >= size and (cut := block.rfind(b"\n") + 1):
            parts[-1] = block[:cut]
            yield b"".join(parts)
            parts, held = [block[cut:]], len(block) - cut
    if held:
        yield b"".join(parts)


def _decoded(name: str, chunks: Iterator[bytes], errors: str) -> Iterator[list[str | None]]:
    line, offset = 1, 0
    for chunk in chunks:
        mark = len(codecs.BOM_UTF8) if offset == 0 and chunk.startswith(codecs.BOM_UTF8) else 0
        try:
            text = chunk[mark:].decode("utf-8", errors)
        except UnicodeDecodeError as error:
            at = mark + error.start
            number = line + chunk.count(b"\n", 0, at)
            raise InputError(f"{name}, line {number}, byte {offset + at} of the file: {_not_utf8(error)}") from error
        texts: list[str | None] = [*text.replace("\r\n", "\n").split("\n")]
        if not texts[-1]:
            texts.pop()
        yield texts
        line += chunk.count(b"\n")
        offset += len(chunk)


# --- reading Parquet


def _parquet_texts(
    path: str, column: str, errors: str, advance: Advance, size: int, max_line: int
) -> Iterator[list[str | None]]:
    texts: list[str | None] = []
    held = 0
    for row, value in enumerate(chain.from_iterable(_text_cells(path, column, advance, max_line)), start=1):
        try:
            texts.append(None if value is None else value.decode("utf-8", errors))
        except UnicodeDecodeError as error:
            raise InputError(f"{path}, row {row}, byte {error.start} of the text: {_not_utf8(error)}") from error
        held += len(value or b"") + 1
        if held >= size:
            yield texts
            texts, held = [], 0
    if texts:
        yield texts


def _text_cells(path: str, column: str, advance: Advance, max_line: int) -> Iterator[list[bytes | None]]:
    """The cells of a column as lists of UTF-8, which may be damaged."""
    with _parquet(path, column) as (file, size):
        _check_column(path, file.schema_arrow, column, "string", _is_string)
        for cells in text_cells(file, path, column, None, max_line):
            advance(size * len(cells) / file.metadata.num_rows)
            yield cells.cast(require("pyarrow").large_binary()).to_pylist()


def read_ids(path: str, max_line: int = MAX_LINE) -> Iterator[list[int] | None]:
    """Rows of the column ``ids`` of a Parquet file.

    Arguments:
        path: the file.
        max_line: positions that a row may have.

    Raises:
        InputError: the file is damaged or no Parquet, it has no such column of lists of integers, or a row is longer.
        OSError: the file cannot be opened.
    """
    row = 0
    with _parquet(path) as (file, _):
        _check_column(path, file.schema_arrow, "ids", "list of integers", _is_integer_list)
        for batch in file.iter_batches(_ROWS, columns=["ids"]):
            cells = batch.column(0)
            sizes = require("pyarrow.compute").list_value_length(cells).fill_null(0).to_numpy(zero_copy_only=False)
            if len(long := np.flatnonzero(sizes > max_line)):
                raise InputError(
                    f"{path}, row {row + long[0] + 1}: has more than {max_line:,} positions; if it is one text, "
                    "--max-line raises that"
                )
            row += len(cells)
            yield from cells.to_pylist()


def ids_tokenizer(path: str, lang: str | None = None) -> Tokenizer:
    """A tokenizer that decodes the ids in a Parquet file: of their language, checked against this version's vocabulary,
    and their fallback.

    Arguments:
        path: the Parquet file.
        lang: the language to take where the file does not say it.

    Raises:
        InputError: the file says another language or none, or its vocabulary is not this version's.
        OSError: the file cannot be opened.
    """
    with _parquet(path) as (file, _):
        metadata = file.schema_arrow.metadata or {}
    stored: dict[str, str] = {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in metadata.items()
        if key.startswith(b"phonemic.")
    }
    found = stored.get("phonemic.lang", lang)
    if found is None:
        raise InputError(f"{path}: does not say which language its ids are of; give --lang")
    if lang not in (None, found):
        raise InputError(f"{path}: its ids are of language {found}, not {lang}")
    if found not in LANGUAGES or stored.get("phonemic.vocabulary_checksum") not in (None, vocabulary(found).checksum):
        writer = stored.get("phonemic.version", "of an unknown version")
        raise InputError(f"{path}: its {found} vocabulary is not this version's; phonemic {writer} wrote it, use that")
    fallback = stored.get("phonemic.fallback", FALLBACKS[0])
    if fallback not in FALLBACKS:
        raise InputError(f"{path}: has an unknown fallback {fallback!r}; use the phonemic version that wrote it")
    from phonemic.tokenizer import Tokenizer

    return Tokenizer(found, fallback=fallback)


@contextmanager
def _parquet(path: str, column: str = "") -> Iterator[tuple[Any, int]]:
    """An open ParquetFile, which reads a column of strings as a dictionary, and the file's size; errors name it."""
    parquet, arrow_error = require("pyarrow.parquet"), require("pyarrow").ArrowException
    with open(path, "rb") as source:
        try:
            file = parquet.ParquetFile(source, buffer_size=_BLOCK)
            if file.schema_arrow.names.count(column) == 1 and _is_string(file.schema_arrow.field(column).type):
                file = parquet.ParquetFile(source, metadata=file.metadata, buffer_size=_BLOCK, read_dictionary=[column])
            yield file, os.fstat(source.fileno()).st_size
        except (arrow_error, OSError) as error:
            raise InputError(f"{path}: damaged, or no Parquet file ({error})") from error


@contextmanager
def parquet_file(path: str, column: str) -> Iterator[Any]:
    """An open ParquetFile for :func:`text_cells` of a column of strings; Arrow's errors, later ones too, come as
    InputError.

    Raises:
        InputError: the file is damaged or no Parquet, or the column is missing or no string.
        OSError: the file cannot be opened.
        PhonemicError: pyarrow is missing.
    """
    with _parquet(path, column) as (file, _):
        _check_column(path, file.schema_arrow, column, "string", _is_string)
        yield file


def _check_column(path: str, schema: Any, column: str, kind: str, fits: Callable[[Any], bool]) -> None:
    wrong = "" if column in schema.names else f"no column {column!r}"
    if not wrong and not fits(schema.field(column).type):
        wrong = f"column {column!r} is {schema.field(column).type}, not {kind}"
    if wrong:
        present = ", ".join(f"{field.name} ({field.type})" for field in schema)
        raise InputError(f"{path}: {wrong}; the columns are: {present}")


def _is_string(kind: Any) -> bool:
    plain = kind.value_type if require("pyarrow.types").is_dictionary(kind) else kind
    return str(plain) in ("string", "large_string", "string_view")


def _is_integer_list(kind: Any) -> bool:
    types = require("pyarrow.types")
    return bool((types.is_list(kind) or types.is_large_list(kind)) and types.is_integer(kind.value_type))


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
        path: the Parquet file. Column ``ids`` holds packed ids, list<int32>, one row a text and null for None. The
            file's metadata hold the version, the language, the vocabulary's checksum and the fallback.
        tokenizer: encodes.
        num_threads: threads that encode.
        spans: also write ``spans``, list<int32>: start and end of each position, in code points, one after the other.
        text: also write the ``text``.
        overwrite: whether a file that is there is replaced.

    Raises:
        OSError: the file cannot be written.
        PhonemicError: pyarrow is missing.
    """
    arrow, parquet = require("pyarrow"), require("pyarrow.parquet")
    ids_type = arrow.list_(arrow.int32())
    types = {"ids": ids_type} | ({"spans": ids_type} if spans else {}) | ({"text": arrow.string()} if text else {})
    schema = arrow.schema(types.items(), metadata=_metadata(tokenizer))

    def lists(offsets: NDArray[np.int64], values: NDArray[np.int32], nulls: NDArray[np.bool_]) -> Any:
        ends = arrow.array(offsets, arrow.int32())
        return arrow.ListArray.from_arrays(ends, arrow.array(values), mask=arrow.array(nulls))

    def write(texts: list[str | None]) -> NDArray[np.uint8]:
        batch = tokenizer.encode_batch([row or "" for row in texts], num_threads, spans)
        nulls = np.array([row is None for row in texts], bool)
        columns: dict[str, Any] = {"ids": lists(batch.offsets, batch.ids, nulls)}
        if spans:
            columns["spans"] = lists(2 * batch.offsets, batch.spans.ravel(), nulls)
        if text:
            columns["text"] = texts
        writer.write_table(arrow.table(columns, schema=schema), row_group_size=max(1, len(texts)))
        return batch.kinds

    with replacing(path, overwrite) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        yield write


def _metadata(tokenizer: Tokenizer) -> dict[str, str]:
    return {
        "phonemic.version": __version__,
        "phonemic.lang": tokenizer.lang,
        "phonemic.vocabulary_checksum": tokenizer.vocab.checksum,
        "phonemic.fallback": tokenizer.fallback,
    }
