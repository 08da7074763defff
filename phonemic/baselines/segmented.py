"""A text and the same text cut into words: which characters are which."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import pairwise

from phonemic.baselines.offsets import Rewritten
from phonemic.characters import normalize

#: The character in the place of white space within a word.
JOINER = "_"


#: A piece of a text, and how it is written.
Written = tuple[str, str]


def composed(text: str) -> list[Written]:
    """A text in pieces, most of them one character, that are put into NFC independently of each other."""
    starts = [at for at, char in enumerate(text) if not at or not _composes(text[max(at - 3, 0) : at], char)]
    pieces = [text[start:stop] for start, stop in pairwise([*starts, len(text)])]
    return [(piece, normalize("NFC", piece)) for piece in pieces]


def _composes(before: str, char: str) -> bool:
    """Whether a character is a mark, or joins what is just before it: the parts of a Hangul syllable are three."""
    if char.isascii():
        return False
    mark = unicodedata.combining(normalize("NFD", char)[0]) != 0
    return mark or normalize("NFC", before + char) != normalize("NFC", before) + normalize("NFC", char)


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
