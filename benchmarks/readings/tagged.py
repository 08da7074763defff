"""Labels of common characters by words: what a word's lexicons say, and of a word of one character what its tag says.

g2pM's network reads 部分 *fēn*, 应予 *yìng* and 为保障 *wéi*: CPP, which it was fitted to, has few of what is common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import jieba.posseg
import numpy as np

from benchmarks.readings import features
from benchmarks.readings.features import Places
from benchmarks.readings.labels import LEXICONS, lexicon
from benchmarks.readings.prepare import Setting
from benchmarks.readings.train import Examples

#: Character -> jieba's tag of it as a word -> reading; "" for any other tag. None: not to be learnt from.
ALONE: dict[str, dict[str, str | None]] = {
    "为": {"": "wei2"},  # which jieba calls a preposition always: see _of_wei
    "应": {"": "ying1", "nr": None},
    "吧": {"": "ba5", "n": "ba1"},
    "啦": {"": "la5", "o": "la1"},
    "更": {"": "geng4", "q": "geng1", "n": "geng1"},
    "还": {"d": "hai2", "": "huan2"},
    "都": {"d": "dou1", "": None},
    "只": {"d": "zhi3", "q": "zhi1", "": None},
    "少": {"": "shao3", "nr": None},
    "没": {"": "mei2"},
    "倒": {"": "dao4"},
    "将": {"": "jiang1", "n": "jiang4"},
    "长": {"a": "chang2", "v": "zhang3", "n": "zhang3", "": "chang2"},
    "行": {"": "xing2", "q": "hang2", "n": "hang2"},
    "分": {"": "fen1"},
    "处": {"v": "chu3", "": "chu4"},
    "子": {"": "zi3"},
    "乐": {"": "le4"},
    "切": {"": "qie1"},
    "挑": {"": "tiao1"},
    "发": {"": "fa1"},
    "了": {"": "le5", "v": "liao3"},
    "着": {"": "zhe5", "v": "zhao2"},
    "给": {"": "gei3"},
    "降": {"": "jiang4"},
    "种": {"": "zhong3", "v": "zhong4"},
    "差": {"": "cha4"},
    "累": {"": "lei4"},
    "重": {"": "zhong4", "d": "chong2"},
    "空": {"": "kong1"},
    "中": {"": "zhong1", "v": "zhong4"},
    "作": {"": "zuo4"},
    "要": {"": "yao4"},
    "的": {"": "de5"},
    "会": {"": "hui4"},
    "相": {"": "xiang1"},
    "卷": {"": "juan4", "v": "juan3"},
    "觉": {"": "jue2", "n": "jiao4"},
    "头": {"": "tou2"},
    "什": {"": "shen2"},
    "载": {"": "zai4", "m": "zai3"},
    "藏": {"": "cang2"},
    "塞": {"": "sai1"},
    "折": {"": "zhe2"},
    "扎": {"": "zha1"},
    "数": {"": "shu4", "v": "shu3"},
    "正": {"": "zheng4"},
    "当": {"": "dang1"},
    "便": {"": "bian4"},
    "曲": {"": "qu3"},
    "转": {"": "zhuan3"},
    "传": {"": "chuan2"},
    "调": {"": "diao4", "v": "tiao2"},
    "量": {"": "liang4", "v": "liang2"},
    "好": {"": "hao3"},
    "看": {"": "kan4"},
    "间": {"": "jian1"},
    "与": {"": "yu3"},
    "和": {"": "he2"},
    "那": {"": "na4"},
    "哪": {"": "na3"},
    "过": {"": "guo4"},
    "大": {"": "da4"},
    "上": {"": "shang4"},
    "难": {"": "nan2"},
    "几": {"": "ji3"},
    "背": {"": "bei4", "v": "bei1"},
    "似": {"": "si4"},
}
#: Before 为 *wéi*, though no verbs; verbs before 为 *wèi*.
_IS = frozenset("均仅约则即多都皆本共现实原应")
_MODAL = frozenset("应当 可以 能 能够 会 要 来 可 需要 必须 应该 想 愿意".split())
_CLAUSE = 6
#: Examples of a character; most texts of them are of one kind, so that some come from each.
MOST = 3_000


def spoken_words(chars: frozenset[str]) -> dict[str, list[str]]:
    """Word -> pinyin, where most lexicons that have it, and at least two, agree."""
    lexicons = [lexicon(name, chars) for name in LEXICONS]
    found = {}
    for word in set().union(*lexicons):
        say = Counter(tuple(known[word]) for known in lexicons if word in known)
        pinyin, times = say.most_common(1)[0]
        if times > 1 and 2 * times > say.total() and all(pinyin):
            found[word] = list(pinyin)
    return found


def _of_wei(words: list[tuple[int, str, str]], at: int) -> str:
    """The reading of 为 as a word, ``words[at]``: *wèi* before what something is done for, else *wéi*."""
    before, tag = words[at - 1][1:] if at else ("", "x")
    behind = words[at + 1 : at + 1 + _CLAUSE]
    if before in _IS or (tag.startswith("v") and before not in _MODAL) or (behind and behind[0][2] == "m"):
        return "wei2"
    if (behind and behind[0][2] == "r") or tag in ("x", "d", "c", "w") or before in _MODAL:
        return "wei4"
    tags = [tag for _, _, tag in behind]
    ends = tags.index("x") if "x" in tags else len(tags)
    return "wei4" if any(tag.startswith("v") for tag in tags[1:ends]) else "wei2"


def _cut(text: str) -> Iterator[tuple[int, str, str]]:
    """The words of a text with their places and tags."""
    at = 0
    for word, flag in jieba.posseg.cut(text, HMM=False):
        yield at, word, flag
        at += len(word)


def tagged(folder: Path, made: Setting) -> Examples:
    """Places of the characters of ALONE in the labelled text, up to MOST of each, some from each file."""
    numbers = {name: number for number, name in enumerate(made.names)}
    words = spoken_words(frozenset(ALONE))
    files = sorted(folder.glob("*-*.npz"))
    kinds = {file.stem.split("-")[0] for file in files}
    parts, each = [], MOST // len(kinds)
    for kind in sorted(kinds):
        left = dict.fromkeys(ALONE, each)
        for file in [file for file in files if file.stem.split("-")[0] == kind][:3]:
            with np.load(file) as loaded:
                where = features.spread(loaded["text"], loaded["starts"], loaded["places"])
            text = "".join(map(chr, where.points[:600_000]))
            kept, readings = [], []
            cut = list(_cut(text))
            for number, (at, word, flag) in enumerate(cut):
                for place, char in enumerate(word):
                    if left.get(char, 0) <= 0 or at < 8:
                        continue
                    said = ALONE[char].get(flag, ALONE[char][""])
                    if word == "为":
                        said = _of_wei(cut, number)
                    elif word[1:]:
                        said = words.get(word, [""] * len(word))[place]
                    if said in numbers:
                        left[char] -= 1
                        kept.append(at + place)
                        readings.append(numbers[said])
            spots = Places(where.points, np.array(kept, np.int64))
            rows = np.full((len(kept), 5), -1, np.int32)
            rows[:, 0] = readings
            keys = features.keys(spots, made.voter, made.parts, made.classes)
            parts.append(Examples(where.points[spots.at], keys, rows, (rows >= 0).astype(np.float32)))
    return Examples(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
