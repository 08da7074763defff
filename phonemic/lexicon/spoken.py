"""The words that speech goes by, compiled into tables-zh-speech.bin: sections beside those of tables-zh.bin.

``native/speech.pxd`` reads them under the same names:

* ``speech.codes`` and so on: the words, a :class:`phonemic.lexicon.phrases.PhraseTable` whose readings say what becomes
  of each character: LINKED, MERGED, PLAIN, NEUTRAL, and ADDED where without sandhi no word of the lists has it.
  Traditional characters share the codes of the simplified ones.
* ``speech.kinds``: (65536,) uint8: IS_YI, IS_BU, NUMERAL, GE.
* ``speech.symbols``: (6,) int32: onset | rime << 8 of *yī* and of *bù*, and the ids of the tones 1 to 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from phonemic import mandarin
from phonemic.characters import DATA
from phonemic.inventory import vocabulary
from phonemic.lexicon.entries import Tables
from phonemic.lexicon.phrases import PhraseTable
from phonemic.speech import BU, ER, GE, LINKED, MERGED, NEUTRAL, NUMERALS, PLAIN, YI

#: Of a character that belongs to a word only with neutral tones: what the compiled table says besides.
ADDED = 16
_MARKS = {"-": 0, "2": LINKED, "5": NEUTRAL}
_KINDS = {YI: 1, BU: 2, GE: 8} | dict.fromkeys(NUMERALS, 4) | {YI: 1 | 4}


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
        neutral: those of ``speech-neutral.tsv`` too. What one list says of a part of a word of the other holds in it.
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


def _longest(word: str, at: int, known: Mapping[str, list[int]]) -> list[int]:
    """The spoken form of the characters of the longest known word that begins there and ends within ``word``."""
    return next((known[word[at:end]] for end in range(len(word), at, -1) if word[at:end] in known), [])


def _within(word: str, known: Mapping[str, list[int]]) -> list[int]:
    found: list[int] = []
    while len(found) < len(word):
        found += _longest(word, len(found), known) or [0]
    return found


def _compiled_words() -> dict[str, list[int]]:
    """The words; of one with neutral tones, what is behind the longest other word that it begins with is ADDED."""
    others = words(neutral=False)
    return {
        word: [action | (ADDED if at >= len(_longest(word, 0, others)) else 0) for at, action in enumerate(found)]
        for word, found in words().items()
    }


def compiled_speech(simplified: Mapping[str, str]) -> Tables:
    """All sections of tables-zh-speech.bin.

    Arguments:
        simplified: traditional character, or compatibility ideograph, -> simplified.
    """
    vocab = vocabulary("zh")
    aliases = {char: other for char, other in simplified.items() if char != other}
    kinds = np.zeros(0x10000, np.uint8)
    for code in range(0x10000):
        kinds[code] = _KINDS.get(simplified.get(chr(code), chr(code)), 0)
    syllables = [vocab.pack(mandarin.factorize(text)) & 0xFFFF for text in ("yi1", "bu4")]
    symbols = syllables + [vocab.id(mandarin.TONES[number]) for number in range(1, 5)]
    table = PhraseTable.build(_compiled_words(), aliases).sections("speech")
    return table | {"speech.kinds": kinds, "speech.symbols": np.array(symbols, np.int32)}
