"""Names of people whose family name is a polyphone, in sentences made of lists, ``names.toml``.

CPP and the lexicons have famous people's names only: 任志强 and 曾世民 were *rèn* and *céng*. A name that begins as a
word does (单元, 解放, 查明) is not made, nor one before which a word would end in the family (主任).
Our own sentences are those of ``names.txt``, in which each of these characters also is something else.
"""

from __future__ import annotations

import random
import re
import tomllib
import zlib
from collections.abc import Container, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.readings import everyday
from benchmarks.readings.cpp import MARK, Case
from benchmarks.readings.features import WINDOWS

TABLE = tomllib.loads((Path(__file__).parent / "names.toml").read_text("utf-8"))
FAMILIES: dict[str, str] = TABLE["families"]
#: So many draws, and then there are no more names to be made.
_DRAWS = 20
#: Characters of the text before and behind.
_AROUND = 5
#: Sentences of a word.
_TIMES = 4
_SLOT = re.compile(r"\{(\w+)\}")


def lists(table: Mapping[str, str] = TABLE["lists"]) -> dict[str, list[str]]:
    """Return the choices of a slot of a pattern: words between bars, else single characters."""
    joined = {name: "".join(text.split()) for name, text in table.items()}
    return {name: text.split("|") if "|" in text else [*text] for name, text in joined.items()}


def likely(
    chars: NDArray[np.uint32], keys: NDArray[np.int64], words: Container[str], other_words: Container[str]
) -> NDArray[np.bool_]:
    """(places,): where a family seems to begin a name, of which the teachers know too few to be believed.

    Arguments:
        chars: of the places.
        keys: their features.
        words: see :func:`made`.
        other_words: that two characters of a given name must not be (曾成立).
    """
    columns = [keys[:, WINDOWS.index(window)] & ((1 << 21) - 1) for window in ((-1,), (1,), (2,))]
    first, second = (set(lists()[name]) for name in ("first", "second"))
    found = np.zeros(len(chars), bool)
    for at in np.flatnonzero(np.isin(chars, [ord(family) for family in FAMILIES])):
        family, left, one, two = map(chr, [chars[at], *(column[at] for column in columns)])
        given = one in first and two in second and one + two not in other_words
        found[at] = given and left + family not in words and family + one not in words
    return found


@cache
def around() -> tuple[list[str], list[str], list[str]]:
    """Return the contexts on both sides: ends of everyday sentences with their marks and without, and beginnings."""
    texts = list(dict.fromkeys(case.text for case in everyday.sentences()))
    ends = [text[-_AROUND:] for text in texts if text[-1] in "。？！" and len(text) > _AROUND]
    return ends, [end[:-1] for end in ends], [text[: _AROUND - 1] for text in texts]


def made(family: str, pattern: str, number: int, words: Container[str]) -> list[str]:
    """At most so many sentences, the family marked, drawn by a generator of the pattern's own.

    Two in three have other text before them, and as many behind them: a model would else learn that names stand alone.

    Arguments:
        family: one character.
        pattern: slots in braces, and the mark in the place of the family.
        number: how many.
        words: the words that two characters must not be, the family and the one before or behind it.
    """
    choices, (ends, open_ends, begins) = lists(), around()
    dice = random.Random(zlib.crc32(f"{family} {pattern}".encode()))
    found = dict[str, None]()
    for _ in range(_DRAWS * number):
        text = _SLOT.sub(lambda slot: dice.choice(choices[slot[1]]), pattern).replace(MARK, MARK + family + MARK)
        stated = text[0] != MARK and text[0] not in "。，、：！“（"
        before = dice.choice(("", dice.choice(ends), dice.choice(open_ends if stated else ends)))
        text = before + text + dice.choice(("", dice.choice(begins), dice.choice(begins)))
        left, _, right = text.split(MARK)
        if left[-1:] + family not in words and family + right[:1] not in words:
            found[text] = None
        if len(found) == number:
            break
    return list(found)


def others(phrases: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Families with the character before or behind them in phrases that read them otherwise."""
    found = set[str]()
    for phrase, readings in phrases.items():
        for at, char in enumerate(phrase):
            reading = readings[at].partition("/")[0]
            if char in FAMILIES and reading not in ("", FAMILIES[char]):
                found |= {phrase[max(at - 1, 0) : at + 1], phrase[at : at + 2]}
    return frozenset(found)


def sentences() -> list[Case]:
    """Our own, in which each of these characters is a family, or something else."""
    return everyday.sentences(Path(__file__).parent / "names.txt")


def of_words(phrases: Mapping[str, Sequence[str]]) -> list[Case]:
    """The same characters where they are no families: in the words that lexicons agree on, between the same others."""
    choices, found = lists(), []
    for phrase, readings in phrases.items():
        dice = random.Random(zlib.crc32(phrase.encode()))
        for at, told in enumerate(readings):
            reading, _, tier = told.partition("/")
            if phrase[at] in FAMILIES and tier == "0":
                befores = [dice.choice(choices["before"]) for _ in range(_TIMES)]
                found += [
                    Case(before + phrase + dice.choice(choices["behind"]), len(before) + at, reading)
                    for before in befores
                ]
    return found


def of_others() -> list[Case]:
    """The same characters where they are no families, between the text around them then."""
    (ends, open_ends, begins), found = around(), []
    for family, table in TABLE["others"].items():
        befores, behinds, dice = table["before"].split("|"), table["behind"].split("|"), random.Random(ord(family))
        for _ in range(TABLE["others_each"]):
            left = dice.choice(("", dice.choice(ends), dice.choice(open_ends))) + dice.choice(("", *befores))
            right = dice.choice(behinds) + dice.choice(("", dice.choice(begins), dice.choice(begins)))
            found.append(Case(left + family + right, len(left), table["reading"]))
    return found


def cases(phrases: Mapping[str, Sequence[str]]) -> list[Case]:
    """A case for each sentence.

    Arguments:
        phrases: of lexicons, with the numbered pinyin and the tier of each character.
    """
    found, words = [*of_words(phrases), *of_others()], others(phrases)
    for part in ("names", "familiar", "given"):
        readings = TABLE[part].get("families", FAMILIES)
        for family, (pattern, number) in product(readings, TABLE[part]["patterns"].items()):
            for text in made(family, pattern, number, () if part == "given" else words):
                left, _, right = text.split(MARK)
                found.append(Case(left + family + right, len(left), readings[family]))
    return found
