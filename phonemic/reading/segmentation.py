"""Which of two words is there that share a character: the one on the cheapest path of words through the text around.

提出|了|解决 is likelier than 提出|了解|决. Costs are from the frequencies of jieba's dictionary; they are in
``lexicon/words.npz``, which ``benchmarks/readings/frequencies.py`` makes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phonemic.characters import DATA
from phonemic.reading.buckets import IN_BUCKET, hash_of, key_of

#: Characters of a word at most; the slot of a word of one character, before those of longer ones.
LONGEST, FIRST_SLOT = 3, 16
#: A cost is so many times the logarithm of how rare a word is; that of a character that is not listed.
PER_NAT, UNKNOWN = 2, 34
#: See :class:`Words`.
MARGIN = 3
#: Of a word's number next to its cost: it is on paths, but does not say how its characters are read.
SILENT = 1 << 6
#: Code points of the characters that words have.
HAN = range(0x4E00, 0xA000)


class Span(NamedTuple):
    """Places of a word, from ``begin`` to before ``end``."""

    begin: int
    end: int

    def crosses(self, other: Span) -> bool:
        """Whether each has a place that the other has not."""
        return (self.begin < other.begin and self.end < other.end) or (
            self.begin > other.begin and self.end > other.end
        )


@dataclass(frozen=True)
class Words:
    """Words of one to three characters with their costs, looked up by hash.

    Arguments:
        numbers: word -> its cost, with SILENT or without; the commonest first.
        margin: by so much the path must be cheaper than any with a word that has the character read as it would be.
    """

    numbers: Mapping[str, int]
    margin: int = MARGIN

    @cached_property
    def _hashes(self) -> NDArray[np.uint64]:
        rows = np.zeros((len(self.numbers), LONGEST), np.uint64)
        for row, word in zip(rows, self.numbers, strict=True):
            row[: len(word)] = [ord(char) for char in word]
        lengths = np.array([len(word) for word in self.numbers], np.uint64)
        return hash_of(*_parts(lengths, *rows.T))  # type: ignore[arg-type, return-value]  # counts in arrays as in numbers

    @property
    def count(self) -> int:
        """How many buckets there are, but for one behind the last; a fifth of their places stay free."""
        return max(1, round(len(self.numbers) / (0.8 * IN_BUCKET)))

    @cached_property
    def buckets(self) -> list[dict[int, str]]:
        """The words by key in each bucket. A word is in its own or in the next, or left out where both are full."""
        found: list[dict[int, str]] = [{} for _ in range(self.count + 1)]
        keys: list[int] = key_of(self._hashes, self.count).tolist()  # type: ignore[arg-type, attr-defined]
        for key, word in zip(keys, self.numbers, strict=True):
            own, behind = found[key >> 15 : (key >> 15) + 2]
            if key not in own and key not in behind:
                free = min(own, behind, key=len)
                if len(free) < IN_BUCKET:
                    free[key] = word
        return found

    @cached_property
    def _by_key(self) -> dict[int, str]:
        return {key: word for bucket in self.buckets for key, word in bucket.items()}

    def word(self, codes: Sequence[int]) -> str | None:
        """The word of these code points, or another one with its key; None where there is none."""
        padded = [*codes, 0, 0][:LONGEST]
        return self._by_key.get(key_of(hash_of(*_parts(len(codes), *padded)), self.count))

    def has(self, codes: Sequence[int]) -> bool:
        """Whether these code points are a word themselves."""
        return self.word(codes) == "".join(map(chr, codes))

    def number(self, codes: Sequence[int]) -> int:
        """The number of a word of these code points; 0 where there is none."""
        return self.numbers.get(self.word(codes) or "", 0)

    def cost(self, codes: Sequence[int]) -> int | None:
        """The cost of a word of these code points, None where there is none; any character may stand alone."""
        cost = self.number(codes) & SILENT - 1
        return cost or (UNKNOWN if len(codes) == 1 else None)

    def spans(self, codes: Sequence[int], at: int) -> dict[Span, int]:
        """The words around the character ``at`` and what the cheapest path through each costs, from the left.

        Arguments:
            codes: Han characters.
            at: a place among them.
        """
        before = self._cheapest(codes[:at])
        behind = self._cheapest(codes[at + 1 :][::-1], backwards=True)
        found = {}
        for begin, end in product(range(max(0, at - LONGEST + 1), at + 1), range(at + 1, len(codes) + 1)):
            if end - begin <= LONGEST and (cost := self.cost(codes[begin:end])) is not None:
                found[Span(begin, end)] = before[begin] + cost + behind[len(codes) - end]
        return found

    def _cheapest(self, codes: Sequence[int], backwards: bool = False) -> list[int]:
        """The costs of the cheapest paths through no, one, two... of the first characters."""
        costs = [0]
        for end in range(1, len(codes) + 1):
            words = [codes[begin:end] for begin in range(max(0, end - LONGEST), end)]
            own = [self.cost(word[::-1] if backwards else word) for word in words]
            costs.append(
                min(costs[end - len(word)] + cost for word, cost in zip(words, own, strict=True) if cost is not None)
            )
        return costs


def _parts(length: int, first: int, second: int, third: int) -> tuple[int, int, int]:
    return FIRST_SLOT - 1 + length, first, second | third << 16


@cache
def words() -> Words:
    """The words of the package."""
    with np.load(DATA / "words.npz", allow_pickle=False) as file:
        rows, numbers = file["chars"].T.tolist(), file["numbers"].tolist()
    found = zip(("".join(chr(code) for code in row if code) for row in rows), numbers, strict=True)
    return Words(dict(sorted(found, key=lambda row: (row[1] & SILENT - 1, row[0]))))
