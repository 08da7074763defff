"""Texts from files, in chunks, so that memory does not grow with the file."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import cast

from phonemic.errors import InputError
from phonemic.files.cells import MAX_LINE
from phonemic.files.compressed import Advance, blocks, shown
from phonemic.files.encodings import in_utf8, not_utf8
from phonemic.files.jsons import is_blank, line_object, text_of
from phonemic.files.kinds import kind_of
from phonemic.files.parquet import text_arrays

#: Bytes of text that are held, encoded and written at a time. A longer line is held whole: it is one text.
CHUNK = 8 << 20


def read_texts(
    path: str,
    column: str = "text",
    errors: str = "strict",
    advance: Advance = lambda size: None,
    chunk: int = CHUNK,
    max_line: int = MAX_LINE,
    encoding: str = "utf-8",
) -> Iterator[list[str | None]]:
    r"""Reads texts, a list of about ``chunk`` bytes at a time.

    Arguments:
        path: plain text, one text a line, see :func:`read_lines`; JSON lines (.jsonl, .ndjson, .json), either
            also as .gz, .bz2, .xz or .zst; Parquet; or "-" for plain text on standard input.
        column: the column of Parquet, whose nulls come as None; the field of JSON lines, where it is missing from an
            object likewise. Empty lines among JSON lines are none.
        errors: "strict" or "replace", what to do about invalid UTF-8, and about halves of surrogate pairs in JSON.
        advance: is called with how many bytes of the file were read.
        chunk: how many bytes of text a list holds.
        max_line: bytes that a line, or a cell of Parquet, may have. It is held whole, with its ids, and a small
            compressed file may be one.

        encoding: that of the text, see :data:`phonemic.files.encodings.ENCODINGS`. A mark of UTF-16 at the start of a
            file tells that by itself; Parquet is UTF-8.

    Raises:
        InputError: invalid UTF-8 (the message names the line and the byte), a line that is too long or is not a JSON
            object, a damaged or truncated file, a column that is missing or does not hold strings.
        OSError: the file cannot be opened.
        PhonemicError: a package is missing.
    """
    kind = kind_of(path)[0]
    if kind == "parquet":
        return _parquet_texts(path, column, errors, advance, chunk, max_line)
    lines = read_lines(path, errors, advance, chunk, max_line, encoding)
    return _json_texts(path, lines, column, errors) if kind == "json" else cast("Iterator[list[str | None]]", lines)


def read_lines(
    path: str,
    errors: str = "strict",
    advance: Advance = lambda size: None,
    chunk: int = CHUNK,
    max_line: int = MAX_LINE,
    encoding: str = "utf-8",
) -> Iterator[list[str]]:
    r"""Reads the lines of text, whatever is written in them, a list of about ``chunk`` bytes at a time.

    Only "\n" and "\r\n" end a line. A byte order mark at the start of a file is not part of its text. Arguments and
    errors are those of :func:`read_texts`.
    """
    utf8 = in_utf8(blocks(path, advance), shown(path), encoding, errors)
    lines = _whole_lines(limited(utf8, max_line, shown(path)), chunk)
    return _decoded(shown(path), lines, errors)


def limited(blocks: Iterable[bytes], max_line: int, name: str) -> Iterator[bytes]:
    """The blocks, as long as no line in them is longer, and what is before such a line.

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
            if start:
                yield block[:start]
            raise InputError(
                f"{name}, line {line}: is longer than {max_line:,} bytes; if it is one text, raise --max-line"
            )
        yield block


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


def _decoded(name: str, chunks: Iterator[bytes], errors: str) -> Iterator[list[str]]:
    line, offset = 1, 0
    for chunk in chunks:
        mark = len(codecs.BOM_UTF8) if offset == 0 and chunk.startswith(codecs.BOM_UTF8) else 0
        try:
            text = chunk[mark:].decode("utf-8", errors)
        except UnicodeDecodeError as error:
            at = mark + error.start
            number = line + chunk.count(b"\n", 0, at)
            raise InputError(
                f"{name}, line {number}, byte {offset + at} of the file: {not_utf8(chunk, error.reason)}"
            ) from error
        texts = text.replace("\r\n", "\n").split("\n")
        if not texts[-1]:
            texts.pop()
        yield texts
        line += chunk.count(b"\n")
        offset += len(chunk)


def _json_texts(path: str, chunks: Iterator[list[str]], field: str, errors: str) -> Iterator[list[str | None]]:
    number, known = 0, False
    for lines in chunks:
        numbered = [(at, line) for at, line in enumerate(lines, number + 1) if not is_blank(line)]
        objects = [(at, line_object(line, f"{path}, line {at}")) for at, line in numbered]
        number += len(lines)
        known = known or any(field in value for _, value in objects)
        if objects and not known:
            at, value = objects[0]
            raise InputError(f"{path}, from line {at} on: no field {field!r}; the first has {', '.join(value)}")
        yield [text_of(value, field, f"{path}, line {at}", errors) for at, value in objects]


def _parquet_texts(
    path: str, column: str, errors: str, advance: Advance, size: int, max_line: int
) -> Iterator[list[str | None]]:
    arrays = text_arrays(path, column, advance, max_line)
    texts: list[str | None] = []
    held = 0
    for row, value in enumerate(chain.from_iterable(cells.to_pylist() for cells in arrays), start=1):
        try:
            texts.append(None if value is None else value.decode("utf-8", errors))
        except UnicodeDecodeError as error:
            told = f"not UTF-8 ({error.reason}); --errors replace puts U+FFFD for what is wrong"
            raise InputError(f"{path}, row {row}, byte {error.start} of the text: {told}") from error
        held += len(value or b"") + 1
        if held >= size:
            yield texts
            texts, held = [], 0
    if texts:
        yield texts
