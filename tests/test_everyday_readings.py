"""Readings in context of what people say every day, and of names, against sentences that nothing was fitted to."""

import re
from pathlib import Path

import pytest

from phonemic import Tokenizer
from phonemic.writing.notations import speller

MARKED = re.compile(r"(.)(?:\{([a-z]+[1-5])\})?")


def sentences(file):
    """The parts of a file, each behind a line of its own: texts, and how the characters at some places are read."""
    found = []
    for line in (Path(__file__).parent / file).read_text("utf-8").splitlines():
        if line.startswith("#"):
            found.append([])
        else:
            parts = MARKED.findall(line)
            text = "".join(char for char, _ in parts)
            found[-1].append((text, {at: told for at, (_, told) in enumerate(parts) if told}))
    return [part for part in found if part]


def share(readings, part, least):
    """The share of marked characters, of which there are so many at least, that are read as marked."""
    texts, told = zip(*part, strict=True)
    spelled, right, count = speller("zh", "numbers"), 0, 0
    for encoding, wanted in zip(Tokenizer("zh", readings=readings).encode_batch(texts, spans=True), told, strict=True):
        triples = dict(zip(encoding.spans[:, 0].tolist(), encoding.triples, strict=True))
        right += sum(spelled(triples[at]).replace("ü", "v") == reading for at, reading in wanted.items())
        count += len(wanted)
    assert count > least
    return right / count


def test_most_are_read_as_a_reader_would_and_far_more_than_by_the_longest_phrase():
    (everyday,) = sentences("everyday.txt")
    ours = share("context", everyday, 1500)
    assert ours > 0.94
    assert ours > share("pypinyin", everyday, 1500) + 0.08


def test_names_of_families_are_told_from_what_they_are_elsewhere():
    names, others = sentences("names.txt")
    assert share("context", names, 300) > 0.8
    assert share("pypinyin", names, 300) < 0.4
    assert share("context", others, 290) > max(0.9, share("pypinyin", others, 290))


@pytest.mark.parametrize(
    ("text", "char", "reading"),
    [
        ("他教我英语", "教", "jiao1"), ("教育", "教", "jiao4"), ("院子里种了一棵树", "种", "zhong4"), ("这种水果", "种", "zhong3"),
        ("他数了数钱", "数", "shu3"), ("重写一遍", "重", "chong2"), ("箱子很重", "重", "zhong4"), ("请看第三行", "行", "hang2"),
        ("我们得快点", "得", "dei3"), ("高兴得跳起来", "得", "de5"), ("把钱还给我", "还", "huan2"), ("我把他当朋友", "当", "dang4"),
        ("这只猫", "只", "zhi1"), ("你长高了", "长", "zhang3"), ("放了三天假", "假", "jia4"), ("衣服还没干", "干", "gan1"),
        ("他吐血了", "吐", "tu4"), ("鱼刺卡在喉咙里", "卡", "qia3"), ("他冲我笑", "冲", "chong4"), ("她弹钢琴", "弹", "tan2"),
        ("睡不着觉", "觉", "jiao4"), ("树倒了", "倒", "dao3"), ("扇了他一耳光", "扇", "shan1"), ("炸鸡很好吃", "炸", "zha2"),
        ("应当充分利用", "分", "fen4"), ("审计结果", "结", "jie2"), ("尊重他人", "重", "zhong4"), ("45度角", "角", "jiao3"),
    ],
)  # fmt: skip
def test_everyday_verbs_and_what_must_not_change_for_them(text, char, reading):
    encoding = Tokenizer("zh", readings="context").encode(text)
    triples = dict(zip(encoding.spans[:, 0].tolist(), encoding.triples, strict=True))
    assert speller("zh", "numbers")(triples[text.index(char)]) == reading
