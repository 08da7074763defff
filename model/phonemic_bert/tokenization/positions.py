"""The positions of many texts as flat arrays, special symbols written in the text included."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phonemic import Tokenizer
from phonemic.forms import beginnings
from phonemic.inventory import CLS, FORM_SHIFT, MASK, PAD, SEP, UNK
from phonemic.units import separators

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The special symbols that stand at positions of their own, and their packed ids.
SPECIAL_IDS = {"[PAD]": PAD, "[UNK]": UNK, "[CLS]": CLS, "[SEP]": SEP, "[MASK]": MASK}
SPECIAL_IDS = {token: symbol * 0x010101 for token, symbol in SPECIAL_IDS.items()}

#: The special symbols put before the ids of another tokenizer, in the order of their ids.
PLAIN_SPECIALS = ("[PAD]", "[CLS]", "[SEP]", "[MASK]")

_WRITTEN = re.compile("|".join(map(re.escape, SPECIAL_IDS)))


class Positions(NamedTuple):
    """The positions of B texts.

    Attributes:
        ids: input ids of all texts, int32 (N,).
        spans: half-open spans into the text, or into the word where the text is split into words, int32 (N, 2).
        words: index into ``text.split()``, or of the given word, int32 (N,); -1 for white space.
        offsets: text i is ``ids[offsets[i]:offsets[i + 1]]``, int64 (B + 1,).
    """

    ids: NDArray[np.int32]
    spans: NDArray[np.int32]
    words: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @property
    def lengths(self) -> list[int]:
        """Positions of each text."""
        lengths: list[int] = np.diff(self.offsets).tolist()
        return lengths

    def places(self, text: int) -> list[int] | None:
        """Where a text may be cut, its ends among them: not within a character, nor an escape. None: anywhere."""
        ids = self.ids[self.offsets[text] : self.offsets[text + 1]]
        if not (ids >> FORM_SHIFT).any():
            return None
        return np.flatnonzero(np.concatenate([[True], beginnings(ids)[1:], [True]])).tolist()


def of_texts(tokenizer: Tokenizer, texts: list[str], written_specials: bool) -> Positions:
    """The positions of texts.

    Arguments:
        tokenizer: reads the texts.
        texts: the texts.
        written_specials: ``[MASK]`` and the other specials in a text are the special symbol, not six characters.
    """
    found = _written(texts) if written_specials else iter(())
    return _with_specials(_encoded(tokenizer, texts), found)


def of_words(tokenizer: Tokenizer, samples: Sequence[Sequence[str]], written_specials: bool) -> Positions:
    """The positions of texts that are split into words; spans are into the word that a position begins in.

    White space, between words or in one, is in none.
    """
    gaps = [separators(words, tokenizer) for words in samples]
    texts = ["".join(chain.from_iterable(zip(*row, strict=True))) for row in zip(gaps, samples, strict=True)]
    starts = [_starts(words, row) for words, row in zip(samples, gaps, strict=True)]
    found = (
        (row, int(start) + begin, int(start) + end, packed)
        for row, words in enumerate(samples)
        for word, start in zip(words, starts[row], strict=False)
        for _, begin, end, packed in _written([word])
    )
    positions = _with_specials(_encoded(tokenizer, texts), found if written_specials else iter(()))
    for row, words in enumerate(samples):
        here = slice(positions.offsets[row], positions.offsets[row + 1])
        spans = positions.spans[here]
        numbers = np.searchsorted(starts[row], spans[:, 0], side="right") - 1
        lengths = np.array([len(word) for word in words], np.int32)
        white = positions.words[here] < 0
        positions.words[here] = np.where(white, -1, numbers)
        own = np.minimum(spans - starts[row][numbers][:, None], lengths[numbers][:, None])
        positions.spans[here] = np.where(white[:, None], 0, own)
    return positions


def _starts(words: Sequence[str], gaps: Sequence[str]) -> NDArray[np.int32]:
    sizes = (len(word) + len(gap) for word, gap in zip(words[:-1], gaps[1:], strict=True))
    return np.fromiter(accumulate(sizes, initial=0), np.int32)


def _encoded(tokenizer: Tokenizer, texts: list[str]) -> Positions:
    batch = tokenizer.encode_batch(texts, spans=True, word_ids=True)
    return Positions(batch.ids, batch.spans, batch.word_ids, batch.offsets)


def _written(texts: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Row, start, end and packed id of each special symbol written in the texts."""
    for row, text in enumerate(texts):
        if "[" in text:
            for match in _WRITTEN.finditer(text):
                yield row, match.start(), match.end(), SPECIAL_IDS[match[0]]


def _with_specials(positions: Positions, found: Iterator[tuple[int, int, int, int]]) -> Positions:
    """Puts special symbols in the place of the characters that they are written with.

    ``[`` and ``]`` belong to no syllable and no phrase, so the symbol's characters have positions of their own.
    """
    ids, spans, words, offsets = positions
    keep = np.ones(len(ids), bool)
    for row, start, end, packed in found:
        low, high = offsets[row], offsets[row + 1]
        first, last = low + np.searchsorted(spans[low:high, 0], (start, end))
        keep[first + 1 : last] = False
        ids[first] = packed
        spans[first] = start, end
    if keep.all():
        return positions
    kept = np.concatenate([[0], keep.cumsum()])
    return Positions(ids[keep], spans[keep], words[keep], kept[offsets])
