"""Lines of text as Arrow holds strings: the bytes of many lines in one buffer, and where each begins."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from phonemic.arrow import utf8
from phonemic.corpus.inputs import Piece, Source
from phonemic.corpus.options import Options
from phonemic.errors import InputError
from phonemic.files import blocks, kind_of, limited, parquet_file, require, text_cells
from phonemic.files.encodings import in_utf8, is_utf8, not_utf8
from phonemic.files.jsons import is_blank, line_object, text_of

#: Bytes of a plain file read at a time.
_BLOCK = 1 << 20


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

    if compression or not is_utf8(path, options.encoding):
        at, stream = 0, in_utf8(blocks(path, advance), path, options.encoding, options.errors)
    else:
        with open(path, "rb") as file:
            at = _line_start(file, piece.start, piece.stop)
            # A line that continues for more than max_line is refused below, wherever it ends.
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


def without_line_ends(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    r"""Lines without the "\n" or "\r\n" that each may end with: their bytes and offsets, from 0 on.

    Arguments:
        data: UTF-8 of the lines.
        offsets: line i is ``data[offsets[i]:offsets[i + 1]]``, int64 (B + 1,).
    """
    first, sizes = int(offsets[0]), np.diff(offsets)
    text, stops = data[first : int(offsets[-1])], (offsets[1:] - first)[sizes > 0]
    kept = np.ones(len(text), bool)
    ends = stops[text[stops - 1] == ord("\n")] - 1
    kept[ends] = False
    returns = ends[(ends > 0) & (text[ends - 1] == ord("\r"))] - 1
    kept[returns] = False
    places = np.concatenate([[0], kept.cumsum()])
    return text[kept], places[offsets - first]


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


def texts_of_json(chunk: Chunk, path: str, field: str, errors: str = "strict") -> Chunk:
    """The lines of the text field of JSON lines; lines without it, or null, are passed over.

    Arguments:
        chunk: JSON lines.
        path: the file, for errors.
        field: the name of the field.
        errors: "strict" or "replace", what to do about what is not Unicode text.

    Raises:
        DamagedLineError: a line is not UTF-8 or not a JSON object, or the field is not a string; the message names the
            byte.
        InputError: the file begins with a chunk in which no line has the field.
    """
    first: dict[str, Any] | None = None
    known = chunk.start > len(codecs.BOM_UTF8)  # the file's first lines tell whether it has the field
    texts = []
    for row, start in enumerate(chunk.offsets[:-1].tolist()):
        line = _utf8(chunk, row, path, errors)
        if is_blank(line):
            continue
        place = f"{path}, the line at byte {chunk.start + start - int(chunk.offsets[0])} of the file"
        try:
            value = line_object(line, place)
            text = text_of(value, field, place, errors)
        except InputError as error:
            raise DamagedLineError(str(error), row) from error
        first, known = first or value, known or field in value
        if text is not None:
            texts.append(text.encode())
    if first is not None and not known:
        names = ", ".join(first)
        raise InputError(f"{path}: no line from byte {chunk.start} on has the field {field!r}; the first has {names}")
    data = np.frombuffer(b"".join(texts), np.uint8)
    offsets = np.array([0, *map(len, texts)], np.int64).cumsum()
    return replace(chunk, data=data, offsets=line_offsets(data, offsets), json=False)


def checked(chunk: Chunk, path: str, errors: str) -> Chunk:
    """The chunk where it is UTF-8, or with U+FFFD for what is not.

    Raises:
        DamagedLineError: it is not UTF-8, and ``errors`` is "strict"; the message names the byte.
    """
    rows = [_utf8(chunk, row, path, errors).encode() for row in range(len(chunk.offsets) - 1)]
    sizes = np.array([0, *map(len, rows)], np.int64)
    return replace(chunk, data=np.frombuffer(b"".join(rows), np.uint8), offsets=sizes.cumsum())


def _utf8(chunk: Chunk, row: int, path: str, errors: str) -> str:
    """A line, apart from the others: one may end within a character."""
    start, stop = chunk.offsets[row : row + 2].tolist()
    try:
        return chunk.data[start:stop].tobytes().decode("utf-8", errors)
    except UnicodeDecodeError as error:
        at = start - int(chunk.offsets[0]) + error.start
        place = f"byte {error.start} of a line" if chunk.start < 0 else f"byte {chunk.start + at} of the file"
        raise DamagedLineError(f"{path}, {place}: {not_utf8(chunk.data.tobytes(), error.reason)}", row) from error
