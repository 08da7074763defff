"""How far apart the sounds of a language are: a matrix over its onsets, one over its rimes, one over its tones.

The features and the usual confusions are the rows of ``vi.tsv`` and ``zh.tsv``. Every cost is a whole number of
thousandths of a syllable. Each matrix is a metric: features are summed up (L1), confusions are put in, and of all
detours the shortest is taken, so that the triangle inequality holds.
"""

from __future__ import annotations

import hashlib
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phonemic.inventory import EMPTY, FALLBACK, NATIVE, kinds_of, vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic.encoding import Batch

#: The cost of a whole syllable, of one letter of the fallback, and the least cost of two different sounds.
SYLLABLE, LETTER, LEAST = 1000, 300, 10

#: The sign of an absent part in the tables.
_ABSENT = "-"
#: Not a character that has a row.
_UNHEARD = 255

#: Stands for the last row of the rimes, or of the tones.
ANY = -1


class Row(NamedTuple):
    """A row of a table; see the head of the file."""

    row: str
    part: str
    symbol: str
    other: str
    value: str
    note: str


class Sounds:
    """The sounds of one language as numbered rows, and what they cost against each other.

    A position is three rows: of its onset, its rime and its tone. A letter or digit of the fallback has a row among the
    onsets, and the last row but one of the rimes and tones: against a syllable it costs as much as a syllable can. In
    what is searched for a rime or a tone may be any, which costs nothing; that is the last row.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.

    Attributes:
        onsets: uint16 (O, O); the language's onsets first, then the characters.
        rimes: uint16 (R, R); the last row but one is that of all characters, and the last is near to all rimes.
        tones: uint16 (T, T); likewise.
        gaps: uint16 (O,), what a position with this onset, or this character, costs where the other text has none.
    """

    def __init__(self, lang: str) -> None:
        self.vocabulary = vocabulary(lang)
        table = _Table(lang)
        onsets, onset = table.matrix("onset")
        tones, tone = table.matrix("tone")
        rimes = self.vocabulary.by_role("rime")
        characters = [symbol for symbol in self.vocabulary.by_role("fallback") if symbol.isalnum()]
        self.onsets = _with_characters(onset, table.share("onset"), characters)
        self.rimes = _with_any(_padded(table.rimes(rimes), table.share("rime")))
        self.tones = _with_any(_padded(tone, table.share("tone")))
        costs = [SYLLABLE] * len(onset) + [_of_character(char) for char in characters]
        self.gaps = np.array(costs, np.uint16)
        self.symbols = {"onset": onsets, "rime": tuple(rimes), "tone": tones}
        self._rows = np.zeros((3, 256), np.uint8)
        for rows, symbols in zip(self._rows, self.symbols.values(), strict=True):
            for row, symbol in enumerate(symbols):
                rows[self.vocabulary.id(symbol)] = row
        self._characters = np.full(256, _UNHEARD, np.uint8)
        for number, char in enumerate(characters):
            self._characters[self.vocabulary.id(char)] = len(onset) + number

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what the rows are and cost: rows of other sounds mean others."""
        found = hashlib.sha256(repr((self.symbols, self._characters.tolist())).encode())
        for costs in (self.onsets, self.rimes, self.tones, self.gaps):
            found.update(costs.astype("<u2").tobytes())
        return found.hexdigest()

    def heard(self, ids: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
        """The rows of what is heard: syllables, letters and digits, but no punctuation and no unknown characters.

        Arguments:
            ids: any int32 (N,); of the ones that are no position the rows are rows of the matrices, too.

        Returns:
            Rows of onset, rime and tone, uint8 (M, 3), and of each the position that it comes from, intp (M,).
        """
        kinds, parts = kinds_of(ids), [ids >> shift & 255 for shift in (0, 8, 16)]
        rows = np.stack([own[part] for own, part in zip(self._rows, parts, strict=True)], axis=1)
        native = kinds == NATIVE
        single = ~native & (parts[0] == parts[1]) & (parts[1] == parts[2])
        rows[~native] = 0, len(self.rimes) - 2, len(self.tones) - 2
        rows[single, 0] = self._characters[parts[0][single]]
        kept = native | (single & (kinds == FALLBACK) & (rows[:, 0] != _UNHEARD))
        where = np.flatnonzero(kept)
        packed = np.flatnonzero((kinds == FALLBACK) & ~single)
        if len(packed):
            return self._unpacked(ids, rows, where, packed)
        return np.ascontiguousarray(rows[where]), where

    def heard_batch(self, batch: Batch) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The rows of what is heard of several texts, one after the other.

        Arguments:
            batch: the texts, encoded.

        Returns:
            Rows as of :meth:`heard`, uint8 (M, 3); text i has ``rows[offsets[i]:offsets[i + 1]]``, int64 (N + 1,).
        """
        rows, where = self.heard(batch.ids)
        return rows, np.searchsorted(where, batch.offsets).astype(np.int64, copy=False)

    def _unpacked(
        self, ids: NDArray[np.int32], rows: NDArray[np.uint8], where: NDArray[np.intp], packed: NDArray[np.intp]
    ) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
        """The same where positions hold two or three characters each; what is not a letter or digit is not heard."""
        found = np.stack([self._characters[ids[packed] >> shift & 255] for shift in (0, 8, 16)], axis=1)
        position, _ = np.nonzero(found != _UNHEARD)
        more = rows[packed[position]]
        more[:, 0] = found[found != _UNHEARD]
        places = np.concatenate([where, packed[position]])
        order = np.argsort(places, kind="stable")
        return np.ascontiguousarray(np.concatenate([rows[where], more])[order]), places[order]


@cache
def sounds(lang: str) -> Sounds:
    """The sounds of ``"vi"`` or ``"zh"``, made once."""
    return Sounds(lang)


def matrix(lang: str, part: str) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The costs of the sounds of one part of the syllable against each other.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        part: ``"onset"``, ``"rime"`` or ``"tone"``.

    Returns:
        The N symbols (``"[EMPTY]"`` for none) and their distances in syllables, float64 (N, N): symmetric, 0 on the
        diagonal and nowhere else, with the triangle inequality.

    Raises:
        ValueError: there is no such language or part.
    """
    if lang not in ("vi", "zh") or part not in ("onset", "rime", "tone"):
        raise ValueError(f"no matrix for {lang!r} and {part!r}: choose vi or zh, and onset, rime or tone")
    found = sounds(lang)
    symbols = found.symbols[part]
    return symbols, getattr(found, f"{part}s")[: len(symbols), : len(symbols)] / SYLLABLE


def table_rows(lang: str) -> list[Row]:
    """The rows of a language's table."""
    text = (files("phonemic.sound") / f"{lang}.tsv").read_text("utf-8")
    return [Row(*line.split("\t")) for line in text.splitlines() if not line.startswith("#")][1:]


class _Table:
    """The rows of a language, part by part."""

    def __init__(self, lang: str) -> None:
        self.rows = table_rows(lang)

    def share(self, part: str) -> int:
        """The most that a part can cost."""
        return next(int(row.value) for row in self.rows if row.row == "share" and row.part == part)

    def matrix(self, part: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The symbols of a part and their costs, int64 (N, N)."""
        weights = {row.symbol: float(row.value) for row in self.rows if row.row == "weight" and row.part == part}
        symbols, places = [], []
        for row in self.rows:
            if row.row == "sound" and row.part == part:
                own = dict(pair.split("=") for pair in row.value.split())
                symbols.append(_symbol(part, row.symbol))
                places.append([weight * float(own.pop(name, 0)) for name, weight in weights.items()])
                if own:
                    raise ValueError(f"{part} {row.symbol}: no weight for {', '.join(own)}")
        at = np.array(places)
        costs = np.rint(np.abs(at[:, None] - at).sum(axis=2)).astype(np.int64)
        return tuple(symbols), self.with_confusions(part, tuple(symbols), costs)

    def rimes(self, rimes: list[str]) -> NDArray[np.int64]:
        """The costs of rimes: medial, and nucleus and coda together; int64 (N, N)."""
        found = [self.matrix(part) for part in ("medial", "nucleus", "coda")]
        made = {"".join(parts): parts for parts in product(*(symbols for symbols, _ in found))}
        parts = [made[rime] for rime in rimes]
        tails = tuple(dict.fromkeys("".join(part[1:]) for part in parts))
        (medials, medial), *inner = found
        first = [next(part for part in parts if "".join(part[1:]) == tail) for tail in tails]
        nucleus, coda = (
            _at(costs, [symbols.index(part[number]) for part in first])
            for number, (symbols, costs) in enumerate(inner, 1)
        )
        closed = self.with_confusions("tail", tails, nucleus + coda)
        return _at(medial, [medials.index(part[0]) for part in parts]) + _at(
            closed, [tails.index("".join(part[1:])) for part in parts]
        )

    def with_confusions(self, part: str, symbols: tuple[str, ...], costs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The costs, lowered to those of the usual confusions; of all detours the shortest."""
        costs = np.maximum(costs, LEAST)
        np.fill_diagonal(costs, 0)
        for row in self.rows:
            if row.row == "confusion" and row.part == part:
                one, other = (symbols.index(_symbol(part, symbol)) for symbol in (row.symbol, row.other))
                costs[one, other] = costs[other, one] = min(int(row.value), costs[one, other])
        for via in range(len(costs)):
            np.minimum(costs, costs[:, via, None] + costs[via], out=costs)
        return costs


def _at(costs: NDArray[np.int64], rows: list[int]) -> NDArray[np.int64]:
    """The costs of these rows against each other."""
    return costs[np.ix_(rows, rows)]


def _symbol(part: str, symbol: str) -> str:
    """A symbol as the vocabulary has it; an absent medial or coda is ""."""
    if symbol != _ABSENT:
        return symbol
    return EMPTY if part in ("onset", "tone") else ""


def _padded(costs: NDArray[np.int64], most: int) -> NDArray[np.uint16]:
    """The costs, no more than ``most`` each, and a last row for what is not a sound, which costs that: uint16."""
    padded = np.pad(np.minimum(costs, most), (0, 1), constant_values=most)
    padded[-1, -1] = 0
    return padded.astype(np.uint16)


def _with_any(costs: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """The costs, and a last row for a sound that is not known: it costs nothing, but against what is not a sound."""
    made = np.pad(costs, (0, 1))
    made[-1, -2] = made[-2, -1] = costs[0, -1]
    return made


def _with_characters(costs: NDArray[np.int64], most: int, characters: list[str]) -> NDArray[np.uint16]:
    """The costs of onsets, no more than ``most`` each, and a row for every character: uint16."""
    size = len(costs)
    made = np.full((size + len(characters),) * 2, most)
    made[:size, :size] = np.minimum(costs, most)
    own = np.array([_of_character(char) for char in characters])
    made[size:, size:] = np.maximum(own[:, None], own)
    np.fill_diagonal(made, 0)
    return made.astype(np.uint16)


def _of_character(char: str) -> int:
    """The cost of a character: a digit is read as a syllable or more."""
    return SYLLABLE if char.isdigit() else LETTER
