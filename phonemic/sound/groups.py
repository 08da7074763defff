"""Words of a list that sound alike, and words that rhyme."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import NamedTuple

from phonemic.encoding import Encoding
from phonemic.inventory import EMPTY, NATIVE, Triple, characters_of
from phonemic.sound.distances import listed, reader
from phonemic.sound.rhyme import LEVEL, rhyme_key
from phonemic.sound.sounds import sounds
from phonemic.tokenizer import Tokenizer
from phonemic.writing.dialects import check_dialect, pronounce


class Group(NamedTuple):
    """Words that have a sound in common.

    Attributes:
        sound: of homophones IPA, syllables parted by spaces; of rhymes nucleus and coda, or the class of Mandarin
            verse, and ``level`` or ``oblique``.
        words: two or more, in the order of the list.
    """

    sound: str
    words: tuple[str, ...]


def homophones(
    words: Iterable[str], lang: str | None = None, *, dialect: str | None = None, tokenizer: Tokenizer | None = None
) -> list[Group]:
    """The words that sound the same.

    Letters and digits must be the same too, but for their case; punctuation and characters that the vocabulary does not
    have are not heard. A word in which nothing is heard is in no group.

    Arguments:
        words: of any number of syllables; what occurs twice counts once.
        lang: ``"vi"`` or ``"zh"``.
        dialect: Vietnamese as it is spoken in ``"hanoi"``, ``"hue"`` or ``"saigon"``; None: as the spelling has it.
        tokenizer: reads the words instead of ``Tokenizer(lang)``.

    Returns:
        The groups of two words or more, in the order of their first words.

    Raises:
        TypeError: a word is not a str, or nothing says the language.
        ValueError: an unknown language, or no such dialect of it.
    """
    own = reader(lang, tokenizer)
    check_dialect(dialect, own.lang)
    found = sounds(own.lang)

    def key(encoding: Encoding) -> list[tuple[Hashable, str]]:
        triples, kinds = encoding.triples, encoding.kinds
        rows, where = found.heard(encoding.ids)
        pieces = [
            (True, _ipa(triples[at], dialect)) if kinds[at] == NATIVE else (False, characters_of(triples[at]))
            for at in sorted({*where.tolist()})
        ]
        # A letter is not heard as the syllable that is written like it, and letters may share a position.
        said = [one for syllable, text in pieces for one in ([(syllable, text)] if syllable else text)]
        alike: Hashable = rows.tobytes() if dialect is None else tuple(said)
        return [(alike, " ".join(text for _, text in pieces))] if pieces else []

    return _grouped(words, own, key)


def rhymes(
    words: Iterable[str], lang: str | None = None, *, near: bool = False, tokenizer: Tokenizer | None = None
) -> list[Group]:
    """The words that rhyme, by their last syllables.

    Vietnamese: the same nucleus and coda, both tones level or both oblique. Mandarin: the same of the fourteen classes
    of modern verse, both tones level or both oblique; a neutral tone rhymes with either. A word without a syllable is
    in no group.

    Arguments:
        words: of any number of syllables; what occurs twice counts once.
        lang: ``"vi"`` or ``"zh"``.
        near: Vietnamese: take near rhymes, too: the same coda, and nuclei of one series (*vần thông*).
        tokenizer: reads the words instead of ``Tokenizer(lang)``.

    Returns:
        The groups of two words or more, in the order of their first words. A word with a neutral tone may be in two.

    Raises:
        TypeError: a word is not a str, or nothing says the language.
        ValueError: an unknown language, or ``near`` of one that has no near rhymes.
    """
    own = reader(lang, tokenizer)
    if near and own.lang != "vi":
        raise ValueError("near is for Vietnamese: leave it out")

    def keys(encoding: Encoding) -> list[tuple[Hashable, str]]:
        kinds = encoding.kinds.tolist()
        if NATIVE not in kinds:
            return []
        last = encoding.triples[len(kinds) - 1 - kinds[::-1].index(NATIVE)]
        same = rhyme_key(own.lang, last.rime, near)
        tones = ("level", "oblique") if last.tone == EMPTY else (_tone_class(own.lang, last.tone),)
        return [(f"{same} {tone}",) * 2 for tone in tones]

    return _grouped(words, own, keys)


def _grouped(
    words: Iterable[str], tokenizer: Tokenizer, keys: Callable[[Encoding], list[tuple[Hashable, str]]]
) -> list[Group]:
    """Groups words by keys, each with what the group of it is called."""
    if isinstance(words, str):
        raise TypeError("expected a list of words, not one str")
    given = listed(words)
    for number, word in enumerate(given):
        if not isinstance(word, str):
            raise TypeError(f"word {number} is {type(word).__name__}, not str")
    distinct = list(dict.fromkeys(given))
    groups: dict[Hashable, tuple[str, list[str]]] = {}
    for word, encoding in zip(distinct, tokenizer.encode_batch(distinct), strict=True):
        for key, sound in keys(encoding):
            groups.setdefault(key, (sound, []))[1].append(word)
    return [Group(sound, tuple(found)) for sound, found in groups.values() if len(found) > 1]


def _tone_class(lang: str, tone: str) -> str:
    return "level" if tone in LEVEL[lang] else "oblique"


@cache
def _ipa(triple: Triple, dialect: str | None) -> str:
    parts = triple if dialect is None else pronounce(triple, dialect)
    return "".join(part for part in parts if part != EMPTY)
