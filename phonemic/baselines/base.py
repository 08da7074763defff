"""Baselines, and how they find their files."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from phonemic.baselines.offsets import Rewritten, Span, covered, cut, scalar, trimmed
from phonemic.errors import PhonemicError
from phonemic.files import replacing, require

#: Every baseline by name.
REGISTRY: dict[str, type[Baseline]] = {}


class BaselineError(PhonemicError, ValueError):
    """A baseline cannot be loaded or trained."""


class Baseline(ABC):
    """A tokenizer to compare with: text to ids, without the control symbols that a model adds.

    Arguments:
        path: the folder that holds its files, see :meth:`locate`.

    Attributes:
        name: what tables call it.
        langs: the languages it is compared on.
        folder: its folder among those of other tokenizers.
        files: the files that it needs (shell patterns), each with where it is published.
        preprocessing: what happens to a text before it is cut into tokens, in words.
        vocab_size: entries of its vocabulary, all included: the paper's |V| in the Rényi efficiency.
        id_count: ids lie in ``range(id_count)``.
        unknown_id: the id of what it cannot write; None where it can write everything.
    """

    name: ClassVar[str]
    langs: ClassVar[tuple[str, ...]]
    folder: ClassVar[str]
    files: ClassVar[Mapping[str, str]] = {}
    preprocessing: ClassVar[str] = ""
    vocab_size: int
    unknown_id: int | None = None

    def __init__(self, path: Path) -> None:
        """Loads the files from their folder."""
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its folder: it is loaded again."""
        return type(self), (self.path,)

    @property
    def id_count(self) -> int:
        """Ids lie in ``range(id_count)``."""
        return self.vocab_size

    @classmethod
    def locate(cls, folder: str | os.PathLike[str] | None = None) -> Path:
        """The folder that holds this baseline's files: ``folder``, or the one of that name in it.

        Raises:
            BaselineError: a file is missing; the message says which and where it is published.
        """
        if not cls.files:
            return Path(folder or ".")
        root = folder or os.environ.get("PHONEMIC_TOKENIZERS")
        if root is None:
            raise BaselineError(f"{cls.name}: name the folder of its files, or set PHONEMIC_TOKENIZERS to it")
        inner = Path(root) / cls.folder
        for path in (inner, Path(root)):
            if path.is_dir() and not cls.missing(path):
                return path
        path = inner if inner.is_dir() else Path(root)
        missing = "; ".join(f"{name}, published at {cls.files[name]}" for name in cls.missing(path))
        raise BaselineError(f"{cls.name}: {path} lacks {missing}")

    @classmethod
    def missing(cls, path: Path) -> list[str]:
        """The files (shell patterns) that the folder ``path`` lacks."""
        return [name for name in cls.files if not any(path.glob(name))]

    def checksums(self) -> dict[str, str]:
        """SHA-256 of each of its files, by the file's name."""
        files = sorted({path for pattern in self.files for path in self.path.glob(pattern)})
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    @classmethod
    def train(cls, texts: Iterable[str], path: Path, vocab_size: int) -> Path:
        """Trains on texts and saves into a folder.

        Arguments:
            texts: the corpus; it is read once, as a stream.
            path: the folder of this baseline's files.
            vocab_size: entries of the vocabulary, all included.

        Returns:
            The file that was written.

        Raises:
            BaselineError: it cannot be trained, or not on these texts.
        """
        raise BaselineError(f"{cls.name} cannot be trained here: it is its published files")

    @abstractmethod
    def ids(self, texts: list[str]) -> list[list[int]]:
        """The ids of texts that hold no lone surrogate."""

    def spans(self, texts: list[str]) -> list[tuple[list[int], list[Span]]]:
        """As :meth:`ids`, with the span of each id; for texts that hold no lone surrogate.

        Raises:
            BaselineError: this tokenizer does not tell.
        """
        raise BaselineError(f"{self.name} does not tell which characters an id stands for (it has no method spans)")

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The strings that ids are written as."""
        return [f"<{number}>" for number in ids]

    def unknown(self, texts: list[str]) -> Counter[str]:
        """As :meth:`unknown_tokens`, for texts that hold no lone surrogate; here all of it is one, "[UNK]"."""
        return Counter({"[UNK]": sum(number == self.unknown_id for row in self.ids(texts) for number in row)})

    def unknown_tokens(self, texts: Iterable[str]) -> Counter[str]:
        """The strings behind ``unknown_id`` in texts, and how often, where the tokenizer tells; else "[UNK]"."""
        return self.unknown([scalar(text) for text in texts])

    def encode(self, text: str) -> list[int]:
        """The ids of one text."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of many texts; a lone surrogate counts as U+FFFD.

        Raises:
            TypeError: an element is not a str, or ``texts`` is one.
        """
        return self.ids([scalar(text) for text in _checked(texts)])

    def encode_with_spans(self, text: str) -> tuple[list[int], list[Span]]:
        """The ids of one text, and which characters each stands for; see :meth:`encode_batch_with_spans`."""
        return self.encode_batch_with_spans([text])[0]

    def encode_batch_with_spans(self, texts: Iterable[str]) -> list[tuple[list[int], list[Span]]]:
        """The ids of many texts, and which characters each stands for.

        Returns:
            For each text its ids, those of :meth:`encode`, and as many half-open spans ``(start, end)`` in characters
            of the text as it was given, whatever was done to it before it was cut. Both ends never go back. White space
            at the ends of a span is left out, unless there is nothing else in it. An id that stands for a part of a
            character (a byte, a piece of its code) has the whole character's span, so spans may overlap; one that
            stands for none (a mark that is put before a text) has an empty span.

        Raises:
            BaselineError: this tokenizer does not tell.
            TypeError: an element is not a str, or ``texts`` is one.
        """
        rows = _checked(texts)
        plain = [scalar(text) for text in rows]
        found = self.spans(plain)
        for at, (text, given) in enumerate(zip(plain, rows, strict=True)):
            ids, spans = found[at]
            spans = trimmed(spans, text)
            found[at] = ids, covered(spans, given) if len(text) != len(given) else spans
        return found


def _checked(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise TypeError("this takes a list of str, not one str; call encode or encode_with_spans")
    rows = list(texts)
    for number, text in enumerate(rows):
        if not isinstance(text, str):
            raise TypeError(f"text {number} is of type {type(text).__name__}, not str")
    return rows


Kind = TypeVar("Kind", bound=type[Baseline])


def register(kind: Kind) -> Kind:
    """Makes a baseline known by its name; a class decorator.

    Arguments:
        kind: a class derived from :class:`Baseline`.
    """
    REGISTRY[kind.name] = kind
    return kind


def library(package: str) -> Any:
    """Imports an optional package of the extra ``baselines``."""
    return require(package, "baselines")


class SentencePiece:
    """A SentencePiece model and what it could not write.

    Raises:
        BaselineError: the file is not such a model.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._model = library("sentencepiece").SentencePieceProcessor(model_file=str(file))
        except (OSError, RuntimeError) as error:
            raise BaselineError(f"{file}: not a SentencePiece model ({error})") from error
        self.size: int = self._model.get_piece_size()
        self.unknown_id: int = self._model.unk_id()

    def ids(self, texts: list[str]) -> list[list[int]]:
        """The model's ids."""
        found: list[list[int]] = self._model.encode(texts)
        return found

    def spans(self, texts: list[str]) -> list[tuple[list[int], list[Span]]]:
        """The model's ids and the span of each in the texts, as they lie before the model normalizes them.

        Raises:
            BaselineError: the pieces are not the normalized text, as where a model falls back to bytes.
        """
        pieces, normalized = self._model.encode(texts, out_type=str), self._model.normalize(texts, with_offsets=True)
        found = []
        for text, ids, row, (written, origins) in zip(texts, self.ids(texts), pieces, normalized, strict=True):
            if "".join(row) != written:
                raise BaselineError(f"this SentencePiece model does not tell which characters its pieces are: {text!r}")
            found.append((ids, Rewritten.of_starts(origins, written).spans(cut(row))))
        return found

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The pieces."""
        return [str(self._model.id_to_piece(number)) for number in ids]

    def unknown(self, texts: list[str]) -> Counter[str]:
        """The strings that became unknown, a run of unknown characters as one."""
        rows = zip(self.ids(texts), self._model.encode(texts, out_type=str), strict=True)
        return Counter(
            piece
            for row, pieces in rows
            for number, piece in zip(row, pieces, strict=True)
            if number == self.unknown_id
        )


def only(path: Path, pattern: str) -> Path:
    """The one file of a folder that fits a pattern.

    Raises:
        BaselineError: there are several.
    """
    found = sorted(path.glob(pattern))
    if len(found) > 1:
        raise BaselineError(f"{path} holds {', '.join(file.name for file in found)}: leave only one of them there")
    return found[0]


def read_lines(file: Path) -> list[str]:
    """The lines of a text file, without the empty one behind the last line's end.

    Raises:
        BaselineError: it is not UTF-8.
    """
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise BaselineError(f"{file}: not UTF-8 at byte {error.start}; take a sound copy of it") from error
    return lines if lines[-1] else lines[:-1]


def numbered(file: Path, entries: Iterable[tuple[int, str]]) -> dict[str, int]:
    """The entries of a vocabulary, each with its id: they count from 0.

    Arguments:
        file: where they stand.
        entries: each with the number of its line.

    Raises:
        BaselineError: an entry is there twice.
    """
    found: dict[str, int] = {}
    for line, entry in entries:
        if entry in found:
            raise BaselineError(f"{file}, line {line}: {entry!r} is an entry already; take a sound copy of the file")
        found[entry] = len(found)
    return found


def counted(file: Path) -> dict[str, int]:
    """The entries of a vocabulary of lines ``ENTRY COUNT``, each with its id; blank lines are left out.

    Raises:
        BaselineError: a line is another, or an entry is there twice, or there is none.
    """
    entries = []
    for number, line in enumerate(read_lines(file), start=1):
        if line.strip():
            # The released vocabulary of characters has a tab behind the control symbols.
            entry = line.rpartition(" ")[0] or line.rpartition("\t")[0]
            if not entry:
                raise BaselineError(f"{file}, line {number}: not ENTRY COUNT")
            entries.append((number, entry))
    if not entries:
        raise BaselineError(f"{file}: holds no entry; take a sound copy of it")
    return numbered(file, entries)


def replace_file(path: Path, content: bytes) -> Path:
    """Writes a file next to its place first, then renames it; returns the path."""
    with replacing(path) as file:
        file.write(content)
    return path
