"""The words that speech goes by, and what becomes of each of their characters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from phonemic.characters import DATA

YI, BU, GE, ER = "一不个儿"
#: Beside these 一 is a digit. 两 is not among them: 一两天 is *yì liǎng tiān*.
NUMERALS = "〇零一二三四五六七八九十"

#: The changes of a character of a word: its third tone changes before the tone that the next has alone; it is not a
#: syllable but merges with the one before it; it keeps the first tone; it has a neutral tone.
LINKED, MERGED, PLAIN, NEUTRAL = 1, 2, 4, 8

_MARKS = {"-": 0, "2": LINKED, "5": NEUTRAL}


def hand_written() -> dict[str, str]:
    """The rows of ``speech.tsv`` by word."""
    return _rows("speech")


def _rows(name: str) -> dict[str, str]:
    lines = (DATA / f"{name}.tsv").read_text("utf-8").splitlines()
    return {word: what for word, what, _ in (line.split("\t") for line in lines if not line.startswith("#"))}


def actions(word: str, what: str) -> list[int]:
    """The spoken form of each character of a word.

    Arguments:
        word: in simplified characters.
        what: ``"erhua"``, ``"linked"``, ``"plain"``, ``"number"`` or ``"儿"``, see ``speech.tsv``.
    """
    merged = [MERGED if what == "erhua" and at and char == ER else 0 for at, char in enumerate(word)]
    found = [PLAIN if what == "plain" and char == YI else merges for char, merges in zip(word, merged, strict=True)]
    if what == "linked" or (what == "erhua" and len(word) - sum(map(bool, merged)) == 2):
        found[0] |= LINKED
    return found


@cache
def words(neutral: bool = True) -> dict[str, list[int]]:
    """The words, and what becomes of each of their characters.

    Arguments:
        neutral: those of ``speech-neutral.tsv`` too. An entry of one list for a part of a word of the other also holds
            in that word.
    """
    found = {word: actions(word, what) for word, what in (_rows("speech-words") | hand_written()).items()}
    if not neutral:
        return found
    marked = {word: [_MARKS[mark] for mark in marks] for word, marks in _rows("speech-neutral").items()}
    said: dict[str, list[int]] = {}
    for word in found | marked:
        own = _within(word, marked)
        # Of a third tone before a neutral one, the list of neutral tones says whether it is linked.
        kept = [~LINKED if after & NEUTRAL else ~0 for after in [*own[1:], 0]]
        said[word] = [one & keep | other for one, keep, other in zip(_within(word, found), kept, own, strict=True)]
    return said


def longest_word(word: str, at: int, known: Mapping[str, list[int]]) -> list[int]:
    """The spoken form of the characters of the longest known word that begins there and ends within ``word``."""
    return next((known[word[at:end]] for end in range(len(word), at, -1) if word[at:end] in known), [])


def _within(word: str, known: Mapping[str, list[int]]) -> list[int]:
    found: list[int] = []
    while len(found) < len(word):
        found += longest_word(word, len(found), known) or [0]
    return found
