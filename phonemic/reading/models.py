"""The models of readings in context: those of ``readings.npz``, with the lexicon overrides.

``contexts.py`` compiles them, and ``phonemic.reading.context`` reads with them in plain Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from phonemic import mandarin
from phonemic.characters import DATA
from phonemic.reading.buckets import fewest, hash_of, key_of, layout

#: So many readings of a model have weights, at most, and so many there are; the rest are of words.
MOST_SCORED, MOST_READINGS = 4, 8
#: Bits of a weight by how many readings have weights: 15 for all weights of a feature, of which the first is always 0.
WIDTHS = {1: 15, 2: 15, 3: 7, 4: 5}
#: The slots of windows that may decide alone, two characters, then one on either side; and all slots.
DECIDING, ALL_SLOTS = 5, 12
#: (length of a word, place of its target) -> the slot of the window that the rest of it is in.
SLOT_OF = {(3, 2): 0, (3, 1): 1, (3, 0): 2, (2, 1): 3, (2, 0): 4}
#: Characters of simplified text that stand for others in traditional text: how they are read here, and there. 著 is
#: there read as 着, but for its words.
SCRIPTS = {"著": ("zhu4", "着"), "乾": ("qian2", "gan1"), "瞭": ("liao4", "liao3"), "徵": ("zhi3", "zheng1")}
_OTHERS = {"著": "着", "乾": "干", "瞭": "了", "徵": "征"}
#: Traditional characters of which pypinyin lacks readings that their simplified ones share with them (zdic has them):
#: 沒收 *mò*, 靚女 *liàng*, 剎那 *chà*.
_ALIKE = frozenset("剎剝掙敎査橫殻沒潰稜綳緼縕說跡蹟軻靚鶻")
#: Whose tone changes by the word that follows. They are read as they are alone: 不 *bù* also before a fourth tone.
BY_SANDHI = "一不"

#: The lists of lexicon overrides, in ``lexicon``; the later ones win.
LISTS = ("readings-endings", "readings-words", "readings-borders")
#: In place of a reading in a list of words: the models read this character.
LEFT = "-"
#: More than all weights of a text together.
_FAR = 1 << 24

#: Slot of a window, and what is there: one or two characters, classes, or 0.
Feature = tuple[int, int, int]


def feature_key(feature: Feature, buckets: int) -> int:
    """Return the key of a feature in a model: the bucket that it belongs to << 15 | the lower bits of its hash.

    Features of one key are one feature, which is part of what a model is: one in 15,000 that it does not know seems to
    be one that it knows.
    """
    return key_of(hash_of(*feature), buckets)


def more_of(feature: Feature) -> int:
    """The 12 bits of a feature's hash above those of its key."""
    return hash_of(*feature) >> 15 & 0xFFF


@dataclass
class Model:
    """How a character is read: by a word that decides, or by the highest sum of weights, the first of equals.

    Attributes:
        readings: in numbered pinyin; those with weights first.
        bias: a weight for each reading that has weights; the first is 0.
        rows: the weights of a feature, one for each reading but the first.
        words: features that decide, and the number of the reading.
        slots: how many windows are looked at: DECIDING or ALL_SLOTS.
        by_script: in text that is not traditional it is the first reading, unless a word decides.
    """

    readings: list[str]
    bias: list[int]
    rows: dict[Feature, list[int]] = field(default_factory=dict)
    words: dict[Feature, int] = field(default_factory=dict)
    slots: int = DECIDING
    by_script: bool = False

    def decide(self, feature: Feature, reading: str) -> None:
        """Makes a feature decide.

        Raises:
            ValueError: it would be a ninth reading.
        """
        if reading not in self.readings:
            if len(self.readings) == MOST_READINGS:
                raise ValueError(f"{reading} would be a reading too many, after {', '.join(self.readings)}")
            self.readings.append(reading)
        self.words[feature] = self.readings.index(reading)

    # It is called once all words are there.
    @cached_property
    def features(self) -> list[Feature]:
        """The features of words, then the ones with weights."""
        return [*sorted(self.words), *sorted(self.rows.keys() - self.words.keys())]

    @cached_property
    def _hashes(self) -> NDArray[np.uint64]:
        slots, firsts, seconds = np.array(self.features, np.uint64).reshape(-1, 3).T
        return hash_of(slots, firsts, seconds)  # type: ignore[arg-type, return-value]  # counts in arrays as in numbers

    def _keys(self, buckets: int) -> list[int]:
        """The key of each feature."""
        return key_of(self._hashes, buckets).tolist()  # type: ignore[arg-type, attr-defined, no-any-return]

    @cached_property
    def buckets(self) -> int:
        """How many buckets it has."""
        return fewest(self._hashes)

    def layout(self, buckets: int) -> list[list[int]] | None:
        """The keys of its features as :func:`phonemic.reading.buckets.layout` has them."""
        return layout(self._keys(buckets), buckets)

    @cached_property
    def decides(self) -> dict[int, tuple[int, int]]:
        """The words, by key: more of the hash, which tells a word from what only has its key; and the reading."""
        words = sorted(self.words.items(), reverse=True)
        return {feature_key(word, self.buckets): (more_of(word), number) for word, number in words}

    @cached_property
    def weights(self) -> dict[int, list[int]]:
        """The weights, by key; words have none."""
        keys = dict(zip(self.features, self._keys(self.buckets), strict=True))
        rows = {keys[feature]: row for feature, row in sorted(self.rows.items(), reverse=True)}
        return {key: row for key, row in rows.items() if key not in self.decides}


@dataclass(frozen=True)
class ReadingData:
    """All that readings in context need.

    Attributes:
        models: of the characters that vary, and of traditional ones that are read like them.
        alone: the reading of any other character.
        simplified: the character that another one is seen as.
        classes: of a character; 0 is any other.
        traditional: characters of traditional text only.
    """

    models: Mapping[str, Model]
    alone: Mapping[str, str]
    simplified: Mapping[str, str]
    classes: Mapping[str, int]
    traditional: frozenset[str]


def numbered(pinyin: str) -> str:
    """``háng`` as ``hang2``, ``lǜ`` as ``lv4``; what pinyin cannot write again as it is."""
    try:
        return mandarin.spell(mandarin.factorize(pinyin), numbers=True).replace("ü", "v")
    except ValueError:
        return pinyin


def windows(word: str, at: int) -> Feature:
    """The feature that says that a word is around its character ``at``: of a long word, the two next to it."""
    if len(word) > 3:
        begin = min(max(at - 1, 0), len(word) - 3)
        word, at = word[begin : begin + 3], at - begin
    first, second = (*(ord(char) for place, char in enumerate(word) if place != at), 0)[:2]
    return SLOT_OF[len(word), at], first, second


def reviewed(name: str = "readings", without: str = "\t") -> dict[str, list[str]]:
    """The words of ``lexicon/readings.tsv``, or another list, but those of a source: word -> numbered pinyin."""
    lines = (DATA / f"{name}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {word: pinyin.split() for word, pinyin, source in rows if without not in source}


def _learnt(made: Mapping[str, np.ndarray]) -> dict[str, Model]:
    """The models of the file's arrays."""
    names = made["names"].tolist()
    columns = {
        name: iter(made[name].tolist())
        for name in ("readings", "bias", "windows", "slots", "firsts", "seconds", "weights")
    }

    def take(name: str, count: int) -> list[int]:
        return [next(columns[name]) for _ in range(count)]

    models = {}
    for char, count, size in zip(made["chars"].tolist(), made["counts"].tolist(), made["sizes"].tolist(), strict=True):
        model = Model([names[number] for number in take("readings", count)], take("bias", count))
        model.slots = next(columns["windows"])
        features = zip(take("slots", size), take("firsts", size), take("seconds", size), strict=True)
        model.rows = {feature: take("weights", count - 1) for feature in features}
        models[chr(char)] = model
    return models


class _Words:
    """The words of the lexicon and of lists, put into models.

    Arguments:
        models: the ones that were learnt.
        alone: the reading of each character alone.
        simplified: traditional character -> simplified.
    """

    def __init__(self, models: dict[str, Model], alone: dict[str, str], simplified: Mapping[str, str]) -> None:
        self.models, self.alone, self.learnt = models, alone, frozenset(models)
        self.simplified = {**simplified, **_OTHERS}

    def _plain(self, word: str) -> str:
        return "".join(self.simplified.get(char, char) for char in word)

    def _model(self, char: str) -> Model:
        return self.models.setdefault(char, Model([self.alone[char]], [0]))

    def add_lexicon(self, phrases: Mapping[str, Sequence[str]]) -> None:
        """Phrases that change a character that no model was learnt for; the longer ones that do not change it, too."""
        changing: dict[str, set[str]] = {}
        rows = []
        for phrase, pinyin in sorted(phrases.items(), key=lambda row: (len(row[0]), row[0])):
            readings, plain = [numbered(text) for text in pinyin], self._plain(phrase)
            for at, (char, reading) in enumerate(zip(plain, readings, strict=True)):
                if char in self.learnt or char not in self.alone or (char in BY_SANDHI and not reading.endswith("5")):
                    continue
                rows.append((plain, at, reading))
                if reading != self.alone[char]:
                    changing.setdefault(char, set()).add(plain)
        most = {char: Counter[str]() for char in changing}
        for word, at, reading in rows:
            if word[at] in most:
                most[word[at]][reading] += 1
        for word, at, reading in rows:
            char = word[at]
            if char not in changing:
                continue
            usual = reading == self.alone[char]
            common = [] if usual else [name for name, _ in most[char].most_common(MOST_READINGS - 2)]
            inside = usual and any(other in word for other in changing[char])
            if (reading in common or inside) and windows(word, at) not in self._model(char).words:
                self._model(char).decide(windows(word, at), reading)

    def add_scripts(self, phrases: Mapping[str, Sequence[str]]) -> None:
        """Models of the characters of SCRIPTS, with their words of the lexicon."""
        for char, (here, there) in SCRIPTS.items():
            like = self.models.get(there)
            own = Model([here, *like.readings[: MOST_SCORED - 1]], [0]) if like else Model([here, there], [0, 1])
            if like:
                cut = max(0, WIDTHS[len(like.bias)] - WIDTHS[min(len(like.bias) + 1, MOST_SCORED)])
                own.bias += [_FAR + (bias >> cut) for bias in like.bias[: MOST_SCORED - 1]]
                own.slots = like.slots
                for feature, row in like.rows.items():
                    own.rows[feature] = [0, *(weight >> cut for weight in row[: MOST_SCORED - 2])]
            own.by_script = True
            self.models[char] = own
        simplified = {other: char for char, other in _OTHERS.items() if other == SCRIPTS[char][1]}
        for phrase, pinyin in sorted(phrases.items()):
            for at, char in enumerate(phrase):
                if char in simplified:  # 看着, so 看著
                    self.models[simplified[char]].decide(windows(self._plain(phrase), at), numbered(pinyin[at]))
        for phrase, pinyin in sorted(phrases.items()):
            for at, char in enumerate(phrase):
                if char not in SCRIPTS or phrase.replace(char, _OTHERS[char]) in phrases:  # 特徵 is 特征
                    continue
                if numbered(pinyin[at]) == SCRIPTS[char][0]:
                    self.models[char].decide(windows(self._plain(phrase), at), SCRIPTS[char][0])

    def add_words(self, words: Mapping[str, Sequence[str]]) -> None:
        """Words of a list, which win over those of lists that were added before; LEFT is left to the models.

        Raises:
            ValueError: two of them read a character differently and have the same characters around it.
        """
        taken: dict[tuple[str, Feature], tuple[str, str]] = {}
        pairs = {pair for word, pinyin in words.items() for pair in zip(word, pinyin, strict=True)}
        vary = self.models.keys() | {char for char, said in pairs if said not in (LEFT, self.alone.get(char))}
        for word, pinyin in words.items():
            plain = self._plain(word)
            for at, (char, reading) in enumerate(zip(word, pinyin, strict=True)):
                if reading == LEFT:
                    continue
                window = windows(plain, at)
                other, said = taken.setdefault((char, window), (word, reading))
                if said != reading:
                    raise ValueError(f"{word} would have {char} read {reading}, but {other} {said}: take one out")
                if char in vary:
                    self._model(char).decide(window, reading)


def _all_readings(char: str) -> set[str]:
    from pypinyin.constants import PINYIN_DICT

    return {numbered(text) for text in PINYIN_DICT.get(ord(char), "").split(",") if text}


def _share(models: dict[str, Model], alone: dict[str, str], simplified: Mapping[str, str]) -> None:
    """Reads traditional characters as simplified ones, but where only one of the readings is theirs (隻, 髮)."""
    for char, other in simplified.items():
        if char in SCRIPTS or ord(char) > 0xFFFF:
            continue
        if other in models:
            own, others = _all_readings(char), models[other].readings
            both = [reading for reading in others if reading in own]
            if (
                char not in _ALIKE
                and len(both) == 1
                and any(reading not in (both[0], f"{both[0][:-1]}5") for reading in others)
            ):
                alone[char] = both[0]
            else:
                models[char] = models[other]
        elif other in alone:
            alone[char] = alone[other]


def joined(*lists: Mapping[str, Sequence[str]]) -> ReadingData:
    """The models of ``readings.npz`` with the lexicon's words and those of lists, the later of which win.

    Raises:
        ImportError: pypinyin is not installed, or not in the pinned version.
    """
    lexicon = mandarin.lexicon()
    with np.load(DATA / "readings.npz", allow_pickle=False) as file:
        made = {name: file[name] for name in file.files}
    texts = {name: made[name].tobytes().decode() for name in ("simplified", "traditional", "classed")}
    pairs = texts["simplified"]
    simplified = dict(zip(pairs[::2], pairs[1::2], strict=True))
    for char, other in mandarin.compatibility_ideographs().items():
        simplified[char] = simplified.get(other, other)
    models = {char: model for char, model in _learnt(made).items() if lexicon.han.match(char)}
    alone = {char: numbered(pinyin) for char, pinyin in lexicon.characters.items()}
    words = _Words(models, alone, simplified)
    words.add_lexicon(lexicon.phrases)
    words.add_scripts(lexicon.phrases)
    for listed in lists:
        words.add_words(listed)
    _share(models, alone, simplified)
    for char, other in mandarin.compatibility_ideographs().items():
        models.pop(char, None)
        if other in models:
            models[char] = models[other]
        elif other in alone:
            alone[char] = alone[other]
    classes = dict(zip(texts["classed"], made["classes"].tolist(), strict=True))
    for char in models:
        alone.pop(char, None)
    return ReadingData(models, alone, simplified | _OTHERS, classes, frozenset(texts["traditional"]))


@cache
def reading_data() -> ReadingData:
    """All of it: the models, and the lexicon overrides before them.

    Raises:
        ImportError: pypinyin is not installed, or not in the pinned version.
    """
    return joined(*map(reviewed, LISTS))
