"""How units of a text are drawn and rewritten, whatever they are.

What a unit is and how it can be rewritten is each kind of noise's own: ``homophones.py`` replaces Chinese characters,
``misspellings.py`` respells Vietnamese syllables.
"""

from __future__ import annotations

import hashlib
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from phonemic.characters import plain
from phonemic.tokenizer import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The units that the ratio is a share of, and how the units are drawn.
SHARES, DRAWS = ("all", "changeable"), ("exact", "independent")


class Change(NamedTuple):
    """One rewritten unit.

    ``start`` and ``end`` are code points of the clean text. ``reading`` is the pinyin (``hang2``) as which a Chinese
    character was read, "" for Vietnamese.
    """

    start: int
    end: int
    old: str
    new: str
    kind: str
    reading: str


@dataclass(frozen=True)
class Noisy:
    """A text with noise.

    Attributes:
        text: the noisy text.
        changes: what was rewritten, in the order of the text.
        units: how many units the clean text has: Han characters, Vietnamese syllables.
        changeable: how many of them this noise could rewrite at all.
    """

    text: str
    changes: list[Change]
    units: int
    changeable: int

    @property
    def ratio(self) -> float:
        """The share of all units that were really rewritten; 0 where there are none."""
        return len(self.changes) / self.units if self.units else 0.0


class RewriteOptions(NamedTuple):
    """The ways to rewrite a unit: what is written instead, the kind of noise, how often (None: all equally)."""

    texts: Sequence[str]
    kinds: Sequence[str]
    weights: NDArray[np.float64] | None
    reading: str = ""


class Unit(NamedTuple):
    """A span of the text, the ways to rewrite it (None: there are none), and the span that decides how it is read."""

    start: int
    end: int
    options: RewriteOptions | None
    context: tuple[int, int]


def draws(key: bytes, stream: int, count: int) -> NDArray[np.uint64]:
    """Random numbers, a function of the arguments alone (SHAKE-128): the same on every machine and version.

    Arguments:
        key: seeds them all.
        stream: which of the key's sequences, 0 to 2 ** 64 - 1.
        count: how many.

    Returns:
        uint64 (count,).
    """
    data = hashlib.shake_128(key + stream.to_bytes(8, "little")).digest(8 * count)
    return np.frombuffer(data, "<u8")


def uniform(numbers: NDArray[np.uint64]) -> NDArray[np.float64]:
    """64-bit numbers, uint64 of any shape, as floats in [0, 1): float64 of that shape."""
    return np.asarray((numbers >> np.uint64(11)) * 2.0**-53, np.float64)


class Noise(ABC):
    """Rewrites a share of the units of a text. Every ratio starts from the clean text: noise never accumulates.

    Arguments:
        tokenizer: reads the text; None for one of the language.
        seed: another seed is other noise. With the same seed, options, text and key the noise is the same in every
            process, in any order of the texts, under every version of Python and numpy.
        share: ``"all"``: the ratio is the share of all units, the ones that cannot be rewritten included (where it is
            more than can be rewritten, all those are); ``"changeable"``: of the units that can be rewritten.
        draw: ``"exact"``: as many units as the ratio says, a fraction of a unit being rounded up or down at random, so
            that the ratio is met over many texts; ``"independent"``: each unit by itself, with one probability.
        nested: the units rewritten at a ratio are also rewritten, in the same way, at every higher one; False: every
            ratio has a draw of its own.

    Raises:
        ValueError: an option has none of these values, or the tokenizer is for another language.
        TypeError: the seed is not an integer.
    """

    #: The language whose text is rewritten.
    lang: ClassVar[str]

    def __init__(
        self, tokenizer: Tokenizer | None, seed: int = 0, share: str = "all", draw: str = "exact", nested: bool = True
    ) -> None:
        for name, value, allowed in (("share", share, SHARES), ("draw", draw, DRAWS)):
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
        self.tokenizer = (tokenizer or Tokenizer(self.lang)).without_form
        if self.tokenizer.lang != self.lang:
            raise ValueError(f"{type(self).__name__} needs a tokenizer for {self.lang}, not {self.tokenizer.lang}")
        self.seed = operator.index(seed)
        self.share = share
        self.draw = draw
        self.nested = bool(nested)

    @abstractmethod
    def units(self, text: str) -> list[Unit]:
        """The units of a text in order."""

    @abstractmethod
    def ids_changed(self, text: str, noisy: Noisy) -> int:
        """How many positions of a clean text the tokenizer reads otherwise because of the noise.

        Arguments:
            text: the clean text.
            noisy: what :meth:`apply` made of it.
        """

    def fits(self, text: str, written: list[str], unit: Unit) -> bool:
        """Whether the text as ``written``, a string for each character of ``text``, may stay so around this unit."""
        return True

    def apply(self, text: str, ratio: float, key: int | str = "") -> Noisy:
        """Puts noise into a clean text.

        Arguments:
            text: the clean text.
            ratio: the share of units to rewrite, 0 to 1.
            key: tells equal texts apart. Without one they get equal noise; with their row number each has its own.

        Raises:
            TypeError: ``text`` is not a str.
            ValueError: the ratio is not between 0 and 1.
        """
        if not isinstance(text, str):
            raise TypeError(f"noise is put into one str, not {type(text).__name__}")
        if not 0 <= ratio <= 1:
            raise ValueError(f"ratio must be between 0 and 1, not {ratio}")
        text, key = plain(text), plain(key) if isinstance(key, str) else key
        units = self.units(text)
        able = [number for number, unit in enumerate(units) if unit.options]
        random = self._key(text, ratio, key)
        numbers = draws(random, 0, len(able) + 1)
        wanted = self._wanted(ratio, len(units), uniform(numbers))
        written = list(text)
        changes: list[Change] = []
        for at in np.argsort(numbers[1:], kind="stable").tolist():
            if len(changes) >= wanted:
                break
            change = self._rewrite(text, written, units[able[at]], random, 1 + able[at])
            if change:
                changes.append(change)
        return Noisy("".join(written), sorted(changes), len(units), len(able))

    def _key(self, text: str, ratio: float, key: int | str) -> bytes:
        options = repr((self.seed, str(key), None if self.nested else float(ratio)))
        return hashlib.sha256(f"{options}\0{text}".encode("utf-8", "surrogatepass")).digest()

    def _wanted(self, ratio: float, units: int, random: NDArray[np.float64]) -> int:
        """How many units to rewrite; ``random`` holds a number for the text and one for each changeable unit."""
        able = len(random) - 1
        expected = ratio * (units if self.share == "all" else able)
        if self.draw == "exact":
            return min(int(expected + random[0]), units)
        return int(np.count_nonzero(random[1:] < expected / max(able, 1)))

    def _rewrite(self, text: str, written: list[str], unit: Unit, random: bytes, stream: int) -> Change | None:
        """Rewrites a unit in ``written``, as the first of its options, in random order, that fits."""
        if unit.options is None:
            return None
        texts, kinds, weights, reading = unit.options
        numbers = draws(random, stream, len(texts))
        # The smallest of exponential variates with rates w falls on each with a probability in proportion to its w.
        keys = numbers if weights is None else -np.log1p(-uniform(numbers)) / weights
        span = slice(unit.start, unit.end)
        clean = written[span]
        for choice in np.argsort(keys, kind="stable").tolist():
            written[span] = [texts[choice], *[""] * (unit.end - unit.start - 1)]
            if self.fits(text, written, unit):
                return Change(unit.start, unit.end, text[span], texts[choice], kinds[choice], reading)
        written[span] = clean
        return None
