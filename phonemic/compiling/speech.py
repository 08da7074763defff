"""The words that speech goes by, compiled into tables-zh-speech.bin: sections next to those of tables-zh.bin.

``native/speech.pxd`` reads them under the same names:

* ``speech.codes`` and so on: the words, a :class:`phonemic.lexicon.phrases.PhraseTable` whose readings say what becomes
  of each character: LINKED, MERGED, PLAIN, NEUTRAL, and ADDED where without sandhi no word of the lists has it.
  Traditional characters share the codes of the simplified ones.
* ``speech.kinds``: (65536,) uint8: IS_YI, IS_BU, NUMERAL, GE.
* ``speech.symbols``: (6,) int32: onset | rime << 8 of *yī* and of *bù*, and the ids of the tones 1 to 4.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from phonemic import mandarin
from phonemic.inventory import vocabulary
from phonemic.lexicon.entries import Tables
from phonemic.lexicon.phrases import PhraseTable
from phonemic.reading.spoken import BU, GE, NUMERALS, YI, longest_word, words

#: Of a character that belongs to a word only with neutral tones: what the compiled table says besides.
ADDED = 16
_KINDS = {YI: 1, BU: 2, GE: 8} | dict.fromkeys(NUMERALS, 4) | {YI: 1 | 4}


def _compiled_words() -> dict[str, list[int]]:
    """The words; of one with neutral tones, what is behind the longest other word that it begins with is ADDED."""
    others = words(neutral=False)
    return {
        word: [action | (ADDED if at >= len(longest_word(word, 0, others)) else 0) for at, action in enumerate(found)]
        for word, found in words().items()
    }


def compiled_speech(simplified: Mapping[str, str]) -> Tables:
    """All sections of tables-zh-speech.bin.

    Arguments:
        simplified: traditional character, or compatibility ideograph, -> simplified.
    """
    vocab = vocabulary("zh")
    aliases = {char: other for char, other in simplified.items() if char != other}
    kinds = np.zeros(0x10000, np.uint8)
    for code in range(0x10000):
        kinds[code] = _KINDS.get(simplified.get(chr(code), chr(code)), 0)
    syllables = [vocab.pack(mandarin.factorize(text)) & 0xFFFF for text in ("yi1", "bu4")]
    symbols = syllables + [vocab.id(mandarin.TONES[number]) for number in range(1, 5)]
    table = PhraseTable.build(_compiled_words(), aliases).sections("speech")
    return table | {"speech.kinds": kinds, "speech.symbols": np.array(symbols, np.int32)}
