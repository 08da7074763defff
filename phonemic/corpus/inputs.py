"""The input files, and how they are cut into parts that are prepared apart from one another."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from phonemic.corpus.options import Options
from phonemic.errors import InputError
from phonemic.files import kind_of, parquet_file
from phonemic.files.encodings import is_utf8
from phonemic.files.writing import is_stream

#: How many times its size a compressed file is taken to unfold, where only an estimate is needed.
_UNFOLDS = 4


class Source(NamedTuple):
    """An input file: the path as given, its size in bytes, and when it was changed (nanoseconds)."""

    path: str
    bytes: int
    mtime: int


class Piece(NamedTuple):
    """A run of one source: bytes of plain text, row groups of Parquet, or all of a compressed file.

    Attributes:
        source: index of the source.
        start: the first byte, or row group. A line belongs to the piece in which it begins.
        stop: the byte, or row group, behind the last.
        bytes: what it holds on the disk, about.
        unusable: why it cannot be read, known before it is tried; "" where nothing is known.
    """

    source: int
    start: int
    stop: int
    bytes: int
    unusable: str = ""


def find_sources(inputs: Iterable[str], but: str | Path | None = None) -> list[Source]:
    """The files that the inputs name.

    Arguments:
        inputs: files; folders, which stand for all files below them (links that lead nowhere are none) but those whose
            name, or folder's name, begins with "." or "_"; and globs (``**`` too). The files of one folder or glob
            come in the order of their names.
        but: a folder whose files are not among those of folders and globs, as that of the corpus itself.

    Raises:
        InputError: an input names no file, or a device or a FIFO, or a file comes twice.
        OSError: a file cannot be looked at.
    """
    paths: list[str] = []
    for given in inputs:
        found = sorted(_below(given)) if os.path.isdir(given) else [given]
        if not os.path.exists(given) and glob.has_magic(given):
            found = sorted(path for path in glob.glob(given, recursive=True) if os.path.isfile(path))
        if but is not None and found != [given]:
            found = [path for path in found if Path(but).resolve() not in Path(path).resolve().parents]
        if not found:
            raise InputError(f"{given}: no such file")
        paths += found
    seen: dict[str, str] = {}
    for path in paths:
        if is_stream(path):
            raise InputError(f"{path}: is a device or a FIFO, which cannot be read twice; write it to a file first")
        real = os.path.realpath(path)
        if real in seen:
            raise InputError(f"{path}: given twice (also as {seen[real]})")
        seen[real] = path
    return [Source(path, state.st_size, state.st_mtime_ns) for path in paths for state in [os.stat(path)]]


def _below(folder: str) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        paths = (os.path.join(root, name) for name in names if name[0] not in "._")
        yield from filter(os.path.isfile, paths)  # not a link that leads nowhere, nor a FIFO, which would be waited for


def cut(sources: Sequence[Source], options: Options) -> list[list[Piece]]:
    """Cuts the sources into parts of about ``options.shard_bytes`` of text each; the same for the same files.

    Raises:
        InputError: a Parquet file is damaged or has no such column of strings, and it is not to be passed over.
    """
    parts: list[list[Piece]] = []
    room = 0
    for piece, size in _pieces(sources, options):
        if size > room or not parts:
            parts.append([])
            room = options.shard_bytes
        parts[-1].append(piece)
        room -= size
    return parts


def _pieces(sources: Sequence[Source], options: Options) -> Iterator[tuple[Piece, int]]:
    """Pieces and about how many bytes of text each holds."""
    limit = options.shard_bytes
    for index, source in enumerate(sources):
        kind, compression = kind_of(source.path)
        if kind == "parquet":
            yield from _row_groups(index, source, options)
        elif compression or not is_utf8(source.path, options.encoding):
            yield Piece(index, 0, source.bytes, source.bytes), (_UNFOLDS if compression else 2) * source.bytes
        else:
            for start in range(0, source.bytes, limit):
                stop = min(start + limit, source.bytes)
                yield Piece(index, start, stop, stop - start), stop - start


def _row_groups(index: int, source: Source, options: Options) -> Iterator[tuple[Piece, int]]:
    try:
        with parquet_file(source.path, options.column) as file:
            metadata = file.metadata
            leaf = [metadata.schema.column(at).path for at in range(metadata.num_columns)].index(options.column)
            groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
            sizes = [group.column(leaf).total_uncompressed_size for group in groups]
            on_disk = [group.column(leaf).total_compressed_size for group in groups]
    except InputError as error:
        if not options.keep_going:
            raise
        yield Piece(index, 0, 0, source.bytes, str(error)), 0
        return
    start = 0
    while start < len(sizes):
        stop, size = start + 1, sizes[start]
        while stop < len(sizes) and size + sizes[stop] <= options.shard_bytes:
            size += sizes[stop]
            stop += 1
        yield Piece(index, start, stop, sum(on_disk[start:stop])), size
        start = stop
