"""Intrinsic measures of a tokenizer: fertility, Rényi efficiency, lengths, coverage (the paper, sections 5.2 and 6)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phonemic.characters import normalize
from phonemic.encoding import Batch
from phonemic.inventory import CLS, FALLBACK, KINDS, MASK, NATIVE, PAD, SEP, UNKNOWN, unpack
from phonemic.tokenizer import Tokenizer

#: A model's control symbols, excluded from all measures. [UNK] and [EMPTY] come from the text, so they count.
CONTROL_SYMBOLS = [PAD, CLS, SEP, MASK]


def fertility(positions: ArrayLike, units: ArrayLike) -> float:
    """Positions per whitespace-delimited input unit, over a whole corpus (the paper's fertility equation, section 5.2).

    Arguments:
        positions: positions of each text, shape (B,), or their sum.
        units: whitespace-delimited units of each text, shape (B,), or their sum.

    Returns:
        sum(positions) / sum(units); nan where there are no units.
    """
    return ratio(float(np.sum(positions)), float(np.sum(units)))


def component_counts(ids: ArrayLike, vocab_size: int) -> NDArray[np.int64]:
    """How often each vocabulary entry occurs in the three slots of packed ids; control symbols count 0.

    Arguments:
        ids: packed ids of any shape.
        vocab_size: V, the number of entries.

    Returns:
        int64 (V,).
    """
    slots = unpack(ids).reshape(-1, 3).T
    counts = sum((np.bincount(slot, minlength=vocab_size) for slot in slots), np.zeros(vocab_size, np.int64))
    counts[CONTROL_SYMBOLS] = 0
    return counts


def renyi_efficiency(counts: ArrayLike, vocab_size: int, alpha: float = 2.5) -> float:
    """Rényi entropy of the entries' distribution over its upper bound (the paper's equation in section 5.2).

    Arguments:
        counts: how often each entry occurs, shape (V,); entries that never occur may be left out.
        vocab_size: the whole vocabulary's size, whose logarithm is the denominator.
        alpha: the order; 1 is the limit, Shannon entropy.

    Returns:
        log(sum p ** alpha) / (1 - alpha) / log(vocab_size), between 0 and 1; nan where nothing was counted.

    Raises:
        ValueError: vocab_size is below 2 or below the number of entries that occur, a count is negative, or alpha is
            not a finite number of at least 0.
    """
    occurring = np.asarray(counts, np.float64).ravel()
    occurring = occurring[occurring != 0]
    if vocab_size < 2:
        raise ValueError(f"Rényi efficiency needs a vocabulary of at least 2 entries, not {vocab_size}")
    if len(occurring) > vocab_size:
        raise ValueError(f"{len(occurring)} entries occur, but the vocabulary has only {vocab_size}")
    if not (occurring > 0).all():
        raise ValueError("counts must not be negative")
    if not 0 <= alpha < math.inf:
        raise ValueError(f"alpha must be a finite number of at least 0, not {alpha}")
    if not len(occurring):
        return math.nan
    p = occurring / occurring.sum()
    if math.isclose(alpha, 1):
        entropy = -float(p @ np.log(p))
    else:
        entropy = float(np.logaddexp.reduce(alpha * np.log(p))) / (1 - alpha)
    return max(0.0, entropy / math.log(vocab_size))


class Statistics:
    """Measures of a corpus, gathered a list of texts at a time; memory grows only with the number of types.

    Fertility and input length count what is between whitespace. Coverage (section 6.1) counts finer units: in
    Vietnamese a run of letters, a digit or a mark (see :func:`written_units`), in Mandarin a character. A unit is
    native when it is exactly one position and that is a syllable. Measures of an empty corpus are nan. With
    ``form=True`` bytes and white space are positions, too, of [UNK]; coverage leaves forms out.

    Attributes:
        texts: number of texts.
        units: number of whitespace-delimited units.
        counts: occurrences of each vocabulary entry in the three slots, int64 (V,).
        occurrences: number of the units that coverage counts.
        native_occurrences: number of them that are native.

    Arguments:
        tokenizer: what is measured.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._by_character = tokenizer  # a position a character, which is a unit of Mandarin
        options = replace(tokenizer.options, fallback="character", erhua=False, form=False)
        if tokenizer.lang == "zh" and options != tokenizer.options:
            self._by_character = Tokenizer.from_options(options)
        self.texts = 0
        self.units = 0
        self.occurrences = 0
        self.native_occurrences = 0
        self.counts = np.zeros(tokenizer.vocab_size, np.int64)
        self._kinds = np.zeros(len(KINDS), np.int64)
        self._types: dict[str, bool] = {}

    def update(self, texts: Iterable[str], num_threads: int = 1) -> None:
        """Adds texts.

        Arguments:
            texts: the texts; a list is used as it is.
            num_threads: threads that encode.

        Raises:
            TypeError: an element is not a str; nothing was added.
        """
        mandarin = self._tokenizer.lang == "zh"
        batch = self._tokenizer.encode_batch(texts, num_threads, spans=mandarin)
        self.texts += len(batch)
        self.units += sum(len(text.split()) for text in batch.texts)
        self.counts += component_counts(batch.ids, len(self.counts))
        self._kinds += np.bincount(batch.kinds, minlength=len(KINDS))
        if not mandarin:
            self._add_written_units(batch)
        elif self._by_character is self._tokenizer:
            self._add_characters(batch)
        else:
            self._add_characters(self._by_character.encode_batch(batch.texts, num_threads, spans=True))

    def _add_characters(self, batch: Batch) -> None:
        characters, native, native_positions = _characters(batch)
        self.occurrences += len(batch.ids)
        self.native_occurrences += native_positions
        self._types = dict.fromkeys(map(fold, characters), False) | self._types
        self._types |= dict.fromkeys(map(fold, native), True)

    def _add_written_units(self, batch: Batch) -> None:
        counts = written_units(batch.texts, self._tokenizer.word_joiner)
        new = [unit for unit in counts if unit not in self._types]
        alone = self._tokenizer.without_form.encode_batch(new)
        native = np.bincount(np.repeat(np.arange(len(new)), alone.lengths)[alone.kinds == NATIVE], minlength=len(new))
        self._types.update(zip(new, ((alone.lengths == 1) & (native == 1)).tolist(), strict=True))
        self.occurrences += counts.total()
        self.native_occurrences += sum(count for unit, count in counts.items() if self._types[unit])

    @property
    def vocab_size(self) -> int:
        """Entries of the vocabulary."""
        return len(self.counts)

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """Occurrences of the entries that occur, the most frequent first: int64 (types of symbol,)."""
        return np.sort(self.counts[self.counts > 0])[::-1]

    @property
    def positions(self) -> int:
        """Number of positions."""
        return int(self._kinds.sum())

    @property
    def fertility(self) -> float:
        """Positions per whitespace-delimited unit, see :func:`fertility`."""
        return fertility(self.positions, self.units)

    @property
    def average_length(self) -> float:
        """Positions per text."""
        return ratio(self.positions, self.texts)

    @property
    def average_input_length(self) -> float:
        """Units per text: whitespace-delimited units of Vietnamese, characters of Mandarin."""
        return ratio(self.occurrences if self._tokenizer.lang == "zh" else self.units, self.texts)

    @property
    def types(self) -> int:
        """Number of different units."""
        return len(self._types)

    @property
    def token_coverage(self) -> float:
        """Share of the units that are native (section 6.1, token-level coverage)."""
        return ratio(self.native_occurrences, self.occurrences)

    @property
    def native_types(self) -> int:
        """Number of different native units."""
        return sum(self._types.values())

    @property
    def type_coverage(self) -> float:
        """Share of the types that are native (section 6.1, type-level coverage)."""
        return ratio(self.native_types, self.types)

    @property
    def fallback_share(self) -> float:
        """Share of the positions that hold fallback characters."""
        return ratio(int(self._kinds[FALLBACK]), self.positions)

    @property
    def unknown_share(self) -> float:
        """Share of the positions that are [UNK]."""
        return ratio(int(self._kinds[UNKNOWN]), self.positions)

    def renyi_efficiency(self, alpha: float = 2.5) -> float:
        """Rényi efficiency of the components, see :func:`renyi_efficiency`."""
        return renyi_efficiency(self.counts, len(self.counts), alpha)

    def summary(self, alpha: float = 2.5) -> dict[str, float]:
        """Every measure by name.

        Arguments:
            alpha: the order of the Rényi efficiency.
        """
        names = (
            "vocab_size texts units positions fertility average_input_length average_length occurrences "
            "native_occurrences token_coverage types native_types type_coverage fallback_share unknown_share"
        )
        return {name: getattr(self, name) for name in names.split()} | {
            "alpha": alpha,
            "renyi_efficiency": self.renyi_efficiency(alpha),
        }


#: A run of letters, or any other single character that is not a space.
_WRITTEN_UNIT = re.compile(r"[^\W\d_]+|\S")


def ratio(part: float, whole: float) -> float:
    """``part / whole``; nan where the whole is 0."""
    return part / whole if whole else math.nan


def fold(unit: str) -> str:
    """The type of a unit: ``unit`` in lower case and NFC."""
    return normalize("NFC", unit.lower())


def written_units(texts: Iterable[str], joiner: str | None = None) -> Counter[str]:
    """The units of Vietnamese text that the paper's coverage tables count: runs of letters, digits and marks.

    Arguments:
        texts: the texts; units of one type are equal in lower case and NFC.
        joiner: a character that counts as a space.

    Returns:
        How often each type occurs.
    """
    folded = (fold(text.replace(joiner, " ") if joiner else text) for text in texts)
    return Counter(chain.from_iterable(map(_WRITTEN_UNIT.findall, folded)))


def _characters(batch: Batch) -> tuple[set[str], set[str], int]:
    """Different characters, different native characters, and the number of native characters."""
    text = "".join(batch.texts)
    sizes = np.fromiter(map(len, batch.texts), np.int64, len(batch))
    spans = batch.spans + np.repeat(sizes.cumsum() - sizes, batch.lengths)[:, None]
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    native = batch.kinds == NATIVE
    return _surfaces(text, codes, spans), _surfaces(text, codes, spans[native]), int(native.sum())


def _surfaces(text: str, codes: NDArray[np.uint32], spans: NDArray[np.int64]) -> set[str]:
    """The different strings between spans (N, 2) of a text; strings are made only for those of several code points."""
    single = spans[:, 1] - spans[:, 0] == 1
    several = {text[start:end] for start, end in spans[~single].tolist()}
    return several.union(map(chr, np.unique(codes[spans[single, 0]]).tolist()))
