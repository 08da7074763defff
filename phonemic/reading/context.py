"""Readings in context, in plain Python: what ``native/context.pxd`` computes for ``readings="context"``.

A character that varies is read by its own linear model over the characters within three places and their classes, or
in its usual way where none of these tells of another (``filters.py``); any other has one reading. Where words on both
sides share it and would have it read differently, the likelier path of words decides (``segmentation.py``). Traditional
characters are read, and seen, as the simplified ones that they stand for. The models are in ``lexicon/readings.npz``,
which ``benchmarks/readings`` makes; lexicon overrides come from the lexicon and from
``lexicon/readings.tsv``. ``compiling/contexts.py`` compiles both.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, takewhile
from typing import NamedTuple

from phonemic import mandarin
from phonemic.characters import IGNORABLE, JAMO, LETTER, MARK, fold, kind_of, normalize
from phonemic.reading.filters import Filters
from phonemic.reading.models import MOST_READINGS, Feature, Model, ReadingData, feature_key, more_of, reading_data
from phonemic.reading.segmentation import HAN, SILENT, Span, Words, words

#: The slots that are seen: places of characters, then places whose classes are seen. The order is that of the slots.
WINDOWS = ((-2, -1), (-1, 1), (1, 2), (-1,), (1,), (-2,), (2,), (-3,), (3,))
CLASS_WINDOWS = ((-1,), (1,), (-1, 1))
#: How far a character sees, and how far one of SCRIPTS looks for traditional characters.
REACH, SCRIPT_REACH = 3, 32
#: Marks that a model sees as themselves; digits, letters outside Han and other symbols are one each, as are rare
#: characters.
MARKS = "，。、：；！？“”《》（）"
DIGIT, OTHER_LETTER, SYMBOL, RARE = 1, 2, 3, 4
#: Characters that end a sentence: seen from before, and nothing beyond it.
ENDS = "。！？；!?;\n"
#: Characters that belong to the one before take no place: the slots are the same in every normal form.
PASSED = (IGNORABLE, MARK, JAMO)


class Look(NamedTuple):
    """The features of a character: a number, its class, and whether it ends a sentence or tells of the script."""

    seen: int
    kind: int
    ends: bool
    traditional: bool


NOTHING = Look(0, 0, False, False)

#: Deciding words of lists: of two characters, and of three, whose slots are the first.
WORD, LONG_WORD, LONG_SLOTS = 1, 2, 3

#: The characters around one: distance, negative before it -> features.
Around = dict[int, Look]


@dataclass(frozen=True)
class Reader:
    """Reads texts character by character.

    Arguments:
        data: the models, and what belongs to them.
        words: for places that two words share.
    """

    data: ReadingData
    words: Words = field(default_factory=words, repr=False)
    _filters: dict[int, Filters] = field(default_factory=dict, repr=False, compare=False)
    _alone: dict[tuple[str, int], int] = field(default_factory=dict, repr=False, compare=False)

    def look(self, char: str) -> Look:
        """Return the features of a character: the same in every normal form, and in upper and lower case."""
        if ord(char) > 0xFFFF and not unicodedata.decomposition(char):  # of a million, so it is fast
            return Look(RARE, 0, False, False)
        char = mandarin.compatibility_ideographs().get(char) or normalize("NFD", char)[0]
        char = char.upper() if len(char.upper()) == 1 else char
        plain = self.data.simplified.get(char, char)
        code, kind = ord(plain), self.data.classes.get(plain, 0)
        if ord(char) > 0xFFFF or code > 0xFFFF:
            return Look(RARE, 0, False, False)
        if kind_of(plain) == LETTER and not mandarin.lexicon().han.match(plain):
            return Look(OTHER_LETTER, 0, False, False)
        seen = code
        if plain not in MARKS and (0x20 <= code < 0x3000 or 0xFF00 <= code < 0xFFF0):
            seen = DIGIT if (fold(plain) or "").isdigit() else SYMBOL
        return Look(seen, kind, char in ENDS, char in self.data.traditional)

    def _near(self, text: str, at: int, direction: int, most: int) -> Iterator[Look]:
        """Return the features of one side within the sentence, the nearest first."""
        beside = (text[place] for place in (range(at + 1, len(text)) if direction > 0 else range(at - 1, -1, -1)))
        for look in islice((self.look(char) for char in beside if kind_of(char) not in PASSED), most):
            if look.ends and direction < 0:
                return
            yield look
            if look.ends:
                return

    def is_traditional(self, text: str, at: int) -> bool:
        """Whether a character near by, in the same sentence, is of traditional text only."""
        sides = (self._near(text, at, direction, SCRIPT_REACH) for direction in (-1, 1))
        return any(look.traditional for side in sides for look in side)

    def _around(self, text: str, at: int) -> Around:
        """Return the features of the characters that a place sees, the nearest of each side first."""
        sides = {direction: self._near(text, at, direction, REACH) for direction in (-1, 1)}
        return {
            direction * distance: look for direction, side in sides.items() for distance, look in enumerate(side, 1)
        }

    def features(self, text: str, at: int) -> list[Feature]:
        """(slot, first, second) for each window: what is there; 0 for nothing, and where a window has one place."""
        return _windows(self._around(text, at))

    def _is_told(self, model: Model, windows: list[Feature], around: Around) -> bool:
        """Whether a window may tell of another reading than the usual one, as the model's filters have it."""
        if id(model) not in self._filters:
            self._filters[id(model)] = Filters.of(model)
        filters = self._filters[id(model)]
        before, behind = around.get(-1), around.get(1)
        if before and behind and not (behind.ends or filters.has_beside(before.seen, behind.seen)):
            return False
        return filters.has_any(windows)

    def read(self, text: str, at: int) -> str | None:
        """The reading of a character in a text: numbered pinyin (``hang2``, ``lv4``, ``le5``), None if it has none."""
        model = self.data.models.get(text[at])
        if model is None:
            return self.data.alone.get(text[at])
        around = self._around(text, at)
        if not self._is_told(model, _windows(around)[: model.slots], around):
            return _usual(model)
        reading, by_word = self._weighed(model, around)
        if not model.by_script:
            found = None if by_word == LONG_WORD else self._path(text[at], around, reading)
            return found[1] if found else reading
        return reading if by_word or self.is_traditional(text, at) else model.readings[0]

    def _weighed(self, model: Model, around: Around) -> tuple[str, int]:
        """The reading by a model's words and weights; and WORD or LONG_WORD where one decided."""
        scores = list(model.bias)
        for feature in _windows(around)[: model.slots]:
            key = feature_key(feature, model.buckets)
            more, reading = model.decides.get(key, (-1, 0))
            if more == more_of(feature):
                return model.readings[reading], LONG_WORD if feature[0] < LONG_SLOTS else WORD
            for number, weight in enumerate(model.weights.get(key, ()), start=1):
                scores[number] += weight
        return model.readings[scores.index(max(scores))], 0

    def settles(self, char: str) -> bool:
        """Whether words that share a character may decide: they are looked up in simplified characters."""
        model = self.data.models[char]
        return not model.by_script and self.data.models.get(chr(self.look(char).seen)) is model

    def number_alone(self, word: str, at: int) -> int:
        """The number of the reading that a character's model has in a word without a text around it; 0 without one.

        Arguments:
            word: in simplified characters.
            at: a place in it, or behind it: what is taken for a word may be longer.
        """
        if (word, at) not in self._alone:
            model = self.data.models.get(word[at : at + 1])
            self._alone[word, at] = model.readings.index(self._read_alone(model, word, at)) if model else 0
        return self._alone[word, at]

    def _read_alone(self, model: Model, word: str, at: int) -> str:
        around = self._around(word, at)
        told = self._is_told(model, _windows(around)[: model.slots], around)
        return self._weighed(model, around)[0] if told else _usual(model)

    def decider(self, text: str, at: int) -> str | None:
        """The word that says how a character with a model is read because words on both sides share it, or None."""
        around = self._around(text, at)
        reading, by_word = self._weighed(self.data.models[text[at]], around)
        found = None if by_word == LONG_WORD else self._path(text[at], around, reading)
        return found and found[0]

    def _path(self, char: str, around: Around, reading: str) -> tuple[str, str] | None:
        """The word on the cheapest path that has a character read in another way than ``reading``, and that way."""
        own = self.look(char).seen
        before = [*_han(around[-distance] for distance in range(1, REACH + 1) if -distance in around)]
        codes = [*before[::-1], own, *_han(around[distance] for distance in range(1, REACH + 1) if distance in around)]
        at, readings = len(before), all_readings(self.data.models[char])
        if not 0 < at < len(codes) - 1 or not self.settles(char):
            return None

        def said(span: Span) -> str:
            word = self.words.word(codes[span.begin : span.end])
            return readings[self.number_alone(word, at - span.begin)] if word else ""

        pairs = Span(at - 1, at + 1), Span(at, at + 2)
        if not all(self.words.has(codes[begin:end]) for begin, end in pairs) or said(pairs[0]) == said(pairs[1]):
            return None
        costs = self.words.spans(codes, at)
        best = min(costs, key=costs.__getitem__)
        word = self.words.word(codes[best.begin : best.end]) or ""
        if best.end - best.begin == 1 or self.words.numbers[word] & SILENT or said(best) == reading:
            return None
        rivals = [cost for span, cost in costs.items() if span.crosses(best) and said(span) == reading]
        if not rivals or min(rivals) - costs[best] <= self.words.margin:
            return None
        return word, said(best)


def all_readings(model: Model) -> list[str]:
    """As many as any model may have: a word may be taken for one of another character."""
    return [*model.readings, *model.readings[:1] * (MOST_READINGS - len(model.readings))]


def _usual(model: Model) -> str:
    return model.readings[model.bias.index(max(model.bias))]


def _han(looks: Iterable[Look]) -> Iterator[int]:
    """Code points of Han characters, up to the first other one."""
    return takewhile(HAN.__contains__, (look.seen for look in looks))


def _windows(around: Around) -> list[Feature]:
    places = {place: around.get(place, NOTHING) for place in range(-REACH, REACH + 1)}
    rows = [[places[place].seen for place in window] for window in WINDOWS]
    rows += [[places[place].kind for place in window] for window in CLASS_WINDOWS]
    return [(slot, row[0], row[1] if row[1:] else 0) for slot, row in enumerate(rows)]


@cache
def reader() -> Reader:
    """The reader of the package's own models.

    Raises:
        ImportError: pypinyin is not installed, or not in the pinned version.
    """
    return Reader(reading_data())


def read(text: str) -> list[str]:
    """The reading of every character.

    Arguments:
        text: any str.

    Returns:
        Of a Han character its pinyin with the tone's number (``hang2``, ``lv4``, ``le5``), of any other itself.
    """
    found = (reader().read(text, at) if mandarin.lexicon().han.match(char) else None for at, char in enumerate(text))
    return [reading or char for reading, char in zip(found, text, strict=True)]
