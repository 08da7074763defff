"""The written form: what the highest byte of an id with ``form=True`` says, and the text that it writes.

``packed = onset | rime << 8 | tone << 16 | form << 24``. Form 0 says nothing. From 1 on, a form is a number in mixed
radix, plus one; what its digits mean depends on the triple (``form.md`` of the specification):

- *Vietnamese syllable*: case + 3 * (space + 2 * (normalization + 3 * spelling)).
- *Mandarin syllable*: the rank of the character among the ones that are read so, from 1 on, the commonest first.
- *Character of the fallback*: space + 2 * (upper case + 2 * rank), the rank among what folds to the symbol.
- *[UNK]*: one byte of UTF-8 above ASCII, or white space. A character of ASCII that no symbol stands for is written as
  two bytes, an overlong lead byte and a continuation byte.
- *127 (escaped)*: the bytes that follow, up to a closing position, are how this position is written.

The rows that ranks and spellings count in are frozen (``lexicon/forms-*.tsv``). The core tells forms
(``native/written.pxd``); this module is what they mean, one at a time.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from phonemic import characters, mandarin, vietnamese
from phonemic.characters import normalize
from phonemic.inventory import FORM_SHIFT, SPECIALS, TRIPLE, UNKNOWN_ID, Triple, fallback_triple, vocabulary
from phonemic.lexicon.forms import MOST_SPELLINGS, forms
from phonemic.lexicon.tables import form_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

UNKNOWN = UNKNOWN_ID
#: The position that closes an escape.
CLOSING = UNKNOWN | END_OF_ESCAPE << FORM_SHIFT

_WHITE_SPACE_NAMES = dict(
    zip(
        WHITE_SPACE,
        ("space", "line feed", "tab", "carriage return", "ideographic space", "no-break space"),
        strict=True,
    )
)
_SPELLING_NAMES = {0: "", 1: "tone mark in the old place", 2: "the other of i and y"}

CASES = ("lower", "first", "upper")
NORMALIZATIONS = ("NFC", "NFD", "tone apart")


class Form(NamedTuple):
    """The meaning of a form.

    Attributes:
        text: what the position writes, with the space before it; "" for a byte, an escape and form 0.
        kind: ``"none"`` (form 0), ``"syllable"``, ``"character"`` (of a Mandarin syllable), ``"fallback"``, ``"white
            space"``, ``"bytes"``, ``"escaped"`` or ``"end of escape"``.
        space: whether a space is before it.
        case: ``"lower"``, ``"first"`` (a capital) or ``"upper"``.
        normalization: of a Vietnamese syllable ``"NFC"``, ``"NFD"`` or ``"tone apart"`` (the tone mark alone is a
            combining character, as some keyboards write it).
        spelling: of a Vietnamese syllable 0 (standard), 1 (tone mark in the old place), 2 (the other of i and y) or
            more (the other spellings of its row).
        rank: of a character among the ones that are read so, or that fold to this symbol; 0 is the commonest.
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

    @property
    def words(self) -> str:
        """The form in words, as ``First, space before``; "" for form 0. Ranks and variants are counted from 1."""
        if self.kind == "bytes":
            return f"byte{'s' * (len(self.bytes) > 1)} {self.bytes.hex(' ').upper()}"
        said = {
            "none": "",
            "character": f"rank {self.rank + 1}",
            "white space": _WHITE_SPACE_NAMES.get(self.text, ""),
            "escaped": "in bytes",
            "end of escape": "end of bytes",
        }.get(self.kind)
        if said is not None:
            return said
        words = [{"lower": "lower", "first": "First", "upper": "ALL"}[self.case] if self.kind == "syllable" else ""]
        words.append("capital" if self.kind == "fallback" and self.case == "upper" else "")
        words.append(f"variant {self.rank + 1}" if self.rank else "")
        words.append(_SPELLING_NAMES.get(self.spelling, f"spelling {self.spelling + 1}"))
        words.append(self.normalization if self.normalization != NORMALIZATIONS[0] else "")
        words.append("space before" if self.space else "")
        return ", ".join(filter(None, words)) or "as usual"


def form_of(packed: int, lang: str) -> Form | None:
    """The meaning of the form of a packed id.

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
        known = (onset == rime == tone and onset not in SPECIALS) or _heard(lang, onset, rime, tone)
        return Form("", "escaped") if known else None
    if onset == rime == tone:
        return _character(lang, onset, number) if onset not in SPECIALS else None
    return _mandarin(triple, number) if lang == "zh" else _vietnamese(onset, rime, tone, number)


def written(packed: int, lang: str) -> str | None:
    """The text that an id writes; None where it writes none of its own (bytes, an escape, form 0, an impossible id).

    Arguments:
        packed: the id, with its form.
        lang: ``"vi"`` or ``"zh"``.
    """
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


def _characters(triple: int) -> NDArray[np.uint32]:
    """The code points of the characters that a packed syllable is the reading of, the commonest first."""
    tables = form_tables("zh")
    slots, (_, rimes, tones) = tables["slots"], tables["shape"].tolist()
    onset, rime, tone = (int(slots[256 * side + (triple >> 8 * side & 255)]) for side in range(3))
    if 255 in (onset, rime, tone):
        return tables["ranked"][:0]
    row = (onset * rimes + rime) * tones + tone
    return tables["ranked"][tables["begins"][row] : tables["begins"][row + 1]]


def characters_read(pinyin: str) -> list[str]:
    """The Mandarin characters that are read so, in the order of their ranks: the commonest first, at most 126.

    Arguments:
        pinyin: a syllable with its tone, as a mark or a number; without one it is in the neutral tone.

    Raises:
        ValueError: not a pinyin syllable.
    """
    return list(map(chr, _characters(vocabulary("zh").pack(mandarin.factorize(pinyin))).tolist()))


def spellings_read(syllable: str) -> list[str]:
    """The Vietnamese spellings, in lower case, that are read as one is: the standard one first (*hoà*, *hòa*).

    Arguments:
        syllable: one of them.

    Raises:
        ValueError: not a Vietnamese syllable.
    """
    found = vietnamese.factorize(syllable)
    if found is None:
        raise ValueError(f"{syllable!r} is not a Vietnamese syllable")
    mark = _tone_marks()[found.tone]
    ways = (_spelled(found.onset, found.rime, mark, spelling) for spelling in range(2 + MOST_SPELLINGS))
    return [way for way in ways if way]


def _mandarin(triple: int, number: int) -> Form | None:
    found = _characters(triple)
    return Form(chr(found[number - 1]), "character", rank=number - 1) if number <= len(found) else None


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
    ways = [letters, normalize("NFD", letters), _tone_apart(letters)]
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
    return normalize("NFC", text[: bearer + 1] + mark + text[bearer + 1 :])


def _tone_apart(letters: str) -> str:
    """A syllable in NFC with its tone mark as a combining character."""
    apart = ""
    for letter in letters:
        marks = normalize("NFD", letter)
        tone = "".join(mark for mark in marks if mark in _tone_marks().values())
        apart += normalize("NFC", "".join(mark for mark in marks if mark not in tone)) + tone
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


def character_ids(triple: int, text: str) -> list[int]:
    """The ids of a Mandarin character with a reading: one with its rank, or an escape where it has none.

    Arguments:
        triple: the packed reading, without a form.
        text: the character as it is written.
    """
    ranked = [chr(code) for code in _characters(triple).tolist()]
    if text in ranked:
        return [triple | ranked.index(text) + 1 << FORM_SHIFT]
    escaped = (UNKNOWN | byte_form(byte) << FORM_SHIFT for byte in utf8_of(text))
    return [triple | ESCAPED << FORM_SHIFT, *escaped, CLOSING]


def escapes(ids: NDArray[np.int32]) -> list[tuple[int, int]]:
    """The escapes among ids, as half-open ranges of positions: one that is escaped, its bytes, what closes them.

    One that is cut ends with its last byte.

    Arguments:
        ids: packed ids, int32 (N,).
    """
    unknown = (ids & TRIPLE) == UNKNOWN
    found = []
    for start in np.flatnonzero(((ids >> FORM_SHIFT) == ESCAPED) & ~unknown).tolist():
        end = start + 1
        while end < len(ids) and unknown[end] and ids[end] >> FORM_SHIFT not in (0, END_OF_ESCAPE):
            end += 1
        found.append((start, end + bool(end < len(ids) and ids[end] == CLOSING)))
    return found


def beginnings(ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Where a part of ids may begin: not in the middle of a character or an escape, nor with a mark.

    Arguments:
        ids: packed ids, shape (N,).

    Returns:
        bool (N,).
    """
    numbers, unknown = ids >> FORM_SHIFT, ids & TRIPLE == UNKNOWN
    white = (numbers >= WHITE) & (numbers < WHITE + len(WHITE_SPACE))
    begins: NDArray[np.bool_] = ~unknown | (numbers == 0) | white
    leads = np.flatnonzero(~begins & (numbers >= LEAD) & (numbers != END_OF_ESCAPE))
    if not len(leads):
        return begins
    bounds = np.where(~unknown | (numbers == 0) | (numbers == END_OF_ESCAPE), np.arange(len(ids)), -1)
    before = np.maximum.accumulate(bounds)[leads]
    free = (before < 0) | (numbers[before] != ESCAPED)
    keys = numbers[leads].astype(np.int64)  # the forms of a character's bytes, four at most
    goes_on = np.ones(len(leads), bool)
    for step in range(1, 4):
        places = np.minimum(leads + step, len(ids) - 1)
        goes_on &= (leads + step < len(ids)) & unknown[places] & (numbers[places] > 0) & (numbers[places] < LEAD)
        keys |= np.where(goes_on, numbers[places], 0).astype(np.int64) << 8 * step
    _, examples, kinds = np.unique(keys, return_index=True, return_inverse=True)
    chars = [_character_at(ids, int(leads[example])) for example in examples]
    may = [not char or characters.kind_of(char) in _OPENING for char in chars]
    begins[leads] = free & np.array(may, bool)[kinds]
    return begins


_OPENING = (characters.LETTER, characters.OTHER, characters.SPACE)


def without_forms(ids: Any, lang: str, joiner: str | None = None) -> NDArray[np.int32]:
    """The ids that the same text has without forms: the paper's.

    Arguments:
        ids: packed ids with forms, shape (N,).
        lang: ``"vi"`` or ``"zh"``.
        joiner: the tokenizer's ``word_joiner``.

    Returns:
        int32 (M,): ``ids & 0xFFFFFF`` without the positions that are bytes or white space; of a character that no
        symbol stands for its first byte stays, as [UNK].
    """
    packed = np.asarray(ids, np.int32)
    plain = packed & TRIPLE
    bytewise = (plain == UNKNOWN) & (packed != UNKNOWN)
    if not bytewise.any():
        return plain
    kept = ~bytewise
    inside = np.zeros(len(packed), bool)
    for start, end in escapes(packed):
        inside[start:end] = True
    for at in np.flatnonzero(bytewise & ~inside).tolist():
        char = _character_at(packed, at)
        if char and char != joiner:
            kind = characters.kind_of(char)
            kept[at] = kind in (characters.LETTER, characters.OTHER) or (
                kind == characters.JAMO and not _is_open(packed, at, lang, joiner)
            )
    made: NDArray[np.int32] = plain[kept]
    return made


def _character_at(ids: NDArray[np.int32], at: int) -> str:
    """The character whose first byte is at a position; "" where none is."""
    found = _byte(int(ids[at]) >> FORM_SHIFT)
    if found is None or found.kind == "white space" or not found.bytes or found.bytes[0] < 0xC0:
        return ""
    data, end = bytearray(found.bytes), at + 1
    while end < len(ids) and ids[end] & TRIPLE == UNKNOWN and 0 < ids[end] >> FORM_SHIFT < LEAD:
        data.append(0x80 + (int(ids[end]) >> FORM_SHIFT) - CONTINUATION)
        end += 1
    if data[0] < 0xC2:
        return chr((data[0] & 3) << 6 | data[1] & 63) if len(data) > 1 else ""
    try:
        return bytes(data[:4]).decode("utf-8", "surrogatepass")[:1]
    except UnicodeDecodeError:  # ids that no text has
        return ""


def _is_open(ids: NDArray[np.int32], at: int, lang: str, joiner: str | None) -> bool:
    """Whether a mark at a position would belong to the character before it."""
    breaks = characters.WORD_BREAKS if lang == "vi" else ""
    while at > 0:
        at -= 1
        number = int(ids[at]) >> FORM_SHIFT
        if ids[at] & TRIPLE != UNKNOWN or number == END_OF_ESCAPE:
            return True
        if WHITE <= number < WHITE + len(WHITE_SPACE):
            return False
        char = _character_at(ids, at)
        if char and (char == joiner or char in breaks or characters.kind_of(char) == characters.SPACE):
            return False
        if char and characters.kind_of(char) in (characters.LETTER, characters.OTHER, characters.JAMO):
            return True
    return False


def triples_with_forms(lang: str) -> list[int]:
    """Every packed triple, without a form, that a position with a form can have, but for [UNK].

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
    """
    vocab = vocabulary(lang)
    packed = [vocab.pack(fallback_triple(symbol)) for symbol in forms(lang).symbols]
    if lang == "zh":
        return packed + [vocab.pack(mandarin.factorize(pinyin)) for pinyin in forms(lang).syllables]
    heard = {(spelling.onset, spelling.rime) for spelling in vietnamese.spellings().values()}
    return packed + [vocab.pack(Triple(onset, rime, tone)) for onset, rime in sorted(heard) for tone in _tone_marks()]


def whole(ids: NDArray[np.int32], limit: int) -> int:
    """How many of the first ``limit`` ids to keep, so that no character and no escape is cut.

    Arguments:
        ids: packed ids, shape (N,).
        limit: positions there is room for.

    Returns:
        ``limit``, or less; but ``limit`` where nothing would be left, or nothing is cut.
    """
    if limit >= len(ids) or ids[limit] >> FORM_SHIFT == 0 or ids[limit] & TRIPLE != UNKNOWN_ID:
        return limit
    places = np.flatnonzero(beginnings(ids[: limit + 4])[1 : limit + 1])
    return int(places[-1]) + 1 if len(places) else limit
