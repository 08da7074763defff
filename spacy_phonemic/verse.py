"""Rhyme: of two syllables, and of the lines of a poem."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from spacy.tokens import Span, Token

from phonemic import Syllable, Tokenizer
from phonemic.inventory import LANGUAGES
from phonemic.sound.rhyme import rhyme_key, tones_agree
from spacy_phonemic.reading import reading_of


class Rhyme(NamedTuple):
    """Syllables that rhyme with each other, in the order of the text, and the line of each (the first is 0)."""

    syllables: tuple[Syllable, ...]
    lines: tuple[int, ...]


def rhymes(a: Any, b: Any, lang: str | None = None, near: bool = False) -> bool:
    """Whether two syllables rhyme; of words, the last syllables.

    Vietnamese: the same nucleus and coda, whatever is before them, and both tones level or both oblique. Mandarin:
    the same class of the fourteen of modern verse, and both tones level or both oblique. Both are today's readings: a
    Tang poem may have rhymed where it does no more.

    Arguments:
        a: a Token or Span of a read Doc; or, with ``lang``, a :class:`phonemic.Syllable` or a str.
        b: the like.
        lang: ``"vi"`` or ``"zh"``.
        near: Vietnamese: take near rhymes, too: the same coda, and nuclei of one series (*vần thông*).

    Raises:
        TypeError: something else than that, or no ``lang`` where it is needed.
        ValueError: an unknown language, or two languages.
    """
    (one, lang_of_one), (other, lang_of_other) = _syllable(a, lang), _syllable(b, lang)
    if lang_of_one != lang_of_other:
        raise ValueError(f"{a!r} is read as {lang_of_one}, {b!r} as {lang_of_other}: two languages do not rhyme")
    if one is None or other is None:
        return False
    keys = rhyme_key(lang_of_one, one.rime, near), rhyme_key(lang_of_one, other.rime, near)
    return keys[0] == keys[1] and tones_agree(lang_of_one, one.tone, other.tone)


def rhymes_of_lines(text: str, syllables: Sequence[Syllable], lang: str) -> list[Rhyme]:
    """The rhymes of a poem.

    A line of text is a line of verse; in Mandarin a comma or a full stop ends one, too. Where the lines have six and
    eight syllables in turn (*lục bát*), the last of each is held against the sixth of the next. Where they all have
    five, or seven, characters (regulated verse), the ends of the even lines and of the first are held against each
    other. Otherwise, the ends of all lines. Vietnamese verse may use near rhymes, see :func:`rhymes`.

    Arguments:
        text: the poem.
        syllables: its syllables, with offsets into the text.
        lang: ``"vi"`` or ``"zh"``.

    Returns:
        The rhymes of two syllables or more, in the order of the text.
    """
    lines = list(_lines(text, syllables, lang))
    near = lang == "vi"
    found: list[Rhyme] = []
    for places in _places(lines, lang):
        groups: list[list[tuple[int, Syllable]]] = []
        for place in places:
            rhymes_with = (group for group in groups if rhymes(group[-1][1], place[1], lang, near))
            group = next(rhymes_with, None)
            if group is None:
                groups.append([place])
            else:
                group.append(place)
        found += [
            Rhyme(tuple(syllable for _, syllable in group), tuple(line for line, _ in group))
            for group in groups
            if len(group) > 1
        ]
    return sorted(found, key=lambda rhyme: rhyme.syllables[0].start)


def _syllable(item: Any, lang: str | None) -> tuple[Syllable | None, str]:
    """The last syllable of something, None where it has none, and its language."""
    if isinstance(item, Token | Span):
        start = item.idx if isinstance(item, Token) else item.start_char
        end = start + len(item.text)
        reading = reading_of(item.doc)
        found = reading.plain[reading.between(start, end)].syllables
        own = reading.encoding.vocabulary.lang
    elif not isinstance(item, str | Syllable):
        raise TypeError(f"rhymes takes Tokens, Spans, Syllables or str, not {type(item).__name__}")
    elif lang is None:
        raise TypeError(f"{item!r} has no language of its own: give rhymes(a, b, lang='vi') or 'zh'")
    elif lang not in LANGUAGES:
        raise ValueError(f"unknown language {lang!r}: choose one of {', '.join(LANGUAGES)}")
    else:
        found = [item] if isinstance(item, Syllable) else _tokenizer(lang).syllables(item)
        own = lang
    return next((syllable for syllable in reversed(found) if syllable.is_native), None), own


@cache
def _tokenizer(lang: str) -> Tokenizer:
    return Tokenizer(lang)


def _lines(text: str, syllables: Sequence[Syllable], lang: str) -> Iterator[list[Syllable]]:
    """The syllables of each line that has any."""
    ends = "\n" if lang == "vi" else r"\n,.;:!?，。；：！？、"
    bounds = [match.start() for match in re.finditer(f"[{ends}]", text)] + [len(text)]
    at = 0
    for bound in bounds:
        line = []
        while at < len(syllables) and syllables[at].start < bound:
            line += [syllables[at]] if syllables[at].is_native else []
            at += 1
        if line:
            yield line


def _places(lines: list[list[Syllable]], lang: str) -> Iterator[list[tuple[int, Syllable]]]:
    """The syllables that the form of the poem holds against each other."""
    lengths = [len(line) for line in lines]
    ends = [(number, line[-1]) for number, line in enumerate(lines)]
    if lang == "vi" and len(lines) > 1 and _alternate(lengths):
        yield from _six_eight(lines)
    elif lang == "zh" and len(lines) > 2 and len(lines) % 2 == 0 and lengths in ([5] * len(lines), [7] * len(lines)):
        yield [end for end in ends if end[0] == 0 or end[0] % 2]
    else:
        yield ends


def _alternate(lengths: list[int]) -> bool:
    return {6, 8} == set(lengths) and all(one != other for one, other in pairwise(lengths))


def _six_eight(lines: list[list[Syllable]]) -> Iterator[list[tuple[int, Syllable]]]:
    """The end of an eight with the end of the six and the sixth of the eight that follow."""
    chain: list[tuple[int, Syllable]] = []
    for number, line in enumerate(lines):
        chain.append((number, line[5]))
        if len(line) == 8:
            yield chain
            chain = [(number, line[7])]
    if len(chain) > 1:
        yield chain
