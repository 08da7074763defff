"""Mandarin pinyin as data: what each written syllable sounds like, and how a sound is written in pinyin.

The tables follow Appendix B of the paper (Tables 15-19) and ``phonology.md``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from phonemic.characters import DATA, normalize
from phonemic.inventory import EMPTY, Triple

INITIALS = {
    "b": "p", "p": "pʰ", "m": "m", "f": "f", "d": "t", "t": "tʰ", "n": "n", "l": "l", "g": "k", "k": "kʰ", "h": "x",
    "j": "t͡ɕ", "q": "t͡ɕʰ", "x": "ɕ", "zh": "t͡ʂ", "ch": "t͡ʂʰ", "sh": "ʂ", "r": "ʐ", "z": "t͡s", "c": "t͡sʰ", "s": "s",
}  # fmt: skip

#: Full finals (before the spelling contractions) -> rime.
FINALS = {
    "a": "a", "o": "wo", "e": "ɤ", "ê": "ɛ", "ai": "ai", "ei": "ei", "ao": "au", "ou": "ou", "an": "an", "en": "ɘn",
    "ang": "aŋ", "eng": "ɘŋ", "ong": "ʊŋ", "er": "aɻ",
    "i": "i", "ia": "ia", "ie": "iɛ", "iao": "iau", "iou": "iou", "ian": "iɛn", "in": "in", "iang": "iaŋ", "ing": "iŋ",
    "iong": "iʊŋ",
    "u": "u", "ua": "ua", "uo": "uo", "uai": "uai", "uei": "uei", "uan": "uan", "uen": "uɘn", "uang": "uaŋ",
    "ueng": "uɘŋ",
    "ü": "y", "üe": "yɛ", "üan": "yɛn", "ün": "yn",
    "-i(z)": "ɹ̩", "-i(zh)": "ɻ̩",
    "m": "m̩", "n": "n̩", "ng": "ŋ̩", "io": "io",
}  # fmt: skip

#: Finals as written after an initial -> full final.
CONTRACTIONS = {"iu": "iou", "ui": "uei", "un": "uen", "ue": "üe"}

#: Whole syllables without an initial whose spelling hides the final.
ZERO_INITIAL = {
    "yi": "i", "ya": "ia", "ye": "ie", "yao": "iao", "you": "iou", "yan": "ian", "yin": "in", "yang": "iang",
    "ying": "ing", "yong": "iong", "yo": "io", "wu": "u", "wa": "ua", "wo": "uo", "wai": "uai", "wei": "uei",
    "wan": "uan", "wen": "uen", "wang": "uang", "weng": "ueng", "wong": "ueng", "yu": "ü", "yue": "üe", "yuan": "üan",
    "yun": "ün",
}  # fmt: skip

#: Tone number -> tone symbol; 5 (or no mark) is the neutral tone.
TONES = {1: "˥˥", 2: "˧˥", 3: "˨˩˦", 4: "˥˩", 5: EMPTY}

_TONE_MARKS = {"\u0304": 1, "\u0301": 2, "\u030c": 3, "\u0300": 4}
_APICAL = {"z": "-i(z)", "c": "-i(z)", "s": "-i(z)", "zh": "-i(zh)", "ch": "-i(zh)", "sh": "-i(zh)", "r": "-i(zh)"}
_SYLLABIC = {"m", "n", "ng"}
_PALATALS = {"j", "q", "x"}
_NOT_BEFORE_I = {"g", "k", "h", *_APICAL}
#: Finals that follow no initial, and the apical vowels, which are written i.
_NOT_AFTER_INITIAL = {"er", "io", *_APICAL.values()}
#: Finals that stand alone as syllables, and the ones that follow an initial.
_ALONE = {"a", "o", "e", "ê", "ai", "ei", "ao", "ou", "an", "en", "ang", "eng", "er"} | _SYLLABIC


def _split_tone(pinyin: str) -> tuple[str, int]:
    text, tone = normalize("NFD", pinyin.strip().lower()), 5
    if text[-1:].isdigit():
        text, digit = text[:-1], text[-1]
        if digit not in "012345":
            raise ValueError(f"{pinyin!r} is not pinyin: the tone is 1 to 5, not {digit}")
        tone = int(digit) or 5
    bare = ""
    for char in text:
        if char in _TONE_MARKS:
            if tone != 5:
                raise ValueError(f"{pinyin!r} is not pinyin: it has two tones")
            tone = _TONE_MARKS[char]
        else:
            bare += char
    bare = normalize("NFC", bare)
    bare = bare.replace("u:", "ü").replace("v", "ü")
    return f"yu{bare[2:]}" if bare.startswith("yü") else bare, tone


def _final_of(initial: str, rest: str) -> str | None:
    """The full final that ``rest`` writes after ``initial``."""
    if rest == "i" and initial in _APICAL:
        return _APICAL[initial]
    if initial in _PALATALS and rest[:1] == "u":
        rest = "ü" + rest[1:]
    rest = CONTRACTIONS.get(rest, rest)
    wrong_place = (initial in _PALATALS) != (rest[:1] in "iü") and initial in _PALATALS | _NOT_BEFORE_I
    if wrong_place or (rest in _SYLLABIC and initial != "h"):
        return None
    return rest if rest in FINALS and rest not in _NOT_AFTER_INITIAL else None


@cache
def factorize(pinyin: str) -> Triple:
    """Reads one pinyin syllable.

    Arguments:
        pinyin: with a tone mark (``háng``) or a number (``hang2``); no mark, 0 and 5 are the neutral tone;
            ``v`` and ``u:`` are read as ``ü``.

    Raises:
        ValueError: not a Mandarin syllable.
    """
    bare, tone = _split_tone(pinyin)
    if bare in ZERO_INITIAL:
        return Triple(EMPTY, FINALS[ZERO_INITIAL[bare]], TONES[tone])
    if bare in _ALONE:
        return Triple(EMPTY, FINALS[bare], TONES[tone])
    initial = bare[:2] if bare[:2] in INITIALS else bare[:1]
    final = _final_of(initial, bare[len(initial) :]) if initial in INITIALS else None
    if final is None:
        raise ValueError(f"{pinyin!r} is not a pinyin syllable")
    return Triple(INITIALS[initial], FINALS[final], TONES[tone])


@cache
def pairs() -> frozenset[tuple[str, str]]:
    """Every onset and rime that pinyin can write together, in whatever tone: what :func:`factorize` can give."""
    written = {*FINALS, *CONTRACTIONS, "i", *(final.replace("ü", "u") for final in FINALS)}
    found = {factorize(bare)[:2] for bare in (*ZERO_INITIAL, *_ALONE)}
    for initial, onset in INITIALS.items():
        for rest in written:
            if (final := _final_of(initial, rest)) is not None:
                found.add((onset, FINALS[final]))
    return frozenset(found)


@cache
def _letters() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Reverse tables: onset -> initial, rime -> full final, full final -> zero-initial spelling."""
    initials = {onset: text for text, onset in INITIALS.items()}
    finals = {rime: text for text, rime in FINALS.items()}
    return initials, finals, {final: text for text, final in ZERO_INITIAL.items() if text != "wong"}


def _write(onset: str, rime: str) -> str | None:
    initials, finals, zero = _letters()
    final = finals.get(rime)
    if final is None:
        return None
    if onset == EMPTY:
        return zero.get(final, final)
    initial = initials.get(onset, "?")
    final = {"iou": "iu", "uei": "ui", "uen": "un"}.get(final, "i" if final.startswith("-i") else final)
    if final[0] == "ü" and initial in _PALATALS:
        final = "u" + final[1:]
    return initial + final


def _mark_tone(bare: str, tone: int) -> str:
    """Tone mark on a or e, else the o of ou, else the last vowel, else the (syllabic) first nasal."""
    mark = {number: char for char, number in _TONE_MARKS.items()}[tone]
    at = next((bare.index(v) for v in "aeê" if v in bare), -1)
    if at < 0:
        at = bare.index("ou") if "ou" in bare else max(bare.rfind(v) for v in "iouü")
    if at < 0:
        at = next(i for i, char in enumerate(bare) if char in "mn")
    return normalize("NFC", bare[: at + 1] + mark + bare[at + 1 :])


def spell(triple: tuple[str, str, str], numbers: bool = False) -> str:
    """Writes a triple in pinyin.

    Arguments:
        triple: (onset, rime, tone) as symbols.
        numbers: write ``hang2`` (neutral: ``hang5``) instead of ``háng`` (neutral: ``hang``).

    Raises:
        ValueError: no pinyin syllable has these three symbols.
    """
    onset, rime, tone = triple
    number = {symbol: n for n, symbol in TONES.items()}.get(tone)
    bare = _write(onset, rime)
    if bare is not None and number is not None:
        text = f"{bare}{number}" if numbers else bare if number == 5 else _mark_tone(bare, number)
        try:
            if factorize(text) == (onset, rime, tone):
                return text
        except ValueError:
            pass
    raise ValueError(f"no pinyin syllable is written ({onset}, {rime}, {tone})")


PYPINYIN_VERSION = "0.55.0"


class Lexicon(NamedTuple):
    """pypinyin's data: the default reading of each character, the readings of each phrase, and what counts as Han."""

    characters: dict[str, str]
    phrases: dict[str, list[str]]
    han: re.Pattern[str]


@cache
def lexicon() -> Lexicon:
    """Reads the dictionaries of the pinned pypinyin, which is needed at build and test time only.

    Raises:
        ImportError: pypinyin is not installed, or not in the pinned version.
    """
    import pypinyin
    from pypinyin.constants import PHRASES_DICT, PINYIN_DICT, RE_HANS

    if pypinyin.__version__ != PYPINYIN_VERSION:
        raise ImportError(
            f"the lexicon is that of pypinyin {PYPINYIN_VERSION}, but {pypinyin.__version__} is installed"
        )
    characters = {chr(code): text.split(",")[0] for code, text in PINYIN_DICT.items()}
    phrases = {phrase: [choices[0] for choices in texts] for phrase, texts in PHRASES_DICT.items()}
    return Lexicon(characters, phrases, re.compile(RE_HANS.pattern))


@cache
def compatibility_ideographs() -> dict[str, str]:
    """Characters that stand for a Han character, as which they are read, and that character.

    Compatibility ideographs by their canonical equivalence, and radicals (as text from PDFs has them) and enclosed
    characters by ``lexicon/equivalents.tsv``.
    """
    codes = [*range(0xF900, 0xFB00), *range(0x2F800, 0x2FA20)]
    pairs = {chr(code): normalize("NFC", chr(code)) for code in codes}
    rows = (DATA / "equivalents.tsv").read_text("utf-8").splitlines()
    listed = (row.split("\t") for row in rows if not row.startswith("#"))
    return {char: other for char, other in pairs.items() if char != other} | {
        chr(int(code, 16)): other for code, other in listed
    }
