"""Mandarin characters as the words of an n-gram model, and which of them a syllable may be."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from phonemic import Tokenizer, readings_of
from phonemic.inventory import NATIVE, TRIPLE, kinds_of
from phonemic_bert.restoration.ngrams import BORDER, NUMBER, OTHER, SPECIAL

#: The word that a mark within a sentence is.
COMMA = len(SPECIAL)
_ENDS = "。！？；…\n\r!?;"
_SPACE = 0xFFFF
_CHUNK = 1 << 22
#: The weight of a reading that the text does not have.
_UNSEEN = 0.5


def words_of(chars: Iterable[str]) -> list[str]:
    """The words of a model of these characters."""
    return [*SPECIAL, "，", *chars]


def is_read(char: str) -> bool:
    """Whether it is a Chinese character that the lexicon reads."""
    return bool(_tokenizer().encode(char).kinds.tolist() == [NATIVE])


@cache
def _tokenizer() -> Tokenizer:
    return Tokenizer("zh", readings="context")


def numbers_of(words: list[str]) -> NDArray[np.uint16]:
    """The word of each code point, uint16 (0x110000,); that of white space is 0xFFFF."""
    found = np.full(0x110000, OTHER, np.uint16)
    for code in range(0x10000):
        char = chr(code)
        if char.isspace():
            found[code] = _SPACE
        elif unicodedata.category(char)[0] in "PS":
            found[code] = COMMA
        elif char.isdecimal():
            found[code] = NUMBER
    found[[ord(char) for char in _ENDS]] = BORDER
    for number, char in enumerate(words[COMMA + 1 :], COMMA + 1):
        found[ord(char)] = number
    return found


def codes_of(text: str) -> NDArray[np.uint32]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def stream(texts: Iterable[str], numbers: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Texts as words, rows one behind the other and a border between two: letters and digits that touch are one."""
    pieces = [np.zeros(1, np.uint16)]
    for some in _chunks(texts):
        found = numbers[codes_of("\n".join(some) + "\n")]
        found = found[found != _SPACE]
        pieces.append(found[np.append(True, (found[1:] != found[:-1]) | (found[1:] > COMMA))])
    flat = np.concatenate([*pieces, np.zeros(1, np.uint16)])
    kept: NDArray[np.uint16] = flat[np.append(True, (flat[1:] != BORDER) | (flat[:-1] != BORDER))]
    return kept


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    held, size = list[str](), 0
    for text in texts:
        held.append(text.rstrip("\n"))
        size += len(text)
        if size > _CHUNK:
            yield held
            held, size = [], 0
    yield held


def emissions(texts: Iterable[str], words: list[str], numbers: NDArray[np.uint16]) -> dict[str, NDArray[np.generic]]:
    """How the characters of texts are read.

    Returns:
        ``words`` uint16 (E,), ``triples`` int32 (E,) and ``logs`` float32 (E,): the logarithm of the share of a reading
        among those of a character.
    """
    tokenizer = _tokenizer()
    kinds: NDArray[np.uint64] = np.zeros(0, np.uint64)
    counts: NDArray[np.float64] = np.zeros(0)
    for some in _chunks(texts):
        batch = tokenizer.encode_batch(some, spans=True)
        starts = np.cumsum([0, *map(len, some)])[:-1]
        native = kinds_of(batch.ids) == NATIVE
        at = batch.spans[:, 0] + np.repeat(starts, batch.lengths)
        chars = numbers[codes_of("".join(some))[at[native]]].astype(np.uint64)
        pairs = chars << np.uint64(32) | (batch.ids[native] & TRIPLE).astype(np.uint64)
        found, often = np.unique(pairs, return_counts=True)
        both = np.concatenate([kinds, found])
        kinds, own = np.unique(both, return_inverse=True)
        counts = np.bincount(own, np.concatenate([counts, often])).astype(np.float64)
    seen = dict(zip(kinds.tolist(), counts.tolist(), strict=True))
    pack, read = tokenizer.vocabulary.pack, tokenizer.factorize
    rows: list[tuple[int, int, float]] = []
    for number, char in enumerate(words[COMMA + 1 :], COMMA + 1):
        triples = {pack(triple) for reading in readings_of(char, "numbers") if (triple := read(reading))}
        own_counts = {triple: seen.get(number << 32 | triple, 0.0) + _UNSEEN for triple in triples}
        total = sum(own_counts.values())
        rows += [(number, triple, float(np.log(count / total))) for triple, count in own_counts.items()]
    numbers_, triples_, logs = zip(*rows, strict=True)
    return {
        "words": np.array(numbers_, np.uint16),
        "triples": np.array(triples_, np.int32),
        "logs": np.array(logs, np.float32),
    }
