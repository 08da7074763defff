"""Measures of a baseline on a corpus, as :class:`phonemic.metrics.Statistics` has them for our tokenizer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from phonemic.baselines import Baseline
from phonemic.metrics import fold, ratio, renyi_efficiency, written_units

#: Types that are tokenized at a time.
_TYPES = 10_000


class CorpusStatistics:
    """Statistics of a corpus, whatever tokenizes it; memory grows only with the number of types.

    Arguments:
        lang: "vi" or "zh".
        joiner: a character that stands for a space within words, see ``Tokenizer.word_joiner``.

    Attributes:
        texts: number of texts.
        units: number of whitespace-delimited units.
        characters: number of characters that are not spaces.
        types: occurrences of each unit that coverage counts: written units in Vietnamese, characters in Mandarin.
    """

    def __init__(self, lang: str, joiner: str | None = None) -> None:
        self.lang = lang
        self._joiner = joiner
        self.texts = 0
        self.units = 0
        self.characters = 0
        self.types: Counter[str] = Counter()

    def update(self, texts: list[str]) -> None:
        """Adds texts."""
        joined = ["".join(parts) for parts in self._split(texts)]
        self.texts += len(texts)
        self.characters += sum(map(len, joined))
        self.types.update(written_units(texts, self._joiner) if self.lang == "vi" else Counter(fold("".join(joined))))

    def _split(self, texts: list[str]) -> Iterator[list[str]]:
        for text in texts:
            parts = text.split()
            self.units += len(parts)
            yield parts

    @property
    def average_input_length(self) -> float:
        """Units per text: whitespace-delimited units of Vietnamese, characters of Mandarin."""
        return ratio(self.units if self.lang == "vi" else self.characters, self.texts)


class TokenStatistics:
    """Measures of a baseline on a corpus, gathered a list of texts at a time.

    Arguments:
        baseline: the tokenizer.
        corpus: the corpus, which is updated with the same texts.

    Attributes:
        positions: number of tokens.
        counts: occurrences of each id, int64 (baseline.id_count,).
        unknown: what the tokenizer could not write, and how often.
    """

    def __init__(self, baseline: Baseline, corpus: CorpusStatistics) -> None:
        self.baseline = baseline
        self.corpus = corpus
        self.positions = 0
        self.counts = np.zeros(baseline.id_count, np.int64)
        self.unknown: Counter[str] = Counter()

    def update(self, texts: list[str]) -> None:
        """Adds the tokens of texts."""
        rows = self.baseline.encode_batch(texts)
        ids = np.fromiter(chain.from_iterable(rows), np.int64)
        self.positions += len(ids)
        self.counts += np.bincount(ids, minlength=len(self.counts))
        unknown = self.baseline.unknown_id
        if unknown is not None:
            self.unknown += self.baseline.unknown_tokens(
                [text for text, row in zip(texts, rows, strict=True) if unknown in row]
            )

    @property
    def vocab_size(self) -> int:
        """Entries of the vocabulary."""
        return self.baseline.vocab_size

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """Occurrences of the tokens that occur, the most frequent first; unknown ones count as themselves."""
        counts = self.counts.copy()
        if self.baseline.unknown_id is not None:
            counts[self.baseline.unknown_id] = 0
        unknown = np.fromiter(self.unknown.values(), np.int64)
        return np.sort(np.concatenate([counts[counts > 0], unknown]))[::-1]

    def renyi_efficiency(self, alpha: float = 2.5) -> float:
        """Rényi efficiency, with unknown tokens as themselves, as in the paper's figures.

        Returns:
            The efficiency; nan where nothing was counted, or more different tokens than the vocabulary has entries.
        """
        frequencies = self.frequencies
        if len(frequencies) > self.vocab_size:
            return math.nan
        return renyi_efficiency(frequencies, self.vocab_size, alpha)

    def coverage(self) -> tuple[float, float]:
        """Share of the units, and of the types, that are one known token each when they stand alone."""
        covered_types = covered_units = 0
        left = iter(self.corpus.types.items())
        while units := list(islice(left, _TYPES)):
            rows = self.baseline.encode_batch([unit for unit, _ in units])
            for row, (_, count) in zip(rows, units, strict=True):
                if len(row) == 1 and row[0] != self.baseline.unknown_id:
                    covered_types += 1
                    covered_units += count
        types = self.corpus.types
        return ratio(covered_units, types.total()), ratio(covered_types, len(types))

    def summary(self, alpha: float = 2.5) -> dict[str, float]:
        """Every measure by name; ``renyi_efficiency_unk`` counts all unknown tokens as one entry."""
        token_coverage, type_coverage = self.coverage()
        corpus = self.corpus
        return {
            "vocab_size": self.vocab_size,
            "texts": corpus.texts,
            "units": corpus.units,
            "positions": self.positions,
            "fertility": ratio(self.positions, corpus.units),
            "average_input_length": corpus.average_input_length,
            "average_length": ratio(self.positions, corpus.texts),
            "occurrences": corpus.types.total(),
            "token_coverage": token_coverage,
            "types": len(corpus.types),
            "type_coverage": type_coverage,
            "unknown_share": ratio(self.unknown.total(), self.positions),
            "alpha": alpha,
            "renyi_efficiency": self.renyi_efficiency(alpha),
            "renyi_efficiency_unk": renyi_efficiency(self.counts, self.vocab_size, alpha),
        }
