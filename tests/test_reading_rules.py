"""Training data of the models of readings in context: words of one character, read by the words around them."""

import pytest

from benchmarks.readings.rules import Word, inside, said

SENTENCES = [
    ("我们/r 为/p 人民/n 服务/v", "wei4"),
    ("按照/p 规定/n 为/p 居民/n 办理/v", "wei4"),
    ("医生/n 为/p 病人/n 治疗/v", "wei4"),
    ("学校/n 为/p 他们/r 开/v 会/n", "wei4"),
    ("视/v 为/p 放弃/v", "wei2"),
    ("以/p 人/n 为/p 本/r", "wei2"),
    ("期限/n 为/p 三/m 年/q", "wei2"),
    ("慢慢/d 地/uv 走/v", "de5"),
    ("科学/n 地/uv 管理/v", "de5"),
    ("发生/v 地/uv 法院/n", "di4"),
    ("出生/v 地/uv 的/uj", "di4"),
    ("跑/v 得/ud 快/a", "de5"),
    ("你/r 得/ud 去/v", "dei3"),
    ("不/d 得/ud 外传/v", "de2"),
    ("必须/d 得/ud 争胜/v", "dei3"),
    ("始/d 得/ud 举行/v", "de2"),
    ("升学/v 率/v 提高/v", "lv4"),
    ("他/r 率/v 队/n", "shuai4"),
    ("河/n 长/a 负责/v", "zhang3"),
    ("很/d 长/a 的/uj", "chang2"),
    ("长/a 了/ul 两/m 颗/q", "zhang3"),
    ("好/a 哦/zg", "o5"),
    ("，/x 哦/zg ，/x", "o4"),
    ("好/a 哇/y", "wa5"),
    ("还/d 款/n", "huan2"),
    ("还/d 好/a", "hai2"),
    ("看/v 中/f 了/ul", "zhong4"),
    ("家/n 中/f", "zhong1"),
    ("做/v 不/d 了/ul", "liao3"),
    ("教/v 我/r", "jiao1"),
]


@pytest.mark.parametrize(("text", "reading"), SENTENCES)
def test_words_alone_are_read_by_their_neighbours(text, reading):
    pairs = [pair.split("/") for pair in text.split()]
    words = [Word(number, form, tag) for number, (form, tag) in enumerate(pairs)]
    asked = [
        number for number, word in enumerate(words) if len(word.form) == 1 and word.form in "为地得率长哦哇还中了教"
    ]
    assert said(words, asked[0]) == reading


def test_what_no_rule_is_sure_of_is_not_said():
    assert said([Word(0, "都", "nr")], 0) is None
    assert said([Word(0, "教", "v"), Word(1, "委", "n")], 0) is None


@pytest.mark.parametrize(
    ("form", "tag", "place", "reading"),
    [("曼切斯", "nrt", 1, "qie4"), ("霍思燕", "nr", 2, "yan4"), ("燕青", "nr", 0, None), ("中签率", "n", 2, "lv4")],
)
def test_inside_words_that_no_lexicon_has(form, tag, place, reading):
    assert inside(Word(0, form, tag), place) == reading
