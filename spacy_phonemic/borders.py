"""Where names may begin, end and not go on in a Doc: at tokens, and at what parts the words of a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from spacy.tokens import Doc

from phonemic import Encoding
from phonemic.sound.sounds import sounds
from phonemic.tokenizer import Tokenizer

#: Characters that are allowed within a name, besides white space: hyphens, middle dots, apostrophes, "&" and "+".
JOINS = frozenset("-\u2010\u2011\u00b7\u30fb\u2027'\u2019_&+\uff06\uff0b")
_MARK = re.compile(rf"[^\w\s{re.escape(''.join(sorted(JOINS)))}]")


class Borders(NamedTuple):
    """Where names may begin and end in a Doc.

    Attributes:
        tokens: of each position that is heard the token that it is in.
        starts: the positions with which the sound of a token begins.
        ends: those before which that of a token has ended.
        breaks: those before which no name continues, and what is before them.
    """

    tokens: dict[int, int]
    starts: list[int]
    ends: list[int]
    breaks: dict[int, str]


def borders_of(doc: Doc, encoding: Encoding, lang: str) -> Borders:
    """Looks through a Doc.

    Arguments:
        doc: the Doc.
        encoding: its text, encoded.
        lang: the language of the encoding.
    """
    heard = sorted({*sounds(lang).heard(encoding.ids)[1].tolist()})
    spans, text, begins = encoding.spans.tolist(), doc.text, [token.idx for token in doc]
    tokens = {at: bisect_right(begins, spans[at][0]) - 1 for at in heard}
    across = {at: bisect_right(begins, spans[at][1] - 1) - 1 for at in heard}
    starts, ends, breaks, before = [], [], dict[int, str](), None
    for at in heard:
        if before is None or across[before] != tokens[at]:
            starts.append(at)
            if before is not None and across[before] == tokens[before]:
                ends.append(before + 1)
        between = "" if before is None else text[spans[before][1] : spans[at][0]]
        if is_empty_line(between) or parting(between):
            breaks[at] = between
        before = at
    if before is not None:
        ends.append(before + 1)
    return Borders(tokens, starts, ends, breaks)


def is_empty_line(between: str) -> bool:
    """Whether what is between two positions holds an empty line."""
    return len(f"{between}.".splitlines()) > 2


def parting(text: str) -> frozenset[str]:
    """The characters that part names where they are not heard: neither white space nor any of JOINS."""
    return frozenset(char for char in text if not (char.isspace() or char in JOINS))


def marks_within(name: str, tokenizer: Tokenizer) -> frozenset[str]:
    """The marks that part the syllables of a name."""
    if not _MARK.search(name):
        return frozenset()
    encoding = tokenizer.encode(name)
    heard = encoding.spans[sounds(tokenizer.lang).heard(encoding.ids)[1]].tolist()
    return frozenset().union(*(parting(name[one[1] : other[0]]) for one, other in pairwise(heard)))
