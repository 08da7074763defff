"""Readings that a text states itself: ``行{háng}`` says how this one character is read."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from phonemic.encoding import Encoding
from phonemic.errors import PinyinError
from phonemic.inventory import NATIVE
from phonemic.writing.pinyin import from_pinyin

#: The text in braces behind characters.
_STATED = re.compile(r"\{([^{}]*)\}")

#: (begin, end) in a text -> the pinyin of the characters there.
Stated = dict[tuple[int, int], str]


def unmarked(text: str) -> tuple[str, Stated]:
    """Take stated readings out of a text.

    >>> from phonemic.reading.markup import unmarked
    >>> unmarked("去银行{yín háng}，不行{xíng}")
    ('去银行，不行', {(1, 3): 'yín háng', (5, 6): 'xíng'})

    Arguments:
        text: behind characters, one or more syllables of pinyin in braces, one per character before them.

    Returns:
        The text without them, and what they say, as :func:`with_readings` takes it.

    Raises:
        PinyinError: what is in braces is not pinyin, or has more syllables than characters stand before it.
    """
    parts: list[str] = []
    stated: Stated = {}
    at = length = 0
    for match in _STATED.finditer(text):
        before = text[at : match.start()]
        parts.append(before)
        length, at = length + len(before), match.end()
        try:
            count = len(from_pinyin(match[1]))
        except PinyinError as error:
            raise PinyinError(f"character {match.start()}: {match[0]!r}: {error}") from error
        if not 0 < count <= len(before):
            raise PinyinError(
                f"character {match.start()}: {match[0]!r} has {count} syllables behind {len(before)} characters; write "
                "one syllable per character, as in 银行{yín háng}"
            )
        stated[length - count, length] = match[1]
    return "".join([*parts, text[at:]]), stated


def with_readings(encoding: Encoding, stated: Mapping[tuple[int, int], str]) -> Encoding:
    """Return an Encoding whose characters at some places are read as stated.

    >>> from phonemic import Tokenizer
    >>> from phonemic.reading.markup import with_readings
    >>> zh = Tokenizer("zh")
    >>> zh.decode(with_readings(zh.encode("他行"), {(1, 2): "háng"}))
    'tā háng'

    Arguments:
        encoding: of Mandarin, with spans.
        stated: (begin, end) in code points of the text -> pinyin, one syllable for each position there.

    Raises:
        PinyinError: it is not pinyin.
        ValueError: a span does not hold as many syllables as its pinyin has, or the text is not Mandarin.
    """
    if encoding.vocabulary.lang != "zh":
        raise ValueError("readings are stated in pinyin, for Mandarin only")
    ids, spans = encoding.ids.copy(), encoding.spans
    for (begin, end), pinyin in stated.items():
        triples = from_pinyin(pinyin)
        places = np.flatnonzero((spans[:, 0] < end) & (spans[:, 1] > begin))
        inside = bool((spans[places] >= begin).all() and (spans[places] <= end).all())
        if not inside or len(places) != len(triples) or (encoding.kinds[places] != NATIVE).any():
            raise ValueError(
                f"characters {begin} to {end}, {encoding.text[begin:end]!r}: not the {len(triples)} syllables of "
                f"{pinyin!r}; state the readings of whole syllables"
            )
        ids[places] = [encoding.vocabulary.pack(triple) for triple in triples]
    try:
        words = encoding.word_ids
    except ValueError:  # a row of a batch that was encoded without them
        words = None
    return Encoding(encoding.text, ids, spans, words, encoding.vocabulary)
