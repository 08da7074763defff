"""Everyday sentences as cases: our own, ``everyday.txt``, and the ones of the patterns ``everyday.tsv``.

News, law, technology and encyclopedias, and so CPP, hardly have *I teach you* or *he planted a tree*.
"""

from __future__ import annotations

import random
import re
import zlib
from itertools import product
from math import prod
from pathlib import Path

from benchmarks.readings.cpp import MARK, Case

#: Sentences that are made of one pattern, at most.
MOST = 120
HERE = Path(__file__).parent
_CHOICE = re.compile(r"\{([^}]*)\}")
_MARKED = re.compile(r"(.)(?:\{([a-z]+[1-5])\})?")


def cases() -> list[Case]:
    """All of them."""
    return [*sentences(), *patterns()]


def sentences(path: Path = HERE / "everyday.txt") -> list[Case]:
    """The sentences of a file, ``衣服还{hai2}没干{gan1}。``: a case for each character that is marked."""
    return marked(path.read_text("utf-8"))


def marked(lines: str) -> list[Case]:
    """Return the cases of lines as in :func:`sentences`; comments are left out."""
    found = []
    for line in lines.splitlines():
        parts = [] if line.startswith("#") else _MARKED.findall(line)
        text = "".join(char for char, _ in parts)
        found += [Case(text, at, reading) for at, (_, reading) in enumerate(parts) if reading]
    return found


def patterns(path: Path = HERE / "everyday.tsv") -> list[Case]:
    """The sentences of all patterns, each pattern's drawn by a generator of its own.

    Raises:
        ValueError: a line has not got two columns and one character between two marks.
    """
    lists: dict[str, list[str]] = {}
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        name, tab, pattern = line.partition("\t")
        if line.startswith("="):
            lists[name[1:]] = pattern.split("|")
        elif not line.startswith("#"):
            sentences = [text.split(MARK) for text in made(pattern, lists)]
            if not tab or any(len(parts) != 3 or len(parts[1]) != 1 for parts in sentences):
                raise ValueError(f"{path}, line {number}: a reading, and one character between two {MARK}")
            found += [Case("".join(parts), len(parts[0]), name) for parts in sentences]
    return found


def made(pattern: str, lists: dict[str, list[str]]) -> list[str]:
    """At most MOST different sentences of a pattern."""
    parts = _CHOICE.split(pattern)
    choices = [
        [word for name in part.split("|") for word in lists.get(name, [name])] if number % 2 else [part]
        for number, part in enumerate(parts)
    ]
    if prod(map(len, choices)) <= MOST:
        return sorted({"".join(words) for words in product(*choices)})
    dice = random.Random(zlib.crc32(pattern.encode()))
    return sorted({"".join(dice.choice(words) for words in choices) for _ in range(MOST)})
