"""Texts, votes of lexicons and features of places, in arrays: what the teachers label and the models are fitted on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.readings import segments

#: Zeros between sentences: no window reaches into another sentence.
GAP = 8
#: The windows of the features: offsets of one or two characters from the target.
WINDOWS = ((-1,), (1,), (-2,), (2,), (-3,), (3,), (-2, -1), (-1, 1), (1, 2))
#: The same over the classes of characters.
CLASS_WINDOWS = ((-1,), (1,), (-1, 1))
SLOTS = len(WINDOWS) + len(CLASS_WINDOWS)
#: The features by votes: the reading by the phrase of two that ends here, that begins here, by the phrases of three,
#: and by three characters of a longer phrase; then the reading by a phrase of two in which another word begins behind,
#: or ends before. All of them are windows, whose own weights get theirs added later.
VOTES = ("left", "right", "three", "part", "behind", "before")
#: The first of the features that speak against a reading.
AGAINST = 4
LONGEST = 4
#: The bits of a vote's tier are above those of its reading.
TIER_BITS = 12


@cache
def _stand_ins() -> NDArray[np.uint32]:
    """Code point -> what stands for it in a feature: digits are 1, letters 2, other symbols 3 but for a few marks."""
    kept = "，。、：；！？“”《》（）"
    table = np.arange(0x110000, dtype=np.uint32)
    for char in map(chr, [*range(0x20, 0x3000), *range(0xFF00, 0xFFF0)]):
        if char not in kept:
            table[ord(char)] = 1 if char.isdigit() else 2 if char.isalpha() else 3
    return table


class Places(NamedTuple):
    """Sentences behind each other with gaps, as code points, places in them, and the span of each character's word."""

    points: NDArray[np.uint32]
    at: NDArray[np.int64]
    words: NDArray[np.int32] | None = None


def places(texts: Sequence[str], at: Iterable[int], words: bool = False) -> Places:
    """One place in each text, with the words of the texts on request."""
    starts, joined = [], []
    begin = GAP
    for text in texts:
        starts.append(begin)
        joined.append(text)
        begin += len(text) + GAP
    whole = "\0" * GAP + ("\0" * GAP).join(joined) + "\0" * GAP
    points = np.frombuffer(whole.encode("utf-32-le"), np.uint32)
    found = Places(points, np.array(starts, np.int64) + np.array([*at]))
    return found._replace(words=_apart(points, segments.begins(texts))) if words else found


def _apart(points: NDArray[np.uint32], begun: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Where the words lie, the zeros of the gaps being one each."""
    spread = np.ones(len(points), bool)
    spread[points > 0] = begun
    return segments.spans(spread)


def spread(
    points: NDArray[np.uint32], starts: NDArray[np.int32], at: NDArray[np.int32], begun: NDArray[np.bool_]
) -> Places:
    """The sentences of a chunk, which touch, with gaps put between them; ``begun`` is where words begin."""
    number = np.zeros(len(points), np.int64)
    number[starts[1:]] = 1
    moved = np.arange(len(points)) + GAP * (number.cumsum() + 1)
    out = np.zeros(moved[-1] + 1 + GAP, np.uint32)
    out[moved] = points
    words = np.ones(len(out), bool)
    words[moved] = begun
    return Places(out, moved[at], segments.spans(words))


def _hash(columns: Sequence[NDArray[np.uint32]]) -> NDArray[np.uint64]:
    value = np.full(len(columns[0]), len(columns), np.uint64)
    for column in columns:
        value = (value ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    return value


def _crosses(words: NDArray[np.int32], begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a word is in part within ``begin`` to ``end`` and in part outside, and not all around it."""
    (first, before), (behind, last) = words[:, begin], words[:, end - 1]
    crossed: NDArray[np.bool_] = ((first < begin) & (before < end)) | ((last > end) & (behind > begin))
    return crossed


class Voter:
    """A lexicon's readings of the characters that vary, looked up at many places at once."""

    def __init__(self, phrases: Mapping[str, Sequence[str]], numbers: Mapping[str, int], chars: frozenset[str]) -> None:
        rows: dict[tuple[int, int], tuple[list[str], list[int]]] = {}
        for phrase, readings in phrases.items():
            if 2 <= len(phrase) <= LONGEST:
                for offset, char in enumerate(phrase):
                    if char in chars and readings[offset] in numbers:
                        texts, votes = rows.setdefault((len(phrase), offset), ([], []))
                        texts.append(phrase)
                        votes.append(numbers[readings[offset]])
        self.tables = {}
        for (length, offset), (texts, votes) in rows.items():
            points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32).reshape(-1, length)
            keys = _hash(list(points.T))
            order = keys.argsort()
            self.tables[length, offset] = keys[order], np.array(votes, np.int32)[order]

    def votes(self, where: Places, length: int, offset: int) -> NDArray[np.int32]:
        """The reading by the phrase of this length that begins ``offset`` before each place; -1 is none."""
        if (length, offset) not in self.tables:
            return np.full(len(where.at), -1, np.int32)
        keys, votes = self.tables[length, offset]
        wanted = _hash([where.points[where.at - offset + place] for place in range(length)])
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[found] == wanted, votes[found], -1)

    def longest(self, where: Places, shortest: int = 2) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The readings by the longest phrases that cover the places (the first of these), and how long they are.

        Where the words are known, no phrase counts that ends or begins within one that it does not lie in.
        """
        best = np.full(len(where.at), -1, np.int32)
        lengths = np.zeros(len(where.at), np.int32)
        for length in range(LONGEST, shortest - 1, -1):
            for offset in range(length - 1, -1, -1):
                votes = self.votes(where, length, offset)
                won = (best < 0) & (votes >= 0)
                if where.words is not None:
                    won &= ~_crosses(where.words, where.at - offset, where.at - offset + length)
                best[won] = votes[won]
                lengths[won] = length
        return best, lengths


def keys(
    where: Places, voter: Voter, parts: Voter, behind: Voter, before: Voter, classes: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """The features of places, (places, FEATURES): a window and its contents; -1 where there is none.

    Arguments:
        where: the places.
        voter: the lexicon, its readings with their tier.
        parts: three characters of its longer phrases.
        behind: a character and the two behind it, a word that begins as a phrase of the character does.
        before: a character and the two before it, likewise.
        classes: (0x110000,), the class of each character.
    """
    points, at = _stand_ins()[where.points], where.at
    columns = []
    for number, window in enumerate(WINDOWS):
        value = np.full(len(at), number, np.int64)
        for offset in window:
            value = value << 21 | points[at + offset]
        columns.append(value)
    for number, window in enumerate(CLASS_WINDOWS, start=len(WINDOWS)):
        value = np.full(len(at), number, np.int64)
        for offset in window:
            value = value << 21 | classes[where.points[at + offset]]
        columns.append(value)
    votes = [(0, voter.votes(where, 2, 1)), (1, voter.votes(where, 2, 0))]
    for offset in range(3):
        whole = voter.votes(where, 3, offset)
        votes += [(2, whole), (3, np.where(whole < 0, parts.votes(where, 3, offset), -1))]
    votes += [(4, behind.votes(where, 3, 0)), (5, before.votes(where, 3, 2))]
    for number, vote in votes:
        columns.append(np.where(vote < 0, -1, vote_key(number, vote.astype(np.int64))))
    return np.stack(columns, 1)


def vote_key(number: int, vote: Any) -> Any:
    """The feature that says that a phrase votes: which of VOTES it is, and its tier and reading."""
    return SLOTS + number << 42 | vote
