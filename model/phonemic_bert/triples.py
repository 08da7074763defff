"""The lists of triples that the joint head of PhonemicBERT chooses from, and that a table has rows for."""

from __future__ import annotations

import csv
import zlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from phonemic import mandarin, vietnamese
from phonemic.inventory import SPECIALS, pack, vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Triples:
    """A list of triples, in an order that never changes: syllables, and behind them the fallback characters, by id.

    What a packed fallback puts into one position is in no list.

    Attributes:
        lang: ``"vi"`` or ``"zh"``.
        packed: all packed ids in their order, int32 (S,).
        characters: F, how many of them are fallback characters, the last ones.
        ends: which ids may be the last of a position that is not in the list, bool (V,).
    """

    lang: str
    packed: NDArray[np.int32]
    characters: int
    ends: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def checksum(self) -> str:
        """CRC-32 of the packed ids in order, eight hexadecimal digits: another checksum means other rows."""
        return f"{zlib.crc32(self.packed.astype('<i4').tobytes()):08x}"


@cache
def triples(lang: str, inventory: str = "full") -> Triples:
    """A list of a language's triples.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        inventory: ``"full"``: all that ``phonemic.Tokenizer(lang)`` can produce, whatever its options, tone by tone
            each pair of an onset and a rime that the spelling can write; what is not in the list ends in no tone.
            ``"attested"``: the ones that occur at least five times in 30 million syllables of real text
            (``attested/*.tsv``), ascending by id; what is not in the list may be any position of text.

    Raises:
        KeyError: there is no such list.
    """
    vocab = vocabulary(lang)
    possible = _possible(lang)
    listed = {"full": possible, "attested": _attested(lang)}[inventory]
    characters = np.array(sorted(map(vocab.id, vocab.by_role("fallback"))), np.int64)
    ends = np.ones(len(vocab), bool)
    ends[: len(SPECIALS)] = False
    ends[possible[:, 2]] = inventory == "attested"
    packed = pack(np.concatenate([listed, np.column_stack([characters] * 3)]))
    return Triples(lang, packed, len(characters), ends)


def _possible(lang: str) -> NDArray[np.int64]:
    """Onset, rime and tone ids of each, (N, 3)."""
    vocab = vocabulary(lang)
    if lang == "vi":
        written = frozenset((spelling.onset, spelling.rime) for spelling in vietnamese.spellings().values())
        tones = [tone for tone, _ in vietnamese.TONES.values()]
    else:
        written, tones = mandarin.pairs(), list(mandarin.TONES.values())
    pairs = np.array(sorted((vocab.id(onset), vocab.id(rime)) for onset, rime in written), np.int64)
    tone_ids = np.array(sorted(map(vocab.id, tones)), np.int64)
    return np.column_stack([np.tile(pairs, (len(tone_ids), 1)), np.repeat(tone_ids, len(pairs))])


def _attested(lang: str) -> NDArray[np.int64]:
    """Likewise."""
    text = (files("phonemic_bert") / "attested" / f"{lang}.tsv").read_text("utf-8")
    vocab = vocabulary(lang)
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return np.array([[vocab.id(row[part]) for part in ("onset", "rime", "tone")] for row in rows], np.int64)
