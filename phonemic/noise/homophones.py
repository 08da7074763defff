"""Homophone noise: Chinese characters replaced by others that sound the same or nearly so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from phonemic import mandarin
from phonemic.inventory import NATIVE
from phonemic.lexicon.entries import ZH_HAN
from phonemic.lexicon.tables import tables_of
from phonemic.noise.base import Noise, Noisy, RewriteOptions, Unit
from phonemic.reading.context import ENDS
from phonemic.sound.sounds import sounds, table_rows
from phonemic.tokenizer import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The pools with a name. GB 2312 orders the simplified characters by use (level 1: 3,755, level 2: 3,008), Big5 the
#: traditional ones (level 1: 5,401).
POOLS = ("all", "gb2312", "gb2312-1", "big5-1")
READINGS = ("context", "default")

#: The replacement: the same syllable and tone; the syllable in another tone; in the same tone a syllable that
#: people take for it (*zh* and *z*, *n* and *l*, *in* and *ing*). The kind of a change has the name next to it.
SOUNDS = {"same": "homophone", "other-tone": "other-tone", "confused": "confused"}

#: The most that two onsets or rimes which are taken for each other cost, in thousandths of a syllable: *f* and *h*.
_CONFUSED = 50

_ENDS = np.array([*map(ord, ENDS)], np.uint32)


@cache
def is_han() -> NDArray[np.bool_]:
    """Whether each code point is a Han character for the tokenizer: bool (0x110000,)."""
    tables = tables_of("zh")
    astral = tables["astral"].reshape(-1, 256)[tables["astral_index"]]
    flags: NDArray[np.bool_] = (np.concatenate([tables["bmp"], astral.reshape(-1)]) & ZH_HAN) != 0
    return flags


def characters(pool: str) -> list[str]:
    """The characters of a named pool, in the order of their codes.

    Arguments:
        pool: ``"all"`` Han characters, ``"gb2312"`` (levels 1 and 2), ``"gb2312-1"`` or ``"big5-1"``. The standards'
            tables are those of Python's codecs: rows 16-55 of GB 2312 are level 1, 56-87 level 2; A440-C67E of Big5 are
            level 1.

    Raises:
        ValueError: there is no such pool.
    """
    if pool == "all":
        return [chr(code) for code in np.flatnonzero(is_han()).tolist()]
    if pool in ("gb2312", "gb2312-1"):
        codes, codec = range(0xB0A1, 0xD7FF if pool == "gb2312-1" else 0xF7FF), "gb2312"
    elif pool == "big5-1":
        codes, codec = range(0xA440, 0xC67F), "big5"
    else:
        raise ValueError(f"unknown pool {pool!r}: choose one of {', '.join(POOLS)}, or give the characters as a list")
    decoded = (code.to_bytes(2, "big").decode(codec, "ignore") for code in codes)
    return [char for char in decoded if len(char) == 1 and is_han()[ord(char)]]


def count_characters(texts: Iterable[str]) -> Counter[str]:
    """How often each Han character occurs in texts, for ``Homophones(pool=...)``."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    return Counter({char: count for char, count in counts.items() if is_han()[ord(char)]})


def frequent(
    counts: Mapping[str, int], pool: str = "all", min_count: int = 1, by_count: bool = False
) -> list[str] | dict[str, int]:
    """The characters of a named pool that people use, for ``Homophones(pool=...)``.

    Arguments:
        counts: how often each occurs, see :func:`count_characters`.
        pool: see :func:`characters`.
        min_count: how often a character must occur.
        by_count: keep the counts, so that they are chosen as often as they occur, and not all equally.

    Raises:
        ValueError: there is no such pool.
    """
    members = set(characters(pool))
    found = {char: count for char, count in counts.items() if count >= min_count and char in members}
    return found if by_count else [*found]


class Homophones(Noise):
    """Replaces Chinese characters by others of the same onset, rime and tone, or of nearly the same.

    A unit is a Han character. It can be replaced where it has a reading and the pool holds another character whose
    default reading is that one, or near it as ``sound`` says; one with a variation selector or a mark behind it stays.
    Compatibility ideographs are never written, and a character is not replaced by the one that it is canonically equal
    to.

    Arguments:
        pool: what to choose from. A name (see :func:`characters`) or some characters: all are equally likely. A mapping
            of characters to counts (see :func:`count_characters`): in proportion to the counts.
        match: the reading of a character that is matched: ``"context"``, in its phrase (*háng* in 银行), or
            ``"default"``, by itself (*xíng*).
        same_ids: only replacements after which the whole text still has the same ids. Without it, every replacement
            reads the same by itself, but a phrase that it breaks or makes may change its reading or its neighbours'.
            The time grows with the square of the length of an unbroken run of Han characters, or of a sentence where
            the tokenizer reads by context.
        tokenizer: a ``Tokenizer("zh")``, with phrases of your own perhaps.
        seed: see :class:`~phonemic.noise.Noise`.
        share: see :class:`~phonemic.noise.Noise`.
        draw: see :class:`~phonemic.noise.Noise`.
        nested: see :class:`~phonemic.noise.Noise`.
        sound: how near the sound is: ``"same"``; ``"other-tone"``, the same onset and rime in another tone;
            ``"confused"``, in the same tone another onset (*zh* and *z*, *ch* and *c*, *sh* and *s*, *n* and *l*, *f*
            and *h*) or another rime (*an* and *ang*, *en* and *eng*, *in* and *ing*, *ü* and *i* before *e*) or both,
            the ones that cost at most 0.05 syllables in ``phonemic/sound/zh.tsv``.

    Raises:
        ValueError: an unknown pool or option, a pool without a character that has a reading, a count that is not
            positive, a tokenizer for another language or with ``erhua=True``, ``same_ids`` with another ``sound``.
    """

    lang = "zh"

    def __init__(
        self,
        pool: str | Iterable[str] | Mapping[str, float] = "all",
        match: str = "context",
        same_ids: bool = False,
        tokenizer: Tokenizer | None = None,
        seed: int = 0,
        share: str = "all",
        draw: str = "exact",
        nested: bool = True,
        sound: str = "same",
    ) -> None:
        if match not in READINGS:
            raise ValueError(f"match must be one of {', '.join(READINGS)}, not {match!r}")
        if sound not in SOUNDS:
            raise ValueError(f"sound must be one of {', '.join(SOUNDS)}, not {sound!r}")
        if same_ids and sound != "same":
            raise ValueError(f"same_ids=True keeps every sound: it has no characters for sound={sound!r}")
        super().__init__(tokenizer, seed, share, draw, nested)
        if self.tokenizer.options.erhua:
            raise ValueError("a tokenizer with erhua=True reads two characters as one syllable: take one without")
        self.match, self.sound = match, sound
        self.same_ids = bool(same_ids)
        self._equal = mandarin.compatibility_ideographs()
        self._default = dict(self._read(characters("all")))
        self._groups, self._counts = self._grouped(pool)
        self._options: dict[tuple[str, int], RewriteOptions | None] = {}

    def units(self, text: str) -> list[Unit]:
        """The Han characters of a text; what decides how they are read is their run of Han characters or, by context,
        their sentence.
        """
        encoding = self.tokenizer.encode(text)
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        han, within = np.zeros((2, len(codes) + 2), bool)
        han[1:-1] = is_han()[codes]
        by_context = self.tokenizer.readings == "context"
        within[1:-1] = ~np.isin(codes, _ENDS) if by_context else han[1:-1]
        borders = np.flatnonzero(within[1:] != within[:-1]).tolist()  # each one's start and end in turn
        run, units = 0, []
        for (start, end), packed in zip(encoding.spans.tolist(), encoding.ids.tolist(), strict=True):
            if not han[start + 1]:
                continue
            while borders[run + 1] <= start:
                run += 2
            wanted = packed if self.match == "context" else self._default.get(text[start])
            options = self._options_of(text[start], wanted) if end == start + 1 and wanted is not None else None
            context = borders[run], min(borders[run + 1] + by_context, len(text))  # what ends a sentence is looked at
            units.append(Unit(start, end, options, context))
        return units

    def fits(self, text: str, written: list[str], unit: Unit) -> bool:
        """Whether what surrounds a replaced character has its ids still, where that is requested."""
        if not self.same_ids:
            return True
        run = slice(*unit.context)
        now, before = self.tokenizer.encode("".join(written[run])), self.tokenizer.encode(text[run])
        return np.array_equal(now.ids, before.ids)

    def ids_changed(self, text: str, noisy: Noisy) -> int:
        """How many positions have another id in the noisy text; there are as many positions as in the clean one.

        Arguments:
            text: the clean text.
            noisy: what :meth:`apply` made of it.
        """
        return int(np.count_nonzero(self.tokenizer.encode(text).ids != self.tokenizer.encode(noisy.text).ids))

    def _read(self, chars: list[str]) -> Iterable[tuple[str, int]]:
        """The characters that have a default reading, with it as a packed id."""
        batch = self.tokenizer.encode_batch(chars)
        kinds = batch.kinds.tolist()
        return [
            (char, packed)
            for char, packed, kind in zip(chars, batch.ids.tolist(), kinds, strict=True)
            if kind == NATIVE
        ]

    def _grouped(
        self, pool: str | Iterable[str] | Mapping[str, float]
    ) -> tuple[dict[int, list[str]], Mapping[str, float]]:
        """The pool's characters by reading, and their counts where there are any."""
        counts = pool if isinstance(pool, Mapping) else {}
        wrong = next((char for char, count in counts.items() if not 0 < count < float("inf")), None)
        if wrong is not None:
            raise ValueError(f"the count of {wrong!r} is {counts[wrong]}; leave out what does not occur")
        groups: dict[int, list[str]] = {}
        for char in sorted(characters(pool) if isinstance(pool, str) else {*pool}):
            if char in self._default and char not in self._equal:
                groups.setdefault(self._default[char], []).append(char)
        if not groups:
            raise ValueError("the pool holds no Han character with a reading")
        return groups, counts

    def _options_of(self, char: str, packed: int) -> RewriteOptions | None:
        """The other characters that are read so, or nearly so."""
        key = char, packed
        if key not in self._options:
            itself = self._equal.get(char, char)
            others = [other for near in self._near(packed) for other in self._groups[near] if other != itself]
            weights = np.array([self._counts[other] for other in others], float) if self._counts else None
            reading = mandarin.spell(self.tokenizer.vocab.unpack(packed), numbers=True) if others else ""
            made = RewriteOptions(others, [SOUNDS[self.sound]] * len(others), weights, reading) if others else None
            self._options[key] = made
        return self._options[key]

    def _near(self, packed: int) -> list[int]:
        """The readings of the pool's characters that may be written for one, as ids."""
        if self.sound == "same":
            return [packed] if packed in self._groups else []
        ids = np.array([packed, *self._groups], np.int32)
        same_tone = ids >> 16 == packed >> 16
        if self.sound == "other-tone":
            near = ((ids & 0xFFFF) == (packed & 0xFFFF)) & ~same_tone
        else:
            onsets, rimes = (_confusions(part)[packed >> shift & 255] for part, shift in (("onset", 0), ("rime", 8)))
            near = same_tone & onsets[ids & 255] & rimes[ids >> 8 & 255] & (ids != packed)
        return [int(one) for one in ids[near]]


@cache
def _confusions(part: str) -> NDArray[np.bool_]:
    """Which symbols of the vocabulary, by id, are taken for each other or are the same, bool (256, 256)."""
    found = sounds("zh")
    number = [found.vocabulary.id(symbol) for symbol in found.symbols[part]]
    taken = np.eye(256, dtype=bool)
    if part == "rime":
        taken[np.ix_(number, number)] = found.rimes[: len(number), : len(number)] <= _CONFUSED
        return taken
    for row in table_rows("zh"):
        if row.row == "confusion" and row.part == part and int(row.value) <= _CONFUSED:
            one, other = found.vocabulary.id(row.symbol), found.vocabulary.id(row.other)
            taken[one, other] = taken[other, one] = True
    return taken
