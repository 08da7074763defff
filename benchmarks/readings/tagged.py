"""Labels of common characters by words: what a word's lexicons say, and of a word of one character what its tag says.

g2pM's network reads 部分 *fēn*, 应予 *yìng* and 为保障 *wéi*: CPP, which it was fitted to, has few of what is common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import jieba.posseg
import numpy as np

from benchmarks.readings import features
from benchmarks.readings.labels import LEXICONS, agreed, lexicon
from benchmarks.readings.labels import MOST as MOST_READINGS
from benchmarks.readings.prepare import Setting
from benchmarks.readings.segments import FUNCTIONS
from benchmarks.readings.rules import CHARS, Word, doubted, inside, said
from benchmarks.readings.train import Marked, joined

#: Examples of a character, and of those that are nearly everywhere; some come from each kind of text.
MOST, MOST_OF = 3_000, dict.fromkeys("为地得", 24_000) | dict.fromkeys("长了着的哦", 6_000)
#: Characters of each file.
LONGEST = 600_000
#: The kinds of text that words are looked for in: what else the teacher labels is too unlike what is read every day.
KINDS = ("general", "laws", "lctt", "weekly", "speech")
#: Characters that the rules know in written text only, which the last kind is not.
WRITTEN = "为地"
#: How sure the network must be, of 255.
SURE = 230


def _cut(where: features.Places) -> Iterator[Word]:
    """The words of texts, with the tags of jieba's dictionary."""
    assert where.words is not None
    jieba.posseg.dt.initialize()
    tags, firsts = jieba.posseg.dt.word_tag_tab, np.unique(where.words[0])
    firsts = firsts[firsts < LONGEST]
    text = where.points[: firsts[-1]].tobytes().decode("utf-32-le")
    for begin, end in pairwise(firsts.tolist()):
        yield Word(begin, text[begin:end], tags.get(text[begin:end], "x"))


def _pair(cut: Sequence[Word], at: int, words: Mapping[str, Sequence[str]]) -> str | None:
    """How a word of one character is read in a listed word that it makes with another one, if LAC has cut it off."""
    form = cut[at].form
    if len(form) > 1 or form in FUNCTIONS:
        return None
    before, behind = (cut[other].form if 0 <= other < len(cut) else "" for other in (at - 1, at + 1))
    for word, place, other in ((before + form, 1, before), (form + behind, 0, behind)):
        if len(word) == 2 and other not in FUNCTIONS and word in words:
            return words[word][place]
    return None


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
            cut = list(_cut(where))
            for number, word in enumerate(cut):
                known = words.get(word.form)
                for place, char in enumerate(word.form):
                    if left.get(char, 0) <= 0 or word.at < 8:
                        continue
                    pair = _pair(cut, number, words)
                    if pair:
                        reading: str | None = pair
                    elif len(word.form) == 1:
                        reading = said(cut, number)
                    else:
                        reading = known[place] if known else inside(word, place)
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
