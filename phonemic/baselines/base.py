"""What a baseline is, and how it finds its files."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from phonemic.errors import PhonemicError
from phonemic.files import replacing, require

#: Every baseline by name.
REGISTRY: dict[str, type[Baseline]] = {}


class BaselineError(PhonemicError, ValueError):
    """A baseline cannot be loaded or trained."""


class Baseline(ABC):
    """A tokenizer to compare with: text to ids, without the control symbols that a model adds.

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
        """The files that a folder lacks."""
        return [name for name in cls.files if not any(path.glob(name))]

    @classmethod
    def train(cls, texts: Iterable[str], path: Path, vocab_size: int) -> None:
        """Trains on texts and saves into a folder.

        Raises:
            BaselineError: it cannot be trained, or not on these texts.
        """
        raise BaselineError(f"{cls.name} cannot be trained here: its published files are what it is")

    @abstractmethod
    def ids(self, texts: list[str]) -> list[list[int]]:
        """The ids of texts that hold no lone surrogate."""

    def unknown_tokens(self, texts: list[str]) -> Counter[str]:
        """What stands behind ``unknown_id`` in texts, and how often; here all of it is one, "[UNK]"."""
        return Counter({"[UNK]": sum(number == self.unknown_id for row in self.encode_batch(texts) for number in row)})

    def encode(self, text: str) -> list[int]:
        """The ids of one text."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """The ids of many texts; a lone surrogate counts as U+FFFD.

        Raises:
            TypeError: an element is not a str, or ``texts`` is one.
        """
        if isinstance(texts, str):
            raise TypeError("encode_batch takes a list of str, not one str; call encode")
        rows = list(texts)
        for number, text in enumerate(rows):
            if not isinstance(text, str):
                raise TypeError(f"text {number} is a {type(text).__name__}, not a str")
        return self.ids([_scalar(text) for text in rows])


def _scalar(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which no library takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


Kind = TypeVar("Kind", bound=type[Baseline])


def register(kind: Kind) -> Kind:
    """Makes a baseline known by its name; a class decorator."""
    REGISTRY[kind.name] = kind
    return kind


def library(package: str) -> Any:
    """Imports an optional package of the extra ``baselines``."""
    return require(package, "baselines")


class SentencePiece:
    """A SentencePiece model and what it could not write.

    Raises:
        BaselineError: the file is no such model.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._model = library("sentencepiece").SentencePieceProcessor(model_file=str(file))
        except (OSError, RuntimeError) as error:
            raise BaselineError(f"{file}: no SentencePiece model ({error})") from error
        self.size: int = self._model.get_piece_size()
        self.unknown_id: int = self._model.unk_id()

    def ids(self, texts: list[str]) -> list[list[int]]:
        """The model's ids."""
        found: list[list[int]] = self._model.encode(texts)
        return found

    def unknown_tokens(self, texts: list[str]) -> Counter[str]:
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
        raise BaselineError(f"{path} holds {', '.join(file.name for file in found)}: leave one of them there")
    return found[0]


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file beside its place first, then renames it."""
    with replacing(str(path)) as file:
        file.write(content)
