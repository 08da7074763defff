"""A prepared corpus: its manifest checked against the installed phonemic, its shards as flat memory-mapped arrays.

Compressed Parquet cannot be mapped row by row, so the shards are unfolded once, beside them, into ``ids.bin`` (int32),
``offsets.bin`` (int64, one more than there are documents) and ``characters.bin`` (int32): four bytes a position.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic.files import require
from phonemic_bert.errors import CorpusError
from phonemic_bert.pretraining.symbols import Symbols

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "phonemic corpus 1"
MANIFEST = "manifest.json"

#: The flat arrays and their types, little-endian.
ARRAYS = {"ids.bin": "<i4", "offsets.bin": "<i8", "characters.bin": "<i4"}
_CHECKSUMS = "checksums.json"
_BLOCK = 8 << 20

#: Is told how many positions were unfolded since the last call, and how many there are.
Advance = Callable[[int, int], object]


class Corpus:
    """The documents of a prepared corpus.

    Attributes:
        folder: where it lies.
        manifest: what ``manifest.json`` says.
        fingerprint: SHA-256 of the manifest, which holds the checksum of every shard.
        symbols: what the ids mean.
        ids: the ids of all documents, as in the shards, int32 (N,), memory-mapped.
        offsets: document i is ``ids[offsets[i]:offsets[i + 1]]``, int64 (D + 1,), memory-mapped.
        characters: code points of each document without white space, int32 (D,), memory-mapped.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any], fingerprint: str, symbols: Symbols, flat: Path) -> None:
        self.folder = folder
        self.manifest = manifest
        self.fingerprint = fingerprint
        self.symbols = symbols
        # As plain arrays: numpy's own memmap class makes every access slower.
        self.ids, self.offsets, self.characters = (
            np.asarray(np.memmap(flat / name, kind, "r")) if (flat / name).stat().st_size else np.zeros(0, kind)
            for name, kind in ARRAYS.items()
        )

    @classmethod
    def open(
        cls,
        folder: str | Path,
        cache: str | Path | None = None,
        verify: bool = True,
        advance: Advance = lambda done, total: None,
    ) -> Corpus:
        """Opens a corpus, and unfolds its shards where that was not done yet.

        Arguments:
            folder: what ``phonemic-bert prepare`` wrote.
            cache: the folder for the flat arrays; None is the corpus itself.
            verify: compare the flat arrays' checksums with those noted when they were made.
            advance: is told the progress of unfolding.

        Raises:
            CorpusError: it is no corpus, a shard is damaged, or it was tokenized by another version.
            OSError: the flat arrays cannot be written.
        """
        folder = Path(folder)
        manifest, fingerprint = read_manifest(folder)
        symbols = Symbols.of_manifest(manifest["tokenizer"], folder / MANIFEST)
        flat = Path(cache or folder) / f"flat-{fingerprint[:16]}"
        if not flat.exists():
            _unfold(folder, manifest, symbols, flat, advance)
        elif verify:
            _verify(flat)
        return cls(folder, manifest, fingerprint, symbols, flat)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def held_out(self, count: int) -> NDArray[np.int64]:
        """Numbers of ``count`` documents, evenly spaced: the same ones in every corpus with as many documents."""
        count = min(count, len(self) // 2)
        return (np.arange(count) * len(self) + len(self) // 2) // max(count, 1)


def read_manifest(folder: Path) -> tuple[dict[str, Any], str]:
    """The manifest of a corpus, and its SHA-256.

    Raises:
        CorpusError: there is none, or it is not of this format.
    """
    path = folder / MANIFEST
    try:
        data = path.read_bytes()
        manifest = json.loads(data)
    except FileNotFoundError as error:
        raise CorpusError(f"{folder}: no {MANIFEST} in it; make a corpus with phonemic-bert prepare") from error
    except ValueError as error:
        raise CorpusError(f"{path}: damaged ({error}); prepare the corpus again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise CorpusError(f"{path}: its format is {found!r}, not {FORMAT!r}; prepare the corpus again")
    return manifest, hashlib.sha256(data).hexdigest()


def _unfold(folder: Path, manifest: dict[str, Any], symbols: Symbols, flat: Path, advance: Advance) -> None:
    """Writes the flat arrays beside their place, then renames."""
    flat.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(mkdtemp(prefix=f"{flat.name}.partial-", dir=flat.parent))
    shards = [shard for shard in manifest["shards"] if shard["rows"]]
    total = sum(shard["positions"] for shard in shards)
    try:
        with (
            open(partial / "ids.bin", "wb") as ids_file,
            open(partial / "offsets.bin", "wb") as offsets_file,
            open(partial / "characters.bin", "wb") as characters_file,
        ):
            end = 0
            offsets_file.write(np.zeros(1, "<i8").tobytes())
            for shard in shards:
                for ids, lengths, characters in _read_shard(folder, shard, symbols):
                    ends = end + lengths.cumsum()
                    end = int(ends[-1]) if len(ends) else end
                    ids_file.write(ids.astype("<i4").tobytes())
                    offsets_file.write(ends.astype("<i8").tobytes())
                    characters_file.write(characters.astype("<i4").tobytes())
                    advance(len(ids), total)
        (partial / _CHECKSUMS).write_text(json.dumps({name: _crc(partial / name) for name in ARRAYS}), "utf-8")
        partial.chmod(0o755)
        try:
            os.replace(partial, flat)
        except OSError:
            if not flat.exists():  # otherwise another run was faster
                raise
    except OSError as error:
        error.filename = error.filename or str(partial)
        raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _read_shard(
    folder: Path, shard: dict[str, Any], symbols: Symbols
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]]:
    """Ids, lengths and characters of some documents at a time, after a check of the whole file."""
    parquet, arrow_error = require("pyarrow.parquet"), require("pyarrow").ArrowException
    path = folder / shard["file"]
    if not path.is_file():
        raise CorpusError(f"{path}: this shard is missing; prepare the corpus again")
    with open(path, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != shard["sha256"]:
            raise CorpusError(f"{path}: damaged shard, its checksum is not the manifest's; prepare the corpus again")
        file.seek(0)
        rows = positions = 0
        try:
            for batch in parquet.ParquetFile(file).iter_batches(8192, columns=["ids", "characters"]):
                lists = batch.column("ids")
                ids = lists.flatten().to_numpy(zero_copy_only=False)
                lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
                symbols.check(ids, path)
                rows, positions = rows + len(lengths), positions + len(ids)
                yield ids, lengths, batch.column("characters").to_numpy(zero_copy_only=False)
        except (arrow_error, KeyError) as error:
            raise CorpusError(f"{path}: no shard of a corpus ({error}); prepare the corpus again") from error
    if (rows, positions) != (shard["rows"], shard["positions"]):
        raise CorpusError(
            f"{path}: {rows} documents of {positions} positions, but the manifest says {shard['rows']} of "
            f"{shard['positions']}; prepare the corpus again"
        )


def _crc(path: Path) -> int:
    checksum = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            checksum = zlib.crc32(block, checksum)
    return checksum


def _verify(flat: Path) -> None:
    try:
        checksums = json.loads((flat / _CHECKSUMS).read_text("utf-8"))
        for name in ARRAYS:
            if _crc(flat / name) != checksums[name]:
                raise CorpusError(f"{flat / name}: damaged; remove the folder {flat}, and it is made again")
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"{flat}: damaged ({error}); remove the folder, and it is made again") from error
