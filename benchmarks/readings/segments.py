"""Where the words of texts begin and end: jieba's most probable path by its frequencies, without guesses."""

from __future__ import annotations

from collections.abc import Iterable

import jieba
import numpy as np
from numpy.typing import NDArray


def begins(texts: Iterable[str]) -> NDArray[np.bool_]:
    """Where a word begins in the texts, joined without anything between them, (characters,)."""
    lengths = [len(word) for text in texts for word in jieba.cut(text, HMM=False)]
    found = np.zeros(sum(lengths), bool)
    found[np.cumsum([0, *lengths[:-1]])] = True
    return found


def spans(begun: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return where the word of each character begins and ends, (2, characters)."""
    firsts = np.flatnonzero(begun)
    numbers = begun.cumsum() - 1
    lasts = np.append(firsts[1:], len(begun))
    return np.stack([firsts[numbers], lasts[numbers]]).astype(np.int32)


def borders(text: str) -> set[int]:
    """Where words begin and end in a text."""
    found, at = {0}, 0
    for word in jieba.cut(text, HMM=False):
        at += len(word)
        found.add(at)
    return found


def whole(text: str, begin: int, end: int) -> bool:
    """Whether no word of a text crosses an end of ``text[begin:end]``."""
    return borders(text) >= {begin, end}
