"""Mandarin as it is spoken: tone sandhi and erhua; and that the core changes what the reference changes."""

import json
import lzma
import os
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pypinyin", reason="the reference needs pypinyin")

from hypothesis import given
from hypothesis import strategies as st

from phonemic import InputError, Tokenizer, arrow, mandarin, reference
from phonemic.metrics import Statistics
from phonemic.reading.models import reading_data
from phonemic.reading.speech import LINKED, MERGED, NEUTRAL, NUMERALS, PLAIN, YI
from phonemic.reading.spoken import hand_written, words

WAYS = [(sandhi, erhua) for sandhi in (False, True) for erhua in (False, True)][1:]
MADE = {
    (readings, *way): Tokenizer("zh", readings=readings, sandhi=way[0], erhua=way[1])
    for readings in ("pypinyin", "context")
    for way in WAYS
}
SPOKEN, PLAIN_ZH = MADE["pypinyin", True, True], Tokenizer("zh")
#: Characters of every kind that the rules tell apart, and of what parts runs.
NEAR = "一不个個儿兒二十第七月百万统好很我想买水果老板点會会花女童子这有了地\ufa0e不，。 a1\u0301\ufe0f九\n"
ADDED = sorted(words().keys() - words(neutral=False).keys())
PIECES = [
    *NEAR,
    *(word for some in (words(neutral=False), ADDED) for word in random.Random(5).sample(sorted(some), 60)),
]


def numbers(text, **options):
    tokenizer = Tokenizer("zh", **options)
    return tokenizer.decode(tokenizer.encode(text), to="numbers")


def same(text, tokenizer, phrases=None):
    made = tokenizer.options
    encoding = tokenizer.encode(text)
    expected = reference.encode(
        text, "zh", False, made.word_joiner, phrases, made.fallback, made.readings, made.sandhi, made.erhua
    )
    assert encoding.triples == [position.triple for position in expected], ascii(text)
    assert encoding.spans.tolist() == [[position.start, position.end] for position in expected], ascii(text)
    assert encoding.word_ids.tolist() == [position.word for position in expected], ascii(text)


# Textbook examples: Huang and Liao, Xiandai Hanyu (一, 不); Shih 1986, Chen 2000, Duanmu 2007 (third tone).
@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("一", "yi1"),
        ("一个", "yi2 ge4"),
        ("一样", "yi2 yang4"),
        ("一天", "yi4 tian1"),
        ("一年", "yi4 nian2"),
        ("一起", "yi4 qi3"),
        ("一两天", "yi4 liang3 tian1"),
        ("第一", "di4 yi1"),
        ("第一个", "di4 yi1 ge4"),
        ("十一个", "shi2 yi1 ge4"),
        ("一百一十一", "yi4 bai3 yi1 shi2 yi1"),
        ("一万一千", "yi2 wan4 yi4 qian1"),
        ("一九一二年", "yi1 jiu3 yi1 er4 nian2"),
        ("一月一日", "yi1 yue4 yi1 ri4"),
        ("统一的", "tong3 yi1 de5"),
        ("星期一，一心", "xing1 qi1 yi1 , yi4 xin1"),
        ("不是", "bu2 shi4"),
        ("不好", "bu4 hao3"),
        ("不能不说", "bu4 neng2 bu4 shuo1"),
        ("不一定", "bu4 yi2 ding4"),
        ("不", "bu4"),
        ("你好", "ni2 hao3"),
        ("展览馆", "zhan2 lan2 guan3"),
        ("洗脸水", "xi2 lian2 shui3"),
        ("小老虎", "xiao3 lao2 hu3"),
        ("老板好", "lao2 ban2 hao3"),
        ("我也很好", "wo2 ye3 hen2 hao3"),
        ("买水果", "mai3 shui2 guo3"),
        ("岂有此理", "qi2 you3 ci2 li3"),
        ("你，好", "ni3 , hao3"),
        ("有点儿好", "you2 dian3 er2 hao3"),
        ("一個", "yi2 ge4"),
        ("水餃好", "shui2 jiao2 hao3"),
    ],
)
def test_tones_change(text, pinyin):
    assert numbers(text, sandhi=True).replace("er5", "er2") == pinyin
    assert numbers(text, sandhi=True, readings="context").replace("er5", "er2") == pinyin


# CC-CEDICT writes r5 where 儿 is not a syllable and er2 where it is one.
@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("花儿", "huar1"),
        ("花兒", "huar1"),
        ("玩儿", "wanr2"),
        ("这儿", "zher4"),
        ("哪儿", "nar3"),
        ("一会儿", "yi1 huir4"),
        ("小孩儿", "xiao3 hair2"),
        ("今儿个", "jinr1 ge4"),
        ("儿子", "er2 zi5"),
        ("女儿", "nü3 er2"),
        ("婴儿", "ying1 er2"),
        ("儿童", "er2 tong2"),
        ("幼儿园", "you4 er2 yuan2"),
        ("混血儿", "hun4 xue4 er2"),
        ("那儿子女", "na4 er2 zi5 nü3"),
        ("这儿童节", "zhe4 er2 tong2 jie2"),
        ("花，儿", "hua1 , er2"),
        ("早点儿", "zao3 dianr3"),
        ("胡同儿", "hu2 tongr4"),
        ("中间儿", "zhong1 jianr1"),
        ("慢慢儿走", "man4 manr4 zou3"),
        ("小曲儿", "xiao3 qur3"),
        ("块儿", "kuair4"),
        ("这块儿", "zhe4 kuair4"),
        ("那块儿", "na4 kuair4"),
        ("一块儿", "yi1 kuair4"),
        ("一块儿童表", "yi1 kuai4 er2 tong2 biao3"),
    ],
)
def test_erhua_merges(text, pinyin):
    assert numbers(text, erhua=True).replace("zi3", "zi5") == pinyin


def test_erhua_comes_before_tones():
    assert numbers("有点儿好", sandhi=True, erhua=True) == "you2 dianr2 hao3"
    assert numbers("一会儿", sandhi=True, erhua=True) == "yi2 huir4"


def test_a_merged_syllable_has_the_rime_without_it_and_a_span_of_both():
    flower = SPOKEN.encode("红花儿 开")
    assert flower.spans.tolist() == [[0, 1], [1, 3], [4, 5]]
    assert flower.word_ids.tolist() == [0, 0, 1]
    assert flower[1] == PLAIN_ZH.encode("花")[0]._replace(text="花儿", ipa="xua˞˥˥", start=1, end=3)
    assert SPOKEN.decode(flower) == "hóng huār kāi"
    assert SPOKEN.decode(flower.ids) == "hóng huā kāi"
    assert SPOKEN.decode(flower, to="ipa") == "xʊŋ˧˥ xua˞˥˥ kʰai˥˥"
    assert SPOKEN.decode(flower, to="zhuyin").split()[1] == "ㄏㄨㄚㄦ"
    assert SPOKEN.decode(flower, preserve_text=True) == "hóng huār kāi"
    assert SPOKEN.encode("花儿\ufe00").spans.tolist() == [[0, 3]]
    assert SPOKEN.encode("花\ufe00儿").spans.tolist() == [[0, 2], [2, 3]]


@pytest.mark.parametrize("after", ["", "\ufe00", "\u200b", "\ufe00\u200b"])
def test_a_merged_syllable_s_ipa_whatever_stands_behind(after):
    (flower,) = SPOKEN.encode("花儿" + after).syllables
    assert flower.ipa == SPOKEN.decode(SPOKEN.encode("花儿" + after), to="ipa") == "xua˞˥˥"


def test_characters_are_counted_whether_they_merge_or_not():
    texts = ["花儿开了", "小孩儿ab"]
    found = [Statistics(Tokenizer("zh", erhua=erhua)) for erhua in (False, True)]
    for statistics in found:
        statistics.update(texts)
    plain, merged = (statistics.summary(2.5) for statistics in found)
    told = ("occurrences", "native_occurrences", "types", "native_types", "average_input_length")
    assert [merged.get(name) for name in told] == [plain.get(name) for name in told]
    assert merged["occurrences"] == 9


def test_nothing_changes_without_them():
    assert Tokenizer("zh", sandhi=False, erhua=False) == PLAIN_ZH
    text = "一个不是你好花儿"
    assert numbers(text) == "yi2 ge4 bu2 shi4 ni3 hao3 hua1 er2"
    assert len({type(made.core) for made in (PLAIN_ZH, SPOKEN, Tokenizer("zh", readings="context"))}) == 3


def test_a_users_phrases_stay():
    own = {"一中": "yi1 zhong1", "你好": "ni3 hao3", "花儿": "hua1 er2", "不": "bu2"}
    given_options = {"phrases": own, "sandhi": True, "erhua": True}
    assert numbers("一中你好花儿不好", **given_options) == "yi1 zhong1 ni3 hao3 hua1 er2 bu4 hao3"
    assert numbers("我一中", **given_options) == "wo3 yi1 zhong1"
    assert numbers("我你好", **given_options) == "wo2 ni3 hao3"


@pytest.mark.parametrize("key", MADE)
def test_core_and_reference_agree_on_every_word(key):
    for word in words():
        same(f"好{word}好", MADE[key])


@pytest.mark.parametrize("key", MADE)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_core_and_reference_agree(key, text):
    same(text, MADE[key])


@given(st.text(max_size=20), st.sampled_from(list(MADE)))
def test_core_and_reference_agree_on_any_text(text, key):
    same(text, MADE[key])


PHRASES = st.dictionaries(
    st.lists(st.sampled_from("一不儿花你好水果老板个银行"), min_size=1, max_size=4).map("".join),
    st.just(None),
    max_size=4,
).map(lambda found: {phrase: [("yi1", "bu4", "hao3", "ge5")[ord(char) % 4] for char in phrase] for phrase in found})


@given(st.lists(st.sampled_from([*"一不儿花你好水果老板个银行 "]), max_size=12).map("".join), PHRASES, st.booleans())
def test_core_and_reference_agree_with_a_users_phrases(text, phrases, in_context):
    readings = "context" if in_context else "pypinyin"
    own = Tokenizer("zh", phrases=phrases or None, readings=readings, sandhi=True, erhua=True)
    same(text, own, phrases)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_no_rule_names_stays(text):
    """Sandhi alters tones only, those of 一, 不, third and neutral tones; erhua takes away positions of 儿 only."""
    before, after = PLAIN_ZH.encode(text), MADE["pypinyin", True, False].encode(text)
    assert before.spans.tolist() == after.spans.tolist()
    for one, other in zip(before, after, strict=True):
        assert (one.onset, one.rime) == (other.onset, other.rime)
        if one.tone != other.tone:
            third = (one.tone, other.tone) == (mandarin.TONES[3], mandarin.TONES[2])
            assert one.text[0] in "一不\uf967" or third or not other.tone
    merged = MADE["pypinyin", False, True].encode(text)
    ids, kept = before.ids.tolist(), np.isin(before.spans[:, 0], merged.spans[:, 0])
    assert [packed for packed, stays in zip(ids, kept, strict=True) if stays] == merged.ids.tolist()
    assert all(before[at].text[0] in "儿兒" for at in np.flatnonzero(~kept).tolist())


def test_utf8_is_read_as_str_is():
    pa = pytest.importorskip("pyarrow", reason="needs the arrow extra")
    choose = random.Random(8)
    texts = ["".join(choose.choices(PIECES, k=choose.randrange(30))) for _ in range(300)]
    for made in MADE.values():
        batch = made.encode_batch(texts, 2, spans=True, word_ids=True)
        assert arrow.encode(pa.array(texts), made).to_pylist() == [row.ids.tolist() for row in batch]
        for text, row in zip(texts, batch, strict=True):
            assert row == made.encode(text)
            assert row.spans.tolist() == made.encode(text).spans.tolist()
            assert row.word_ids.tolist() == made.encode(text).word_ids.tolist()
        assert made.encode_batch(texts).ids.tolist() == batch.ids.tolist()


@pytest.mark.parametrize("name", ["laws", "general", "weekly", "lctt"])
def test_core_and_reference_agree_on_raw_text(name):
    folder = os.environ.get("PHONEMIC_DATA")
    if not folder:
        pytest.skip("PHONEMIC_DATA is not set: the raw texts are not there")
    with lzma.open(Path(folder, "zh", "raw", f"{name}.txt.xz"), "rt", encoding="utf-8") as file:
        text = file.read(6_000)
    for made in (SPOKEN, MADE["context", True, True]):
        same(text, made)
    found = SPOKEN.encode(text)
    third, other = mandarin.TONES[3], mandarin.TONES[1]
    own = [syllable.tone for syllable in found]
    touching = (found.spans[1:, 0] == found.spans[:-1, 1]).tolist()
    # No third tone is left before another, and no 不 with its fourth before a fourth.
    assert not any(one == two == third and near for (one, two), near in zip(pairwise(own), touching, strict=True))
    assert other in own


def test_the_lists_are_whole():
    simplified, lines = reading_data().simplified, []
    for name in ("speech", "speech-words"):
        text = (Path(mandarin.__file__).parent / "lexicon" / f"{name}.tsv").read_text("utf-8")
        lines += [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    assert all(len(line) == 3 and line[2] for line in lines)
    assert len({line[0] for line in lines}) == len(lines) == len(words(neutral=False))
    assert not any(action & NEUTRAL for actions in words(neutral=False).values() for action in actions)
    for word, actions in words().items():
        assert word == "".join(simplified.get(char, char) for char in word)
        assert len(actions) == len(word) > 1
        assert not actions[0] & MERGED
        assert all(word[at] == "儿" for at, action in enumerate(actions) if action & MERGED)
        assert all(word[at] == YI for at, action in enumerate(actions) if action & PLAIN)
        assert word in ADDED or not any(action & LINKED for action in actions[1:])
    assert set(hand_written().values()) == {"plain", "number", "儿", "erhua"}
    assert not set(NUMERALS) & set(simplified)


def test_they_are_told_with_what_they_made(tmp_path):
    pytest.importorskip("pyarrow", reason="needs the arrow extra")
    from phonemic.corpus.options import describe
    from phonemic.files.ids import reader as ids_reader
    from phonemic.files.ids import writer

    for (_, sandhi, erhua), made in MADE.items():
        made.save(tmp_path / "t.json")
        state = json.loads((tmp_path / "t.json").read_text())
        assert (state.get("sandhi", False), state.get("erhua", False)) == (sandhi, erhua)
        assert Tokenizer.load(tmp_path / "t.json") == made != PLAIN_ZH
        assert ("sandhi" in describe(made), "erhua" in describe(made)) == (sandhi, erhua)
        assert "speech" in describe(made)
        for form in ("parquet", "arrow", "jsonl"):
            with writer(str(tmp_path / form), form, made) as write:
                write(["一个花儿"])
            found, rows = ids_reader(str(tmp_path / form), form)
            assert found == made
            assert [row for block in rows for row in block.lists()] == [made.encode("一个花儿").ids.tolist()]
    assert "speech" not in describe(PLAIN_ZH)
    rows = [json.dumps({"lang": "zh", "ids": [], **more}) for more in ({}, {"sandhi": True})]
    (tmp_path / "mixed").write_text("\n".join(rows) + "\n")
    with pytest.raises(InputError, match="line 2: its language, fallback, readings, sandhi, erhua or form"):
        list(ids_reader(str(tmp_path / "mixed"), "jsonl")[1])


def test_damaged_metadata_is_refused():
    from phonemic.files.parquet import tokenizer_of

    stored = {b"phonemic.lang": b"zh", b"phonemic.sandhi": b"maybe"}
    with pytest.raises(InputError, match="unknown value of sandhi"):
        tokenizer_of(stored, "here")
    with pytest.raises(InputError, match="unknown value of erhua"):
        tokenizer_of({b"phonemic.lang": b"vi", b"phonemic.erhua": b"true"}, "here")


@pytest.mark.parametrize("name", ["sandhi", "erhua"])
def test_what_is_refused(name):
    with pytest.raises(ValueError, match=rf"{name} is for Mandarin \(lang='zh'\)"):
        Tokenizer("vi", **{name: True})
    with pytest.raises(TypeError, match=f"{name} must be True or False, not 'yes'"):
        Tokenizer("zh", **{name: "yes"})
    assert not getattr(Tokenizer("vi", **{name: False}), name)


def test_command():
    from click.testing import CliRunner

    from phonemic.cli import cli

    run = CliRunner().invoke
    assert run(cli, ["transcribe", "--lang", "zh", "--sandhi", "--erhua", "一会儿不去"]).output == "yí huìr bú qù\n"
    rows = run(cli, ["transcribe", "--lang", "zh", "--erhua", "--format", "tsv", "花儿"]).output.splitlines()
    assert rows[1].split("\t")[:2] == ["花儿", "huār"]
    refused = run(cli, ["transcribe", "--lang", "vi", "--sandhi", "ba"])
    assert refused.exit_code == 2
    assert "sandhi is for Mandarin" in refused.output
