"""The base of all restorers: batches, the best path, and changes along it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol

import numpy as np

from phonemic_bert.restoration.lattice import Candidates, Lattice, Position, Solved, solve
from phonemic_bert.restoration.ngrams import Ngrams
from phonemic_bert.restoration.results import Change, Restored, applied

#: Texts that are restored together.
BATCH = 256
_ALTERNATIVES = 5


#: Of texts and their lattices, the best paths by n-grams, with the probabilities of candidates if so asked, and the
#: texts that these make.
Draft = Callable[[Sequence[str], Sequence[Lattice], bool], tuple[list[Solved], list[Restored]]]


class Scorer(Protocol):
    """Another judge of candidates next to the n-grams."""

    def rescore(self, texts: Sequence[str], lattices: Sequence[Lattice], draft: Draft) -> list[Lattice]:
        """Lattices with its word added to the costs."""


class Restorer:
    """Restores texts by the best path through the candidates of their positions.

    Arguments:
        ngrams: a model of words.
        scorer: another judge of the candidates.

    Raises:
        ValueError: the n-grams are for the other language.
    """

    lang: str

    def __init__(self, ngrams: Ngrams, scorer: Scorer | None = None) -> None:
        if ngrams.lang != self.lang:
            raise ValueError(f"the n-grams are for {ngrams.lang}, not {self.lang}")
        self.ngrams, self.scorer = ngrams, scorer

    def restore(self, text: str, alternatives: bool = True) -> Restored:
        """Restores one text.

        Arguments:
            text: the text.
            alternatives: also reckon the alternatives and their probabilities.
        """
        return next(self.restore_batch([text], alternatives))

    def restore_batch(self, texts: Iterable[str], alternatives: bool = True) -> Iterator[Restored]:
        """Restores texts, some at a time, in constant memory.

        Arguments:
            texts: the texts.
            alternatives: also reckon the alternatives and their probabilities.
        """
        rest = iter(texts)
        while some := list(islice(rest, BATCH)):
            lattices, fixed = self._lattices(some)
            if self.scorer is not None:
                lattices = self.scorer.rescore(some, lattices, self.draft)
            solved = solve(self.ngrams, lattices, alternatives)
            for text, found, own in zip(some, self._all(some, lattices, solved), fixed, strict=True):
                yield applied(text, sorted([*found, *own]))

    @abstractmethod
    def _lattices(self, texts: Sequence[str]) -> tuple[list[Lattice], list[list[Change]]]:
        """The lattices of texts, and of each the changes that are certain."""

    def draft(
        self, texts: Sequence[str], lattices: Sequence[Lattice], judged: bool = False
    ) -> tuple[list[Solved], list[Restored]]:
        """Restores by the n-grams alone: the best paths, and the texts that they make.

        Arguments:
            texts: the texts.
            lattices: theirs.
            judged: also give the probabilities of candidates.
        """
        solved = solve(self.ngrams, lattices, judged)
        return solved, [applied(*both) for both in zip(texts, self._all(texts, lattices, solved), strict=True)]

    def _all(self, texts: Sequence[str], lattices: Sequence[Lattice], solved: Sequence[Solved]) -> list[list[Change]]:
        return [self._changes(*each) for each in zip(texts, lattices, solved, strict=True)]

    def _changes(self, text: str, lattice: Lattice, solved: Solved) -> list[Change]:
        """Return the changes of a text along the best path."""
        changes: list[Change] = []
        for number, position in enumerate(lattice.positions):
            words = position.candidates.words
            before, word = text[position.start : position.end], int(words[solved.places[number]])
            if self._stays(before, word, position.candidates):
                continue
            others: tuple[tuple[str, float], ...] = ()
            share = 1.0
            if solved.logs:
                logs = solved.logs[number]
                best = np.argsort(-logs)[:_ALTERNATIVES].tolist()
                others = tuple((self._written(int(words[at]), before), float(np.exp(logs[at]))) for at in best)
                share = float(np.exp(logs[solved.places[number]]))
            start = self._begin(text, changes, position)
            own = text[start : position.end]
            changes.append(Change(start, position.end, own, self._written(word, before), share, others))
        return changes

    @abstractmethod
    def _stays(self, before: str, word: int, candidates: Candidates) -> bool:
        """Whether a position is not changed where a word is chosen."""

    @abstractmethod
    def _written(self, word: int, like: str) -> str:
        """How a word is written for what is in the text."""

    def _begin(self, text: str, changes: Sequence[Change], position: Position) -> int:
        """Where a change begins."""
        return position.start
