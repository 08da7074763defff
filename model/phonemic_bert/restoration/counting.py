"""From text to n-gram models: the words of a language, and each text as their numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from phonemic.characters import normalize
from phonemic.errors import InputError
from phonemic_bert.restoration import mandarin, vietnamese
from phonemic_bert.restoration.estimation import estimate
from phonemic_bert.restoration.ngrams import BORDER, NUMBER, OTHER, SPECIAL, Ngrams

#: How often a syllable, and any other word, must have been seen.
LEAST, LEAST_OTHER = 3, 100
_MOST = 1 << 16
#: Words within a sentence, for which a capital says something; of long text, those of every fourth line.
_INNER = re.compile(r"(?<=[^\W\d_] )[^\W\d_]+")
_ALL_LINES, _EVERY = 10_000, 4


def vietnamese_model(texts: Callable[[], Iterable[str]], order: int, threshold: float) -> Ngrams:
    """The model of Vietnamese text. Lines of more than three words in which none is marked are left out.

    Arguments:
        texts: gives the lines, each time that it is called.
        order: words of the longest n-gram.
        threshold: see :func:`phonemic_bert.restoration.estimation.estimate`.

    Raises:
        InputError: hardly a word is repeated.
    """
    pieces, inner = Counter[str](), Counter[str]()
    for number, text in enumerate(texts()):
        pieces.update(_pieces(text))
        if number < _ALL_LINES or number % _EVERY == 0:
            inner.update(_INNER.findall(text))
    split = {piece: list(vietnamese.tokens(piece)) for piece in pieces}
    seen: Counter[str] = Counter()
    for piece, count in pieces.items():
        for token in split[piece]:
            if token.kind == "word":
                seen[token.text.lower()] += count
    spellings: dict[str, tuple[int, str]] = {}
    often: Counter[str] = Counter()
    for word, count in seen.items():
        name = vietnamese.canonical(word)
        often[name] += count
        spellings[name] = max(spellings.get(name, (0, "")), (count, normalize("NFC", word)))
    kept = [
        name
        for name, count in often.most_common(_MOST - len(SPECIAL))
        if count >= LEAST and (count >= LEAST_OTHER or vietnamese.is_syllable(spellings[name][1]))
    ]
    _check(kept)
    index = {name: number for number, name in enumerate(kept, len(SPECIAL))}
    numbers = {piece: [_number(token, index) for token in found] for piece, found in split.items()}
    rows = ([number for piece in [*_pieces(text), "\n"] for number in numbers.get(piece, _END)] for text in texts())
    words = [*SPECIAL, *(spellings[name][1] for name in kept)]
    levels = estimate(_stream(rows), len(words), order, threshold)
    return Ngrams.of_levels("vi", words, levels, {"capitals": _capitals(inner, kept)})


def _check(kept: list[str]) -> None:
    if not kept:
        raise InputError(f"no word of the language is there {LEAST} times: n-grams need more text")


def _capitals(inner: Counter[str], names: list[str]) -> NDArray[np.float32]:
    """Return how probably each word begins with a capital within a sentence, float32 (V,)."""
    index = {name: number for number, name in enumerate(names, len(SPECIAL))}
    counts = np.full((len(SPECIAL) + len(names), 2), 0.5)
    for word, count in inner.items():
        number = index.get(vietnamese.canonical(word))
        if number is not None and (len(word) == 1 or not word.isupper()):
            counts[number, int(word[0].isupper())] += count
    shares: NDArray[np.float32] = (counts[:, 1] / counts.sum(1)).astype(np.float32).round(3).clip(0.001, 0.999)
    return shares


_END = [BORDER]


def _pieces(text: str) -> list[str]:
    pieces = text.split()
    return [] if text.isascii() and len(pieces) > 3 else pieces


def _number(token: vietnamese.Token, index: dict[str, int]) -> int:
    if token.kind == "word":
        return index.get(vietnamese.canonical(token.text), OTHER)
    return BORDER if token.kind == "end" else NUMBER if token.kind == "number" else OTHER


def _stream(rows: Iterator[list[int]]) -> NDArray[np.uint16]:
    """Rows one behind the other, one border between two."""
    pieces, held = [np.zeros(1, np.uint16)], list[int]()
    for row in rows:
        held += row
        if len(held) > 1 << 20:
            pieces.append(np.array(held, np.uint16))
            held = []
    flat = np.concatenate([*pieces, np.array([*held, BORDER], np.uint16)])
    kept: NDArray[np.uint16] = flat[np.append(True, (flat[1:] != BORDER) | (flat[:-1] != BORDER))]
    return kept


def mandarin_model(texts: Callable[[], Iterable[str]], order: int, threshold: float) -> Ngrams:
    """The model of Mandarin text, whose words are characters, and how these are read.

    Arguments: see :func:`vietnamese_model`.
    """
    seen: Counter[str] = Counter()
    for text in texts():
        seen.update(text)
    kept = [char for char, count in seen.most_common() if count >= LEAST and mandarin.is_read(char)][: _MOST >> 1]
    _check(kept)
    words = mandarin.words_of(kept)
    numbers = mandarin.numbers_of(words)
    levels = estimate(mandarin.stream(texts(), numbers), len(words), order, threshold)
    return Ngrams.of_levels("zh", words, levels, mandarin.emissions(texts(), words, numbers))
