"""How far apart two texts sound."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from phonemic.encoding import Encoding
from phonemic.sound._search import align
from phonemic.sound.sounds import SYLLABLE, Sounds, sounds
from phonemic.tokenizer import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray


def distance(
    a: str | Encoding, b: str | Encoding, lang: str | None = None, *, tokenizer: Tokenizer | None = None
) -> float:
    """How far apart two texts sound, in syllables.

    Syllables are compared by place and manner of the onset, by medial, nucleus and coda, and by tone: 0 for the same
    triple, 1 for two that share nothing, little for what is often taken for each other (*l* and *n*, *hỏi* and *ngã*,
    *zh* and *z*; :func:`phonemic.sound.matrix` has the weights). Texts are aligned: a syllable that the other text does
    not have costs 1, and the cheapest alignment counts. A letter of a foreign word costs 0.3, a digit 1. Punctuation,
    spaces, and characters that the vocabulary does not have (letters of other scripts, emoji) are not heard.

    This is a metric of what is heard: symmetric, 0 where all that is heard is the same and nowhere else, and never more
    than by way of a third text.

    Arguments:
        a: a text, or one that was encoded.
        b: the like.
        lang: ``"vi"`` or ``"zh"``; not needed for what was encoded.
        tokenizer: reads texts instead of ``Tokenizer(lang)``, with phrases of your own perhaps.

    Raises:
        TypeError: neither says the language, or something is not a text.
        ValueError: an unknown language, or two languages.
    """
    one, other = (_encoded(text, lang, tokenizer) for text in (a, b))
    languages = {one.vocabulary.lang, other.vocabulary.lang}
    if len(languages) > 1 or (lang or one.vocabulary.lang) not in languages:
        named = ", ".join(sorted({*languages, lang or ""} - {""}))
        raise ValueError(f"a distance needs texts of one language, not of {named}")
    found = sounds(one.vocabulary.lang)
    a_rows, b_rows = (found.heard(each.ids)[0] for each in (one, other))
    return align(a_rows, b_rows, costs(found)) / SYLLABLE


def costs(found: Sounds) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]:
    """The matrices of onsets, rimes and tones and the gaps, as the compiled loops take them."""
    return found.onsets, found.rimes, found.tones, found.gaps


def _encoded(text: str | Encoding, lang: str | None, tokenizer: Tokenizer | None) -> Encoding:
    if isinstance(text, Encoding):
        return text
    if not isinstance(text, str):
        raise TypeError(f"distance takes str or Encodings, not {type(text).__name__}")
    return reader(lang, tokenizer).encode(text)


def reader(lang: str | None, tokenizer: Tokenizer | None) -> Tokenizer:
    """The tokenizer that is named by itself or by its language.

    Raises:
        TypeError: neither is given.
        ValueError: an unknown language, or another than the tokenizer's.
    """
    if tokenizer is None:
        if lang is None:
            raise TypeError("give the language: lang='vi' or 'zh'")
        return _tokenizer(lang)
    if lang not in (None, tokenizer.lang):
        raise ValueError(f"lang is {lang!r}, but the tokenizer reads {tokenizer.lang!r}")
    return tokenizer


def listed(texts: Iterable[str]) -> list[str]:
    """Texts in a list; those of an Arrow array as str."""
    from_arrow = getattr(texts, "to_pylist", None)
    return list(texts) if from_arrow is None else from_arrow()


@cache
def _tokenizer(lang: str) -> Tokenizer:
    return Tokenizer(lang)
