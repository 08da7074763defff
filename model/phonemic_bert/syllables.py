"""The real syllables of a language, and the Chinese characters that are read so."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from phonemic import Tokenizer, mandarin, vietnamese
from phonemic.inventory import NATIVE, vocabulary
from phonemic.lexicon.phrases import phrases_of
from phonemic.lexicon.tables import tables_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The blocks of Chinese characters: 〇, the unified ideographs and their extensions, the compatibility ideographs.
HAN = ((0x3007, 0x3008), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x323B0))


@cache
def syllables(lang: str) -> NDArray[np.int32]:
    """The packed ids of all real syllables, in ascending order: int32 (S,).

    Vietnamese: every onset and rime that the orthography spells, in the tones that it allows (a stop coda has sắc or
    nặng). Mandarin: every reading in the lexicon, and what a third tone becomes before another (*guán lǐ*).
    """
    if lang == "zh":
        vocab, (second, third) = vocabulary("zh"), (mandarin.TONES[tone] for tone in (2, 3))
        packed = set(readings())
        heard = [vocab.unpack(one) for one in packed]
        packed |= {vocab.pack((onset, rime, second)) for onset, rime, tone in heard if tone == third}
    else:
        pack = vocabulary("vi").pack
        pairs = {(one.onset, one.rime) for one in vietnamese.spellings().values()}
        tones = {name: tone for name, (tone, _) in vietnamese.TONES.items()}
        stopped = [tones["sắc"], tones["nặng"]]
        packed = {
            pack((onset, rime, tone))
            for onset, rime in pairs
            for tone in (stopped if rime[-1] in vietnamese.STOPS else tones.values())
        }
    return np.array(sorted(packed), np.int32)


@cache
def readings() -> dict[int, tuple[str, ...]]:
    """The characters that are read as each Mandarin syllable (packed id), those of most phrases first."""
    tokenizer = Tokenizer("zh")
    characters = [chr(code) for first, last in HAN for code in range(first, last)]
    batch = tokenizer.encode_batch(characters)
    native = batch.kinds == NATIVE
    phrases = phrases_of(tables_of("zh"))
    counts = Counter(pair for phrase, packed in phrases.items() for pair in zip(phrase, packed, strict=True))
    # A character's reading by itself counts as one more use, so that characters outside the phrases are there too.
    counts.update(zip(np.array(characters)[native].tolist(), batch.ids[native].tolist(), strict=True))
    found: dict[int, list[str]] = {}
    for (char, packed), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0][0])):
        found.setdefault(packed, []).append(char)
    return {packed: tuple(chars) for packed, chars in found.items()}
