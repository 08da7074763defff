"""A text and the same text cut into words: which characters are which."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from phonemic.baselines.offsets import Rewritten

#: What stands within a word in the place of white space.
JOINER = "_"


#: A piece of a text, and how it is written.
Written = tuple[str, str]


def composed(text: str) -> list[Written]:
    """A text in pieces, most of them one character, that are put into NFC independently of each other."""
    pieces: list[str] = []
    for char in text:
        if pieces and _composes(pieces[-1], char):
            pieces[-1] += char
        else:
            pieces.append(char)
    return [(piece, unicodedata.normalize("NFC", piece)) for piece in pieces]


def _composes(piece: str, char: str) -> bool:
    if char.isascii():
        return False
    nfc = unicodedata.normalize
    return unicodedata.combining(char) != 0 or nfc("NFC", piece + char) != nfc("NFC", piece) + nfc("NFC", char)


def aligned(pieces: Iterable[Written], words: str) -> Rewritten | None:
    """Finds a text's characters in its segmented form.

    Arguments:
        pieces: the text, and how each piece of it is written.
        words: the segmented text: other white space, and "_" where white space lay within a word.

    Returns:
        Where the segmented text's characters come from; None where other characters differ too.
    """
    source: list[tuple[str, int, int]] = []
    end = 0
    for piece, written in pieces:
        start, end = end, end + len(piece)
        source += [(char, start, end) for char in written]
    starts, ends, at, behind = [], [], 0, 0
    for char in words:
        begin, stop = behind, behind
        if not char.isspace():
            here = at
            while here < len(source) and source[here][0].isspace():
                here += 1
            if here < len(source) and source[here][0] == char:
                begin, stop = source[here][1:]
                at = here + 1
            elif char == JOINER:
                stop = source[here][1] if here < len(source) else end
                at = here
            else:
                return None
        starts.append(begin)
        ends.append(stop)
        behind = stop
    return Rewritten([*starts, end], [*ends, end])
