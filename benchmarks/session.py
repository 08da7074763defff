"""Parts that the rows share: the texts, the tokenizers, the limits, and how much is measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks import texts
from benchmarks.limits import Limits, compiler
from benchmarks.texts import MEGABYTE, SENTENCES
from benchmarks.timing import RUNS, Contestant, cpu
from phonemic import Tokenizer

LANGS = ("vi", "zh")


@dataclass
class Session:
    """One run of the benchmark.

    Attributes:
        data: the folder of the real data.
        build: the folder for what is made from it.
        quick: small texts and fewer of them.
        runs: how many times everything is run.
    """

    data: Path
    build: Path
    quick: bool = False
    runs: int = RUNS
    langs: dict[str, Language] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of the ordinary text."""
        return (2 if self.quick else 20) * MEGABYTE

    def language(self, lang: str) -> Language:
        """One language's texts and limits, made once."""
        if lang not in self.langs:
            self.langs[lang] = Language(self, lang)
        return self.langs[lang]

    def folder(self, name: str) -> Path:
        """A folder below ``build``."""
        path = self.build / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def close(self) -> None:
        """Ends the limits."""
        for language in self.langs.values():
            language.close()


class Language:
    """One language in a session."""

    def __init__(self, session: Session, lang: str) -> None:
        self.session, self.lang = session, lang
        self.tokenizer = Tokenizer(lang)
        self._limits: Limits | None = None

    @cached_property
    def whole(self) -> Path:
        """All of the text."""
        return texts.prepare(self.lang, self.session.data, self.session.folder("texts"))

    @cached_property
    def path(self) -> Path:
        """The ordinary text as a file: the lines, each ended."""
        path = self.session.folder("texts") / f"{self.lang}-{self.session.size // MEGABYTE}.txt"
        if not path.exists():
            texts.write(path, texts.head(texts.read(self.whole), self.session.size))
        return path

    @cached_property
    def texts(self) -> list[str]:
        """The ordinary text, a str a line."""
        return texts.read(self.path)

    @cached_property
    def bytes(self) -> int:
        """Bytes of the ordinary text, without the ends of lines."""
        return texts.size_of(self.texts)

    @cached_property
    def sentences(self) -> list[str]:
        """Different sentences of 15 syllables."""
        return texts.sentences(self.texts, self.lang, SENTENCES)

    @property
    def limits(self) -> Limits | None:
        """The least-work programs on the ordinary text; None where there is no C compiler."""
        if self._limits is None and compiler():
            folder = self.session.folder(f"limits/{self.path.stem}")
            self._limits = Limits(self.lang, self.path, folder)
        return self._limits

    def close(self) -> None:
        """Ends the limits."""
        if self._limits:
            self._limits.close()

    def batch(self, rows: list[str] | None = None, **options: Any) -> Contestant:
        """``encode_batch`` as something that is measured."""
        rows = self.texts if rows is None else rows
        return lambda: cpu(lambda: self.tokenizer.encode_batch(rows, **options))

    def arrow(self) -> Contestant:
        """``phonemic.arrow.encode`` as something that is measured."""
        import pyarrow as pa

        from phonemic import arrow

        column = pa.array(self.texts, pa.large_string())
        return lambda: cpu(lambda: arrow.encode(column, self.tokenizer))
