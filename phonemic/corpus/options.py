"""Options of preparing a corpus."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from phonemic.errors import InputError
from phonemic.files import MAX_LINE
from phonemic.inventory import READINGS, Vocabulary
from phonemic.lexicon.tables import tables_digest
from phonemic.tokenizer import Tokenizer
from phonemic.version import __version__

#: Bytes of text that are read, tokenized and written at a time.
CHUNK = 8 << 20


@dataclass(frozen=True)
class Options:
    """How a corpus is prepared; the same options and sources give the same bytes.

    Attributes:
        tokenizer: judges which lines are of its language, and gives the ids where no baseline is named.
        baseline: name and folder of a tokenizer of :mod:`phonemic.baselines` that gives the ids instead, or None.
        column: the text's column in Parquet and field in JSON lines.
        errors: "strict", or "replace" to put U+FFFD for what is not UTF-8.
        encoding: that of text files, see :data:`phonemic.files.encodings.ENCODINGS`.
        min_native: keep lines in which at least this share of the units is native, 0 to 1.
        exact: drop a line whose text, but for white space around it, stood before.
        near: drop lines that are like one before: the Jaccard similarity from which on, or None.
        shard_bytes: bytes of text read for one shard, about.
        keep_going: pass over what is damaged. Only this, and the next, may be changed when a stopped run continues.
        max_line: bytes that a line of a text file may have; a longer one is damage.

    Raises:
        InputError: ``min_native``, ``near`` or ``shard_bytes`` is out of its range.
    """

    tokenizer: Tokenizer
    baseline: tuple[str, str] | None = None
    column: str = "text"
    errors: str = "strict"
    encoding: str = "utf-8"
    min_native: float = 0.7
    exact: bool = False
    near: float | None = None
    shard_bytes: int = 256 << 20
    keep_going: bool = field(default=False, compare=False)
    max_line: int = field(default=MAX_LINE, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.min_native <= 1:
            raise InputError(f"min_native must be between 0 and 1, not {self.min_native}")
        if self.near is not None and not 0.1 <= self.near <= 1:
            raise InputError(f"near must be between 0.1 and 1, not {self.near}")
        if self.shard_bytes < 1:
            raise InputError(f"shard_bytes must be at least 1, not {self.shard_bytes}")

    @property
    def chunk(self) -> int:
        """Bytes of text worked on at a time."""
        return max(1, min(CHUNK, self.shard_bytes // 8))

    @property
    def drops_duplicates(self) -> bool:
        """Whether lines are compared with one another."""
        return self.exact or self.near is not None

    def describe(self) -> dict[str, Any]:
        """The options that decide the shards' bytes, next to the tokenizer and the sources, for the manifest."""
        fields = asdict(self)
        names = ("column", "errors", "min_native", "exact", "near", "shard_bytes")
        other = {"encoding": self.encoding} if self.encoding != "utf-8" else {}
        return {name: fields[name] for name in names} | other

    def describe_tokenizer(self) -> dict[str, Any]:
        """The tokenizers, their versions and checksums, for the manifest."""
        phonemic = describe(self.tokenizer)
        if self.baseline is None:
            return phonemic
        baseline = _baseline(*self.baseline)
        return {
            "name": baseline.name,
            "lang": self.tokenizer.lang,
            "vocab_size": baseline.vocab_size,
            "id_count": baseline.id_count,
            "unknown_id": baseline.unknown_id,
            "version": __version__,
            "files": baseline.checksums(),
            "filter": phonemic,
        }

    def load_baseline(self) -> Any:
        """The baseline, loaded once a process; None where there is none."""
        return None if self.baseline is None else _baseline(*self.baseline)


def describe(tokenizer: Tokenizer) -> dict[str, Any]:
    """A tokenizer's options, version, SHA-256 of its vocabulary's symbols and of its tables, CRC-32 of its forms."""
    return {
        "name": "phonemic",
        **tokenizer.options.to_json(),
        "vocab_size": tokenizer.vocab_size,
        "version": __version__,
        "vocabulary": vocabulary_digest(tokenizer.vocabulary),
        "tables": tables_digest(tokenizer.lang if tokenizer.readings == READINGS[0] else f"{tokenizer.lang}-context"),
        **({"lexicon": tables_digest(tokenizer.lang)} if tokenizer.readings != READINGS[0] else {}),
        **({"speech": tables_digest("zh-speech")} if tokenizer.sandhi or tokenizer.erhua else {}),
        **({"forms": tokenizer.checksums["forms_checksum"]} if tokenizer.form else {}),
    }


def vocabulary_digest(vocab: Vocabulary) -> str:
    r"""SHA-256 of the symbols in the order of their ids, joined by "\n", in UTF-8."""
    return hashlib.sha256("\n".join(vocab.symbols).encode()).hexdigest()


@cache
def _baseline(name: str, folder: str) -> Any:
    from phonemic.baselines import load

    return load(name, folder)
