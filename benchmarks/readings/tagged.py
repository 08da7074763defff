"""Labels of common characters by words: what a word's lexicons say, and of a word of one character what its tag says.

g2pM's network reads 部分 *fēn*, 应予 *yìng* and 为保障 *wéi*: CPP, which it was fitted to, has few of what is common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import jieba.posseg
import numpy as np

from benchmarks.readings import features
from benchmarks.readings.labels import LEXICONS, agreed, lexicon
from benchmarks.readings.labels import MOST as MOST_READINGS
from benchmarks.readings.prepare import Setting
from benchmarks.readings.rules import CHARS, Word, doubted, inside, said
from benchmarks.readings.train import Marked, joined

#: Examples of a character, and of characters that are nearly everywhere; some come from each kind of text.
MOST, MOST_OF = 3_000, dict.fromkeys("为地得", 24_000) | dict.fromkeys("长了着的哦", 6_000)
#: Characters of each file.
LONGEST = 600_000
#: The kinds of text that words are looked for in: what else the teacher labels is too unlike what is read every day.
KINDS = ("general", "laws", "lctt", "weekly", "speech")
#: Characters that the rules know in written text only, which the last kind is not.
WRITTEN = "为地"
#: How sure the network must be, of 255.
SURE = 230


def _cut(text: str) -> Iterator[Word]:
    """The words of a text."""
    at = 0
    for form, tag in jieba.posseg.cut(text, HMM=False):
        yield Word(at, form, tag)
        at += len(form)


def tagged(folder: Path, made: Setting, listed: Mapping[str, Sequence[str]]) -> Marked:
    """Places of CHARS in the labelled text, up to MOST of each, some from each kind of text.

    Words of ``listed`` are read as it has them.
    """
    numbers = {name: number for number, name in enumerate(made.names)}
    words: dict[str, Sequence[str]] = {
        word: pinyin for word, (pinyin, _) in agreed({name: lexicon(name, CHARS) for name in LEXICONS}).items()
    }
    words |= listed
    parts = list[Marked]()
    for kind in KINDS:
        left = {char: MOST_OF.get(char, MOST) // (len(KINDS) - (char in WRITTEN)) for char in CHARS}
        left |= dict.fromkeys(WRITTEN if kind == KINDS[-1] else "", 0)
        for file in sorted(folder.glob(f"{kind}-*.npz")):
            if parts and not any(left[char] for char in MOST_OF):
                break
            with np.load(file) as loaded:
                where = features.spread(loaded["text"], loaded["starts"], loaded["places"], loaded["begins"])
                sure = loaded["sure"] >= SURE
                told = dict(zip(where.at[sure].tolist(), loaded["classes"][sure].tolist(), strict=True))
            kept, readings = [], []
            cut = list(_cut("".join(map(chr, where.points[:LONGEST]))))
            for number, word in enumerate(cut):
                known = words.get(word.form)
                for place, char in enumerate(word.form):
                    if left.get(char, 0) <= 0 or word.at < 8:
                        continue
                    reading = (
                        said(cut, number) if len(word.form) == 1 else known[place] if known else inside(word, place)
                    )
                    other = told.get(word.at) if len(word.form) == 1 and doubted(cut, number) else None
                    if reading in numbers and other in (None, numbers[reading]):
                        left[char] -= 1
                        kept.append(word.at + place)
                        readings.append(numbers[reading])
            rows = np.full((len(kept), MOST_READINGS), -1, np.int32)
            rows[:, 0] = readings
            spots = where._replace(at=np.array(kept, np.int64))
            parts.append(Marked(spots, rows, (rows >= 0).astype(np.float32)))
    return joined(parts)
