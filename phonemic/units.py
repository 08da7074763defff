"""Units of text for tools that cut it into tokens: syllables, and runs of letters and digits that are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from phonemic.characters import IGNORABLE, JAMO, LETTER, MARK, OTHER, fold, kind_of, plain
from phonemic.encoding import Batch
from phonemic.inventory import FORM_SHIFT, NATIVE, TRIPLE, UNKNOWN_ID
from phonemic.tokenizer import Tokenizer

#: Start, end, and whether it is a syllable.
UnitSpan = tuple[int, int, bool]


def without_bytes(batch: Batch, joiner: str | None = None) -> Batch:
    """A batch as it is without ``form=True``: without forms, and without the positions that only these have.

    Arguments:
        batch: encoded with spans.
        joiner: the tokenizer's ``word_joiner``.

    Raises:
        ValueError: the batch has no spans.
    """
    ids, spans, offsets = batch.ids, batch.spans, batch.offsets
    if not (ids >> FORM_SHIFT).any():
        return batch
    kept = np.ones(len(ids), bool)  # all bytes of a character, and of an escape, have one span
    kept[1:] = (spans[1:] != spans[:-1]).any(axis=1)
    kept[offsets[:-1][batch.lengths > 0]] = True
    bytewise = np.flatnonzero(kept & (ids & TRIPLE == UNKNOWN_ID) & (ids != UNKNOWN_ID))
    rows = np.searchsorted(offsets, bytewise, side="right") - 1
    for at, row in zip(bytewise.tolist(), rows.tolist(), strict=True):
        char = plain(batch.texts[row])[spans[at, 0]]
        kept[at] = char != joiner and kind_of(char) in (LETTER, OTHER, JAMO)
    ends = np.concatenate([[0], kept.cumsum()])[offsets]
    return Batch.made(batch.texts, ids[kept] & TRIPLE, ends, spans[kept], None, batch.vocabulary)


def units(batch: Batch, joiner: str | None = None) -> Iterator[list[UnitSpan]]:
    """The units of each text: its positions, but letters and digits of the fallback that touch are one unit.

    So a foreign word stays whole: its letters, each a token, would be read as the syllables *a*, *e*, *i* ... again.

    Arguments:
        batch: encoded with spans.
        joiner: the tokenizer's ``word_joiner``.

    Raises:
        ValueError: the batch has no spans.
    """
    batch = without_bytes(batch, joiner)
    spans, native = batch.spans, batch.kinds == NATIVE
    joins = np.zeros(len(spans), bool)
    joins[1:] = ~native[1:] & ~native[:-1] & (spans[1:, 0] == spans[:-1, 1])
    joins[batch.offsets[:-1][batch.lengths > 0]] = False
    touching = np.flatnonzero(joins)
    rows = np.searchsorted(batch.offsets, touching, side="right") - 1
    for at, row in zip(touching.tolist(), rows.tolist(), strict=True):
        text = plain(batch.texts[row])
        joins[at] = _is_alphanumeric(text[spans[at - 1, 0]]) and _is_alphanumeric(text[spans[at, 0]])
    first = np.flatnonzero(~joins)
    ends = spans[np.append(first[1:], len(spans)) - 1, 1] if len(first) else first
    found = list(zip(spans[first, 0].tolist(), ends.tolist(), native[first].tolist(), strict=True))
    offsets = np.searchsorted(first, batch.offsets).tolist()
    return (found[start:stop] for start, stop in pairwise(offsets))


def _is_alphanumeric(char: str) -> bool:
    return kind_of(char) == LETTER or (fold(char) or char).isalnum()


def separators(words: Sequence[str], tokenizer: Tokenizer) -> list[str]:
    """The separator before each word of a text, so that all are read in one call and no position is in two of them.

    A space in Vietnamese. In Mandarin nothing, so that a word is read in its context, but a space between letters or
    digits that would be packed into one position.
    """
    if tokenizer.lang == "vi":
        return [" " if number else "" for number in range(len(words))]
    if tokenizer.fallback == "character":
        return [""] * len(words)
    found, last = [], ""
    for word in words:
        chars = [char for char in word if kind_of(char) not in (MARK, IGNORABLE, JAMO)]
        found.append(" " if chars and _packs(last) and _packs(chars[0]) else "")
        last = chars[-1] if chars else last
    return found


def _packs(char: str) -> bool:
    return bool(char) and (fold(char) or "").isalnum()
