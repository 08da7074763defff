"""Dataset: what a dataset is, which files it is in, and how to read them."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from phonemic.errors import InputError
from phonemic.tasks.examples import Example

Kind = Literal[
    "classification",
    "aspect-sentiment",
    "sentence-pair",
    "coreference",
    "multiple-choice",
    "question-answering",
    "sequence-labelling",
]
Metric = Literal["accuracy", "macro-f1", "exact-match", "answer-f1", "span-f1", "token-macro-f1"]
Folder = str | os.PathLike[str]


@dataclass(frozen=True)
class Layout:
    """One way in which the files lie in the folder.

    Arguments:
        patterns: the files of one split, relative to the folder; ``{}`` stands for the split's name, and ``*`` for
            anything. All of them must be there.
        spelling: how the files write the name of a split, where they write it in another way.
        splits: the splits that lie so; None for all.
    """

    patterns: tuple[str, ...]
    spelling: Mapping[str, str] = field(default_factory=dict)
    splits: tuple[str, ...] | None = None

    def files(self, split: str) -> tuple[str, ...]:
        """The patterns of one split; none where it does not lie so."""
        if self.splits is not None and split not in self.splits:
            return ()
        return tuple(pattern.format(self.spelling.get(split, split)) for pattern in self.patterns)


def layout(*patterns: str, splits: tuple[str, ...] | None = None, **spelling: str) -> Layout:
    """A Layout in one line: ``layout("{}.csv", dev="valid")``.

    Arguments:
        patterns: see :class:`Layout`.
        splits: see :class:`Layout`.
        spelling: see :class:`Layout`.
    """
    return Layout(patterns, spelling, splits)


class Folds(NamedTuple):
    """The examples to train on, to choose by and to report on."""

    train: list[Any]
    dev: list[Any]
    test: list[Any]


def each_text(examples: Iterable[Any]) -> Iterator[str]:
    """Every text of every example."""
    for example in examples:
        yield from example.texts


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """A dataset as its authors publish it.

    Attributes:
        name: its id, in lower case.
        title: its name in the paper.
        lang: ``"vi"`` or ``"zh"``.
        kind: what is asked, which says of which class its examples are.
        metric: what the paper reports.
        labels: target to its labels. One target is called ``"label"``; several have names of their own; question
            answering and multiple choice have none. Aspects without a sentiment have an empty tuple.
        layouts: the ways in which its files lie; the first that fits is read.
        parse: reads the files of one split.
        splits: the names of its splits.
        intrinsic: the splits that the paper's intrinsic tables count; empty for all.
        test: the split that the paper reports on. A Chinese set's official dev set is its test set.
        dev: the split to choose by; None where it is a random tenth of the training set, drawn by seed.
        texts_of: which texts the intrinsic tables count.
        folders: where it is below a root that holds many sets, see :meth:`find`; empty for its name.
        home: where it is published.
        licence: its terms.
        note: what a user must know before reading it.

    Raises:
        ValueError: ``intrinsic``, ``test`` or ``dev`` names no split.
    """

    name: str
    title: str
    lang: str
    kind: Kind
    metric: Metric
    labels: Mapping[str, tuple[str, ...]]
    layouts: tuple[Layout, ...]
    parse: Callable[[Sequence[Path]], Iterator[Example]] = field(repr=False)
    splits: tuple[str, ...] = ("train", "dev", "test")
    intrinsic: tuple[str, ...] = ()
    test: str = "test"
    dev: str | None = "dev"
    texts_of: Callable[[Iterable[Any]], Iterator[str]] = field(default=each_text, repr=False)
    folders: tuple[str, ...] = ()
    home: str = ""
    licence: str = "none stated"
    note: str = ""

    def __post_init__(self) -> None:
        for split in (*self.intrinsic, self.test, *([self.dev] if self.dev else [])):
            if split not in self.splits:
                raise ValueError(f"{self.title} has no split {split!r}: its splits are {', '.join(self.splits)}")

    def find(self, root: Folder) -> Path:
        """The set's folder below a root that holds many sets.

        Raises:
            InputError: none of ``folders`` is there.
        """
        folders = self.folders or (f"{self.lang}/{self.name}", self.name)
        for name in folders:
            if (Path(root) / name).is_dir():
                return Path(root) / name
        wanted = " or ".join(folders)
        raise InputError(f"{os.fspath(root)}: no folder {wanted} for {self.title} in it{self._source}")

    def present(self, folder: Folder) -> tuple[str, ...]:
        """The splits whose files are in the folder."""
        return tuple(split for split in self.splits if self._layout(Path(folder), split))

    def read(self, folder: Folder, split: str) -> Iterator[Example]:
        """Reads one split.

        Arguments:
            folder: the folder that holds the set's files.
            split: one of ``splits``.

        Returns:
            Its examples, one at a time, in the file's order.

        Raises:
            InputError: at once where there is no such split or a file of it is missing; while reading where a line is
                damaged or has a label that the set does not know. The message names file and line.
            OSError: a file cannot be read.
            PhonemicError: a package that reads this kind of file is not installed.
        """
        return self.parse(self.paths(folder, split))

    def intrinsic_splits(self, folder: Folder) -> tuple[str, ...]:
        """The splits of the paper's intrinsic tables that are in the folder; all that are, where none of those is.

        Raises:
            InputError: the folder holds no split at all.
        """
        present = self.present(folder)
        if not present:
            self.paths(folder, (self.intrinsic or self.splits)[0])
        return tuple(split for split in present if split in self.intrinsic) or present

    def texts(self, folder: Folder, splits: Sequence[str] | None = None) -> Iterator[str]:
        """The texts that the paper's intrinsic tables count; empty ones are left out.

        Arguments:
            folder: the folder that holds the set's files.
            splits: which to read, one after the other; None for :meth:`intrinsic_splits`.

        Raises:
            InputError: see :meth:`read`.
            TypeError: ``splits`` is one str.
        """
        if isinstance(splits, str):
            raise TypeError(f"splits takes a sequence of names, not one str; did you mean [{splits!r}]?")
        chosen = self.intrinsic_splits(folder) if splits is None else tuple(splits)
        files = [self.paths(folder, split) for split in chosen]
        return (text for paths in files for text in self.texts_of(self.parse(paths)) if text.strip())

    def folds(self, folder: Folder, seed: int, share: float = 0.1) -> Folds:
        """The paper's protocol (section 5.5): what to train on, to choose by and to report on.

        Arguments:
            folder: the folder that holds the set's files.
            seed: draws the dev set where ``dev`` is None.
            share: of the training set that then becomes the dev set.

        Raises:
            InputError: see :meth:`read`.
        """
        train, test = list(self.read(folder, "train")), list(self.read(folder, self.test))
        if self.dev is not None:
            return Folds(train, list(self.read(folder, self.dev)), test)
        drawn = set(random.Random(seed).sample(range(len(train)), round(share * len(train))))
        kept = [example for at, example in enumerate(train) if at not in drawn]
        return Folds(kept, [train[at] for at in sorted(drawn)], test)

    def paths(self, folder: Folder, split: str) -> tuple[Path, ...]:
        """The files of one split in a folder, in the layout that is there.

        Raises:
            InputError: there is no such split, or a file of it is missing.
        """
        folder = Path(folder)
        if split not in self.splits:
            raise InputError(f"{self.title} has no split {split!r}: choose one of {', '.join(self.splits)}")
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder{self._source}")
        patterns = self._layout(folder, split)
        if not patterns:
            raise InputError(f"{folder}: {self.title} lacks its {split} split here: {self._missing(folder, split)}")
        return tuple(path for pattern in patterns for path in sorted(folder.glob(pattern)))

    def _layout(self, folder: Path, split: str) -> tuple[str, ...]:
        """The patterns of the first layout that fits; none where none does."""
        for way in self.layouts:
            patterns = way.files(split)
            if patterns and all(any(folder.glob(pattern)) for pattern in patterns):
                return patterns
        return ()

    def _missing(self, folder: Path, split: str) -> str:
        """The files that the layouts want and that are missing; only of the ones that are there in part, if any."""
        ways = [way.files(split) for way in self.layouts if way.files(split)]
        missing = [[pattern for pattern in way if not any(folder.glob(pattern))] for way in ways]
        partly = [lacks for way, lacks in zip(ways, missing, strict=True) if len(lacks) < len(way)]
        wanted = " or ".join(dict.fromkeys(" and ".join(names) for names in partly or missing))
        return f"no {wanted}{self._source}"

    @property
    def _source(self) -> str:
        home = f". It is published at {self.home} (terms: {self.licence})" if self.home else ""
        return f"{home}. {self.note}" if self.note else home
