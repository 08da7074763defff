"""Mandarin as it is spoken, in plain Python: what ``native/speech.pxd`` computes for ``sandhi`` and ``erhua``.

Both come after reading, over the Han characters that touch, and go by lists of words: ``lexicon/speech.tsv``, by hand,
``lexicon/speech-words.tsv``, from lexicons, and for sandhi ``lexicon/speech-neutral.tsv``. The longest word counts,
from left to right; traditional characters stand for simplified ones. Readings of a user's phrases of two
characters or more stay.

**Erhua.** In the words of the lists, 儿 is not a syllable: it merges with the one before it, whose triple stays that of
the syllable without 儿, and whose span covers both characters. The vocabulary has no rime of its own for that (its
only one with *r* is that of *èr*). Where 儿 begins a word of the lists (儿子, 儿童), it does not merge.

**Tone sandhi.** From the right to the left, so that a syllable knows the tone that the one behind it is said with:

* 一, read *yī*, *yí* or *yì*: the second tone before the fourth, and before a neutral 个; the fourth before the first,
  second and third; else the first. It keeps the first next to a numeral (十一, 一二), before 十,
  and in words where it is an ordinal or comes last (第一, 一月, 统一).
* 不, read *bù* or *bú*: the second tone before the fourth, else the fourth.
* A syllable that a listed word has a neutral tone for (朋友, 东西, 姐姐): neutral, whatever it is read as. No rule
  makes one, and a longer listed word without it counts (东西方).
* Any other third tone: the second before a third tone. In a word of two syllables the tone that the second has alone
  counts, so that 展览 keeps its own change in 展览馆 (both change) and 老板好; elsewhere the tone that the next is said
  with, so that in 小老虎 and 我很好 only the middle one changes. Before a neutral tone it stays therefore, as in 姐姐,
  奶奶, 耳朵 and 马虎, but for the words that are linked: 小姐, 哪里 and doubled verbs such as 想想.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from phonemic.inventory import EMPTY, Triple
from phonemic.mandarin import TONES, factorize
from phonemic.reading.spoken import BU, GE, LINKED, MERGED, NEUTRAL, NUMERALS, PLAIN, YI, words

_ALTERED = {YI: factorize("yi1")[:2], BU: factorize("bu4")[:2]}


class Part(NamedTuple):
    """A syllable on its way.

    Its character (simplified), its triple, how many characters it covers, what its word says of it, and whether a
    user's phrase reads it.
    """

    char: str
    triple: Triple
    length: int
    actions: int
    own: bool


@cache
def _simplified() -> dict[str, str]:
    from phonemic.reading.models import reading_data

    return dict(reading_data().simplified)


def _word(run: str, at: int, neutral: bool) -> list[int]:
    """Return the actions on the characters of the longest word that begins there; nothing where none does."""
    known = words(neutral)
    ends = range(at + _longest(neutral), at, -1)
    return next((known[run[at:end]] for end in ends if run[at:end] in known), [])


@cache
def _longest(neutral: bool) -> int:
    """Characters of the longest word."""
    return max(map(len, words(neutral)))


def _actions(run: str, neutral: bool) -> list[int]:
    """Return the actions on each of a run of simplified characters; with or without the words of neutral tones."""
    found: list[int] = []
    while len(found) < len(run):
        word = _word(run, len(found), neutral) or [0]
        for action in word:
            leads = action & MERGED and _word(run, len(found), neutral)
            found.append(action & ~MERGED if leads else action)
    for at, char in enumerate(run):
        beside = (at and run[at - 1] in NUMERALS) or (run[at + 1 : at + 2] and run[at + 1] in NUMERALS)
        if char == YI and beside:
            found[at] |= PLAIN
    return found


def speak(
    run: str, triples: Sequence[Triple], own: Sequence[bool], sandhi: bool, erhua: bool
) -> list[tuple[Triple, int]]:
    """A run of Han characters as it is spoken.

    Arguments:
        run: the characters.
        triples: how each is read.
        own: whether a user's phrase says so.
        sandhi: change tones.
        erhua: merge 儿.

    Returns:
        The triple of each syllable, and how many characters it covers.
    """
    if not (sandhi or erhua):
        return [(triple, 1) for triple in triples]
    run = "".join(_simplified().get(char, char) for char in run)
    parts: list[Part] = []
    for char, triple, action, mine in zip(run, triples, _actions(run, sandhi), own, strict=True):
        if erhua and action & MERGED and not mine and not parts[-1].own:
            parts[-1] = parts[-1]._replace(length=parts[-1].length + 1)
        else:
            parts.append(Part(char, triple, 1, action, mine))
    return [(part.triple, part.length) for part in (_changed(parts) if sandhi else parts)]


def _changed(parts: Sequence[Part]) -> list[Part]:
    """The syllables of a run with their tones as they are said."""
    made: list[Part] = []
    behind: Part | None = None  # as it is read; the last of ``made`` is the same as it is said
    for part in reversed(parts):
        tone = part.triple.tone
        next_tone = made[-1].triple.tone if made else None
        if part.own:
            pass
        elif part.actions & NEUTRAL:
            tone = EMPTY
        elif part.triple[:2] == _ALTERED.get(part.char) and tone != EMPTY:
            tone = _bu(next_tone) if part.char == BU else _yi(part, behind, next_tone)
        elif tone == TONES[3] == (behind.triple.tone if behind and part.actions & LINKED else next_tone):
            tone = TONES[2]
        made.append(part._replace(triple=part.triple._replace(tone=tone)))
        behind = part
    return made[::-1]


def _bu(next_tone: str | None) -> str:
    return TONES[2] if next_tone == TONES[4] else TONES[4]


def _yi(part: Part, behind: Part | None, next_tone: str | None) -> str:
    if part.actions & PLAIN or behind is None:
        return TONES[1]
    if next_tone == TONES[4] or (behind.char == GE and next_tone == EMPTY):
        return TONES[2]
    return TONES[4] if next_tone in (TONES[1], TONES[2], TONES[3]) else TONES[1]
