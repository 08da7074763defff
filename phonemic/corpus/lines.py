"""Lines of text as Arrow holds strings: the bytes of many lines in one buffer, and where each begins."""

from __future__ import annotations

import codecs
import io
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from phonemic.arrow import utf8
from phonemic.corpus.inputs import Piece, Source
from phonemic.corpus.options import Options
from phonemic.errors import InputError
from phonemic.files import blocks, kind_of, limited, parquet_file, require, text_cells
from phonemic.files.jsons import loads

#: Bytes of a plain file read at a time.
_BLOCK = 1 << 20


#: Escapes of JSON: an escaped backslash, a surrogate pair, or half of one.
_HALVES = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


class DamagedLineError(InputError):
    """A line cannot be read; ``row`` is its number in the chunk."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


@dataclass(frozen=True)
class Chunk:
    """Some lines of one piece, in their order.

    Attributes:
        piece: number of the piece in its part.
        source: number of the source.
        start: the byte of the decompressed file at which it begins; -1 for Parquet.
        data: UTF-8, or JSON lines where ``json`` is set.
        offsets: line i is ``data[offsets[i]:offsets[i + 1]]``, its line end included; int64 (lines + 1,).
        json: the lines are still JSON objects.
        read: bytes of the file on the disk that were read for it, about.
        damage: why the rest of the piece cannot be read; such a chunk has no lines.
    """

    piece: int
    source: int
    start: int
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    json: bool = False
    read: float = 0
    damage: str = ""


def read_part(part: Sequence[Piece], sources: Sequence[Source], options: Options) -> Iterator[Chunk]:
    """The lines of a part, in chunks of about ``options.chunk`` bytes; the cuts depend on the text alone.

    A piece that is damaged ends with a Chunk that says so.
    """
    for number, piece in enumerate(part):
        path = sources[piece.source].path
        empty = Chunk(number, piece.source, 0, np.zeros(0, np.uint8), np.zeros(1, np.int64))
        if piece.unusable:
            yield replace(empty, damage=piece.unusable, read=piece.bytes)
            continue
        try:
            if kind_of(path)[0] == "parquet":
                yield from _of_parquet(path, piece, empty, options)
            else:
                yield from _of_text(path, piece, empty, options)
        except InputError as error:
            yield replace(empty, damage=str(error))


def _of_text(path: str, piece: Piece, empty: Chunk, options: Options) -> Iterator[Chunk]:
    kind, compression = kind_of(path)
    read = [0.0]

    def advance(size: float) -> None:
        read[0] += size

    if compression:
        at, stream = 0, blocks(path, advance)
    else:
        with open(path, "rb") as file:
            at = _line_start(file, piece.start, piece.stop)
            # A line that goes on for more than max_line is refused below, wherever it ends.
            stop = _line_start(file, piece.stop, piece.stop + options.max_line) if at < piece.stop else at
        stream = _range(path, at, stop, advance)
    counted = f"{path}, from byte {at} on" if at else path  # where the lines are counted from
    for data in whole_lines(limited(stream, options.max_line, counted), options.chunk):
        mark = len(codecs.BOM_UTF8) if at == 0 and data.startswith(codecs.BOM_UTF8) else 0
        array = np.frombuffer(data, np.uint8)[mark:]
        offsets = line_offsets(array, np.array([0, len(array)]))
        yield replace(empty, start=at + mark, data=array, offsets=offsets, json=kind == "json", read=read[0])
        at += len(data)
        read[0] = 0


def _line_start(file: BinaryIO, at: int, stop: int) -> int:
    """Where the first line begins that does not begin before ``at``; ``stop``, or the file's end, where none does."""
    if at == 0:
        return 0
    file.seek(at - 1)
    while block := file.read(min(_BLOCK, stop - file.tell())):
        if end := block.find(b"\n") + 1:
            return file.tell() - len(block) + end
    return file.tell()


def _range(path: str, start: int, stop: int, advance: Any) -> Iterator[bytes]:
    with open(path, "rb") as file:
        file.seek(start)
        while start < stop and (block := file.read(min(_BLOCK, stop - start))):
            start += len(block)
            advance(len(block))
            yield block


def whole_lines(stream: Iterable[bytes], size: int) -> Iterator[bytes]:
    r"""Cuts a stream behind the last "\n" within ``size`` bytes each time, or behind the first where none is.

    Raises:
        InputError: the stream's own, behind the last whole line before.
    """
    held = bytearray()
    searched = 0
    try:
        for block in stream:
            held += block
            while len(held) >= size:
                cut = held.rfind(b"\n", 0, size) + 1 or held.find(b"\n", max(size, searched)) + 1
                if not cut:
                    searched = len(held)
                    break
                yield bytes(held[:cut])
                del held[:cut]
                searched = 0
    except InputError:
        if cut := held.rfind(b"\n") + 1:
            yield bytes(held[:cut])
        raise
    if held:
        yield bytes(held)


def line_offsets(data: NDArray[np.uint8], offsets: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    r"""Cuts texts at their "\n": the offsets of lines, each with its line end."""
    first, last = int(offsets[0]), int(offsets[-1])
    ends = np.flatnonzero(data[first:last] == ord("\n")) + (first + 1)
    if len(offsets) == 2:
        tail = [] if len(ends) and ends[-1] == last else [last]
        return np.concatenate([[first], ends, tail if last > first else []]).astype(np.int64)
    return np.unique(np.concatenate([offsets.astype(np.int64), ends]))


def _of_parquet(path: str, piece: Piece, empty: Chunk, options: Options) -> Iterator[Chunk]:
    arrow = require("pyarrow")
    with parquet_file(path, options.column) as file:
        groups = list(range(piece.start, piece.stop))
        rows = sum(file.metadata.row_group(group).num_rows for group in groups)
        held: list[Any] = []
        size = count = 0
        for found in text_cells(file, path, options.column, groups, options.max_line):
            cells = found.cast(arrow.large_string()).drop_null()
            held.append(cells)
            size += cells.nbytes
            count += len(found)
            if size >= options.chunk or count == rows:
                data, offsets = utf8(arrow.concat_arrays(held))
                read = piece.bytes * sum(map(len, held)) / max(rows, 1)
                yield replace(empty, start=-1, data=data, offsets=line_offsets(data, offsets), read=read)
                held, size = [], 0


def texts_of_json(chunk: Chunk, path: str, field: str) -> Chunk:
    """The lines of the text field of JSON lines; lines without it, or null, are passed over.

    Raises:
        DamagedLineError: a line is not a JSON object, or the field is not a string, or Arrow cannot read it; the
            message names the byte.
        InputError: no line has the field.
    """
    arrow = require("pyarrow")
    data = chunk.data[chunk.offsets[0] : chunk.offsets[-1]]
    if not data.tobytes().strip():
        return replace(chunk, data=data[:0], offsets=np.zeros(1, np.int64), json=False)
    try:
        table = _table(data.tobytes(), field)
    except arrow.ArrowInvalid as error:
        _raise_json_fault(chunk, path, field)
        raise _arrow_fault(chunk, path, field) from error
    written = {json.dumps(field, ensure_ascii=escaped).encode() for escaped in (True, False)}
    if table[field].null_count == table.num_rows and not any(name in data.tobytes() for name in written):
        names = ", ".join(loads(data.tobytes().lstrip().split(b"\n", 1)[0]))
        raise InputError(f"{path}: no line from byte {chunk.start} on has the field {field!r}; the first has {names}")
    texts = arrow.concat_arrays([part.cast(arrow.large_string()).drop_null() for part in table[field].chunks])
    found, offsets = utf8(texts)
    return replace(chunk, data=found, offsets=line_offsets(found, offsets), json=False)


def _table(data: bytes, field: str) -> Any:
    """The field of JSON lines, as Arrow reads it."""
    arrow, reader = require("pyarrow"), require("pyarrow.json")
    schema = arrow.schema([(field, arrow.string())])
    parse = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore", newlines_in_values=False)
    read = reader.ReadOptions(use_threads=False, block_size=len(data) + 1)
    return reader.read_json(io.BytesIO(data), read_options=read, parse_options=parse)


def _raise_json_fault(chunk: Chunk, path: str, field: str) -> None:
    """Says what is wrong with the first line that is wrong."""
    for row, (start, stop) in enumerate(pairwise(chunk.offsets.tolist())):
        line = chunk.data[start:stop].tobytes()
        wrong = ""
        try:
            value = loads(line) if line.strip() else {}
            if not isinstance(value, dict):
                wrong = f"is a JSON {type(value).__name__}, not an object"
            elif not isinstance(value.get(field, ""), str | None):
                wrong = f"the field {field!r} is not a string"
            else:
                (value.get(field) or "").encode()
        except UnicodeEncodeError as error:
            wrong = f"the field {field!r} is not Unicode text: {error.reason}"
        except ValueError as error:
            wrong = f"is not JSON: {error}"
        if wrong:
            raise DamagedLineError(f"{path}, the line at byte {chunk.start + start} of the file: {wrong}", row)


def _arrow_fault(chunk: Chunk, path: str, field: str) -> DamagedLineError:
    """What is wrong with the first line that Arrow cannot read, where json can: each line is an object then.

    Such are a field that is given twice, half of a surrogate pair in another field, and a number too big for a double.
    """
    bounds = chunk.offsets.tolist()

    def fault(lines: int) -> str:
        data = chunk.data[bounds[0] : bounds[lines]].tobytes()
        try:
            if data.strip(b" \t\r\n"):  # of nothing else Arrow makes no table
                _table(data, field)
        except require("pyarrow").ArrowInvalid as error:
            return re.sub(r"\.? in row \d+$", "", str(error))
        return ""

    row = bisect_left(range(1, len(bounds)), True, key=lambda lines: bool(fault(lines)))
    place = f"{path}, the line at byte {chunk.start + bounds[row]} of the file"
    return DamagedLineError(f"{place}: cannot be read ({fault(row + 1)})", row)


def _mended(found: re.Match[bytes]) -> bytes:
    return found[0] if len(found[0]) != len(rb"\ud800") else rb"\ufffd"


def checked(chunk: Chunk, path: str, errors: str) -> Chunk:
    """The chunk where it is UTF-8, or with U+FFFD for what is not, halves of surrogate pairs in JSON among that.

    Raises:
        DamagedLineError: it is not UTF-8, and ``errors`` is "strict"; the message names the byte.
    """
    rows = []
    for row, (start, stop) in enumerate(pairwise(chunk.offsets.tolist())):  # apart: one may end within a character
        line = chunk.data[start:stop].tobytes()
        try:
            rows.append(line.decode("utf-8", errors).encode())
        except UnicodeDecodeError as error:
            at = start - int(chunk.offsets[0]) + error.start
            place = f"byte {error.start} of a line" if chunk.start < 0 else f"byte {chunk.start + at} of the file"
            raise DamagedLineError(
                f"{path}, {place}: not UTF-8 ({error.reason}); --errors replace puts U+FFFD for invalid bytes", row
            ) from error
    if errors == "strict":
        return chunk
    if chunk.json:
        rows = [_HALVES.sub(_mended, row) for row in rows]
    sizes = np.array([0, *map(len, rows)], np.int64)
    return replace(chunk, data=np.frombuffer(b"".join(rows), np.uint8), offsets=sizes.cumsum())
