"""Vietnamese orthography as data: what each spelling sounds like, and how a sound is spelled.

The tables follow Appendix A of the paper (Tables 10-13) and ``phonology.md``. The core's lookup table is compiled from
them, the reference implementation reads them directly, and :func:`spell` runs them backwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from phonemic.characters import normalize
from phonemic.inventory import EMPTY, Triple

MEDIAL = "u̯"

#: Onset spelling -> onset. ``q`` stands for the *q* of *qu*, whose *u* belongs to the rime.
ONSETS = {
    "b": "b", "t": "t", "th": "tʰ", "c": "k", "k": "k", "q": "k", "ph": "f", "đ": "d", "g": "ɣ", "gh": "ɣ", "gi": "z",
    "d": "j", "x": "s", "s": "ʂ", "ch": "c͡ɕ", "tr": "t͡ʂ", "ng": "ŋ", "ngh": "ŋ", "nh": "ɲ", "l": "l", "r": "r",
    "kh": "x", "v": "v", "m": "m", "n": "n", "h": "h", "p": "p",
}  # fmt: skip

#: Nucleus spelling -> nucleus.
NUCLEI = {
    "a": "a", "ă": "ă", "â": "ɘ̆", "i": "i", "y": "i", "ê": "e", "e": "ɛ", "u": "u", "ư": "ɯ", "o": "ɔ", "oo": "ɔː",
    "ô": "o", "ôô": "oː", "ơ": "ɘ", "iê": "ie", "yê": "ie", "ia": "ie", "ya": "ie", "uô": "uo", "ua": "uo", "ươ": "ɯɘ",
    "ưa": "ɯɘ", "uơ": "ɯɘ", "ưo": "ɯɘ",
}  # fmt: skip

#: Coda spelling -> coda. *k* is the *c* of place names (Đắk Lắk).
CODAS = {
    "i": "i̯", "y": "i̯", "o": "u̯", "u": "u̯", "m": "m", "n": "n", "ng": "ŋ", "nh": "ɲ", "p": "p", "t": "t", "c": "k",
    "k": "k", "ch": "c",
}  # fmt: skip

STOPS = frozenset({"p", "t", "k", "c"})

#: The attested rimes without a medial, as nucleus spelling and the codas that follow it (``-`` for none).
PLAIN_RIMES = """
a   - i o u y m n ng nh p t c ch
ă   - m n ng p t c
â   - u y m n ng p t c
e   - o m n ng p t c
ê   - u m n ng nh p t c ch
i   - u m n ng nh p t c ch
y   - n
o   - i m n ng p t c
oo  ng c
ô   - i m n ng p t c
ôô  ng
ơ   - i m n ng p t
u   - i m n ng p t c
ư   - i u m n ng t c
ia  -
iê  u m n ng p t c
yê  u m n ng t
ua  -
uô  i m n ng t c
ưa  -
ươ  i u m n ng p t c
"""

#: *ươ* before a coda as it is typed with one of its two horns (*truờng, đưọc*): no other rime is written so.
ONE_HORN = ("uơ", "ưo")
ONE_HORN_RIMES = """
uơ  i u m n ng p t c
ưo  i u m n ng p t c
"""

#: The attested rimes with a medial, as medial spelling, nucleus spelling and codas. *u* before a, ă, e, i, o, ô only
#: is after *q*, where it spells what *o* spells elsewhere.
MEDIAL_RIMES = """
o a   - i o y m n ng nh p t c ch
o ă   m n ng t c
o e   - o m n ng t c
u â   y n ng t c
u ê   - u n nh t ch
u ơ   -
u y   - u n nh p t ch
u ya  -
u yê  n t
"""
AFTER_Q_RIMES = """
u a   - i o u y n ng nh t c ch
u ă   m n ng p t c
u e   - o n ng t c
u i   - n nh t ch
u o   - c
u ô   - c
u ơ   n t i
"""

#: Tones in the order of their ids: the name, the value of phonology.md, the combining mark.
TONES = {
    "ngang": ("˧˧", ""),
    "huyền": ("˨˩", "\u0300"),
    "sắc": ("˧˥", "\u0301"),
    "hỏi": ("˧˩", "\u0309"),
    "ngã": ("˧ˀ˥", "\u0303"),
    "nặng": ("˧ˀ˩", "\u0323"),
}

#: Tone-bearing letters. The other letters of the alphabet, and f j w z, take no tone mark.
VOWELS = "aăâeêioôơuưy"
ALPHABET = "abcdefghijklmnopqrstuvwxyzăâđêôơư"

#: *nghiêng* has seven letters; decomposed, no syllable has more than eleven characters.
MAX_LENGTH = 16

#: Letters people type for *đ* (eth, the African d with tail), and the ones that only differ in case from a letter of
#: the alphabet (long s, dotless i, Kelvin sign).
LOOKALIKES = {"ð": "đ", "Ð": "đ", "ɖ": "đ", "Ɖ": "đ", "ſ": "s", "ı": "i", "\u212a": "k"}

#: Quality marks: mark -> {letter without it: letter with it}.
QUALITY_MARKS = {
    "\u0302": {"a": "â", "e": "ê", "o": "ô"},
    "\u0306": {"a": "ă"},
    "\u031b": {"o": "ơ", "u": "ư"},
}

_FRONT = "ieêy"


class Spelling(NamedTuple):
    """One way to write an onset and a rime, without its tone mark.

    ``irregular`` spellings are read in the lenient reading only: *k* before a non-front vowel, *c g ng* before a front
    one, *yn*, *ươ* with one horn, and the letter names *qu*, *qun*. ``bearers`` are the places of the letter that bears
    the tone mark by today's rule (*hoà*) and by the old one (*hòa*).
    """

    text: str
    onset: str
    rime: str
    irregular: bool
    bearers: tuple[int, int]


def _expand(table: str) -> Iterator[tuple[str, str, str]]:
    """Rows of a rime table as (medial, nucleus, coda) spellings; every *c* may also be written *k*."""
    for line in table.strip().splitlines():
        head, _, codas = line.partition("  ")
        medial, nucleus = head.split() if " " in head else ("", head.split()[0])
        for coda in codas.split():
            yield medial, nucleus, "" if coda == "-" else coda
            if coda == "c":
                yield medial, nucleus, "k"


def rime_of(medial: str, nucleus: str, coda: str) -> str:
    """The rime that a medial, a nucleus and a coda spell (all three as spelled; "" where absent)."""
    short_a = nucleus == "a" and coda in ("y", "u")
    return (MEDIAL if medial else "") + NUCLEI["ă" if short_a else nucleus] + (CODAS[coda] if coda else "")


@cache
def rime_spellings(after_q: bool = False) -> dict[str, tuple[str, str, str]]:
    """Every rime spelling -> its (medial, nucleus, coda) spellings; ``after_q``: those after the *q* of *qu*."""
    medial_rows = {m + n + c: (m, n, c) for m, n, c in _expand(MEDIAL_RIMES)}
    if after_q:
        rows = {text: parts for text, parts in medial_rows.items() if text[0] == "u"}
        return rows | {m + n + c: (m, n, c) for m, n, c in _expand(AFTER_Q_RIMES)}
    plain = chain(_expand(PLAIN_RIMES), _expand(ONE_HORN_RIMES))
    return {nucleus + coda: ("", nucleus, coda) for _, nucleus, coda in plain} | medial_rows


def _is_irregular(medial: str, nucleus: str, coda: str) -> bool:
    """Whether a rime is not written so in any standard spelling."""
    return not medial and (nucleus + coda == "yn" or nucleus in ONE_HORN)


def _join_gi(rime: str) -> str | None:
    """*gi* + rime: the *i* is written once (gì, giếng). *gia*, *giu* are gi + a, u; *giê* + coda is gi + iê + coda."""
    if rime[0] == "i":
        return None if rime in ("ia", "iu") else "g" + rime
    return None if rime[0] == "y" or (rime[0] == "ê" and rime != "ê") else "gi" + rime


@cache
def spellings() -> dict[str, Spelling]:
    """Every spelling of an onset and a rime that is read as a syllable, without tone marks, lower-case, NFC."""
    table: dict[str, Spelling] = {}
    for letters, onset in {"gi": "z", "": EMPTY, **ONSETS}.items():
        for rime, (medial, nucleus, coda) in rime_spellings(after_q=letters == "q").items():
            front = rime[0] in _FRONT
            if (letters and nucleus == "yê" and not medial) or (letters in ("gh", "ngh") and not front):
                continue
            text = _join_gi(rime) if letters == "gi" else letters + rime
            if text is None:
                continue
            wrong_letter = (letters == "k" and not front) or (letters in ("c", "g", "ng") and front)
            irregular = wrong_letter or _is_irregular(medial, nucleus, coda)
            before = len(text) - len(rime)
            new, old = (before + _bearer((medial, nucleus, coda), letters == "q", style) for style in (False, True))
            table.setdefault(text, Spelling(text, onset, rime_of(medial, nucleus, coda), irregular, (new, old)))
    for text in ("qu", "qun"):
        table[text] = Spelling(text, "k", rime_of("", "u", text[2:]), True, (1, 1))
    return table


@cache
def standard(onset: str, rime: str) -> Spelling | None:
    """The standard spelling of an onset and a rime; None where no syllable has them."""
    try:
        stripped = strip_tone(spell((onset, rime, TONES["ngang"][0])))
    except ValueError:
        return None
    return spellings()[stripped[0]] if stripped else None


def spelled(text: str) -> Spelling:
    """The spelling that a string is, an eth read as *đ*.

    Raises:
        KeyError: it is none.
    """
    return spellings()[text.replace("ð", "đ")]


def alternatives() -> dict[str, list[str]]:
    """Every standard spelling -> the other spellings that are read as the same syllable, in the order of the alphabet.

    With an eth for *đ* (Ðà Nẵng), too, the one look-alike that real text is full of.
    """
    found: dict[str, list[str]] = {}
    for spelling in spellings().values():
        usual = standard(spelling.onset, spelling.rime)
        if usual is not None:
            others = found.setdefault(usual.text, ["ð" + usual.text[1:]] if usual.text[0] == "đ" else [])
            others += [spelling.text] * (spelling.text != usual.text)
    return {text: sorted(others) for text, others in sorted(found.items())}


def strip_tone(syllable: str) -> tuple[str, str] | None:
    """Takes the tone mark off a syllable, wherever it is.

    Returns the lower-case NFC spelling without it and the tone's name, or None when there are two marks, the mark
    is on a consonant, or the string is longer than any syllable.
    """
    marks = {mark: name for name, (_, mark) in TONES.items() if mark}
    tone, bare = "ngang", ""
    if len(syllable) > MAX_LENGTH:
        return None
    for typed in normalize("NFD", syllable.lower()):
        char = LOOKALIKES.get(typed, typed)
        if char not in marks:
            bare += char
            continue
        letter = normalize("NFC", bare)[-1:]
        if tone != "ngang" or letter not in VOWELS or not letter:
            return None
        tone = marks[char]
    return normalize("NFC", bare), tone


def factorize(syllable: str, strict: bool = False) -> Triple | None:
    """Reads one written syllable.

    Arguments:
        syllable: the spelling, in any case, NFC or NFD, the tone mark on any of its vowels.
        strict: reject a stop coda without sắc or nặng, and c/k, g/gh, ng/ngh before the wrong vowel.

    Returns:
        The triple, or None where the spelling has no recognised rime.
    """
    stripped = strip_tone(syllable)
    spelling = spellings().get(stripped[0]) if stripped else None
    if stripped is None or spelling is None:
        return None
    tone = stripped[1]
    if strict and (spelling.irregular or (spelling.rime[-1] in STOPS and tone not in ("sắc", "nặng"))):
        return None
    return Triple(spelling.onset, spelling.rime, TONES[tone][0])


@cache
def _onset_letters() -> dict[str, list[str]]:
    letters: dict[str, list[str]] = {EMPTY: [""]}
    for text, onset in ONSETS.items():
        letters.setdefault(onset, []).append(text)
    return letters


@cache
def _rime_parts(after_q: bool) -> dict[str, list[tuple[str, str, str]]]:
    parts: dict[str, list[tuple[str, str, str]]] = {}
    for medial, nucleus, coda in rime_spellings(after_q).values():
        if coda != "k" and not _is_irregular(medial, nucleus, coda):
            parts.setdefault(rime_of(medial, nucleus, coda), []).append((medial, nucleus, coda))
    return parts


def _choose(onset: str, rime: str) -> tuple[str, tuple[str, str, str]] | None:
    """The standard onset letters and (medial, nucleus, coda) letters of an onset and a rime."""
    after_q = onset == "k" and rime in _rime_parts(True)
    candidates = _rime_parts(after_q).get(rime)
    if candidates is None or onset not in _onset_letters():
        return None
    if len(candidates) > 1 and not candidates[0][0]:  # i / y, iê / yê, ia
        bare = onset == EMPTY
        candidates = [parts for parts in candidates if parts[1].startswith("y") == bare] or candidates
    parts = candidates[0]
    front = "".join(parts)[0] in _FRONT
    letters = _onset_letters()[onset]
    if onset == "k":
        return ("q" if after_q else "k" if front else "c"), parts
    return letters[1 if front and len(letters) > 1 else 0], parts


def _bearer(parts: tuple[str, str, str], after_q: bool, old_style: bool) -> int:
    """The place among a rime's letters of the vowel that today's rule (or the old one) gives the tone mark."""
    medial, nucleus, coda = parts
    if old_style and medial and not coda and not after_q and nucleus in ("a", "e", "y"):
        return 0
    return len(medial) + (len(nucleus) - 1 if coda or nucleus not in ("ia", "ya", "ua", "ưa") else 0)


def _place_tone(parts: tuple[str, str, str], mark: str, after_q: bool, old_style: bool) -> str:
    """The rime's letters with the tone mark on the vowel that today's rule (or the old one) gives it."""
    at = _bearer(parts, after_q, old_style)
    letters = "".join(parts)
    return normalize("NFC", letters[: at + 1] + mark + letters[at + 1 :])


def spell(triple: tuple[str, str, str], style: str = "new") -> str:
    """Spells a triple in standard orthography.

    Arguments:
        triple: (onset, rime, tone) as symbols.
        style: ``"new"`` writes *hoà, khoẻ, thuỷ*; ``"old"`` writes *hòa, khỏe, thủy*.

    Returns:
        The syllable, lower-case, NFC. /i/ is written *y* when it is the whole syllable and *i* elsewhere (*y, lí*).

    Raises:
        ValueError: no Vietnamese spelling has these three symbols.
    """
    if style not in ("new", "old"):
        raise ValueError(f"style must be 'new' or 'old', not {style!r}")
    onset, rime, tone = triple
    marks = dict(TONES.values())
    choice = _choose(onset, rime)
    if choice is not None and tone in marks:
        letters, parts = choice
        text = letters + _place_tone(parts, marks[tone], letters == "q", style == "old")
        if letters == "gi" and parts[1][0] == "i":
            text = "g" + text[2:]
        if factorize(text) == (onset, rime, tone):
            return text
    raise ValueError(f"no Vietnamese syllable is spelled ({onset}, {rime}, {tone})")
