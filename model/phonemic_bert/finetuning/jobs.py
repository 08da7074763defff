"""Jobs of fine-tuning: a dataset, one of its targets, and the folder of its files."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from phonemic.errors import InputError
from phonemic.tasks import Dataset, Folds, get

#: The target of a set that has one.
LABEL = "label"


@dataclass(frozen=True)
class Limits:
    """How many examples of each fold are used at most, drawn at random; None is all."""

    train: int | None = None
    dev: int | None = None
    test: int | None = None


#: No limits.
ALL = Limits()


@dataclass(frozen=True)
class Job:
    """A task: one target of a dataset.

    Attributes:
        dataset: the set.
        target: one of its ``labels`` for single-text classification; ``"label"`` for every other kind.
        folder: where its files are.
        divide: a split that is divided into the three folds, for sets of which no other is at hand: a fifth, always
            the same, is the test set, and a random tenth of the rest, by seed, the dev set. Examples that share their
            first text stay together. None follows the paper's protocol.
        limits: how many examples are used.
    """

    dataset: Dataset
    target: str
    folder: Path
    divide: str | None = None
    limits: Limits = ALL

    @property
    def name(self) -> str:
        """``tnews``, or ``uit-vsfc.sentiment`` where the set has several targets."""
        return self.dataset.name if self.target == LABEL else f"{self.dataset.name}.{self.target}"

    def folds(self, seed: int) -> Folds:
        """The folds to train on, to choose by and to report on. The test set is the same for every seed.

        Raises:
            InputError: a split is not there, or damaged.
        """
        if self.divide is None:
            folds = self.dataset.folds(self.folder, seed)
        else:
            rest, test = _drawn(list(self.dataset.read(self.folder, self.divide)), 0.2, 0)
            folds = Folds(*_drawn(rest, 0.1, seed), test)
        limits = self.limits
        return Folds(
            _some(folds.train, limits.train, seed),
            _some(folds.dev, limits.dev, seed),
            _some(folds.test, limits.test, 0),
        )

    @property
    def file_options(self) -> dict[str, Any] | None:
        """How the files are read, where that was said for these: formats and columns of one's own files."""
        parse = self.dataset.parse
        return asdict(parse) if is_dataclass(parse) else None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the files that the folds are read from."""
        found = {self.divide} if self.divide else {"train", self.dataset.test, self.dataset.dev or "train"}
        digest = hashlib.sha256()
        for split in sorted(found):
            for path in self.dataset.paths(self.folder, split):
                digest.update(hash_file(path))
        return digest.hexdigest()


def find_jobs(names: Iterable[str], data: Path, divide: str | None = None, limits: Limits = ALL) -> list[Job]:
    """The jobs of names: ``tnews``, ``uit-vsfc.sentiment``, or ``uit-vsfc`` for all of its targets.

    Arguments:
        names: of datasets and targets.
        data: the folder of the one set that is named, or a folder that holds many sets.
        divide: see :class:`Job`.
        limits: likewise.

    Raises:
        InputError: a set is not below the folder; a set has no such target.
        ValueError: there is no set of that name.
    """
    jobs = []
    for name in names:
        called, _, target = name.partition(".")
        dataset = get(called)
        folder = data if dataset.present(data) else dataset.find(data)
        jobs += jobs_of(dataset, folder, target or None, divide, limits)
    return jobs


def jobs_of(
    dataset: Dataset, folder: Path, target: str | None = None, divide: str | None = None, limits: Limits = ALL
) -> list[Job]:
    """The jobs of one set.

    Raises:
        InputError: it has no such target.
    """
    targets = tuple(dataset.labels) if dataset.kind == "classification" else (LABEL,)
    if target and target not in targets:
        raise InputError(f"{dataset.title} has no target {target!r}: choose one of {', '.join(targets)}")
    return [Job(dataset, one, folder, divide, limits) for one in targets if target in (None, one)]


def hash_file(path: Path) -> bytes:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _drawn(examples: list[Any], share: float, seed: int) -> tuple[list[Any], list[Any]]:
    """The rest, and a random share; examples with the same first text go together."""
    groups: dict[str, list[int]] = {}
    for at, example in enumerate(examples):
        groups.setdefault(example.texts[0], []).append(at)
    wanted, drawn = round(share * len(examples)), set[int]()
    for text in random.Random(seed).sample(list(groups), len(groups)):
        if len(drawn) >= wanted:
            break
        drawn.update(groups[text])
    return list(_without(examples, drawn)), [examples[at] for at in sorted(drawn)]


def _without(examples: list[Any], drawn: set[int]) -> Iterator[Any]:
    return (example for at, example in enumerate(examples) if at not in drawn)


def _some(examples: list[Any], most: int | None, seed: int) -> list[Any]:
    if most is None or len(examples) <= most:
        return examples
    return [examples[at] for at in sorted(random.Random(seed).sample(range(len(examples)), most))]
