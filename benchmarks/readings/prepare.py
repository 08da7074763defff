"""The data that fitting starts from: polyphones and their readings, lexicons that vote, classes of characters."""

from __future__ import annotations

import importlib
import pickle
from math import log
from pathlib import Path
from typing import NamedTuple

import jieba
import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from benchmarks.readings import features, labels
from benchmarks.readings.features import TIER_BITS, Voter
from benchmarks.readings.names import FAMILIES
from benchmarks.readings.teacher import Teacher

CLASSES = 120
#: How often a word that meets a phrase must be; how often both words that meet, multiplied; how much likelier they must
#: be than the phrase, by tier, in logarithms.
LEAST_MET, LEAST_MEETING, ODDS = 20, 2e6, (6.0, 3.0, 0.0)


class Setting(NamedTuple):
    """Everything but examples."""

    names: list[str]  # of the readings, by number
    candidates: dict[int, list[int]]  # polyphone -> its readings, the usual one first
    voters: list[Voter]  # one a lexicon, for the combination of teachers
    voter: Voter  # all lexicons, with tiers, for the features
    classes: NDArray[np.uint8]  # of each code point
    phrases: dict[str, list[str]]  # all lexicons, with tiers
    parts: Voter  # three characters of the longer ones, the target in the middle where it can be
    against: tuple[dict[str, list[str]], dict[str, list[str]]]  # see meetings
    behind: Voter
    before: Voter

    def keys(self, where: features.Places) -> NDArray[np.int64]:
        """The features of places, (places, FEATURES)."""
        return features.keys(where, self.voter, self.parts, self.behind, self.before, self.classes)


def usual() -> dict[str, str]:
    """Unihan's usual reading of the 8,105 characters of the standard list, as pypinyin-dict has it."""
    table = importlib.import_module("pypinyin_dict.pinyin_data.kmandarin_8105").pinyin_dict
    return {chr(code): labels.numbered(text.split(",")[0]) for code, text in table.items()}


def character_classes(teacher: Teacher) -> NDArray[np.uint8]:
    """Classes of similar characters: k-means over the teacher's embeddings; class 0 is what it does not know."""
    vectors = teacher.embedding.weight.detach().numpy().astype(np.float64)
    _, found = kmeans2(vectors[4:], CLASSES, iter=20, minit="++", rng=0)
    table = np.zeros(0x110000, np.uint8)
    for char, at in teacher.ids.items():
        if at >= 4 and len(char) == 1:
            table[ord(char)] = found[at - 4] + 1
    return table


def parts(phrases: dict[str, list[str]]) -> dict[str, list[str]]:
    """The phrases of four characters and more as windows of three, each with the reading of its target alone."""
    found: dict[str, list[str]] = {}
    for phrase, readings in sorted(phrases.items(), key=lambda row: (len(row[0]), row[0])):
        for at, reading in enumerate(readings if len(phrase) > 3 else ()):
            begin = min(max(at - 1, 0), len(phrase) - 3)
            votes = found.setdefault(phrase[begin : begin + 3], ["", "", ""])
            votes[at - begin] = votes[at - begin] or reading
    return found


def meetings(phrases: dict[str, list[str]], chars: frozenset[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The evidence against a phrase of two characters: that a word begins with its second one, or ends in its first.

    拿着手机: 手机 is far likelier behind 着 than 机 behind 着手. By jieba's frequencies, independent of each other; the
    tiers say how much likelier.

    Returns:
        A character and the two behind it, and a character and the two before it: with the reading that the phrase has.
    """
    jieba.initialize()
    starts, ends = dict[str, dict[str, int]](), dict[str, dict[str, int]]()
    for word, times in jieba.dt.FREQ.items():
        if times >= LEAST_MET and 2 <= len(word) <= labels.LONGEST_WORD:
            first, last = starts.setdefault(word[0], {}), ends.setdefault(word[-1], {})
            first[word[1]] = first.get(word[1], 0) + times
            last[word[-2]] = last.get(word[-2], 0) + times
    behind, before = dict[str, list[str]](), dict[str, list[str]]()

    def often(text: str) -> int:
        return max(jieba.get_FREQ(text) or 0, 1)

    for phrase, readings in phrases.items():
        for at, reading in enumerate(readings if len(phrase) == 2 else ()):
            if phrase[at] not in chars or not reading:
                continue
            other, said = phrase[1 - at], reading.partition("/")[0]
            for third, times in (ends if at else starts).get(other, {}).items():
                odds = log(times * often(phrase[at]) / (often(phrase) * often(third)))
                tier = sum(odds < least for least in ODDS)
                if tier < len(ODDS) and times * often(phrase[at]) >= LEAST_MEETING:
                    text = third + other + phrase[at] if at else phrase + third
                    row = ["", "", ""]
                    row[2 * at] = f"{said}/{tier}"
                    (before if at else behind)[text] = row
    return behind, before


def setting(cache: Path) -> Setting:
    """Makes it all, or reads it where it was made before."""
    if cache.exists():
        kept: Setting = pickle.loads(cache.read_bytes())
        return kept
    teacher = Teacher()
    numbers = {name: number for number, name in enumerate(teacher.readings)}
    chars = frozenset(char for char, at in teacher.ids.items() if teacher.varies[at])
    lexicons = {name: labels.lexicon(name, chars) for name in labels.LEXICONS}
    phrases = labels.merged(lexicons, numbers)
    tiered = {
        f"{name}/{tier}": tier << TIER_BITS | number for name, number in numbers.items() for tier in range(labels.TIERS)
    }
    first = usual()
    candidates = {}
    for char in chars:
        known = [name for name in teacher.alone[char] if name in numbers]
        if first.get(char) in numbers:
            known.insert(0, first[char])
        candidates[ord(char)] = [numbers[name] for name in dict.fromkeys(known)]
    against = meetings(phrases, chars - FAMILIES.keys())
    made = Setting(
        teacher.readings,
        candidates,
        [Voter(lexicons[name], numbers, chars) for name in labels.LEXICONS],
        Voter(phrases, tiered, chars),
        character_classes(teacher),
        phrases,
        Voter(parts(phrases), tiered, chars),
        against,
        *(Voter(rows, tiered, chars) for rows in against),
    )
    cache.write_bytes(pickle.dumps(made))
    return made
