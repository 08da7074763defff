"""The written form: what the highest byte of an id with ``form=True`` says, and the text that it writes.

``packed = onset | rime << 8 | tone << 16 | form << 24``. Form 0 says nothing. From 1 on, a form is a number in mixed
radix, plus one; what its digits mean depends on the triple (``form.md`` of the specification):

- *Vietnamese syllable*: case + 3 * (space + 2 * (normalization + 3 * spelling)).
- *Mandarin syllable*: the rank of the character among those that are read so, from 1 on, the commonest first.
- *Character of the fallback*: space + 2 * (upper case + 2 * rank), the rank among what folds to the symbol.
- *[UNK]*: one byte of UTF-8 above ASCII, or white space. A character of ASCII that no symbol stands for is written as
  two bytes, an overlong lead byte and a continuation byte.
- *127 (escaped)*: the bytes that follow, up to a closing position, are how this position is written.

The rows that ranks and spellings count in are frozen (``lexicon/forms-*.tsv``). The core tells forms
(``native/written.pxd``); this module is what they mean, one at a time.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from phonemic import mandarin, vietnamese
from phonemic.inventory import EMPTY, SPECIALS, UNK, Triple, fallback_triple, vocabulary
from phonemic.lexicon.forms import MOST_CHARACTERS, forms

#: The position's bytes follow.
ESCAPED = 127
#: Of [UNK]: the first continuation byte, lead byte and white space, and what closes an escape.
CONTINUATION, LEAD, WHITE, END_OF_ESCAPE = 1, 65, 118, 124
#: Of [UNK]: several bytes that are common together: the selector that makes an emoji of a sign, the beginning of emoji.
SEQUENCES = {125: b"\xef\xb8\x8f", 126: b"\xf0\x9f"}
#: White space that has a form of its own.
WHITE_SPACE = " \n\t\r\u3000\u00a0"
#: How many forms there are, 0 included.
FORMS = 128

FORM_SHIFT = 24
#: What is left of an id without its form.
TRIPLE = (1 << FORM_SHIFT) - 1
UNKNOWN = UNK * 0x010101

CASES = ("lower", "first", "upper")
NORMALIZATIONS = ("NFC", "NFD", "tone apart")


class Form(NamedTuple):
    """What a form says of its position.

    Attributes:
        text: what the position writes, with the space before it; "" for a byte, an escape and form 0.
        kind: ``"none"`` (form 0), ``"syllable"``, ``"character"`` (of a Mandarin syllable), ``"fallback"``, ``"white
            space"``, ``"bytes"``, ``"escaped"`` or ``"end of escape"``.
        space: whether a space stands before it.
        case: ``"lower"``, ``"first"`` (a capital) or ``"upper"``.
        normalization: of a Vietnamese syllable ``"NFC"``, ``"NFD"`` or ``"tone apart"`` (the tone mark alone is a
            combining character, as some keyboards write it).
        spelling: of a Vietnamese syllable 0 (standard), 1 (tone mark in the old place), 2 (the other of i and y) or
            more (the other spellings of its row).
        rank: of a character among those that are read so, or that fold to this symbol; 0 is the commonest.
        bytes: what [UNK] is of UTF-8; b"" for all else.
    """

    text: str
    kind: str
    space: bool = False
    case: str = CASES[0]
    normalization: str = NORMALIZATIONS[0]
    spelling: int = 0
    rank: int = 0
    bytes: bytes = b""


def form_of(packed: int, lang: str) -> Form | None:
    """What the form of a packed id says.

    Arguments:
        packed: the id, with its form.
        lang: ``"vi"`` or ``"zh"``.

    Returns:
        The form; None where no text has this id: no position with this triple can have the form.
    """
    number, triple = packed >> FORM_SHIFT, packed & TRIPLE
    symbols = vocabulary(lang).symbols
    if packed < 0 or any(triple >> shift & 255 >= len(symbols) for shift in (0, 8, 16)):
        return None
    if number == 0:
        return Form("", "none")
    if triple == UNKNOWN:
        return _byte(number)
    onset, rime, tone = (symbols[triple >> shift & 255] for shift in (0, 8, 16))
    if number == ESCAPED:
        known = onset == rime == tone and onset not in SPECIALS or _heard(lang, onset, rime, tone)
        return Form("", "escaped") if known else None
    if onset == rime == tone:
        return _character(lang, onset, number) if onset not in SPECIALS else None
    return _mandarin(triple, number) if lang == "zh" else _vietnamese(onset, rime, tone, number)


def written(packed: int, lang: str) -> str | None:
    """The text that an id writes; None where it writes none of its own (a byte, an escape, form 0, an impossible id)."""
    found = form_of(packed, lang)
    return found.text if found and found.text else None


def _heard(lang: str, onset: str, rime: str, tone: str) -> bool:
    """Whether a syllable has these components."""
    if lang == "zh":
        return (onset, rime) in mandarin.pairs() and tone in mandarin.TONES.values()
    return vietnamese.standard(onset, rime) is not None and tone in _tone_marks()


@cache
def _tone_marks() -> dict[str, str]:
    return dict(vietnamese.TONES.values())


def _byte(number: int) -> Form | None:
    if number < LEAD:
        return Form("", "bytes", bytes=bytes([0x80 + number - CONTINUATION]))
    if number < WHITE:
        return Form("", "bytes", bytes=bytes([0xC0 + number - LEAD]))
    if number < WHITE + len(WHITE_SPACE):
        return Form(WHITE_SPACE[number - WHITE], "white space")
    if number in SEQUENCES:
        return Form("", "bytes", bytes=SEQUENCES[number])
    return Form("", "end of escape") if number == END_OF_ESCAPE else None


def _character(lang: str, symbol: str, number: int) -> Form | None:
    rest, space = divmod(number - 1, 2)
    rank, upper = divmod(rest, 2)
    variants = forms(lang).symbols.get(symbol, ())
    if rank >= len(variants) or upper >= len(variants[rank]):
        return None
    return Form(" " * space + variants[rank][upper], "fallback", bool(space), CASES[2 * upper], rank=rank)


@cache
def _characters() -> dict[int, list[str]]:
    """Packed syllable -> its characters."""
    pack = vocabulary("zh").pack
    return {pack(mandarin.factorize(pinyin)): found for pinyin, found in forms("zh").syllables.items()}


def characters_read(pinyin: str) -> list[str]:
    """The Mandarin characters that are read so, in the order of their ranks: the commonest first, at most 126.

    Arguments:
        pinyin: a syllable with its tone, as a mark or a number; without one it is in the neutral tone.

    Raises:
        ValueError: not a pinyin syllable.
    """
    return list(_characters().get(vocabulary("zh").pack(mandarin.factorize(pinyin)), ()))


def _mandarin(triple: int, number: int) -> Form | None:
    found = _characters().get(triple, ())
    return Form(found[number - 1], "character", rank=number - 1) if number <= len(found) <= MOST_CHARACTERS else None


def _vietnamese(onset: str, rime: str, tone: str, number: int) -> Form | None:
    rest, case = divmod(number - 1, 3)
    rest, space = divmod(rest, 2)
    spelling, normalization = divmod(rest, 3)
    if tone not in _tone_marks():
        return None
    composed = _spelled(onset, rime, _tone_marks()[tone], spelling)
    if composed is None or (case == 2 and len(composed) == 1):
        return None
    letters = composed if case == 0 else composed.upper() if case == 2 else composed[0].upper() + composed[1:]
    ways = [letters, unicodedata.normalize("NFD", letters), _tone_apart(letters)]
    if ways[normalization] in ways[:normalization]:
        return None
    text = " " * space + ways[normalization]
    return Form(text, "syllable", bool(space), CASES[case], NORMALIZATIONS[normalization], spelling)


@lru_cache(1 << 16)
def _spelled(onset: str, rime: str, mark: str, spelling: int) -> str | None:
    """A syllable in lower case and NFC; None where it is not spelled so, or another number says the same."""
    usual = vietnamese.standard(onset, rime)
    if usual is None:
        return None
    text, (bearer, old) = usual.text, usual.bearers
    if spelling == 1:
        if not mark or old == bearer:
            return None
        bearer = old
    elif spelling > 1:
        row = forms("vi").syllables.get(text, ())
        text = row[spelling - 2] if spelling - 2 < len(row) else "-"
        if text == "-":
            return None
        bearer = vietnamese.spelled(text).bearers[0]
    return unicodedata.normalize("NFC", text[: bearer + 1] + mark + text[bearer + 1 :])


def _tone_apart(letters: str) -> str:
    """A syllable in NFC with its tone mark as a combining character."""
    apart = ""
    for letter in letters:
        marks = unicodedata.normalize("NFD", letter)
        tone = "".join(mark for mark in marks if mark in _tone_marks().values())
        apart += unicodedata.normalize("NFC", "".join(mark for mark in marks if mark not in tone)) + tone
    return apart


def utf8_of(text: str) -> list[int]:
    """The bytes that a text takes among ids: UTF-8, with halves of surrogate pairs, and two bytes for ASCII."""
    made: list[int] = []
    for char in text:
        code = ord(char)
        made += [0xC0 | code >> 6, 0x80 | code & 63] if code < 0x80 else char.encode("utf-8", "surrogatepass")
    return made


def byte_form(byte: int) -> int:
    """The form of [UNK] that is a byte of :func:`utf8_of`."""
    return byte - 0xC0 + LEAD if byte >= 0xC0 else byte - 0x80 + CONTINUATION


def triples_with_forms(lang: str) -> list[int]:
    """Every packed triple, without a form, that a position with a form can have, but for [UNK]."""
    vocab = vocabulary(lang)
    packed = [vocab.pack(fallback_triple(symbol)) for symbol in forms(lang).symbols]
    if lang == "zh":
        return packed + list(_characters())
    heard = {(spelling.onset, spelling.rime) for spelling in vietnamese.spellings().values()}
    return packed + [
        vocab.pack(Triple(onset, rime, tone)) for onset, rime in sorted(heard) for tone in _tone_marks()
    ]
