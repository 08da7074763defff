"""Text from ids with forms, position by position: what the core's ``native/_decode.pyx`` leaves, and its plain twin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from phonemic.encoding import Syllable, syllable_of, token_of
from phonemic.errors import DecodingError
from phonemic.forms import CLOSING, ESCAPED, LEAD, UNKNOWN, Form, form_of
from phonemic.inventory import FORM_SHIFT, NATIVE, SPECIALS, TRIPLE, Vocabulary, kinds_of
from phonemic.writing.pieces import PLAIN, SKIPPED, SLOW, Piece

#: The sign that is written for a missing part.
REPLACEMENT = "\ufffd"


def special_of(number: int) -> str:
    """The special symbol, other than [UNK], that a packed id is three times; "" where it is none."""
    symbol = number & 255
    return SPECIALS[symbol] if symbol < len(SPECIALS) and number == symbol * 0x010101 != UNKNOWN else ""


def form_piece(lang: str, skip_special_tokens: bool) -> Callable[[int], Piece]:
    """The function that tells how an id with a form is written.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        skip_special_tokens: leave out the special symbols.
    """

    def piece(number: int) -> Piece:
        if special_of(number):
            return Piece("", SKIPPED) if skip_special_tokens else Piece(special_of(number))
        if number == UNKNOWN:
            return Piece(REPLACEMENT)
        form = form_of(number, lang)
        if form is None or form.kind == "none":
            return Piece("", SLOW)
        return Piece("", SKIPPED) if form.kind == "escaped" else Piece(form.text, PLAIN)

    return piece


class Writer:
    """Writes one row of ids with forms.

    Arguments:
        vocabulary: the symbols.
        unit: writes one position without a form.
        skip_special_tokens: leave out the special symbols.
        replace: write U+FFFD for what is wrong, instead of an error.
    """

    def __init__(
        self, vocabulary: Vocabulary, unit: Callable[[int], str], skip_special_tokens: bool, replace: bool
    ) -> None:
        self._vocabulary = vocabulary
        self._unit = unit
        self._skip = skip_special_tokens
        self._replace = replace

    def write(self, ids: NDArray[np.int32]) -> str:
        """The text.

        A character, or an escape, that is cut off at the beginning or the end of the row, or by a special symbol, gives
        U+FFFD for what is missing. A position without a form is separated by spaces.

        Raises:
            DecodingError: ids that no text has; the message names the position, the id, and what is wrong.
        """
        pieces: list[str] = []
        numbers, at = ids.tolist(), 0
        beginning, alone = True, False  # whether only bytes came since the row, or a special symbol; whether a unit did
        while at < len(numbers):
            number = numbers[at]
            symbol = special_of(number)
            if symbol:
                at, beginning, written = at + 1, True, "" if self._skip else symbol
            else:
                form = form_of(number, self._vocabulary.lang)
                if form is None:
                    at, written = at + 1, self._wrong(at, number, "no position can have this form")
                elif form.kind == "none":
                    written = REPLACEMENT if number == UNKNOWN else self._unit(number)
                    at += 1
                    if number != UNKNOWN:
                        if pieces and not pieces[-1][-1:].isspace():
                            written = " " + written
                        pieces.append(written)
                        alone, beginning = True, False
                        continue
                elif form.kind == "escaped":
                    at, written = self._escape(numbers, at)
                elif form.kind in ("bytes", "end of escape"):
                    at, written = self._bytes(numbers, at, beginning)
                else:
                    at, written = at + 1, form.text
                beginning = beginning and form is not None and form.kind in ("bytes", "end of escape")
            if alone and written and not written[:1].isspace():
                pieces.append(" ")
            alone = alone and not written
            pieces.append(written)
        return "".join(pieces)

    def _wrong(self, at: int, number: int, why: str) -> str:
        if self._replace:
            return REPLACEMENT
        parts = [number >> shift & 255 for shift in (0, 8, 16)]
        if number < 0 or max(parts) >= len(self._vocabulary):
            why = f"{parts} is not in the {self._vocabulary.lang} vocabulary"
        raise DecodingError(f"position {at}: id {number & 0xFFFFFFFF:#x}: {why}; errors='replace' writes U+FFFD for it")

    def _run(self, numbers: list[int], at: int) -> tuple[int, bytearray]:
        """The bytes from a position on, and where they end."""
        data = bytearray()
        while at < len(numbers):
            found = self._form_of_bytes(numbers[at])
            if found is None or found.kind not in ("bytes", "white space"):
                break
            data += found.bytes or found.text.encode()
            at += 1
        return at, data

    def _form_of_bytes(self, number: int) -> Form | None:
        return form_of(number, self._vocabulary.lang) if number & TRIPLE == UNKNOWN != number else None

    def _is_cut(self, numbers: list[int], at: int) -> bool:
        """Whether the row, or a part of it, ends before a position."""
        return at == len(numbers) or bool(special_of(numbers[at]))

    def _text(self, data: bytearray, at: int, number: int, beginning: bool, end: bool) -> str:
        """The text of bytes, cut at the beginning, or at the end, of the row."""
        text, place, missing = "", 0, False
        while place < len(data):
            size = length_of(data, place)
            if size:
                text += character_of(data[place : place + size])
            elif beginning and not text and 0x80 <= data[place] < 0xC0:
                missing = True
            elif end and could_begin(data[place:]):
                return "\ufffd" * missing + text + REPLACEMENT
            else:
                text += self._wrong(at + place, number, f"byte {data[place]:#04x} is not UTF-8 here")
            place += size or 1
        return REPLACEMENT * missing + text

    def _bytes(self, numbers: list[int], at: int, beginning: bool) -> tuple[int, str]:
        stop, data = self._run(numbers, at)
        if stop == at:
            return at + 1, "" if beginning else self._wrong(at, numbers[at], "it closes an escape that was not opened")
        return stop, self._text(data, at, numbers[at], beginning, self._is_cut(numbers, stop))

    def _escape(self, numbers: list[int], at: int) -> tuple[int, str]:
        stop, data = self._run(numbers, at + 1)
        closing = self._form_of_bytes(numbers[stop]) if stop < len(numbers) else None
        closed = closing is not None and closing.kind == "end of escape"
        if closed and data:
            return stop + 1, self._text(data, at + 1, numbers[at], False, False)
        if self._is_cut(numbers, stop):
            text = self._text(data, at + 1, numbers[at], False, True)
            return stop, text if text.endswith(REPLACEMENT) else text + REPLACEMENT
        text = self._wrong(at, numbers[at], "the bytes of how it is written are missing or not closed")
        return stop + closed, text


def syllables_of(ids: NDArray[np.int32], vocabulary: Vocabulary) -> list[Syllable]:
    """One Syllable per position that is not a byte of another, read from ids with forms alone.

    Arguments:
        ids: packed ids, shape (N,).
        vocabulary: the symbols.

    Raises:
        DecodingError: ids that no text has.
    """
    writer = Writer(vocabulary, lambda number: token_of(vocabulary.unpack(number), NATIVE), True, False)
    made: list[Syllable] = []
    at = place = 0
    while at < len(ids):
        end = at + 1
        if ids[at] >> FORM_SHIFT == ESCAPED:
            while end < len(ids) and ids[end - 1] != CLOSING:
                end += 1
        else:
            while end < len(ids) and ids[end] & TRIPLE == UNKNOWN and 0 < ids[end] >> FORM_SHIFT < LEAD:
                end += 1
        text = writer.write(ids[at:end])
        spaced = text != " " and text.startswith(" ")
        native = bool(kinds_of(ids[at : at + 1])[0] == NATIVE)
        syllable = syllable_of(vocabulary.unpack(int(ids[at])), native, text, int(spaced), len(text))
        made.append(syllable._replace(start=place + spaced, end=place + len(text)))
        at, place = end, place + len(text)
    return made


def length_of(data: bytearray, at: int) -> int:
    """How many bytes the character at a place has; 0 where none is complete there."""
    first = data[at]
    size = 2 if 0xC0 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4 if 0xF0 <= first < 0xF5 else 0
    if first < 0x80:
        return 1
    found = data[at : at + size]
    if not size or len(found) < size or any(byte & 0xC0 != 0x80 for byte in found[1:]):
        return 0
    code = ord_of(found)
    return size if first < 0xC2 or (0x80, 0x800, 0x10000)[size - 2] <= code <= 0x10FFFF else 0


def ord_of(found: bytes | bytearray) -> int:
    """The code point of a character's bytes."""
    code = found[0] & 0x7F >> len(found)
    for byte in found[1:]:
        code = code << 6 | byte & 63
    return code


def character_of(found: bytes | bytearray) -> str:
    """The character that bytes are."""
    return chr(found[0]) if len(found) == 1 else chr(ord_of(found))


def could_begin(data: bytes | bytearray) -> bool:
    """Whether bytes are the beginning of a character."""
    size = 2 if 0xC0 <= data[0] < 0xE0 else 3 if 0xE0 <= data[0] < 0xF0 else 4 if 0xF0 <= data[0] < 0xF5 else 0
    return len(data) < size and all(byte & 0xC0 == 0x80 for byte in data[1:])
