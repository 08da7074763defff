"""A prepared corpus: its manifest, and its shards as arrays."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from phonemic.errors import InputError
from phonemic.files.jsons import checked, read_object

#: The first field of a manifest.
FORMAT = "phonemic corpus 1"

#: The fields of a shard and of a source, and their types.
_SHARD: dict[str, type] = {"file": str, "rows": int, "positions": int, "bytes": int, "sha256": str}
_SOURCE: dict[str, type] = {"path": str, "bytes": int, "sha256": str, "damaged": list}

#: The totals and their types.
TOTALS: dict[str, type] = {
    "lines_kept": int, "lines_dropped": dict, "bytes_kept": int, "bytes_dropped": dict, "shards": int, "rows": int,
    "positions": int, "characters": int, "bytes": int,
}  # fmt: skip

#: The manifest's name in the folder.
MANIFEST = "manifest.json"


class Shard(NamedTuple):
    """The documents of one shard.

    Attributes:
        ids: ids of all documents, int32 (N,): packed, or a baseline's.
        offsets: document i is ``ids[offsets[i]:offsets[i + 1]]``; int64 (rows + 1,).
        characters: characters of each document's text, int32 (rows,).
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    characters: NDArray[np.int32]


@dataclass(frozen=True)
class Corpus:
    """A prepared corpus.

    Attributes:
        folder: where it is.
        manifest: what ``manifest.json`` says.
    """

    folder: Path
    manifest: dict[str, Any]

    @property
    def tokenizer(self) -> dict[str, Any]:
        """The tokenizer that made the ids: name, lang, vocab_size, version, checksums."""
        found: dict[str, Any] = self.manifest["tokenizer"]
        return found

    @property
    def positions(self) -> int:
        """Positions of all shards."""
        return sum(shard["positions"] for shard in self.manifest["shards"])

    @property
    def rows(self) -> int:
        """Documents (lines) of all shards."""
        return sum(shard["rows"] for shard in self.manifest["shards"])

    def path(self, shard: int) -> Path:
        """The file of a shard."""
        name: str = self.manifest["shards"][shard]["file"]
        return self.folder / name

    def __len__(self) -> int:
        return len(self.manifest["shards"])

    def __getitem__(self, shard: int) -> Shard:
        """Reads a shard into memory of this process: what is written to its file later reaches nothing.

        Raises:
            InputError: the file is damaged or another; the message names it.
        """
        path, expected = self.path(shard), self.manifest["shards"][shard]
        try:
            table = pq.read_table(path, memory_map=False, use_threads=False)
            lists, characters = table["ids"].combine_chunks(), _numbers(table["characters"].combine_chunks())
            if not pa.types.is_list(lists.type) or lists.null_count:
                raise TypeError(f"the ids are {lists.type} with {lists.null_count} nulls, not lists")
            found = _numbers(lists.flatten()), np.concatenate([[0], lists.value_lengths().to_numpy().cumsum()])
        except (OSError, KeyError, TypeError, pa.ArrowException) as error:
            raise InputError(f"{path}: damaged, or not this corpus's ({error})") from error
        if (len(lists), len(found[0])) != (expected["rows"], expected["positions"]):
            raise InputError(f"{path}: not the file that {MANIFEST} describes; prepare the corpus again")
        return Shard(found[0], found[1].astype(np.int64), characters)

    def __iter__(self) -> Iterator[Shard]:
        return (self[shard] for shard in range(len(self)))

    def verify(self) -> None:
        """Compares the SHA-256 of every shard with the manifest's.

        Raises:
            InputError: one differs; the message names it.
        """
        for number, shard in enumerate(self.manifest["shards"]):
            if sha256(self.path(number)) != shard["sha256"]:
                raise InputError(f"{self.path(number)}: damaged (its SHA-256 differs from the manifest's)")


def _numbers(array: pa.Array) -> NDArray[np.int32]:
    if array.type != pa.int32() or array.null_count:
        raise TypeError(f"{array.type} with {array.null_count} nulls, not int32 without nulls")
    found: NDArray[np.int32] = array.to_numpy()
    return found


def check_manifest(manifest: object, where: Path) -> None:
    """Refuses what is not a manifest, or names a file outside its folder.

    Raises:
        InputError: it is one of these; the message names the field.
    """
    found = checked(manifest, {"tokenizer": dict, "shards": list}, where)
    checked(found, {"options": dict, "totals": dict, "sources": list}, where, optional=True)
    checked(found["tokenizer"], {"name": str, "lang": str}, f"{where}, tokenizer", optional=True)
    totals = checked(found.get("totals", {}), TOTALS, f"{where}, totals", optional=True)
    for name in ("lines_dropped", "bytes_dropped"):
        checked(totals.get(name, {}), dict.fromkeys(totals.get(name, {}), int), f"{where}, {name}")
    for number, shard in enumerate(found["shards"]):
        place = f"{where}, shard {number}"
        check_name(checked(shard, _SHARD, place)["file"], place)
    for number, source in enumerate(found.get("sources", ())):
        place = f"{where}, source {number}"
        if not all(isinstance(told, str) for told in checked(source, _SOURCE, place, optional=True).get("damaged", ())):
            raise InputError(f"{place}: damaged (its messages are not strings)")


def check_name(name: object, where: object) -> str:
    """A name that a file gives for one next to it: it names no other folder.

    Raises:
        InputError: it does.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w-][\w.-]*", name, re.ASCII):
        raise InputError(f"{where}: {name!r} cannot be the name of a file of this folder")
    return name


def sha256(path: Path | str) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_corpus(folder: str | Path, verify: bool = False) -> Corpus:
    """Opens what ``phonemic prepare`` wrote.

    Arguments:
        folder: the folder of the corpus.
        verify: also read every shard and compare its checksum.

    Raises:
        InputError: no finished corpus, a manifest that is damaged or of another format, a shard that is missing, of
            another size or, with ``verify``, of another content; the message names the file.
    """
    folder = Path(folder)
    path = folder / MANIFEST
    if not path.exists():
        unfinished = (folder / "partial").is_dir()
        hint = "it is unfinished: run phonemic prepare again" if unfinished else "run phonemic prepare"
        raise InputError(f"{folder}: not a prepared corpus ({MANIFEST} is missing; {hint})")
    manifest = read_object(path)
    if manifest.get("format") != FORMAT:
        raise InputError(f"{path}: not a corpus of this version (format {FORMAT!r})")
    check_manifest(manifest, path)
    corpus = Corpus(folder, manifest)
    for number, shard in enumerate(manifest["shards"]):
        file = corpus.path(number)
        if not file.is_file():
            raise InputError(f"{file}: missing")
        if file.stat().st_size != shard["bytes"]:
            raise InputError(f"{file}: damaged ({file.stat().st_size} bytes, not the manifest's {shard['bytes']})")
    if verify:
        corpus.verify()
    return corpus
