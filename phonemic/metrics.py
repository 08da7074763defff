"""Intrinsic measures of a tokenizer: fertility, Rényi efficiency, lengths, coverage (the paper, sections 5.2 and 6)."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from itertools import chain, compress

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    return _ratio(float(np.sum(positions)), float(np.sum(units)))


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

    Coverage counts units: a unit is native when it is exactly one position and that is a syllable. A unit is what
    stands between whitespace in Vietnamese, and a character in Mandarin; units of one type are equal in
    lower case and NFC. Measures of an empty corpus are nan.

    Attributes:
        texts: number of texts.
        units: number of whitespace-delimited units.
        counts: occurrences of each vocabulary entry in the three slots, int64 (V,).
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._by_character = tokenizer  # a position a character, which is a unit of Mandarin
        if tokenizer.lang == "zh" and tokenizer.fallback != "character":
            self._by_character = Tokenizer("zh", word_joiner=tokenizer.word_joiner, phrases=tokenizer.phrases)
        self._characters = 0
        self.texts = 0
        self.units = 0
        self.counts = np.zeros(tokenizer.vocab_size, np.int64)
        self._kinds = np.zeros(len(KINDS), np.int64)
        self._native_units = 0
        self._types: set[str] = set()
        self._native_types: set[str] = set()

    def update(self, texts: Iterable[str], num_threads: int = 1) -> None:
        """Adds texts.

        Arguments:
            texts: the texts; a list is used as it is.
            num_threads: threads that encode.

        Raises:
            TypeError: an element is not a str; nothing was added.
        """
        mandarin = self._tokenizer.lang == "zh"
        batch = self._tokenizer.encode_batch(texts, num_threads, spans=mandarin, word_ids=not mandarin)
        split = [text.split() for text in batch.texts]
        if mandarin:
            by_character = batch
            if self._by_character is not self._tokenizer:
                by_character = self._by_character.encode_batch(batch.texts, num_threads, spans=True)
            types, native_types, native_units = _characters(by_character)
            self._characters += len(by_character.ids)
        else:
            types, native_types, native_units = _whitespace_units(batch, split)
        self.texts += len(batch)
        self.units += sum(map(len, split))
        self.counts += component_counts(batch.ids, len(self.counts))
        self._kinds += np.bincount(batch.kinds, minlength=len(KINDS))
        self._native_units += native_units
        self._types.update(map(_fold, types))
        self._native_types.update(map(_fold, native_types))

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
        return _ratio(self.positions, self.texts)

    @property
    def average_input_length(self) -> float:
        """Units per text: whitespace-delimited units of Vietnamese, characters of Mandarin."""
        return _ratio(self._coverage_units, self.texts)

    @property
    def types(self) -> int:
        """Number of different units."""
        return len(self._types)

    @property
    def token_coverage(self) -> float:
        """Share of the units that are native (section 6.1, token-level coverage)."""
        return _ratio(self._native_units, self._coverage_units)

    @property
    def type_coverage(self) -> float:
        """Share of the types that are native (section 6.1, type-level coverage)."""
        return _ratio(len(self._native_types), self.types)

    @property
    def fallback_share(self) -> float:
        """Share of the positions that hold fallback characters."""
        return _ratio(int(self._kinds[FALLBACK]), self.positions)

    @property
    def unknown_share(self) -> float:
        """Share of the positions that are [UNK]."""
        return _ratio(int(self._kinds[UNKNOWN]), self.positions)

    def renyi_efficiency(self, alpha: float = 2.5) -> float:
        """Rényi efficiency of the components, see :func:`renyi_efficiency`."""
        return renyi_efficiency(self.counts, len(self.counts), alpha)

    def summary(self, alpha: float = 2.5) -> dict[str, float]:
        """Every measure by name."""
        names = (
            "texts units positions fertility average_input_length average_length token_coverage types type_coverage "
            "fallback_share unknown_share"
        )
        return {name: getattr(self, name) for name in names.split()} | {
            "alpha": alpha,
            "renyi_efficiency": self.renyi_efficiency(alpha),
        }

    @property
    def _coverage_units(self) -> int:
        return self._characters if self._tokenizer.lang == "zh" else self.units


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _fold(unit: str) -> str:
    return unicodedata.normalize("NFC", unit.lower())


def _whitespace_units(batch: Batch, split: list[list[str]]) -> tuple[set[str], set[str], int]:
    """Different units, different native units, and the number of native units. A unit may have no position (U+200B)."""
    sizes = np.fromiter(map(len, split), np.int64, len(split))
    unit_of = batch.word_ids + np.repeat(sizes.cumsum() - sizes, batch.lengths)
    units = list(chain.from_iterable(split))
    positions = np.bincount(unit_of, minlength=len(units))
    native = (positions == 1) & (np.bincount(unit_of[batch.kinds == NATIVE], minlength=len(units)) == 1)
    return set(units), set(compress(units, native.tolist())), int(native.sum())


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
