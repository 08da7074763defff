"""How native a line is, and how many characters it has."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic.characters import JAMO, LETTER, OTHER, kind_of, normalize
from phonemic.inventory import EMPTY_ID, NATIVE, TRIPLE, UNK, UNKNOWN_ID, kinds_of, vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Flags of the first byte of a character, for :func:`characters`.
_COUNTS, _SUSPECT = 1, 2

#: Classes of the first two bytes of a character's UTF-8, for :func:`characters`.
_COMPOSES, _MAYBE_SPACE = 1, 2


def without_forms(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    ends: NDArray[np.int64],
    spans: NDArray[np.int32],
    joiner: str | None,
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Lines as a tokenizer without ``form=True`` encodes them: :func:`phonemic.forms.without_forms` of many.

    Arguments:
        data: UTF-8 of the lines.
        offsets: line i is ``data[offsets[i]:offsets[i + 1]]``, int64 (B + 1,).
        ids: packed ids of all lines, with forms, int32 (N,).
        ends: where each line's ids begin and end, int64 (B + 1,).
        spans: spans of the positions in bytes of their line, int32 (N, 2).
        joiner: the tokenizer's ``word_joiner``.

    Returns:
        Its ids (M,), ends (B + 1,) and spans (M, 2).
    """
    kept = np.ones(len(ids), bool)  # all bytes of a character, and of an escape, have one span
    kept[1:] = (spans[1:] != spans[:-1]).any(axis=1)
    kept[ends[:-1][np.diff(ends) > 0]] = True
    plain = ids & TRIPLE
    bytewise = np.flatnonzero(kept & (plain == UNKNOWN_ID) & (ids != UNKNOWN_ID))
    lines = np.searchsorted(ends, bytewise, side="right") - 1
    codes, index = np.unique(_code_points(data, offsets[lines] + spans[bytewise, 0]), return_inverse=True)
    chars = map(chr, codes.tolist())
    stay = [char != joiner and kind_of(char) in (LETTER, OTHER, JAMO) for char in chars]
    kept[bytewise] = np.array(stay, bool)[index]
    return plain[kept], np.concatenate([[0], kept.cumsum()])[ends], spans[kept]


def native_units(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    ends: NDArray[np.int64],
    spans: NDArray[np.int32],
    lang: str,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts the native units of each line and all its units; punctuation and symbols are not units (section 5.1).

    A native unit is a position that is a syllable. Another unit is a run of letters and digits that touch, in
    Vietnamese (a foreign word is one unit), or one letter or digit, in Mandarin (where the paper counts characters).

    Arguments:
        data: UTF-8 of the lines.
        offsets: line i is ``data[offsets[i]:offsets[i + 1]]``, int64 (B + 1,).
        ids: packed ids of all lines, int32 (N,).
        ends: where each line's ids begin and end, int64 (B + 1,).
        spans: spans of the positions in bytes of their line, int32 (N, 2).
        lang: the language.

    Returns:
        The native units and the units of each line, int64 (B,) both.
    """
    lines = len(ends) - 1
    other = np.flatnonzero(kinds_of(ids) != NATIVE)
    line = np.repeat(np.arange(lines, dtype=np.int32), np.diff(ends))[other]
    native = np.diff(ends) - np.bincount(line, minlength=lines)
    symbol = ids[other] >> 16  # a character wherever the fallback packs none, one or more
    alphanumeric = _alphanumeric_symbols(lang)[symbol]
    unknown = np.flatnonzero(symbol == UNK)
    if len(unknown):
        codes = _code_points(data, offsets[line[unknown]] + spans[other[unknown], 0])
        kinds, index = np.unique(codes, return_inverse=True)
        alphanumeric[unknown] = np.array([_is_alphanumeric(chr(code)) for code in kinds.tolist()], bool)[index]
    at, line = other[alphanumeric], line[alphanumeric]
    if lang == "vi":
        begins = np.ones(len(at), bool)
        touching = (spans[at[1:], 0] == spans[at[:-1], 1]) & (at[1:] == at[:-1] + 1) & (line[1:] == line[:-1])
        begins[1:] = ~touching
        line = line[begins]
    else:
        line = np.repeat(line, _characters_in(ids[at]))
    return native, native + np.bincount(line, minlength=lines)


def _characters_in(ids: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many characters of the fallback share each position: 1, or 2 or 3 where they are packed."""
    return np.where(ids == (ids & 0xFF) * 0x010101, 1, 2 + (ids & 0xFF != EMPTY_ID))


@cache
def _alphanumeric_symbols(lang: str) -> NDArray[np.bool_]:
    symbols = vocabulary(lang).symbols
    flags = np.zeros(256, bool)
    flags[: len(symbols)] = [len(symbol) == 1 and _is_alphanumeric(symbol) for symbol in symbols]
    return flags


def _is_alphanumeric(char: str) -> bool:
    return kind_of(char) == LETTER or char.isalnum()


def _code_points(data: NDArray[np.uint8], at: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The characters that begin at these bytes."""
    lead = data[at].astype(np.uint32)
    size = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
    codes = np.where(size == 1, lead, lead & (0x7F >> size))
    for step in (1, 2, 3):
        inside = np.flatnonzero(size > step)
        codes[inside] = codes[inside] << 6 | data[at[inside] + step] & 0x3F
    return codes.astype(np.uint32)


def characters(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """The number of characters of each line: code points of its NFC that are not white space.

    Arguments:
        data: UTF-8 of the lines, valid.
        offsets: line i is ``data[offsets[i]:offsets[i + 1]]``, int64 (B + 1,).

    Returns:
        int32 (B,).
    """
    first, last = int(offsets[0]), int(offsets[-1])
    text = data[first:last]
    flags = np.frombuffer(text.tobytes().translate(_byte_flags()), np.uint8)
    counts = _sums(flags & _COUNTS, offsets - first)
    suspects = np.flatnonzero(flags & _SUSPECT)
    kind = _pair_kinds()[text[suspects].astype(np.int64) << 8 | text[suspects + 1]]
    maybe = suspects[kind == _MAYBE_SPACE]
    spaces = maybe[np.isin(_code_points(text, maybe), _wide_spaces())]
    line = np.searchsorted(offsets - first, spaces, side="right") - 1
    counts -= np.bincount(line, minlength=len(counts))
    for at in np.unique(np.searchsorted(offsets - first, suspects[kind == _COMPOSES], side="right") - 1).tolist():
        composed = normalize("NFC", data[offsets[at] : offsets[at + 1]].tobytes().decode())
        counts[at] = len(composed) - sum(map(str.isspace, composed))
    return counts.astype(np.int32)


def _sums(values: NDArray[np.integer[Any]], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of each row; of an empty row 0."""
    sums = np.zeros(len(offsets) - 1, np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        sums[filled] = np.add.reduceat(values, offsets[filled], dtype=np.int64)
    return sums


@cache
def _byte_flags() -> bytes:
    """For each byte, what it may be: the first of a character that counts (no ASCII white space), or of a suspect."""
    leads = {pair >> 8 for pair in np.flatnonzero(_pair_kinds()).tolist()}
    return bytes(
        (_COUNTS if byte & 0xC0 != 0x80 and not (byte < 0x80 and chr(byte).isspace()) else 0)
        | (_SUSPECT if byte in leads else 0)
        for byte in range(256)
    )


@cache
def _wide_spaces() -> NDArray[np.uint32]:
    return np.array([code for code in range(0x80, 0x10000) if chr(code).isspace()], np.uint32)


@cache
def _pair_kinds() -> NDArray[np.uint8]:
    """The classes of the first two bytes of characters."""
    kinds = np.zeros(1 << 16, np.uint8)
    for kind, chars in ((_MAYBE_SPACE, map(chr, _wide_spaces().tolist())), (_COMPOSES, _composing())):
        for char in chars:
            first, second, *_ = char.encode()
            kinds[first << 8 | second] = kind
    return kinds


def _composing() -> Iterable[str]:
    """Characters that NFC may join with one before them, or write as several."""
    yield from map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)))  # Hangul vowels and finals
    for code in range(0x80, 0x30000):
        char = chr(code)
        parts = unicodedata.decomposition(char)
        if parts and parts[0] != "<":
            if len(normalize("NFC", char)) > 1:
                yield char
            elif len(parts.split()) == 2:
                yield chr(int(parts.split()[1], 16))
