"""Pinyin as people type it, to triples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import accumulate, islice, pairwise
from typing import Literal, overload

from phonemic import mandarin
from phonemic.characters import normalize, plain
from phonemic.errors import PinyinError
from phonemic.inventory import Triple

#: Characters that separate syllables besides white space: hyphens, the apostrophes of xi'an, and punctuation; not the
#: colon of u:.
_APART_BY = r"\s'\u2018\u2019\u02bc\-\u2010-\u2015.,!?;\"()\[\]{}/…·“”«»、，。！？；：（）《》〈〉「」『』【】—"
_PARTS = re.compile(rf"(?:[^{_APART_BY}:]|(?<=[uU]):(?=\w))+")

#: No syllable has more letters (zhuang), each with a tone mark, and an r and a number.
_LONGEST = 6

#: So many letters are cut in more than one way.
_MOST_LETTERS = 40

#: Syllables that no character has as its usual reading: other readings, interjections, and what dialects lend.
_RARE = [
    "dei", "shei", "zhei", "nei", "lo", "yo", "o", "ei", "ê", "m", "n", "ng", "hm", "hng", "kei", "cei", "den",
    "eng", "chua", "pia", "dia", "nia", "rua", "zhuai", "chuai", "biang", "duang", "fiao", "lia", "nou", "nin",
    "neng", "seng", "sei", "zei", "tei", "nun", "lüan", "len", "din", "bong",
]  # fmt: skip

#: The *r* that dictionaries write apart: hui4 r5.
_APART = re.compile("r[05]?")

#: A letter with its marks; syllables of consonants alone.
_CLUSTER = re.compile(r".[\u0300-\u036f]*", re.DOTALL)
_CONSONANTS = re.compile(r"[mngh\u0144\u0148\u01f9\u1e3f\u0300-\u036f\d]+")

#: A syllable that 儿 merges with: huār, huar1.
_ERHUA = re.compile(r"(.+[^\d:])r(\d?)")


@overload
def from_pinyin(text: str) -> list[Triple]: ...


@overload
def from_pinyin(text: str, *, spans: Literal[False]) -> list[Triple]: ...


@overload
def from_pinyin(text: str, *, spans: Literal[True]) -> tuple[list[Triple], list[tuple[int, int]]]: ...


def from_pinyin(text: str, *, spans: bool = False) -> list[Triple] | tuple[list[Triple], list[tuple[int, int]]]:
    """Reads pinyin.

    >>> from phonemic import from_pinyin
    >>> from_pinyin("yin2 hang2") == from_pinyin("yínháng")
    True
    >>> from_pinyin("Xī'ān")
    [Triple(onset='ɕ', rime='i', tone='˥˥'), Triple(onset='[EMPTY]', rime='an', tone='˥˥')]
    >>> from_pinyin("Nǐ hǎo, shìjiè.", spans=True)[1]
    [(0, 2), (3, 6), (8, 11), (11, 14)]

    Arguments:
        text: syllables with tone marks (``yín háng``), numbers (``yin2 hang2``; 5 and 0 are the neutral tone) or
            neither (neutral), in any case, NFC or NFD; ``v`` and ``u:`` are *ü*. White space, hyphens, apostrophes and
            punctuation part syllables; in what is written together a syllable is as long as it can be, and none begins
            with *a*, *e* or *o*, which takes an apostrophe (*Xī'ān*), unless it cannot be read otherwise. Syllables
            are the ones that some character has. The *r* of erhua (``huār``, ``huar1``, ``hua1 r5``) changes nothing:
            the triple is that of the syllable. An *er* that is a syllable is preferred (``yánér`` is *yán ér*).
        spans: return where each syllable begins and ends in the text, too.

    Returns:
        A triple of symbols per syllable, as :attr:`phonemic.Encoding.triples` has them; with ``spans`` these and a
        (begin, end) of each.

    Raises:
        PinyinError: a part is not pinyin; the message says which and where it is.
        TypeError: ``text`` is not a str.
    """
    if not isinstance(text, str):
        raise TypeError(f"from_pinyin takes a str, not {type(text).__name__}")
    found: list[Triple] = []
    places: list[tuple[int, int]] = []
    for part in _PARTS.finditer(plain(text)):
        clusters = [(part.start() + match.start(), match[0]) for match in _CLUSTER.finditer(part[0])]
        letters = [(at, normalize("NFC", cluster.lower())) for at, cluster in clusters]
        written = "".join(letter for _, letter in letters)
        if found and _APART.fullmatch(written):
            places[-1] = places[-1][0], part.end()
            continue
        syllables = None if _told_twice(written) else _cut(written)
        if syllables is None:
            raise PinyinError(f"character {part.start()}: {_short(part[0])!r} is not pinyin; {_why(written)}")
        found += map(_factorized, syllables)
        begins = [*(at for at, letter in letters for _ in letter), part.end()]
        ends = [*accumulate(map(len, syllables), initial=0)]
        places += [(begins[begin], begins[end]) for begin, end in pairwise(ends)]
    return (found, places) if spans else found


#: How what is written together may be read, the first way that it can be: whether a syllable may begin with a vowel,
#: whether it may have an *r* of erhua, and whether it may be a consonant alone.
_WAYS = ((False, False, False), (True, False, False), (False, True, True), (True, True, True))


def _cut(written: str) -> list[str] | None:
    """The syllables of letters written together; None where they are not pinyin."""
    for bare_vowels, erhua, consonants in _WAYS:
        ends = [0] * len(written) + [len(written)]  # where the syllable from each place on ends; 0 where none does
        for start in range(len(written) - 1, -1, -1):
            if start and written[start] in "aeoāáǎàēéěèōóǒòê" and not bare_vowels and not written[start - 1].isdigit():
                continue
            for end in range(min(len(written), start + _LONGEST + 3), start, -1):
                if ends[end] and _may_be(written[start:end], erhua, consonants):
                    ends[start] = end
                    break
        if ends[0]:
            return _parts(written, ends)
    return None


def cuts(text: str, most: int) -> list[list[Triple]]:
    """All ways to read pinyin, that of :func:`from_pinyin` first: *xian* is one syllable, or *xi* and *an*.

    Arguments:
        text: as :func:`from_pinyin` takes it.
        most: so many ways at most; of more than 40 letters the usual one alone.

    Returns:
        The triples of each way.

    Raises:
        PinyinError: a part is not pinyin.
    """
    usual = from_pinyin(text)
    parts = tuple(normalize("NFC", part[0].lower()) for part in _PARTS.finditer(plain(text)))
    if sum(map(len, parts)) > _MOST_LETTERS:
        return [usual]
    found = ([*map(_factorized, way)] for way in _ways(parts))
    return [usual, *islice((way for way in found if way != usual), most - 1)]


def _ways(parts: tuple[str, ...]) -> Iterator[list[str]]:
    """All ways to cut parts of pinyin into syllables, without erhua and without consonants alone."""
    if not parts:
        yield []
        return
    written, *others = parts
    for end in range(min(len(written), _LONGEST + 3), 0, -1):
        if _may_be(written[:end], erhua=False, consonants=False):
            rest = (written[end:], *others) if written[end:] else (*others,)
            yield from ([written[:end], *way] for way in _ways(rest))


def _may_be(written: str, erhua: bool, consonants: bool) -> bool:
    if not consonants and _CONSONANTS.fullmatch(written):
        return False
    return _is_syllable(written) and (erhua or not _is_merged(written))


def _parts(written: str, ends: list[int]) -> list[str]:
    parts, start = [], 0
    while start < len(written):
        parts.append(written[start : ends[start]])
        start = ends[start]
    return parts


@lru_cache(1 << 14)
def _is_syllable(written: str) -> bool:
    try:
        _factorized(written)
    except ValueError:
        return False
    return True


def _is_merged(written: str) -> bool:
    """Whether it is a syllable only with the *r* of erhua."""
    try:
        _heard(written)
    except ValueError:
        return True
    return False


def has_erhua(written: str) -> bool:
    """Whether a syllable of pinyin has the *r* of erhua: ``huār``, ``huar1``, ``hua1 r5``; not ``ér``.

    Arguments:
        written: one syllable, as :func:`from_pinyin` takes it.
    """
    *before, last = plain(written).split()
    return bool(before and _APART.fullmatch(last.lower())) or _is_merged(normalize("NFC", last.lower()))


def _factorized(written: str) -> Triple:
    """The triple of a syllable; the *r* of erhua is not in it."""
    try:
        return _heard(written)
    except ValueError:
        if not (merged := _ERHUA.fullmatch(written)):
            raise
        return _heard(merged[1] + merged[2])


def _heard(written: str) -> Triple:
    triple = mandarin.factorize(written)
    if triple[:2] not in _syllabary():
        raise ValueError(f"{written!r} is the reading of no character")
    return triple


@cache
def _syllabary() -> frozenset[tuple[str, str]]:
    """Onset and rime of all usual readings of the characters of the basic block, and of the rare ones."""
    from phonemic.tokenizer import Tokenizer

    found = Tokenizer("zh").encode("，".join(map(chr, range(0x4E00, 0xA000)))).triples
    return frozenset(triple[:2] for triple in [*found, *map(mandarin.factorize, _RARE)])


def _told_twice(written: str) -> bool:
    """Whether there are both tone marks and numbers."""
    marks = {"\u0300", "\u0301", "\u0304", "\u030c"}
    return any(map(str.isdigit, written)) and not marks.isdisjoint(normalize("NFD", written))


def _why(written: str) -> str:
    """A hint for the person who typed it."""
    wrong = next((char for char in written if not (char.isalpha() or char.isdigit() or char == ":")), None)
    if wrong is not None:
        return f"{wrong!r} is not a letter, a tone number, a hyphen or an apostrophe"
    if _told_twice(written):
        return "it has a tone mark and a number: write one of them"
    return "write syllables such as yin2 hang2 or yín háng"


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."
