"""Readings that a text states itself: ``行{háng}`` says how this one character is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from phonemic.encoding import Encoding
from phonemic.errors import PinyinError
from phonemic.forms import beginnings, character_ids
from phonemic.inventory import NATIVE, Triple
from phonemic.lexicon.user_phrases import latin
from phonemic.writing.pinyin import from_pinyin, has_erhua

#: The character of erhua, in both scripts.
_ER = ("儿", "兒")
#: A word of pinyin, with the *r* of erhua that dictionaries write apart.
_WORDS = re.compile(r"\S+(?:\s+[rR][05]?(?!\S))*")
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
            erhua is that of two (花儿{huār}), and letters and digits are their own (A股{A gǔ}).

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
            count = len(_for_each(match[1], before))
        except PinyinError as error:
            raise PinyinError(f"character {match.start()}: {match[0]!r}: {error}") from error
        if not 0 < count <= len(before):
            raise PinyinError(
                f"character {match.start()}: {match[0]!r} is of {count} characters, but {len(before)} are before it; "
                "write one syllable per character, as in 银行{yín háng}"
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

    A syllable with erhua may be stated of two positions, the second of which is 儿 and stays as it is read; letters and
    digits, which the pinyin repeats, stay too. With ``form=True`` the forms are those of the characters among the ones
    with the stated reading, so no text is lost.

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
    spans, begins, has_forms = encoding.spans, beginnings(encoding.ids), bool(encoding.forms.any())
    changed: dict[int, list[int]] = {}
    for (begin, end), pinyin in stated.items():
        first = int(np.searchsorted(spans[:, 1], begin, "right"))
        places = range(first, max(first, int(np.searchsorted(spans[:, 0], end))))
        heads = [place for place in places if begins[place]]
        texts = {head: encoding.text[slice(*spans[head].tolist())] for head in heads}
        parts = [(head, part) for head, text in texts.items() for part in (text if _all_latin(text) else [text])]
        triples = _for_each(pinyin, [part for _, part in parts])
        within = spans[places.start : places.stop]
        inside = bool((within >= begin).all() and (within <= end).all())
        read = [(head, triple) for (head, _), triple in zip(parts, triples, strict=False) if triple is not None]
        if not inside or len(triples) != len(parts) or any(encoding.kinds[head] != NATIVE for head, _ in read):
            raise PinyinError(
                f"characters {begin} to {end}, {encoding.text[begin:end]!r}: not the {len(triples)} "
                f"syllables of {pinyin!r}; state the readings of whole syllables"
            )
        after = dict(pairwise([*heads, places.stop]))
        for head, triple in read:
            packed = encoding.vocabulary.pack(triple)
            changed[head] = character_ids(packed, texts[head]) if has_forms else [packed]
            changed |= {place: [] for place in range(head + 1, after[head])}  # bytes of how it is written
    return _with_changes(encoding, changed)


def _with_changes(encoding: Encoding, changed: Mapping[int, list[int]]) -> Encoding:
    """An Encoding with other ids, or another number of them, at some positions."""
    counts = np.ones(len(encoding), np.int64)
    for place, own in changed.items():
        counts[place] = len(own)
    ids, starts = np.repeat(encoding.ids, counts), np.cumsum(counts) - counts
    for place, own in changed.items():
        ids[starts[place] : starts[place] + len(own)] = own
    try:
        words = encoding.word_ids
    except ValueError:  # a row of a batch that was encoded without them
        words = None
    return Encoding(
        encoding.text,
        ids,
        np.repeat(encoding.spans, counts, axis=0),
        None if words is None else np.repeat(words, counts),
        encoding.vocabulary,
    )


def _for_each(pinyin: str, texts: Sequence[str]) -> list[Triple | None]:
    """The readings that some pinyin states, one for each of the last texts; None where it leaves one as it is.

    That is a letter or digit, and the 儿 of erhua.
    """
    found: list[Triple | None] = []  # from the end
    for match in reversed([*_WORDS.finditer(pinyin)]):
        before = texts[: max(0, len(texts) - len(found))]
        if count := _letters(match[0], before):
            found += [None] * count
            continue
        triples, places = from_pinyin(" " * match.start() + match[0], spans=True)
        for triple, (begin, end) in zip(reversed(triples), reversed(places), strict=True):
            at = len(texts) - len(found)
            if has_erhua(pinyin[begin:end]) and at > 0 and texts[at - 1] in _ER:
                found.append(None)
            found.append(triple)
    return found[::-1]


def _letters(word: str, texts: Sequence[str]) -> int:
    """How many letters and digits a word of pinyin is, if the last texts are these in any case and width; else 0."""
    last = "".join(texts[-len(word) :]) if len(texts) >= len(word) else ""
    return len(word) if _all_latin(word) and list(map(latin, word)) == list(map(latin, last)) else 0


def _all_latin(text: str) -> bool:
    return all(map(latin, text))
