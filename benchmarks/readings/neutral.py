"""Writes phonemic/lexicon/speech-neutral.tsv: the words that ``sandhi=True`` has neutral tones for.

``python -m benchmarks.readings.neutral`` (needs pypinyin-dict and jieba)

* Words by hand, ``neutral.tsv`` beside this file: decisions, longer words that have the full tone, and where another
  word begins or ends within one.
* Words in use for which CC-CEDICT has nothing but a neutral tone where one of our readings has a full one.

What shorter words of the list say is not written again.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.readings.labels import numbered
from phonemic import Tokenizer
from phonemic.lexicon.models import reading_data

BY_HAND = Path(__file__).with_name("neutral.tsv")
OUTPUT = Path(__file__).parents[2] / "phonemic" / "lexicon" / "speech-neutral.tsv"
#: How often a word is in jieba's dictionary, at least; and how long it is, at most.
IN_USE, LONGEST = 20, 4
#: Neutral by a rule of grammar, which speech may also leave out, or parts of words by hand.
BY_RULE = "儿不得个来去是上下里边着住开"
#: Neutral at choice and mostly full in careful speech, other words than those that text mostly has, or too near others.
LEFT_OUT = frozenset(
    "精神 说道 过去 任务 力量 态度 夫人 女人 别人 太阳 味道 书记 情形 势力 道理 教训 逻辑 照顾 分子 大人 说法 好处 老公 "
    "言语 利害 得罪 开通 尺寸 价钱 年份 分量 份量 下水 方丈 跟前 公道 冷战 款式 小儿 口音 近乎 地道 牡丹 迷惑 摸索 延误 当头 "
    "德行 大意 仁义 摆设 字号 下场 照应 端详 受用 营生 管子 猴儿 眉目 执事 对头 估量 打手 差使 门面 横竖 排场 用钱 熟识 德性 "
    "待会 节气 憨厚 生分 气数 孝道 和气 进项 鼻头 度数 下作 家什 牛气 调头 干事 老到 松散 篇幅 恭维 将就 服服 刚刚 老老 爱爱 "
    "吵吵 自在 世故 实在 兄弟 买卖 大王 益处 坏处 害处 合子 粒子 弹子 卵子 当儿 淮南子 君子 舍利子 金铃子 贫子 任务栏 占地面积 "
    "实习生 悄悄话 赫鲁晓夫 赫鲁雪夫 血液透析 信息灵通 与时消息 老玉米 小虾米 星星之火 滴答声 报酬 言语 丧气 活路 灌肠 标致 "
    "长虫 转游 反过来 做作 狼头 高头 花头 身量 错处 央告 杂碎 冷颤 利息率 贩子 天呀 天哪 我勒个去 啊哟 老是 打手 咚咚 出锋头 毛毛雨 小毛头 小妹妹 乱子 多咱 伊妹儿 俗子 套套 兜兜 屁屁 内内 逼逼".split()
)
CC_CEDICT = "CC-CEDICT"
Marks = list[str]


def rows(path: Path) -> dict[str, tuple[str, str]]:
    """Word -> its marks and source."""
    lines = path.read_text("utf-8").splitlines()
    return {word: (marks, source) for word, marks, source in (row.split("\t") for row in lines if row[0] != "#")}


def cedict() -> Iterator[tuple[str, list[set[str]]]]:
    """The words of CC-CEDICT in simplified characters, and the readings of each character; the shortest first."""
    simplified = reading_data().simplified
    table = importlib.import_module("pypinyin_dict.phrase_pinyin_data.cc_cedict").phrases_dict
    for word, choices in sorted(table.items(), key=lambda row: (len(row[0]), row[0])):
        said = [{numbered(text) for text in texts} for texts in choices]
        plain = all(simplified.get(char, char) == char for char in word)
        if 1 < len(word) == len(said) <= LONGEST and plain and all(map(all, said)):
            yield word, said


def frequencies() -> dict[str, int]:
    """How often jieba's dictionary has each of its words."""
    import jieba

    lines = (Path(jieba.__file__).parent / "dict.txt").read_text("utf-8").splitlines()
    return {word: int(count) for word, count, *_ in (line.split(" ") for line in lines)}


def within(word: str, known: Mapping[str, tuple[str, str]]) -> Marks:
    """What the words that are known say of the characters of ``word``."""
    found: Marks = []
    while len(found) < len(word):
        at = len(found)
        ends = (end for end in range(len(word), at, -1) if word[at:end] in known)
        end = next(ends, 0)
        found += known[word[at:end]][0] if end else "-"
    return found


def _left_out(word: str) -> set[int]:
    spans = ((at, end) for at in range(len(word)) for end in range(at + 2, len(word) + 1))
    return {place for at, end in spans if word[at:end] in LEFT_OUT for place in range(at, end)}


class Reader:
    """How the package reads words without sandhi, in both ways."""

    def __init__(self) -> None:
        self.ways = [Tokenizer("zh", readings=readings) for readings in ("pypinyin", "context")]

    def __call__(self, word: str) -> list[set[str]]:
        """The readings of each character."""
        texts = [way.decode(way.encode(word), to="numbers").replace("ü", "v").split() for way in self.ways]
        return [set(pair) for pair in zip(*texts, strict=True)]


def _neutral(word: str, said: list[set[str]], read: list[set[str]]) -> list[int]:
    """The places that have nothing but a neutral tone in CC-CEDICT, and a full one of that syllable in a reading."""
    skipped = _left_out(word)
    return [
        at
        for at, (says, reads) in enumerate(zip(said, read, strict=True))
        if at and at not in skipped and word[at] not in BY_RULE and len(says) == 1
        if (reading := next(iter(says))).endswith("5")
        and any(other[:-1] == reading[:-1] and other != reading for other in reads)
    ]


def main() -> None:
    """Writes the file."""
    read, count = Reader(), frequencies()
    by_hand = rows(BY_HAND)
    found = {
        word: row
        for word, row in by_hand.items()
        if "5" not in row[0]
        or "2" in row[0]
        or any(mark == "5" and any(one[-1] != "5" for one in says) for mark, says in zip(row[0], read(word), strict=True))
    }
    for word, said in cedict():
        if word not in by_hand and word not in LEFT_OUT and count.get(word, 0) >= IN_USE:
            marks = within(word, found)
            neutral = [at for at in _neutral(word, said, read(word)) if marks[at] != "5"]
            for at in neutral:
                marks[at] = "5"
            if neutral:
                found[word] = "".join(marks), CC_CEDICT
    head = (
        "# Words with neutral tones, written by benchmarks/readings/neutral.py. Columns: word, marks, source.\n"
        "# A mark for each character: 5 is neutral, 2 a third tone that changes before the third tone behind it.\n"
    )
    lines = [f"{word}\t{marks}\t{source}\n" for word, (marks, source) in sorted(found.items())]
    OUTPUT.write_text(head + "".join(lines), "utf-8")


if __name__ == "__main__":
    main()
