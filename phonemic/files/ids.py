"""Ids in files and streams: Parquet, Arrow's stream format, JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from phonemic.errors import InputError, SavedTokenizerError, printable
from phonemic.files.cells import IDS, MAX_LINE, IdRows, id_rows, row_of
from phonemic.files.compressed import standard_input
from phonemic.files.jsons import line_object
from phonemic.files.packages import require
from phonemic.files.parquet import (
    NOT_UTF8,
    check_ids,
    ids_tables,
    ids_tokenizer,
    ids_writer,
    language_of,
    read_ids,
    tokenizer_of,
)
from phonemic.files.texts import read_lines
from phonemic.files.writing import replacing
from phonemic.inventory import FALLBACKS, READINGS
from phonemic.lexicon.digests import short_digests, warn_of_other_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic.tokenizer import Tokenizer

#: Format -> the end of a file's name.
FORMATS = {"parquet": ".parquet", "arrow": ".arrow", "jsonl": ".jsonl"}

#: A function that encodes texts, writes them, and returns the kinds of the positions, uint8 (N,).
Write = Callable[[list[str | None]], "NDArray[np.uint8]"]


def format_of(path: str, default: str | None = None) -> str:
    """The format that a path's end names.

    Arguments:
        path: a file, or "-".
        default: what any other path has.

    Raises:
        InputError: it names none, and there is no default.
    """
    found = next((name for name, end in FORMATS.items() if path.lower().endswith(end)), default)
    if found is None:
        raise InputError(f"{path!r} must end in {', '.join(FORMATS.values())}")
    return found


@contextmanager
def writer(
    target: str | BinaryIO,
    form: str,
    tokenizer: Tokenizer,
    num_threads: int = 1,
    spans: bool = False,
    text: bool = False,
    overwrite: bool = True,
) -> Iterator[Write]:
    """A function that encodes texts and writes their ids.

    Arguments:
        target: a path, which appears when it is complete, or an open stream; Parquet takes a path only.
        form: ``"parquet"`` (see :func:`ids_writer`); ``"arrow"``: the same columns and metadata as an Arrow stream;
            ``"jsonl"``: an object a line, ``{"lang": "vi", "ids": [...]}``, with ``"fallback"``, ``"readings"``,
            ``"sandhi"``, ``"erhua"`` and ``"form"`` where they are not the default (with form also ``"word_joiner"``
            and ``"forms_checksum"``), ``"tables"`` as :func:`phonemic.lexicon.digests.short_digests` names them,
            ``"spans"`` as pairs and ``"text"``.
        tokenizer: encodes.
        num_threads: threads that encode.
        spans: also write the positions' spans.
        text: also write the texts.
        overwrite: whether a file that is there is replaced.

    Raises:
        OSError: it cannot be written.
        PhonemicError: pyarrow is missing.
    """
    if form == "parquet":
        if not isinstance(target, str):
            raise InputError("Parquet cannot be written to a stream: name a file, or choose arrow or jsonl")
        with ids_writer(target, tokenizer, num_threads, spans, text, overwrite) as write:
            yield write
        return
    opened = replacing(target, overwrite) if isinstance(target, str) else nullcontext(target)
    with opened as file, _STREAMS[form](file, tokenizer, num_threads, spans, text) as write:
        yield write


@contextmanager
def _arrow_stream(file: BinaryIO, tokenizer: Tokenizer, num_threads: int, spans: bool, text: bool) -> Iterator[Write]:
    schema, table = ids_tables(tokenizer, num_threads, spans, text)

    def write(texts: list[str | None]) -> NDArray[np.uint8]:
        rows, kinds = table(texts)
        stream.write_table(rows)
        return kinds

    with require("pyarrow.ipc").new_stream(require("pyarrow").PythonFile(file, "w"), schema) as stream:
        yield write


@contextmanager
def _json_lines(file: BinaryIO, tokenizer: Tokenizer, num_threads: int, spans: bool, text: bool) -> Iterator[Write]:
    options = {name: value for name, value in tokenizer.options.to_json().items() if name in _TOLD}
    if tokenizer.form:
        options["forms_checksum"] = tokenizer.checksums["forms_checksum"]
    else:
        options.pop("word_joiner", None)
    options["tables"] = short_digests(tokenizer.options)

    def write(texts: list[str | None]) -> NDArray[np.uint8]:
        batch = tokenizer.encode_batch([row or "" for row in texts], num_threads, spans)
        for row, encoding in zip(texts, batch, strict=True):
            line: dict[str, Any] = {**options, "ids": None if row is None else encoding.ids.tolist()}
            if spans:
                line["spans"] = None if row is None else encoding.spans.tolist()
            if text:
                line["text"] = row
            file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        return batch.kinds

    yield write


#: The tokenizer's settings in a line of JSON, and their values where it has none.
_TOLD = {
    "lang": None, "fallback": FALLBACKS[0], "readings": READINGS[0], "sandhi": False, "erhua": False, "form": False,
    "word_joiner": None,
}  # fmt: skip

_STREAMS = {"arrow": _arrow_stream, "jsonl": _json_lines}


def reader(
    path: str, form: str, lang: str | None = None, max_line: int = MAX_LINE
) -> tuple[Tokenizer | None, Iterator[IdRows]]:
    """A tokenizer that decodes ids, and their rows, some at a time; None where JSON lines have no line, and so no
    language.

    Arguments:
        path: a file, or "-" for standard input, which cannot be Parquet.
        form: ``"parquet"``, ``"arrow"`` or ``"jsonl"``; see :func:`writer`.
        lang: the language, where they do not say it.
        max_line: positions that a row may have, or bytes of a line of JSON.

    Raises:
        InputError: it is damaged or holds no ids, or says another language, or none; the message names the row.
        OSError: it cannot be read.
    """
    if form == "parquet":
        if path == "-":
            raise InputError("Parquet cannot be read from a stream: name a file, or write it as arrow or jsonl")
        return ids_tokenizer(path, lang), read_ids(path, max_line)
    if form == "arrow":
        return _read_arrow(path, lang, max_line)
    return _read_json(path, lang, max_line)


def _read_arrow(path: str, lang: str | None, max_line: int) -> tuple[Tokenizer, Iterator[IdRows]]:
    arrow = require("pyarrow")
    file = standard_input() if path == "-" else open(path, "rb")  # noqa: SIM115
    where = "standard input" if path == "-" else path

    def rows() -> Iterator[IdRows]:
        row = 0
        with file, naming_damage():
            for batch in stream:
                batch.validate(full=True)  # damaged offsets would be followed out of the buffers
                yield from id_rows(batch.column("ids"), row_of(where), row, max_line)
                row += len(batch)

    @contextmanager
    def naming_damage() -> Iterator[None]:
        try:
            yield
        except (arrow.ArrowException, OSError) as error:
            raise InputError(f"{where}: damaged, or not an Arrow stream ({printable(str(error))})") from error
        except MemoryError as error:  # of a size that a damaged stream states
            raise InputError(f"{where}: damaged, or a batch of it is larger than memory") from error
        except UnicodeDecodeError as error:
            raise InputError(f"{where}: {NOT_UTF8}") from error

    try:
        with naming_damage():
            stream = require("pyarrow.ipc").open_stream(file)
            check_ids(where, stream.schema)
        return tokenizer_of(stream.schema.metadata or {}, where, lang), rows()
    except BaseException:
        file.close()
        raise


def _texts(path: str, max_line: int) -> Iterator[str]:
    try:
        yield from chain.from_iterable(read_lines(path, max_line=max_line))
    except InputError as error:
        if not isinstance(error.__cause__, UnicodeDecodeError):
            raise
        told = str(error).partition("; ")[0]
        raise InputError(f"{told}, so no JSON lines; an Arrow stream of ids needs --format arrow") from error


def _read_json(path: str, lang: str | None, max_line: int) -> tuple[Tokenizer | None, Iterator[IdRows]]:
    where = "standard input" if path == "-" else path
    lines = enumerate(_texts(path, max_line), start=1)
    first = next(lines, None)
    if first is None and lang is None:
        return None, iter(())
    head = {} if first is None else _object(first, where)
    options = {name: head.get(name, default) for name, default in _TOLD.items()}
    options["lang"] = language_of(head.get("lang"), lang, where)
    from phonemic.tokenizer import Tokenizer

    def rows() -> Iterator[NDArray[np.int32] | None]:
        for numbered in [] if first is None else chain([first], lines):
            line = _object(numbered, where)
            own = {name: line.get(name, default) for name, default in (_TOLD | {"lang": options["lang"]}).items()}
            if own != options:
                raise InputError(
                    f"{where}, line {numbered[0]}: its language, fallback, readings, sandhi, erhua or form are not "
                    "those of the first"
                )
            yield None if line["ids"] is None else _packed(line["ids"], f"{where}, line {numbered[0]}")

    try:
        made = Tokenizer.restore(options, f"{where}, line 1")
        warn_of_other_tables(head.get("tables"), made.options, f"{where}, line 1")
    except SavedTokenizerError as error:
        raise InputError(str(error)) from error
    if made.form and head.get("forms_checksum") != made.checksums["forms_checksum"]:
        raise InputError(f"{where}, line 1: its forms are not this version's; use the phonemic version that wrote it")
    return made, _together(rows())


def _object(numbered: tuple[int, str], where: str) -> dict[str, Any]:
    number, line = numbered
    place = f"{where}, line {number}"
    found = line_object(line, place, {"ids": list | None})
    if {*map(type, found["ids"] or [])} - {int}:
        raise InputError(f"{place}: its ids are not a list of whole numbers")
    return found


def _packed(ids: list[int], place: str) -> NDArray[np.int32]:
    if ids and not -(1 << 31) <= min(ids) <= max(ids) <= 0x7FFFFFFF:
        at = next(at for at, one in enumerate(ids) if not -(1 << 31) <= one <= 0x7FFFFFFF)
        raise InputError(f"{place}: position {at}: {ids[at]} is not a packed id")
    return np.array(ids, np.int32)


def _together(rows: Iterator[NDArray[np.int32] | None]) -> Iterator[IdRows]:
    """Some rows at a time; those before one that is damaged are given before its error is raised."""
    held: list[NDArray[np.int32] | None] = []
    size, damaged = 0, None
    while True:
        try:
            held.append(next(rows))
        except StopIteration:
            break
        except InputError as error:
            damaged = error
            break
        size += 1 + (0 if held[-1] is None else len(held[-1]))
        if size >= IDS:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)
    if damaged:
        raise damaged


def _joined(rows: list[NDArray[np.int32] | None]) -> IdRows:
    kept = [np.zeros(0, np.int32) if row is None else row for row in rows]
    return IdRows(np.concatenate(kept), np.cumsum([0, *map(len, kept)]), np.array([row is None for row in rows], bool))
