"""Vietnamese diacritics given back: all of a text that has none, and some where an n-gram model is sure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from phonemic_bert.restoration.base import Restorer, Scorer
from phonemic_bert.restoration.lattice import Candidates, Lattice, single
from phonemic_bert.restoration.ngrams import NUMBER, OTHER, Ngrams
from phonemic_bert.restoration.results import Change
from phonemic_bert.restoration.vietnamese import Token, bare, canonical, is_marked, is_syllable, tokens, with_case

#: How much likelier, in nats, a marked text must become for each word that is changed in it.
THRESHOLD = 16.0


class DiacriticsRestorer(Restorer):
    """Gives Vietnamese text its diacritics back.

    A text without any mark gets them all. In a text that is marked a word is changed only where the text becomes much
    likelier. Words that are no syllable, code, addresses, handles and numbers stay, as do capitals and white space.

    Arguments:
        ngrams: a model of Vietnamese words.
        threshold: how much likelier, in nats, a marked text must become for each word that is changed in it; None
            leaves marked text alone.
        protected: words that are never changed, without regard to case.
        scorer: another judge of the candidates.
    """

    lang = "vi"

    def __init__(
        self,
        ngrams: Ngrams,
        threshold: float | None = THRESHOLD,
        protected: Collection[str] = (),
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(ngrams, scorer)
        self.threshold = threshold
        self.protected = frozenset(word.lower() for word in protected)
        groups: dict[str, list[int]] = {}
        for number, word in enumerate(ngrams.words):
            if number > NUMBER and is_syllable(word):
                groups.setdefault(bare(word), []).append(number)
        none = np.zeros(len(ngrams.words), np.float32)
        capitals = ngrams.more.get("capitals")
        costs = {None: none, False: none, True: none}
        if capitals is not None:
            costs |= {False: np.log1p(-capitals), True: np.log(capitals)}
        self._groups = {
            letters: {kind: Candidates(np.array(group, np.int32), cost[group]) for kind, cost in costs.items()}
            for letters, group in groups.items()
        }
        self._names = [canonical(word) for word in ngrams.words]
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._other, self._number = single(OTHER), single(NUMBER)

    def _lattices(self, texts: Sequence[str]) -> tuple[list[Lattice], list[list[Change]]]:
        return list(map(self.lattice, texts)), [[] for _ in texts]

    def number(self, word: str) -> int:
        """The number of a word, whatever its case and wherever its tone mark is put; that of other words if unknown."""
        return self._numbers.get(canonical(word), OTHER)

    def lattice(self, text: str) -> Lattice:
        """The positions of a text, and their candidates."""
        found = list(tokens(text))
        marked = not text.isascii() and any(is_marked(each.text) for each in found if each.kind == "word")
        lattice = Lattice(bare=not marked)
        if marked and self.threshold is None:
            return lattice
        cased = not (marked or text.islower() or text.isupper())
        for token in found:
            if token.kind == "end":
                lattice.end_row()
                continue
            first = len(lattice.positions) == (lattice.breaks[-1] if lattice.breaks else 0)
            capital = token.text[0].isupper() if cased and not first else None
            lattice.add(token.start, token.start + len(token.text), self._candidates(token, marked, capital))
        return lattice

    def _candidates(self, token: Token, marked: bool, capital: bool | None) -> Candidates:
        """Return the candidates of a token; a capital within a sentence speaks for a name, and none for other words."""
        if token.kind != "word":
            return self._number if token.kind == "number" else self._other
        groups = self._groups.get(bare(token.text))
        own = self.number(token.text)
        if groups is None or token.text.lower() in self.protected:
            return single(own) if own != OTHER else self._other
        if capital and len(token.text) > 1 and token.text.isupper():
            capital = None
        group = groups[capital]
        if not marked:
            return group
        words = group.words if own in group.words else np.append(group.words, np.int32(OTHER))
        kept = (words == own) | (words == OTHER)
        return Candidates(words, np.where(kept, 0, -(self.threshold or 0)).astype(np.float32))

    def _stays(self, before: str, word: int, candidates: Candidates) -> bool:
        if len(candidates.words) == 1 and word <= NUMBER:
            return True
        return word == OTHER or self._names[word] == canonical(before)

    def _written(self, word: int, like: str) -> str:
        return like if word == OTHER else with_case(self.ngrams.words[word], like)
