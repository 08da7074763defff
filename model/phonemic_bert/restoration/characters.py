"""Mandarin characters from their sounds: pinyin to text, and characters that sound like the right one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from phonemic import PinyinError, Triple, from_pinyin
from phonemic.inventory import EMPTY, vocabulary
from phonemic_bert.restoration.base import Restorer, Scorer
from phonemic_bert.restoration.lattice import Candidates, Lattice, Position, single
from phonemic_bert.restoration.mandarin import COMMA, codes_of, numbers_of
from phonemic_bert.restoration.ngrams import BORDER, Ngrams
from phonemic_bert.restoration.results import Change

#: Possible pinyin: letters with their marks and numbers, apostrophes between.
_WRITTEN = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*:?\d?['’]?)+")
#: How many characters a syllable may be, the likeliest.
MOST = 120
#: How much less likely a syllable that is written without a tone, among others with tones, has one.
_LOST_TONE = -4.0


class CharactersRestorer(Restorer):
    """Writes pinyin in characters: with tones, as marks or numbers, or without any. Other text stays as it is.

    Arguments:
        ngrams: a model of Mandarin characters.
        scorer: another judge of the candidates.
    """

    lang = "zh"

    def __init__(self, ngrams: Ngrams, scorer: Scorer | None = None) -> None:
        super().__init__(ngrams, scorer)
        self._numbers = numbers_of(ngrams.words)
        self._pack = vocabulary("zh").pack

    @cached_property
    def _by_triple(self) -> dict[int, dict[int, float]]:
        """The characters that a packed triple may be, and the logarithms of the shares of that reading."""
        more, found = self.ngrams.more, defaultdict[int, dict[int, float]](dict)
        for word, triple, log in zip(*(more[name].tolist() for name in ("words", "triples", "logs")), strict=True):
            found[triple][word] = log
        return dict(found)

    @cached_property
    def _by_syllable(self) -> dict[tuple[str, str], dict[int, float]]:
        """The same of a syllable without its tone."""
        symbols, found = vocabulary("zh"), defaultdict[tuple[str, str], dict[int, float]](dict)
        for triple, words in self._by_triple.items():
            onset, rime, _ = symbols.unpack(triple)
            group = found[onset, rime]
            for word, log in words.items():
                group[word] = float(np.logaddexp(group.get(word, -np.inf), log))
        return dict(found)

    def _lattices(self, texts: Sequence[str]) -> tuple[list[Lattice], list[list[Change]]]:
        return list(map(self._lattice, texts)), [[] for _ in texts]

    def _lattice(self, text: str) -> Lattice:
        found = [(start, end, triple) for part in _WRITTEN.finditer(text) for start, end, triple in _syllables(part)]
        toned = any(triple.tone != EMPTY for _, _, triple in found)
        lattice, at = Lattice(), 0
        for start, end, triple in found:
            self._between(lattice, text, at, start)
            lattice.add(start, end, self._candidates(triple, toned))
            at = end
        self._between(lattice, text, at, len(text))
        return lattice

    def _between(self, lattice: Lattice, text: str, start: int, end: int) -> None:
        """Adds what is between two syllables."""
        for at, word in enumerate(self._numbers[codes_of(text[start:end])].tolist(), start):
            if word == BORDER:
                lattice.end_row()
            elif word != 0xFFFF and text[at] not in "'’-":
                lattice.add(at, at + 1, single(word))

    def _candidates(self, triple: Triple, toned: bool) -> Candidates:
        if toned:
            words = self._by_triple.get(self._pack(triple), {})
            if triple.tone == EMPTY:
                words = {w: log + _LOST_TONE for w, log in self._by_syllable.get(triple[:2], {}).items()} | words
        else:
            words = self._by_syllable.get(triple[:2], {})
        if not words:
            return single(COMMA)
        return pick(words, self.ngrams, MOST)

    def _stays(self, before: str, word: int, candidates: Candidates) -> bool:
        return word <= COMMA or self.ngrams.words[word] == before

    def _written(self, word: int, like: str) -> str:
        return self.ngrams.words[word]

    def _begin(self, text: str, changes: Sequence[Change], position: Position) -> int:
        if changes and not text[changes[-1].end : position.start].strip(" '’-"):
            return changes[-1].end  # nothing parts characters
        return position.start


def pick(words: dict[int, float], ngrams: Ngrams, most: int) -> Candidates:
    """The likeliest of some words as candidates.

    Arguments:
        words: what is added to the score of each.
        ngrams: says how common they are.
        most: how many are kept.
    """
    numbers, costs = np.array(list(words), np.int32), np.array(list(words.values()), np.float32)
    if len(numbers) > most:
        best = np.argsort(-(costs + ngrams.unigrams[numbers]), kind="stable")[:most]
        numbers, costs = numbers[best], costs[best]
    return Candidates(numbers, costs)


def _syllables(part: re.Match[str]) -> list[tuple[int, int, Triple]]:
    """The syllables of what may be pinyin; none where it is not."""
    try:
        triples, spans = from_pinyin(part.group(), spans=True)
    except PinyinError:
        return []
    return [(part.start() + a, part.start() + b, triple) for triple, (a, b) in zip(triples, spans, strict=True)]
