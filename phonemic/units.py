"""Units of text for tools that cut it into tokens: syllables, and runs of letters and digits that are none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from phonemic.characters import LETTER, fold, kind_of
from phonemic.encoding import Batch
from phonemic.inventory import NATIVE

#: Start, end, and whether it is a syllable.
Unit = tuple[int, int, bool]


def units(batch: Batch) -> Iterator[list[Unit]]:
    """The units of each text: its positions, but letters and digits of the fallback that touch are one unit.

    So a foreign word stays whole: its letters, each a token, would be read as the syllables *a*, *e*, *i* ... again.

    Arguments:
        batch: encoded with spans.

    Raises:
        ValueError: the batch has no spans.
    """
    spans, native = batch.spans, batch.kinds == NATIVE
    joins = np.zeros(len(spans), bool)
    joins[1:] = ~native[1:] & ~native[:-1] & (spans[1:, 0] == spans[:-1, 1])
    joins[batch.offsets[:-1][batch.lengths > 0]] = False
    touching = np.flatnonzero(joins)
    rows = np.searchsorted(batch.offsets, touching, side="right") - 1
    for at, row in zip(touching.tolist(), rows.tolist(), strict=True):
        text = batch.texts[row]
        joins[at] = _is_alphanumeric(text[spans[at - 1, 0]]) and _is_alphanumeric(text[spans[at, 0]])
    first = np.flatnonzero(~joins)
    ends = spans[np.append(first[1:], len(spans)) - 1, 1] if len(first) else first
    found = list(zip(spans[first, 0].tolist(), ends.tolist(), native[first].tolist(), strict=True))
    offsets = np.searchsorted(first, batch.offsets).tolist()
    return (found[start:stop] for start, stop in pairwise(offsets))


def _is_alphanumeric(char: str) -> bool:
    return kind_of(char) == LETTER or (fold(char) or char).isalnum()
