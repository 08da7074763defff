"""A prepared corpus as flat memory-mapped arrays, checked against the installed phonemic.

Compressed Parquet cannot be mapped row by row, so the shards are unfolded once, next to them, into ``ids.bin`` (int32),
``offsets.bin`` (int64, one more than there are documents) and ``characters.bin`` (int32): four bytes a position.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic.corpus import Corpus
from phonemic.corpus.manifest import MANIFEST, sha256
from phonemic.files.locking import locked
from phonemic.files.writing import SUFFIX, remove, replacing_folder
from phonemic_bert.errors import CorpusError, RunError
from phonemic_bert.pretraining.checksums import CHECKSUMS, check, write_checksums
from phonemic_bert.pretraining.symbols import Symbols

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The flat arrays and their types, little-endian.
ARRAYS = {"ids.bin": "<i4", "offsets.bin": "<i8", "characters.bin": "<i4"}

#: Is called with how many positions were unfolded since the last call, and how many there are.
Advance = Callable[[int, int], object]


class FlatCorpus:
    """The documents of a prepared corpus.

    Attributes:
        folder: where it is.
        symbols: what the ids mean.
        ids: the ids of all documents, as in the shards, int32 (N,), memory-mapped.
        offsets: document i is ``ids[offsets[i]:offsets[i + 1]]``, int64 (D + 1,), memory-mapped.
        characters: code points of each document without white space, int32 (D,), memory-mapped.

    Arguments:
        corpus: what ``phonemic.corpus.open_corpus`` opened. Its shards are unfolded where that was not done yet.
        cache: the folder for the flat arrays; None is the corpus itself.
        verify: compare the flat arrays' checksums with those noted when they were made.
        advance: is called with the progress of unfolding.

    Raises:
        CorpusError: a shard is damaged, or the corpus was tokenized by another version.
        OSError: the flat arrays cannot be written.
    """

    def __init__(
        self,
        corpus: Corpus,
        cache: str | Path | None = None,
        verify: bool = True,
        advance: Advance = lambda done, total: None,
    ) -> None:
        self.folder = corpus.folder
        self.symbols = Symbols.of_manifest(corpus.tokenizer, corpus.folder / MANIFEST)
        flat = Path(cache or corpus.folder) / f"flat-{fingerprint(corpus)[:16]}"
        if flat.is_symlink():
            raise CorpusError(f"{flat}: is a link; remove it, and the flat corpus is written there")
        if not flat.exists():
            _unfold(corpus, self.symbols, flat, advance)
        elif verify:
            _verify(flat)
        self.ids, self.offsets, self.characters = (opened(flat / name, kind) for name, kind in ARRAYS.items())

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def held_out(self, count: int) -> NDArray[np.int64]:
        """Numbers of ``count`` documents, evenly spaced: the same ones in every corpus with as many documents."""
        count = min(count, len(self) // 2)
        return (np.arange(count) * len(self) + len(self) // 2) // max(count, 1)


def opened(path: str | Path, kind: str) -> NDArray[Any]:
    """A file of numbers, memory-mapped, as a plain array: numpy's own memmap class makes every access slower."""
    return np.asarray(np.memmap(path, kind, "r")) if Path(path).stat().st_size else np.zeros(0, kind)


def source(array: NDArray[Any]) -> tuple[str, str] | None:
    """The arguments with which :func:`opened` gives this array again; None where it did not give it."""
    mapped = array.base
    if not isinstance(mapped, np.memmap) or mapped.shape != array.shape or mapped.filename is None:
        return None
    return str(mapped.filename), array.dtype.str


def fingerprint(corpus: Corpus) -> str:
    """SHA-256 of a corpus's manifest, which holds the checksum of every shard."""
    return sha256(corpus.folder / MANIFEST)


def _unfold(corpus: Corpus, symbols: Symbols, flat: Path, advance: Advance) -> None:
    """Writes the flat arrays next to their place, then renames; what a killed run left of them is removed."""
    with locked(flat.parent, wait=True):
        for path in flat.parent.glob(f"{flat.name}.*{SUFFIX}"):
            remove(path)
        if not flat.exists():  # which another run has made meanwhile
            _write(corpus, symbols, flat, advance)


def _write(corpus: Corpus, symbols: Symbols, flat: Path, advance: Advance) -> None:
    with replacing_folder(flat) as partial:
        with (
            open(partial / "ids.bin", "wb") as ids_file,
            open(partial / "offsets.bin", "wb") as offsets_file,
            open(partial / "characters.bin", "wb") as characters_file,
        ):
            end = 0
            offsets_file.write(np.zeros(1, "<i8").tobytes())
            for number, described in enumerate(corpus.manifest["shards"]):
                path = corpus.path(number)
                if sha256(path) != described["sha256"]:
                    raise CorpusError(f"{path}: damaged shard, its SHA-256 is not the manifest's; prepare it again")
                shard = corpus[number]
                symbols.check(shard.ids, path)
                ids_file.write(shard.ids.astype("<i4").tobytes())
                offsets_file.write((end + shard.offsets[1:]).astype("<i8").tobytes())
                characters_file.write(shard.characters.astype("<i4").tobytes())
                end += len(shard.ids)
                advance(len(shard.ids), corpus.positions)
        write_checksums(partial)


def _verify(flat: Path) -> None:
    try:
        if missing := [name for name in (*ARRAYS, CHECKSUMS) if not (flat / name).is_file()]:
            raise RunError(f"{flat / missing[0]}: damaged (missing)")
        check(flat)
    except (OSError, RunError) as error:
        raise CorpusError(f"{error}; remove the folder {flat} to have it made again") from error
