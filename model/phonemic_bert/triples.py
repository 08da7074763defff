"""The triples that can occur in a language: what the joint head of PhonemicBERT chooses from."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from phonemic import mandarin, vietnamese
from phonemic.inventory import SPECIALS, pack, vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Triples:
    """The list of a language's triples, in an order that never changes.

    First, tone by tone, each pair of an onset and a rime that the spelling can write: tones ascend by id, pairs by
    onset id and then by rime id. Behind them come the fallback characters, ascending by id. What a packed fallback puts
    into one position is not in the list.

    Attributes:
        lang: ``"vi"`` or ``"zh"``.
        pairs: onset and rime ids, int64 (P, 2).
        tones: tone ids, int64 (T,).
        symbols: ids of the fallback characters, int64 (F,).
        packed: all packed ids in their order, int32 (S,), S = T * P + F.
    """

    lang: str
    pairs: NDArray[np.int64]
    tones: NDArray[np.int64]
    symbols: NDArray[np.int64]
    packed: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def checksum(self) -> str:
        """CRC-32 of the packed ids in order, eight hexadecimal digits: another checksum means other rows."""
        return f"{zlib.crc32(self.packed.astype('<i4').tobytes()):08x}"


@cache
def triples(lang: str) -> Triples:
    """All triples that ``phonemic.Tokenizer(lang)`` can produce, whatever its options, but for packed fallbacks."""
    vocab = vocabulary(lang)
    if lang == "vi":
        written = frozenset((spelling.onset, spelling.rime) for spelling in vietnamese.spellings().values())
        tones = [tone for tone, _ in vietnamese.TONES.values()]
    else:
        written, tones = mandarin.pairs(), list(mandarin.TONES.values())
    pairs = np.array(sorted((vocab.id(onset), vocab.id(rime)) for onset, rime in written), np.int64)
    tone_ids = np.array(sorted(map(vocab.id, tones)), np.int64)
    symbols = np.array(sorted(map(vocab.id, vocab.by_role("fallback"))), np.int64)
    syllables = np.column_stack([np.tile(pairs, (len(tone_ids), 1)), np.repeat(tone_ids, len(pairs))])
    packed = pack(np.concatenate([syllables, np.column_stack([symbols] * 3)]))
    return Triples(lang, pairs, tone_ids, symbols, packed)


@cache
def last_of_packed(lang: str) -> NDArray[np.bool_]:
    """Which ids may be the last of a position that no list holds: neither a tone nor a special symbol, bool (V,)."""
    vocab = vocabulary(lang)
    ends = np.ones(len(vocab), bool)
    ends[: len(SPECIALS)] = False
    ends[[vocab.id(tone) for tone in vocab.by_role("tone")]] = False
    return ends
