"""Mandarin names found by their pinyin, with tones or without, and by first letters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import Index, distance, from_pinyin
from phonemic.inventory import EMPTY
from phonemic.sound.typed import typed

NAMES = ["张三", "李四", "王小明", "章散", "赵六", "银行行长", "Li Wei", "长安", "安", "欧阳", "吕", "..."]
INDEX = Index(NAMES, "zh")


def names(query, **options):
    return [(match.name, match.distance) for match in INDEX.search(query, pinyin=True, **options)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("zhang san", [("张三", 0), ("章散", 0)]),
        ("Zhangsan", [("张三", 0), ("章散", 0)]),
        ("zhāng sān", [("张三", 0), ("章散", 0.06)]),
        ("zhang1 san4", [("章散", 0), ("张三", 0.06)]),
        ("zs", [("张三", 0.03), ("章散", 0.03)]),
        ("z s", [("张三", 0.03), ("章散", 0.03)]),
        ("wxm", [("王小明", 0)]),
        ("yhhz", [("银行行长", 0.03)]),
        ("oy", [("欧阳", 0)]),
        ("lv", [("吕", 0)]),
        ("chang'an", [("长安", 0)]),
        ("li wei", [("Li Wei", 0)]),
        ("zhang三", [("张三", 0)]),
        ("张 sān!", [("张三", 0), ("章散", 0.06)]),
        ("张s", [("张三", 0), ("章散", 0)]),
        ("z三", [("张三", 0.03), ("章散", 0.09)]),
        ("王xm", [("王小明", 0)]),
        ("银行hz", [("银行行长", 0.03)]),
    ],
)
def test_found(query, found):
    assert names(query)[: len(found)] == found
    assert names(query, limit=1) == found[:1]
    assert names(query, max_distance=None, limit=None)[: len(found)] == found


def test_other_queries_find_what_they_found():
    for query in ("张三", "章三", "李", "xyz?", "", "...", "李 üü", "张！", "李v"):
        assert names(query, limit=None) == [(match.name, match.distance) for match in INDEX.search(query, limit=None)]
    assert INDEX.search("zhang san", limit=1) == []
    with pytest.raises(ValueError, match="pinyin=True is for Mandarin"):
        Index(["An"], "vi").search("an", pinyin=True)


@given(
    st.lists(
        st.sampled_from(["zhang1", "san1", "li3", "si4", "ma5", "wang2", "lv3", "er2", "yi1"]), min_size=1, max_size=4
    )
)
def test_with_tones_as_far_as_by_characters(syllables):
    """Pinyin with all its tones is as far from a name as its syllables are, and without them not farther."""
    characters = {
        "zhang1": "张",
        "san1": "三",
        "li3": "李",
        "si4": "四",
        "ma5": "吗",
        "wang2": "王",
        "lv3": "吕",
        "er2": "儿",
        "yi1": "一",
    }
    said, text = "".join(characters[one] for one in syllables), " ".join(syllables)
    by_pinyin, toneless = (
        dict(names(text, max_distance=None, limit=None)),
        dict(names(text.translate({ord(d): "" for d in "12345"}), max_distance=None, limit=None)),
    )
    for name in NAMES[:6]:
        far = distance(said, name, "zh")
        assert toneless[name] <= by_pinyin[name] + 1e-9
        if all(triple.tone != EMPTY for triple in from_pinyin(text)):
            assert by_pinyin[name] == pytest.approx(min(far, distance(text, name, "zh")))


def read(text):
    return typed(text, lambda part: np.zeros((len(part), 3), np.uint8))


def test_what_is_no_pinyin():
    assert [read(text) for text in ("", "  ", "张", "张。", "hello!", "v", "张v", "zs1", "üü")] == [[]] * 9
    assert [len(one.rows) for text in ("zs", "张s", "张s三!") for one in read(text)] == [2, 2, 3]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("xian", {"先", "西安"}),
        ("Xian1", {"先", "西安"}),
        ("xi'an", {"西安"}),
        ("fangan", {"方案", "反感"}),
        ("tiane", {"天鹅"}),
        ("pingan", {"平安"}),
        ("xianshi", {"先是", "西安市"}),
        ("huar", set()),
    ],
)
def test_what_is_written_together_is_cut_in_every_way(query, found):
    index = Index(["先", "西安", "方案", "反感", "天鹅", "平安", "西安市", "先是"], "zh")
    assert {match.name for match in index.search(query, limit=None, max_distance=0.0, pinyin=True)} == found


def test_long_queries_end():
    assert INDEX.search("xian" * 250, pinyin=True) == []
    assert len(read("xian" * 9)) == len(read("xian三" * 9)) == 16
