"""Parts of a corpus, prepared: each becomes files and, next to each file, a record of what it holds.

A part becomes one segment, or several where a compressed file unfolds to more than ``options.shard_bytes``. A segment
is a pure function of the options and the sources, and its file and its record appear by renaming, the record last. So
whatever is stopped at any moment, only segments without a record are made again, and they come out byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from phonemic.corpus import duplicates
from phonemic.corpus.counts import DUPLICATE, KEPT, NEAR_DUPLICATE, Counts
from phonemic.corpus.inputs import Piece, Source
from phonemic.corpus.lines import Chunk, DamagedLineError, read_part
from phonemic.corpus.manifest import check_name, sha256
from phonemic.corpus.options import Options
from phonemic.corpus.tokenizing import SCHEMA, TokenizedLines, rows_of, tokenize
from phonemic.errors import InputError
from phonemic.files.jsons import checked, read_object
from phonemic.files.writing import Unfinished, naming, write_json

#: A line's number in its part: the chunk's number above these bits, the line's number in the chunk below.
_LINE_BITS = 32

#: The fields of a record, and what each is.
_RECORD = {
    "part": int,
    "index": int,
    "last": bool,
    "next_chunk": int,
    "damaged": dict,
    "file": str | None,
    "rows": int,
    "counts": dict,
    "sources": dict,
}

#: Applies a function to items and gives the results in their order, as the builtin map does.
Map = Callable[[Callable[["Item"], "ChunkResult"], Iterable["Item"]], Iterable["ChunkResult"]]


@dataclass(frozen=True)
class SegmentJob:
    """The work on the parts.

    Attributes:
        folder: where segments and records go.
        kind: "keys" (of the lines, to find duplicates) or "shard".
        options: how.
        sources: the input files.
        drops: files that :func:`duplicates.find_drops` filled, for the exact and for the near duplicates.
    """

    folder: Path
    kind: str
    options: Options
    sources: Sequence[Source]
    drops: tuple[tuple[Path, ...], tuple[Path, ...]] = ((), ())

    @staticmethod
    def name_of(kind: str, part: int, index: int) -> str:
        """The name of a segment, without its suffix."""
        return f"{kind}-{part:06d}-{index:04d}"


class Item(NamedTuple):
    """A chunk with the number of its part and its own number there; no chunk marks the part's end."""

    part: int
    number: int
    chunk: Chunk | None


class ChunkResult(NamedTuple):
    """The result of a chunk: a table of SCHEMA, or lines and their keys, and what was counted; and its damage.

    Rows next to a damage are of the lines before it.
    """

    item: Item
    rows: Any = None
    counts: Counts | None = None
    damage: str = ""


def records(folder: Path, kind: str, part: int | None = None) -> list[dict[str, Any]]:
    """The records of finished segments of one kind, of one part or of all, in their order.

    Raises:
        InputError: one is damaged, or names a file outside its folder.
    """
    pattern = f"{kind}-{'*' if part is None else format(part, '06d')}-*.json"
    found = []
    for path in sorted(folder.glob(pattern)):
        record = checked(read_object(path), _RECORD, path)
        if record["file"] is not None:
            check_name(record["file"], path)
        found.append(record)
    return found


def make_segments(
    job: SegmentJob, parts: Sequence[tuple[int, Sequence[Piece]]], apply: Map
) -> Iterator[dict[str, Any] | float]:
    """Makes what is missing of some parts.

    Arguments:
        job: what to make.
        parts: numbers and pieces of the parts.
        apply: applies a function to the chunks, in their order.

    Yields:
        The record of each segment when it is finished, and between them how many bytes of the sources were read.

    Raises:
        InputError: a source is damaged and is not to be passed over; the message names it.
        OSError: a file cannot be read or written.
    """
    segment: _Segment | None = None
    try:
        for item, rows, counts, damage in apply(_function(job), _items(job, parts)):
            if segment is None or segment.part != item.part:
                segment = _Segment(job, item.part)
            if item.chunk is None:
                if not segment.ended:
                    yield segment.close(last=True)
                segment = None
                continue
            if damage and not job.options.keep_going:
                raise InputError(damage)
            segment.add(item, rows, counts, damage)
            yield item.chunk.read
            if segment.size > job.options.shard_bytes + job.options.chunk:
                yield segment.close(last=False)
    finally:
        if segment is not None:
            segment.discard()


def _items(job: SegmentJob, parts: Sequence[tuple[int, Sequence[Piece]]]) -> Iterator[Item]:
    """The chunks that no finished segment holds, and the end of each part."""
    for part, pieces in parts:
        found = records(job.folder, job.kind, part)
        finished = found[-1]["next_chunk"] if found else 0
        passed_over = 0.0
        if not (found and found[-1]["last"]):
            for number, chunk in enumerate(read_part(pieces, job.sources, job.options)):
                if number < finished:
                    passed_over += chunk.read
                    continue
                yield Item(part, number, replace(chunk, read=chunk.read + passed_over))
                passed_over = 0
        yield Item(part, -1, None)


def _function(job: SegmentJob) -> Callable[[Item], ChunkResult]:
    """The function that turns a chunk into a ChunkResult."""
    drops: dict[int, tuple[Any, Any]] = {}

    def result(item: Item) -> ChunkResult:
        chunk = item.chunk
        if chunk is None or chunk.damage:
            return ChunkResult(item, damage=chunk.damage if chunk else "")
        damage, path = "", job.sources[chunk.source].path
        try:
            tokenized = tokenize(chunk, path, job.options)
        except InputError as error:
            before, damage = _before(chunk, error, path, job.options)
            if before is None:
                return ChunkResult(item, damage=damage)
            tokenized = before
        first = item.number << _LINE_BITS
        statuses = tokenized.statuses
        if job.kind == "keys":
            lines = np.flatnonzero(statuses == KEPT)
            return ChunkResult(item, (lines + first, duplicates.keys_of(tokenized, lines, job.options)), None, damage)
        if job.options.drops_duplicates:
            if item.part not in drops:
                exact, near = (duplicates.drops_of(item.part, paths) for paths in job.drops)
                drops[item.part] = exact, near
            numbers = np.arange(len(statuses)) + first
            exact, near = drops[item.part]
            statuses = statuses.copy()
            statuses[np.isin(numbers, near)] = NEAR_DUPLICATE
            statuses[np.isin(numbers, exact)] = DUPLICATE
        return ChunkResult(item, *rows_of(tokenized, statuses, job.options), damage)

    return result


def _before(chunk: Chunk, error: InputError, path: str, options: Options) -> tuple[TokenizedLines | None, str]:
    """The lines before the first damaged one, where they are to be kept and can be read, and what is wrong with it."""
    if not (options.keep_going and isinstance(error, DamagedLineError) and error.row):
        return None, str(error)
    try:
        return tokenize(replace(chunk, offsets=chunk.offsets[: error.row + 1]), path, options), str(error)
    except InputError:  # none of them has the field
        return None, str(error)


class _Segment:
    """The segment that is being made of a part; it continues where the part's records end."""

    def __init__(self, job: SegmentJob, part: int) -> None:
        found = records(job.folder, job.kind, part)
        self.job, self.part = job, part
        self.index = len(found)
        self.next_chunk = found[-1]["next_chunk"] if found else 0
        self.ended = bool(found and found[-1]["last"])
        self.damaged: dict[str, Any] = dict(found[-1]["damaged"]) if found else {}
        self._begin()

    def _begin(self) -> None:
        self.size = 0
        self.counts = Counts()
        self.sources: dict[int, Counts] = {}
        self._path = self.job.folder / SegmentJob.name_of(self.job.kind, self.part, self.index)
        self.file = _KeyFile(self._path) if self.job.kind == "keys" else _ShardFile(self._path)

    def add(self, item: Item, rows: Any, counts: Counts | None, damage: str) -> None:
        """Adds a chunk, unless its piece was found damaged before."""
        chunk = item.chunk
        assert chunk is not None
        self.next_chunk = item.number + 1
        if str(chunk.piece) in self.damaged:
            return
        if damage:
            self.damaged[str(chunk.piece)] = [chunk.source, damage]
        if rows is None:
            return
        self.size += int(chunk.offsets[-1] - chunk.offsets[0])
        self.file.add(rows)
        if counts is not None:
            self.counts.add(counts)
            own = {name: counts[name] for name in ("lines", "bytes")}
            self.sources.setdefault(chunk.source, Counts()).add(own)

    def close(self, last: bool) -> dict[str, Any]:
        """Finishes the segment, begins the next one, and returns the record."""
        record = {
            "part": self.part,
            "index": self.index,
            "last": last,
            "next_chunk": self.next_chunk,
            "damaged": self.damaged,
            **self.file.close(),
            "counts": self.counts.to_json(),
            "sources": {str(source): counts.to_json() for source, counts in self.sources.items()},
        }
        write_json(self._path.with_suffix(".json"), record, indent=1)
        self.index += 1
        self.ended = last
        self._begin()
        return record

    def discard(self) -> None:
        """Removes the file that was not finished."""
        self.file.discard()


class _KeyFile:
    """Collects keys and writes them when it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_suffix(".npy")
        self._rows: list[Any] = []

    def add(self, rows: Any) -> None:
        self._rows.append(rows)

    def close(self) -> dict[str, Any]:
        count = sum(len(lines) for lines, _ in self._rows)
        if not count:
            return {"file": None, "rows": 0}
        lines, keys = (np.concatenate(parts) for parts in zip(*self._rows, strict=True))
        duplicates.save_keys(self._path, lines, keys)
        return {"file": self._path.name, "rows": count}

    def discard(self) -> None:
        """Nothing is written before the end."""


class _ShardFile:
    """A Parquet file, a row group a chunk; see :class:`Unfinished`. An engine may start a task twice."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_suffix(".parquet")
        self._unfinished: Unfinished | None = None
        self._writer: Any = None
        self._rows = 0

    def add(self, rows: pa.Table) -> None:
        if not rows.num_rows:
            return
        if self._unfinished is None:
            # The ids of a language are few thousand: a dictionary and light compression take 1.3 bytes each.
            self._unfinished = Unfinished(self._path)
            self._writer = pq.ParquetWriter(
                self._unfinished.open(), SCHEMA, compression="zstd", compression_level=1, write_statistics=False
            )
        with naming(self._path):
            self._writer.write_table(rows, row_group_size=rows.num_rows)
        self._rows += rows.num_rows

    def close(self) -> dict[str, Any]:
        if self._unfinished is None:
            return {"file": None, "rows": 0}
        with naming(self._path):
            self._writer.close()
        self._unfinished.finish()
        self._unfinished = None
        return {
            "file": self._path.name,
            "rows": self._rows,
            "bytes": self._path.stat().st_size,
            "sha256": sha256(self._path),
        }

    def discard(self) -> None:
        if self._unfinished is not None:
            if self._writer is not None:  # a signal may come before it is there
                with suppress(OSError):  # a full disk takes no footer either
                    self._writer.close()
            self._unfinished.discard()
