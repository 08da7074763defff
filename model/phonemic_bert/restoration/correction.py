"""Wrong Mandarin characters that sound right, or nearly, corrected where an n-gram model is sure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from phonemic import Encoding, Index, Tokenizer
from phonemic.inventory import NATIVE, TRIPLE
from phonemic.sound.sounds import sounds
from phonemic_bert.restoration.base import Restorer, Scorer
from phonemic_bert.restoration.characters import pick
from phonemic_bert.restoration.lattice import Candidates, Lattice, single
from phonemic_bert.restoration.mandarin import COMMA, codes_of, numbers_of
from phonemic_bert.restoration.ngrams import BORDER, Ngrams
from phonemic_bert.restoration.results import Change

#: How much likelier, in nats, a text must become for each character that is changed in it.
THRESHOLD = 9.0
#: The extra cost of another sound, in nats per syllable of distance, and how far it may be from what is written.
SOUND, NEAR = 8.0, 0.16
#: Candidates of a character.
MOST = 80


class CharactersCorrector(Restorer):
    """Corrects characters that sound like the right one: the same, another tone, or a sound that people confuse.

    Arguments:
        ngrams: a model of Mandarin characters.
        threshold: how much likelier, in nats, a text must become for each character that is changed in it.
        protected: words that are never changed.
        preferred: names; what sounds as one of them is written so.
        scorer: another judge of the candidates.
    """

    lang = "zh"

    def __init__(
        self,
        ngrams: Ngrams,
        threshold: float = THRESHOLD,
        protected: Collection[str] = (),
        preferred: Collection[str] = (),
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(ngrams, scorer)
        self.threshold = threshold
        self.protected = [word for word in dict.fromkeys([*protected, *preferred]) if word]
        self._tokenizer = Tokenizer("zh", readings="context")
        names = [name for name in dict.fromkeys(preferred) if name]
        self._names = Index(names, "zh") if names else None
        self._numbers = numbers_of(ngrams.words)
        self._candidates = lru_cache(1 << 14)(self._sought)

    @cached_property
    def _read(self) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]:
        """All readings of all characters: words, logarithms of shares and rows of sounds (E, 3)."""
        more = self.ngrams.more
        rows, _ = sounds("zh").heard(more["triples"])
        return more["words"].astype(np.int32), more["logs"], rows.astype(np.int64)

    def _lattices(self, texts: Sequence[str]) -> tuple[list[Lattice], list[list[Change]]]:
        encoded = list(self._tokenizer.encode_batch(list(texts), spans=True))
        names = [self._preferred(each) for each in encoded]
        return [self._lattice(each, own) for each, own in zip(encoded, names, strict=True)], names

    def _preferred(self, encoding: Encoding) -> list[Change]:
        """The names that are heard in a text and written otherwise."""
        if self._names is None:
            return []
        changes: list[Change] = []
        spans = encoding.spans.tolist()
        found = self._names.occurrences(encoding, 0)
        for match, first, last in sorted(found, key=lambda each: (each[1], -each[2])):
            start, end = spans[first][0], spans[last - 1][1]
            before = encoding.text[start:end]
            if before == match.name or len(before) != len(match.name) or (changes and start < changes[-1].end):
                continue
            changes.append(Change(start, end, before, match.name, 1.0, ((match.name, 1.0),)))
        return changes

    def _lattice(self, encoding: Encoding, names: list[Change]) -> Lattice:
        text = encoding.text
        kept = np.zeros(len(text) + 1, bool)
        for start, end in [*self._spans(text), *((name.start, name.end) for name in names)]:
            kept[start:end] = True
        read = np.zeros(len(text) + 1, np.int64)
        native = (encoding.kinds == NATIVE) & (np.diff(encoding.spans, axis=1)[:, 0] == 1)
        read[encoding.spans[native, 0]] = encoding.ids[native] & TRIPLE
        lattice = Lattice()
        before = -1
        for at, word in enumerate(self._numbers[codes_of(text)].tolist()):
            if word == BORDER:
                lattice.end_row()
            elif word != 0xFFFF and (word != before or word > COMMA):
                known = kept[at] or not read[at]
                lattice.add(at, at + 1, single(word) if known else self._candidates(word, int(read[at])))
            before = word
        return lattice

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for word in self.protected:
            at = text.find(word)
            while at >= 0:
                yield at, at + len(word)
                at = text.find(word, at + 1)

    def _sought(self, word: int, triple: int) -> Candidates:
        """The characters that sound like one that is read so."""
        words, logs, rows = self._read
        found, (own, _) = sounds("zh"), sounds("zh").heard(np.array([triple], np.int32))
        away = sum(
            matrix[own[0, part]][rows[:, part]].astype(np.float32)
            for part, matrix in enumerate((found.onsets, found.rimes, found.tones))
        )
        away = away / 1000
        near = np.flatnonzero(away <= NEAR)
        costs = logs[near] - SOUND * away[near] - self.threshold
        best: dict[int, float] = {}
        for other, cost in zip(words[near].tolist(), costs.tolist(), strict=True):
            if other != word:
                best[other] = max(cost, best.get(other, -np.inf))
        others = pick(best, self.ngrams, MOST)
        return Candidates(np.append(np.int32(word), others.words), np.append(np.float32(0), others.costs))

    def _stays(self, before: str, word: int, candidates: Candidates) -> bool:
        return len(candidates.words) == 1 or int(self._numbers[ord(before)]) == word

    def _written(self, word: int, like: str) -> str:
        return like if int(self._numbers[ord(like)]) == word else self.ngrams.words[word]
