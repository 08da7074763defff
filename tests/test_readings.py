"""Readings in context: what is read, in both scripts; and that the core reads as the reference does."""

import json
import lzma
import os
import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pypinyin", reason="the reference needs pypinyin")

from hypothesis import given
from hypothesis import strategies as st

from phonemic import Tokenizer, arrow, mandarin, reference
from phonemic.errors import TableError
from phonemic.lexicon.tables import context_tables, tables_of
from phonemic.reading.context import Reader, read, reader
from phonemic.reading.filters import telling
from phonemic.reading.models import DECIDING, LEFT, LISTS, Model, _Words, feature_key, reading_data, reviewed, windows

ZH = Tokenizer("zh")
CONTEXT, WITHOUT_AVX2 = Tokenizer("zh", readings="context"), Tokenizer("zh", readings="context")
WITHOUT_AVX2.core.leave_avx2()


@cache
def near():
    """Characters that vary, and their neighbours."""
    return [*sorted(reading_data().models)[::7], *"著乾瞭徵了着的地得行长重为银銀隨这這，。！“”a1 \n;"]


@pytest.mark.parametrize("layout", [{}, {"context.layout": np.array([1], np.uint32)}])
def test_tables_of_another_layout_are_refused(layout):
    tables = {name: array for name, array in context_tables().items() if name != "context.layout"}
    with pytest.raises(TableError, match="compiled for another version; reinstall phonemic"):
        type(CONTEXT.core)(tables | layout)


def numbers(text, tokenizer=CONTEXT):
    return tokenizer.decode(tokenizer.encode(text).ids, to="numbers")


def raw(name, size):
    folder = os.environ.get("PHONEMIC_DATA")
    if not folder:
        pytest.skip("PHONEMIC_DATA is not set: the raw texts are not there")
    with lzma.open(Path(folder, "zh", "raw", f"{name}.txt.xz"), "rt", encoding="utf-8") as file:
        return file.read(size)


def same(text, tokenizer=CONTEXT, **options):
    encoding = tokenizer.encode(text)
    expected = reference.encode(text, "zh", readings="context", **options)
    assert encoding.triples == [position.triple for position in expected], ascii(text)
    assert encoding.spans.tolist() == [[position.start, position.end] for position in expected], ascii(text)
    if tokenizer is CONTEXT:
        assert WITHOUT_AVX2.encode(text).ids.tolist() == encoding.ids.tolist(), ascii(text)


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("慢慢地走", "man4 man4 de5 zou3"),
        ("跑得快", "pao3 de5 kuai4"),
        ("事故發生地也是", "shi4 gu4 fa1 sheng1 di4 ye3 shi4"),
        ("几亩地都卖了", "ji3 mu3 di4 dou1 mai4 le5"),
        ("明显地下降", "ming2 xian3 de5 xia4 jiang4"),
        ("当地下降", "dang1 di4 xia4 jiang4"),
        ("闪电般地冲", "shan3 dian4 ban1 de5 chong1"),
        ("这般地步", "zhe4 ban1 di4 bu4"),
        ("漫不经心地说", "man4 bu4 jing1 xin1 de5 shuo1"),
        ("晚年得子", "wan3 nian2 de2 zi3"),
        ("还款", "huan2 kuan3"),
        ("照片", "zhao4 pian4"),
        ("电子", "dian4 zi3"),
        ("服务性行业", "fu2 wu4 xing4 hang2 ye4"),
        ("人参加", "ren2 can1 jia1"),
        ("没空调", "mei2 kong1 tiao2"),
        ("曾国藩", "zeng1 guo2 fan1"),
        ("任正非", "ren2 zheng4 fei1"),
        ("銀行", "yin2 hang2"),
        ("重慶", "chong2 qing4"),
        ("隨著", "sui2 zhe5"),
        ("著名", "zhu4 ming2"),
        ("看著", "kan4 zhe5"),
        ("特徵", "te4 zheng1"),
        ("曾先生", "zeng1 xian1 sheng1"),
        ("種地", "zhong4 di4"),
        ("一月一楼第一", "yi1 yue4 yi1 lou2 di4 yi1"),
        ("不会", "bu4 hui4"),
        ("了解", "liao3 jie3"),
        ("瞭解", "liao3 jie3"),
        ("为什么", "wei4 shen2 me5"),
        ("银行行长", "yin2 hang2 hang2 zhang3"),
        ("頭髮", "tou2 fa4"),
        ("乾隆吃餅乾", "qian2 long2 chi1 bing3 gan1"),
        ("弟弟", "di4 di5"),
        ("命令行", "ming4 ling4 hang2"),
        ("一语中的", "yi1 yu3 zhong4 di4"),
        ("不错哦", "bu4 cuo4 o5"),
        ("投资回报率", "tou2 zi1 hui2 bao4 lü4"),
        ("你得去", "ni3 dei3 qu4"),
        ("不得外泄", "bu4 de2 wai4 xie4"),
        ("他做不了", "ta1 zuo4 bu4 liao3"),
    ],
)
def test_what_started_this(text, pinyin):
    assert numbers(text) == pinyin


@pytest.mark.parametrize(
    ("simplified", "traditional"),
    [
        ("他随着银行行长重新发展，显著地长大了。", "他隨著銀行行長重新發展，顯著地長大了。"),
        ("去银行还款的朋友很觉得麻烦。", "去銀行還款的朋友很覺得麻煩。"),
    ],
)
def test_both_scripts_are_read_alike(simplified, traditional):
    assert numbers(simplified) == numbers(traditional)
    assert numbers(simplified, ZH) != numbers(traditional, ZH)


def test_the_default_is_as_it_was():
    assert Tokenizer("zh", readings="pypinyin") == ZH
    assert numbers("銀行还款", ZH) == "yin2 xing2 hai2 kuan3"
    assert tables_of("zh")["bmp"] is not context_tables()["bmp"]


def test_nothing_but_readings_differs():
    text = "3:30 去銀行，ok？\n好 \u0301𠮷"
    one, other = ZH.encode(text), CONTEXT.encode(text)
    assert one.spans.tolist() == other.spans.tolist()
    assert one.word_ids.tolist() == other.word_ids.tolist()
    assert one.kinds.tolist() == other.kinds.tolist()


def test_a_users_phrases_win():
    own = Tokenizer("zh", readings="context", phrases={"银行": "yin2 xing2", "长": "chang2"})
    assert numbers("银行", own) == numbers("银行").replace("hang2", "xing2")
    assert numbers("行长", own).endswith("chang2")
    same("银行行长，银行家长", own, phrases={"银行": ["yin2", "xing2"], "长": ["chang2"]})


def test_a_users_simplified_phrases_hold_in_traditional_text():
    phrases = {"银行走": "yin2 xing2 zou3", "长长": "zhang3 chang2", "發行": "fa1 hang2"}
    tokenizer = Tokenizer("zh", readings="context", phrases=phrases)
    assert numbers("銀行走了", tokenizer) == numbers("银行走了", tokenizer) == "yin2 xing2 zou3 le5"
    assert numbers("長長", tokenizer) == numbers("長长", tokenizer) == "zhang3 chang2"
    assert numbers("銀行", tokenizer) == numbers("銀行") == "yin2 hang2"
    assert numbers("发行", tokenizer) == "fa1 xing2"  # a simplified character may stand for several others
    assert numbers("著", Tokenizer("zh", readings="context", phrases={"着火": "zhao2 huo3", "著": "zhe5"})) == "zhe5"
    by_default = Tokenizer("zh", phrases={"参长": "can1 chang2"})
    assert numbers("參長", by_default) == numbers("參長", Tokenizer("zh"))
    same("銀行走了，長長發行", tokenizer, phrases={phrase: pinyin.split() for phrase, pinyin in phrases.items()})


def test_reviewed_words_are_read_as_they_say():
    """By the reference and by the core; in one test, since each of thousands would take longer to report than to run."""
    words = reviewed()
    assert len(words) > 2_000
    assert {word: read(word) for word in words} == words
    assert {word: numbers(word).replace("ü", "v").split() for word in words} == words


def test_reviewed_words_have_sources_and_stand_once():
    lines = (Path(mandarin.__file__).parent / "lexicon" / "readings.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert all(len(row) == 3 and row[2] for row in rows)
    assert len({row[0] for row in rows}) == len(rows)


@pytest.mark.parametrize("name", LISTS)
def test_every_listed_word_decides(name):
    """But for what it leaves to the models."""
    listed = reviewed(name)
    assert len(listed) > 400
    heard = {word: numbers(word).replace("ü", "v").split() for word in listed}
    wrong = {
        word
        for word, readings in listed.items()
        if any(said not in (LEFT, one) for said, one in zip(readings, heard[word], strict=True))
    }
    assert wrong == set()


def test_no_word_decides_where_other_words_meet():
    """Listed words lie across a border in each: 着手, 种地, 毛呢, 商都, 都在, 出手, 央行."""
    for text, at, reading in (
        ("请拿着手机", 2, "zhe5"), ("这三种地方", 2, "zhong3"), ("三毛呢", 2, "ne5"), ("运营商都在降价", 3, "dou1"),
        ("公安分局的行长", 6, "zhang3"), ("水分子", 1, "fen1"), ("增长率领先", 3, "ling3"),
        ("虚假日期", 1, "jia3"), ("举行长达", 1, "xing2"),
        ("他握着手机", 2, "zhe5"), ("显得力不从心", 1, "de5"), ("智商都很高", 2, "dou1"), ("没收到信", 0, "mei2"),
        ("军人参加比赛", 2, "can1"), ("总结实验", 2, "shi2"), ("每天分一次", 2, "fen1"), ("更正确的", 0, "geng4"), ("账目的核对", 2, "de5"),
    ):  # fmt: skip
        assert numbers(text).split()[at] == reading, text


def test_words_of_a_list_that_contradict_each_other_are_refused():
    alone = {"审": "shen3", "揆": "kui2", "时": "shi2", "度": "du4", "势": "shi4"}
    words = _Words({}, dict(alone), {})
    words.add_words({"揆时度势": ["kui2", "shi2", "du4", "shi4"]})
    words.add_words({"审时度势": ["shen3", "shi2", "duo2", "shi4"]})  # a later list wins
    assert words.models["度"].words == {windows("审时度势", 2): 1}
    both = {"审时度势": ["shen3", "shi2", "duo2", "shi4"], "揆时度势": ["kui2", "shi2", "du4", "shi4"]}
    with pytest.raises(ValueError, match="揆时度势 would have 度 read du4, but 审时度势 duo2: take one out"):
        _Words({}, dict(alone), {}).add_words(both)


@given(st.lists(st.deferred(lambda: st.sampled_from(near())), max_size=14).map("".join))
def test_core_and_reference_agree(text):
    same(text)


@pytest.mark.parametrize("length", [31, 32, 33, 64, 65, 200])
def test_core_and_reference_agree_where_many_characters_vary(length):
    """The core reads the ones that vary some dozens at a time, whatever is between them."""
    choose, phrases = random.Random(length), {"银行": ["yin2", "xing2"]}
    vary = [char for char in near() if char in reading_data().models]
    own = Tokenizer("zh", readings="context", phrases={"银行": "yin2 xing2"})
    for _ in range(5):
        run = choose.choices(vary, k=length)
        same("".join(run))
        same("".join(char + choose.choice(["", "", "猫", "，", "𠀀", " "]) for char in run))
        same("银行".join(["", *run[:3], "".join(run[3:]), ""]), own, phrases=phrases)


@given(st.text(max_size=20))
def test_core_and_reference_agree_on_any_text(text):
    same(text)


def test_utf8_is_read_as_str_is():
    pa = pytest.importorskip("pyarrow", reason="needs the arrow extra")
    choose = random.Random(8)
    texts = ["".join(choose.choices(near(), k=choose.randrange(30))) for _ in range(300)]
    assert arrow.encode(pa.array(texts), CONTEXT).to_pylist() == [
        row.ids.tolist() for row in CONTEXT.encode_batch(texts)
    ]


@pytest.mark.parametrize("name", ["laws", "general", "weekly", "lctt"])
def test_core_and_reference_agree_on_raw_text(name):
    same(raw(name, 12_000))


@pytest.mark.parametrize("name", ["laws", "general", "weekly", "lctt"])
def test_every_processor_reads_much_text_alike(name):
    lines = raw(name, 1_000_000).splitlines()
    assert CONTEXT.encode_batch(lines).ids.tobytes() == WITHOUT_AVX2.encode_batch(lines).ids.tobytes()


@pytest.mark.parametrize("bank", ["ud_gsd", "ud_gsdsimp"])
def test_core_and_reference_agree_on_sentences_of_both_scripts(bank):
    folder = os.environ.get("PHONEMIC_DATA")
    if not folder:
        pytest.skip("PHONEMIC_DATA is not set: the treebanks are not there")
    file = sorted(Path(folder, "zh", bank).glob("*.conllu"))[0]
    lines = [line[9:] for line in file.read_text("utf-8").splitlines() if line.startswith("# text = ")]
    for line in lines[:200]:
        same(line)


def test_a_sentence_ends_what_is_seen():
    seen = reader().features("好。行业！长", 2)
    assert [feature[1:] for feature in seen[:5]] == [
        (0, 0),
        (0, ord("业")),
        (ord("业"), ord("！")),
        (0, 0),
        (ord("业"), 0),
    ]
    assert not any(ord("长") in feature[1:] for feature in seen)


def test_a_word_is_a_window():
    assert windows("银行", 1) == (3, ord("银"), 0)
    assert windows("银行", 0) == (4, ord("行"), 0)
    assert windows("人参加", 1) == (1, ord("人"), ord("加"))
    assert windows("埃塞俄比亚", 0) == (2, ord("塞"), ord("俄"))
    assert windows("埃塞俄比亚", 4) == (0, ord("俄"), ord("比"))


def test_models_are_whole():
    """Every feature has a place, and each is found again."""
    for char, model in list(reading_data().models.items())[::9]:
        layout = model.layout(model.buckets)
        assert sorted(key for keys in layout for key in keys) == sorted(model.decides | model.weights), char
        assert len(model.bias) <= 4
        assert len(model.readings) <= 8
        assert model.slots > DECIDING or all(slot < DECIDING for slot, _, _ in model.features)
        assert all(mandarin.factorize(reading) for reading in model.readings)


def test_what_the_filter_leaves_out_cannot_tell():
    for char, model in list(reading_data().models.items())[::9]:
        told, best = {*telling(model)}, model.bias.index(max(model.bias))
        assert told >= {feature for feature in model.words if feature[0] < model.slots}
        for reading, bias in enumerate(model.bias):
            most = dict.fromkeys(range(model.slots), 0)
            for feature, row in model.rows.items():
                if feature not in told and feature[0] < model.slots:
                    scores = [0, *row]
                    most[feature[0]] = max(most[feature[0]], scores[reading] - scores[best])
            usual = (bias + sum(most.values()), -reading) <= (model.bias[best], -best)
            assert usual or reading == best, (char, model.readings[reading])


@pytest.mark.parametrize("text", ["一不一行花一一", "好不一行花上一。"])
def test_what_only_has_a_key_counts_where_something_tells(text):
    """行 takes the class of 花 for a window that it knows, so the window counts only together with another one."""
    at = text.index("行")
    model, windows = reading_data().models["行"], reader().features(text, at)
    assert any(one not in model.rows and feature_key(one, model.buckets) in model.weights for one in windows)
    context = Tokenizer("zh", readings="context")
    assert context.encode(text).triples[at] == mandarin.factorize(reader().read(text, at))


def test_filters_only_hide_what_has_the_key_of_another(monkeypatch):
    dice = random.Random(7)
    chars = sorted(reading_data().models)
    texts = ["".join(dice.choices(chars, k=40)) for _ in range(300)]
    filtered = [[reader().read(text, at) for at in range(len(text))] for text in texts]
    monkeypatch.setattr(Reader, "_is_told", lambda *_: True)
    hidden = 0
    for text, read_so in zip(texts, filtered, strict=True):
        for at, reading in enumerate(read_so):
            if reader().read(text, at) != reading:
                model, windows = reading_data().models[text[at]], reader().features(text, at)
                assert any(
                    one not in model.rows and feature_key(one, model.buckets) in model.weights for one in windows
                )
                hidden += 1
    assert hidden < 12  # of 12,000


def test_what_is_weighed():
    """By hand, on a model of two features and a word."""
    from dataclasses import replace

    weights = {(4, ord("走"), 0): [9], (3, ord("慢"), 0): [-4]}
    model = Model(["di4", "de5"], [0, -5], weights, {(3, ord("土"), 0): 0})
    made = Reader(replace(reading_data(), models={"地": model}))
    assert made.read("地走", 0) == "de5"
    assert made.read("慢地走", 1) == "di4"  # 9 - 4 - 5 is no more than 0
    assert made.read("地。走", 0) == "di4"
    assert made.read("土地走", 1) == "di4"
    assert feature_key((4, ord("走"), 0), model.buckets) in model.weights


def test_it_is_told_with_what_it_made(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs the arrow extra")
    from phonemic.corpus.options import describe
    from phonemic.files.ids import reader as ids_reader
    from phonemic.files.ids import writer

    CONTEXT.save(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text())["readings"] == "context"
    assert Tokenizer.load(tmp_path / "t.json") == CONTEXT != ZH
    assert describe(CONTEXT)["readings"] == "context"
    assert describe(CONTEXT)["tables"] != describe(ZH)["tables"]
    assert "readings" not in describe(ZH)
    for form in ("parquet", "arrow", "jsonl"):
        with writer(str(tmp_path / form), form, CONTEXT) as write:
            write(["銀行"])
        found, rows = ids_reader(str(tmp_path / form), form)
        assert found == CONTEXT
        assert [row for block in rows for row in block.lists()] == [CONTEXT.encode("銀行").ids.tolist()]
    assert pa


@pytest.mark.parametrize("options", [{"lang": "zh", "readings": "best"}, {"lang": "vi", "readings": "context"}])
def test_wrong_readings_are_refused(options):
    with pytest.raises(ValueError, match="readings"):
        Tokenizer(**options)
