"""Readings in context, in plain Python: what ``native/context.pxd`` computes for ``readings="context"``.

A character that varies is read by its own linear model over the characters within three places and their classes, or
in its usual way where none of these tells of another (``filters.py``); any other has one reading. Traditional
characters are read, and seen, as the simplified ones that they stand for. The models are in ``lexicon/readings.npz``,
which ``benchmarks/readings`` makes; lexicon overrides come from the lexicon and from
``lexicon/readings.tsv``. ``compiling/contexts.py`` compiles both.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import NamedTuple

from phonemic import mandarin
from phonemic.characters import IGNORABLE, JAMO, LETTER, MARK, fold, kind_of, normalize
from phonemic.reading.filters import Filters
from phonemic.reading.models import Feature, Model, ReadingData, feature_key, more_of, reading_data

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


@dataclass(frozen=True)
class Reader:
    """Reads texts character by character.

    Arguments:
        data: the models, and what belongs to them.
    """

    data: ReadingData
    _filters: dict[int, Filters] = field(default_factory=dict, repr=False, compare=False)

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

    def features(self, text: str, at: int) -> list[Feature]:
        """(slot, first, second) for each window: what is there; 0 for nothing, and where a window has one place."""
        places = dict.fromkeys(range(-REACH, REACH + 1), NOTHING)
        for direction in (-1, 1):
            for distance, look in enumerate(self._near(text, at, direction, REACH), start=1):
                places[direction * distance] = look
        rows = [[places[place].seen for place in window] for window in WINDOWS]
        rows += [[places[place].kind for place in window] for window in CLASS_WINDOWS]
        return [(slot, row[0], row[1] if row[1:] else 0) for slot, row in enumerate(rows)]

    def _is_told(self, model: Model, windows: list[Feature], text: str, at: int) -> bool:
        """Whether a window may tell of another reading than the usual one, as the model's filters have it."""
        if id(model) not in self._filters:
            self._filters[id(model)] = Filters.of(model)
        filters = self._filters[id(model)]
        looks = [look for direction in (-1, 1) for look in self._near(text, at, direction, 1)]
        if len(looks) == 2 and not (looks[1].ends or filters.has_beside(looks[0].seen, looks[1].seen)):
            return False
        return filters.has_any(windows)

    def read(self, text: str, at: int) -> str | None:
        """The reading of a character in a text: numbered pinyin (``hang2``, ``lv4``, ``le5``), None if it has none."""
        model = self.data.models.get(text[at])
        if model is None:
            return self.data.alone.get(text[at])
        scores, windows = list(model.bias), self.features(text, at)[: model.slots]
        if not self._is_told(model, windows, text, at):
            return model.readings[scores.index(max(scores))]
        for feature in windows:
            key = feature_key(feature, model.buckets)
            more, reading = model.decides.get(key, (-1, 0))
            if more == more_of(feature):
                return model.readings[reading]
            for number, weight in enumerate(model.weights.get(key, ()), start=1):
                scores[number] += weight
        if model.by_script and not self.is_traditional(text, at):
            return model.readings[0]
        return model.readings[scores.index(max(scores))]


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
