"""Phonological classes of the symbols, for whoever asks whether a model has learned them."""

from __future__ import annotations

import re
from functools import cache

from phonemic import vietnamese
from phonemic.inventory import EMPTY, vocabulary

#: Onsets of both languages: a row a place of articulation, a column a manner.
_MANNERS = ("plosive", "affricate", "fricative", "nasal", "approximant")
_PLACES = """
labial     | p pʰ b |             | f v   | m |
alveolar   | t tʰ d | t͡s t͡sʰ   | s z   | n | l r
retroflex  |        | t͡ʂ t͡ʂʰ   | ʂ ʐ   |   |
palatal    |        | c͡ɕ t͡ɕ t͡ɕʰ | ɕ  | ɲ | j
velar      | k kʰ   |             | x ɣ   | ŋ |
glottal    |        |             | h     |   |
"""

#: A Mandarin rime: medial, nucleus and coda.
_RIME = re.compile("([iuyw](?=[aɛeoʊɘ]))?([mnŋɹɻ]\u0329|[aɤɛeoʊɘiuy])([iunŋɻ]?)")

_NONE = "none"
_CODA_KINDS = {
    "i̯": "glide", "u̯": "glide", "i": "glide", "u": "glide", "m": "nasal", "n": "nasal", "ŋ": "nasal", "ɲ": "nasal",
    "p": "stop", "t": "stop", "k": "stop", "c": "stop", "ɻ": "rhotic", "": "open",
}  # fmt: skip
_HEIGHTS = {
    "close": "i y u ɯ ʊ ɹ̩ ɻ̩", "mid": "e ɛ o oː ɔ ɔː ɘ ɘ̆ ɤ", "open": "a ă", "diphthong": "ie uo ɯɘ",
    "nasal": "m̩ n̩ ŋ̩",
}  # fmt: skip
_BACKNESSES = {
    "front": "i y e ɛ ie", "central": "a ă ɘ ɘ̆ ɯ ɯɘ ɹ̩ ɻ̩", "back": "u ʊ o oː ɔ ɔː ɤ uo", "nasal": "m̩ n̩ ŋ̩",
}  # fmt: skip
_PITCHES = "˩˨˧˦˥"


def groupings(lang: str) -> dict[str, dict[str, dict[str, str]]]:
    """The classes of every symbol of a language.

    Returns:
        Component (``"onset"``, ``"rime"``, ``"tone"``) to the names of its groupings, and each of them to the class of
        each symbol. ``"[EMPTY]"`` is a symbol too, where a syllable may have no onset, or a neutral tone.
        ``"letter"`` is not phonology: it tells whether the fallback uses the symbol's row of the table as a letter too
        (*k*, *a*), which may well bind those symbols together.
    """
    symbols = vocabulary(lang)

    def letter(symbol: str) -> str:
        return "also a letter" if "fallback" in symbols.roles(symbol) else "no letter"

    onsets = [EMPTY, *symbols.by_role("onset")]
    tones = [*symbols.by_role("tone"), *([EMPTY] if lang == "zh" else [])]
    parts = {rime: rime_parts(lang, rime) for rime in symbols.by_role("rime")}
    return {
        "onset": {
            "place": {onset: _onsets()[onset][0] for onset in onsets},
            "manner": {onset: _onsets()[onset][1] for onset in onsets},
            "letter": {onset: letter(onset) for onset in onsets},
        },
        "rime": {
            "coda": {rime: coda or _NONE for rime, (_, _, coda) in parts.items()},
            "coda kind": {rime: _CODA_KINDS[coda] for rime, (_, _, coda) in parts.items()},
            "nucleus": {rime: nucleus for rime, (_, nucleus, _) in parts.items()},
            "height": {rime: _row(_HEIGHTS, nucleus) for rime, (_, nucleus, _) in parts.items()},
            "backness": {rime: _row(_BACKNESSES, nucleus) for rime, (_, nucleus, _) in parts.items()},
            "medial": {rime: medial or _NONE for rime, (medial, _, _) in parts.items()},
            "letter": {rime: letter(rime) for rime in parts},
        },
        "tone": {
            "contour": {tone: contour(tone) for tone in tones},
            "register": {tone: register(tone) for tone in tones},
        },
    }


@cache
def _onsets() -> dict[str, tuple[str, str]]:
    table = {EMPTY: (_NONE, _NONE)}
    for line in _PLACES.strip().splitlines():
        place, *cells = line.split("|")
        for manner, cell in zip(_MANNERS, cells, strict=True):
            table |= {onset: (place.strip(), manner) for onset in cell.split()}
    return table


def _row(table: dict[str, str], symbol: str) -> str:
    return next(name for name, symbols in table.items() if symbol in symbols.split())


@cache
def rime_parts(lang: str, rime: str) -> tuple[str, str, str]:
    """Medial, nucleus and coda of a rime; "" where it has none.

    Raises:
        ValueError: no such rime in this language.
    """
    if lang == "vi":
        for after_q in (False, True):
            for medial, nucleus, coda in vietnamese.rime_spellings(after_q).values():
                if vietnamese.rime_of(medial, nucleus, coda) == rime:
                    end = vietnamese.CODAS.get(coda, "")
                    start = vietnamese.MEDIAL if medial else ""
                    return start, rime[len(start) : len(rime) - len(end)], end
    elif found := _RIME.fullmatch(rime):
        return found[1] or "", found[2], found[3]
    raise ValueError(f"{rime!r} is not a rime of {lang}")


def contour(tone: str) -> str:
    """Tells level, rising, falling and dipping apart; neutral for ``"[EMPTY]"``."""
    pitches = [_PITCHES.index(letter) for letter in tone if letter in _PITCHES]
    if not pitches:
        return "neutral"
    if min(pitches) < min(pitches[0], pitches[-1]):
        return "dipping"
    return "level" if pitches[0] == pitches[-1] else "rising" if pitches[0] < pitches[-1] else "falling"


def register(tone: str) -> str:
    """Tells high from low, by whether the tone reaches beneath the middle pitch; neutral for ``"[EMPTY]"``."""
    pitches = [_PITCHES.index(letter) for letter in tone if letter in _PITCHES]
    if not pitches:
        return "neutral"
    return "low" if min(pitches) < _PITCHES.index("˧") else "high"
