"""The data that fitting starts from: polyphones and their readings, lexicons that vote, classes of characters."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from benchmarks.readings import labels
from benchmarks.readings.features import TIER_BITS, Voter
from benchmarks.readings.teacher import Teacher

CLASSES = 120


class Setting(NamedTuple):
    """Everything but examples."""

    names: list[str]  # of the readings, by number
    candidates: dict[int, list[int]]  # polyphone -> its readings, the usual one first
    voters: list[Voter]  # one a lexicon, for the combination of teachers
    voter: Voter  # all lexicons, with tiers, for the features
    classes: NDArray[np.uint8]  # of each code point
    phrases: dict[str, list[str]]  # all lexicons, with tiers
    parts: Voter  # three characters of the longer ones, the target in the middle where it can be


def usual() -> dict[str, str]:
    """Unihan's usual reading of the 8,105 characters of the standard list, as pypinyin-dict has it."""
    table = importlib.import_module("pypinyin_dict.pinyin_data.kmandarin_8105").pinyin_dict
    return {chr(code): labels.numbered(text.split(",")[0]) for code, text in table.items()}


def character_classes(teacher: Teacher) -> NDArray[np.uint8]:
    """Characters that the teacher takes for alike: k-means over its embeddings; class 0 is what it does not know."""
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
    tiered = {f"{name}/{tier}": tier << TIER_BITS | number for name, number in numbers.items() for tier in range(3)}
    first = usual()
    candidates = {}
    for char in chars:
        known = [name for name in teacher.alone[char] if name in numbers]
        if first.get(char) in numbers:
            known.insert(0, first[char])
        candidates[ord(char)] = [numbers[name] for name in dict.fromkeys(known)]
    made = Setting(
        teacher.readings,
        candidates,
        [Voter(lexicons[name], numbers, chars) for name in labels.LEXICONS],
        Voter(phrases, tiered, chars),
        character_classes(teacher),
        phrases,
        Voter(parts(phrases), tiered, chars),
    )
    cache.write_bytes(pickle.dumps(made))
    return made
