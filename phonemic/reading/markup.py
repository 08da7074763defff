"""Readings that a text states itself: ``行{háng}`` says how this one character is read."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from phonemic.encoding import Encoding
from phonemic.errors import PinyinError
from phonemic.forms import beginnings, character_ids
from phonemic.inventory import NATIVE, Triple
from phonemic.writing.pinyin import from_pinyin, has_erhua

#: The character of erhua, in both scripts.
_ER = ("儿", "兒")
_ALONE = [[char] for char in _ER]
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
        text: behind characters, one or more syllables of pinyin in braces, one per character before them; one with
            erhua is that of two (花儿{huār}).

    Returns:
        The text without them, and what they say, as :func:`with_readings` takes it.

    Raises:
        PinyinError: what is in braces is not pinyin, or has more syllables than characters stand before it.
        TypeError: ``text`` is not a str.
    """
    if not isinstance(text, str):
        raise TypeError(f"unmarked takes a str, not {type(text).__name__}")
    parts: list[str] = []
    stated: Stated = {}
    at = length = 0
    for match in _STATED.finditer(text):
        before = text[at : match.start()]
        parts.append(before)
        length, at = length + len(before), match.end()
        try:
            count = _covered(before, match[1])
        except PinyinError as error:
            raise PinyinError(f"character {match.start()}: {match[0]!r}: {error}") from error
        if not 0 < count <= len(before):
            raise PinyinError(
                f"character {match.start()}: {match[0]!r} is of {count} characters, but {len(before)} are before it; "
                "write one syllable per character, as in 银行{yín háng}"
            )
        stated[length - count, length] = match[1]
    return "".join([*parts, text[at:]]), stated


def _covered(before: str, pinyin: str) -> int:
    """How many characters at the end of a text some pinyin is of: one per syllable, and the 儿 of erhua."""
    count = 0
    for begin, end in reversed(from_pinyin(pinyin, spans=True)[1]):
        count += 1
        if has_erhua(pinyin[begin:end]) and before[: len(before) - count + 1].endswith(_ER):
            count += 1
    return count


def with_readings(encoding: Encoding, stated: Mapping[tuple[int, int], str]) -> Encoding:
    """Return an Encoding whose characters at some places are read as stated.

    >>> from phonemic import Tokenizer
    >>> from phonemic.reading.markup import with_readings
    >>> zh = Tokenizer("zh")
    >>> zh.decode(with_readings(zh.encode("他行"), {(1, 2): "háng"}))
    'tā háng'

    A syllable with erhua may be stated of two positions, the second of which is 儿 and stays as it is read. With
    ``form=True`` the forms are those of the characters among the ones with the stated reading, so no text is lost.

    Arguments:
        encoding: of Mandarin, with spans.
        stated: (begin, end) in code points of the text -> pinyin, one syllable for each character there.

    Raises:
        PinyinError: it is not pinyin, or a span does not hold as many syllables as its pinyin has.
        TypeError: ``encoding`` is not an Encoding, or ``stated`` not a mapping.
        ValueError: the text is not Mandarin, or the encoding has no spans.
    """
    if not isinstance(encoding, Encoding) or not isinstance(stated, Mapping):
        raise TypeError(
            "with_readings takes an Encoding and a dict {(begin, end): pinyin}, "
            f"not {type(encoding).__name__} and {type(stated).__name__}"
        )
    if encoding.vocabulary.lang != "zh":
        raise ValueError("readings are stated in pinyin, for Mandarin only")
    ids, spans = [[packed] for packed in encoding.ids.tolist()], encoding.spans
    begins, has_forms = beginnings(encoding.ids), bool(encoding.forms.any())
    for (begin, end), pinyin in stated.items():
        places = np.flatnonzero((spans[:, 0] < end) & (spans[:, 1] > begin))
        heads = [place for place in places.tolist() if begins[place]]
        inside = bool((spans[places] >= begin).all() and (spans[places] <= end).all())
        triples = _for_each(encoding, heads, pinyin) if inside else None
        if triples is None:
            raise PinyinError(
                f"characters {begin} to {end}, {encoding.text[begin:end]!r}: not the {len(from_pinyin(pinyin))} "
                f"syllables of {pinyin!r}; state the readings of whole syllables"
            )
        for place in set(places.tolist()) - set(heads):
            ids[place] = []  # bytes of how the one before is written
        for place, triple in zip(heads, triples, strict=True):
            if triple is not None:
                packed = encoding.vocabulary.pack(triple)
                text = encoding.text[slice(*spans[place].tolist())]
                ids[place] = character_ids(packed, text) if has_forms else [packed]
    try:
        words = encoding.word_ids
    except ValueError:  # a row of a batch that was encoded without them
        words = None
    counts = [len(own) for own in ids]
    return Encoding(
        encoding.text,
        np.array([packed for own in ids for packed in own], np.int32),
        np.repeat(spans, counts, axis=0),
        None if words is None else np.repeat(words, counts),
        encoding.vocabulary,
    )


def _for_each(encoding: Encoding, heads: list[int], pinyin: str) -> list[Triple | None] | None:
    """The triple of each position, None for a 儿 that stays; None where they are not the pinyin's syllables."""
    triples, places = from_pinyin(pinyin, spans=True)
    texts = [encoding.text[slice(*encoding.spans[place].tolist())] for place in heads]
    found: list[Triple | None] = []
    for triple, (begin, end) in zip(triples, places, strict=True):
        found.append(triple)
        if len(triples) < len(heads) and has_erhua(pinyin[begin:end]) and texts[len(found) : len(found) + 1] in _ALONE:
            found.append(None)
    native = all(encoding.kinds[place] == NATIVE for place in heads)
    return found if native and len(found) == len(heads) else None
