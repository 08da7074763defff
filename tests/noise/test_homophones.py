"""Homophone noise: what is replaced reads the same, by pypinyin; nothing else changes; the draws are what they say."""

import json
import math
import os
import pickle
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from phonemic import Tokenizer, mandarin
from phonemic.noise.homophones import POOLS, Homophones, characters, count_characters

pypinyin = pytest.importorskip("pypinyin", reason="pypinyin is the independent truth")
convert = pytest.importorskip("pypinyin.contrib.tone_convert")

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "examples" / "sentences-zh.txt").read_text("utf-8").splitlines()
TEXT = "".join(LINES)
RATIOS = [0.075, 0.15, 0.225, 0.3, 0.375]

HAN = "银行长重庆不了了之一做二休中国人的地得都好干樂龍門\uf900\uf95c\U00020000\U0002f802\U00030000〇㐀"
ODD = "\0\x85\ufeff\ud800\u0301\ufe0f\U000e0100\u200d가İß①👩‍🚀，。a1 \n\t\u3000"
nasty = st.lists(
    st.one_of(st.text(st.sampled_from(HAN), max_size=9), st.text(st.sampled_from(ODD), max_size=3), st.sampled_from(LINES), st.text(max_size=5)),
    max_size=6,
).map("".join)  # fmt: skip


def alone(char):
    """How pypinyin reads a character by itself."""
    return pypinyin.lazy_pinyin(char, style=pypinyin.Style.TONE3, neutral_tone_with_five=True)[0]


def in_context(text):
    """pypinyin's reading of each character of a text of Han characters."""
    return pypinyin.lazy_pinyin(text, style=pypinyin.Style.TONE3, neutral_tone_with_five=True)


def same_sound(one, other):
    """Whether two syllables are one; pypinyin's lexicon has a few spellings of the same sound (wong, weng)."""
    return one == other or mandarin.factorize(one) == mandarin.factorize(other)


def rebuilt(text, changes):
    chars = list(text)
    for change in changes:
        assert chars[change.start : change.end] == [change.old]
        chars[change.start] = change.new
    return "".join(chars)


@pytest.fixture(scope="module")
def everything():
    return Homophones()


@pytest.fixture(scope="module")
def common():
    return Homophones("gb2312")


class TestPools:
    def test_gb2312_levels_are_the_rows_of_the_standard(self):
        def row_of(char):
            return char.encode("gb2312")[0] - 0xA0

        level1, both = characters("gb2312-1"), characters("gb2312")
        assert [len(level1), len(both)] == [3755, 6763]
        assert {row_of(char) for char in level1} == set(range(16, 56))
        assert {row_of(char) for char in both} == set(range(16, 88))
        assert both[:3755] == level1
        assert [level1[0], level1[-1], both[3755], both[-1]] == ["啊", "座", "亍", "齄"]

    def test_big5_level_1(self):
        level1 = characters("big5-1")
        assert [len(level1), level1[0], level1[-1]] == [5401, "一", "籲"]

    def test_all_are_the_characters_with_readings(self, everything):
        known = {char for group in everything._groups.values() for char in group}
        lexicon = mandarin.lexicon()
        expected = {
            char for char in lexicon.characters if lexicon.han.match(char)
        } - mandarin.compatibility_ideographs().keys()
        assert known == expected

    def test_counts(self):
        assert count_characters(["好好 a", "好啊!", "\ud800"]) == {"好": 3, "啊": 1}

    @pytest.mark.parametrize("pool", ["gb2313", "的地得", [], ["a"], {"好": 0}, {"好": math.nan}, {"好": math.inf}])
    def test_wrong_pools(self, pool):
        with pytest.raises(ValueError, match=r"pool|count"):
            Homophones(pool)

    def test_only_the_pool_is_written(self):
        written = {change.new for change in Homophones({"市", "视", "试", "世", "a", "\uf9b5"}).apply(TEXT, 1).changes}
        assert written
        assert written <= {"市", "视", "试", "世"}
        # U+F9B5 is 例: neither it nor what it equals is written
        assert Homophones(["例", "力"]).apply("\uf9b5例力", 1).text == "力力例"


class TestSound:
    @pytest.mark.parametrize("pool", POOLS)
    def test_each_replacement_reads_the_same_by_itself(self, pool):
        noise = Homophones(pool)
        for text in LINES:
            for change in noise.apply(text, 1).changes:
                assert same_sound(alone(change.new), change.reading), change
                assert change.new != change.old
                assert change.kind == "homophone"

    def test_the_reading_is_the_one_in_context(self, common):
        text = "银行行长在重庆不了了之"
        readings = in_context(text)
        changes = common.apply(text, 1).changes
        assert len(changes) >= 8
        assert all(same_sound(change.reading, readings[change.start]) for change in changes)
        assert {"hang2", "zhang3", "chong2", "liao3"} <= {change.reading for change in changes}

    def test_the_default_reading(self):
        text = "银行行长在重庆不了了之"
        changes = Homophones("gb2312", match="default").apply(text, 1).changes
        assert [change.reading for change in changes] == [alone(change.old) for change in changes]
        assert {"xing2", "zhong4"} <= {change.reading for change in changes}

    def test_every_homophone_of_every_character_is_an_option(self, common):
        """The replacements of 世 are the characters of GB 2312 that pypinyin reads shì."""
        expected = {char for char in characters("gb2312") if alone(char) == "shi4"} - {"世"}
        noise = Homophones("gb2312")
        found = {noise.apply("世", 1, key).text for key in range(1000)}
        assert found == expected

    def test_a_character_without_homophones_stays(self, common):
        text = "给" * 5  # gěi has no second character in GB 2312
        assert [char for char in characters("gb2312") if alone(char) == "gei3"] == ["给"]
        noisy = common.apply(text, 1)
        assert noisy == type(noisy)(text, [], 5, 0)
        assert noisy.ratio == 0

    def test_own_phrases(self):
        own = Tokenizer("zh", phrases={"朝阳": "zhao1 yang2"})
        change = Homophones("gb2312", tokenizer=own).apply("朝阳", 1).changes[0]
        assert [change.old, change.reading, alone(change.new)] == ["朝", "zhao1", "zhao1"]

    def test_neutral_tone(self):
        changes = Homophones().apply("我的", 1).changes
        assert [change.reading for change in changes] == ["wo3", "de5"]


class TestSameIds:
    @pytest.mark.parametrize("pool", ["all", "gb2312-1"])
    @pytest.mark.parametrize("ratio", [0.15, 0.375, 1])
    def test_pypinyin_reads_the_noisy_text_as_the_clean_one(self, pool, ratio):
        noise = Homophones(pool, same_ids=True)
        for text in LINES:
            noisy = noise.apply(text, ratio)
            assert noise.ids_changed(text, noisy) == 0
            clean, now = (in_context(one) for one in (text, noisy.text))
            assert all(same_sound(one, other) for one, other in zip(clean, now, strict=True) if one[-1:].isdigit())

    def test_it_is_needed(self):
        """银 in 银行 cannot be replaced alone: 行 would be read xíng."""
        free = Homophones(["寅"])
        assert [free.apply("银行", 1).text, in_context("寅行")] == ["寅行", ["yin2", "xing2"]]
        assert free.ids_changed("银行", free.apply("银行", 1)) == 1
        assert Homophones(["寅"], same_ids=True).apply("银行", 1).changes == []

    def test_a_context_reaches_over_commas(self):
        """By context a character is read within its sentence, not only within its run of Han characters."""
        noise = Homophones("gb2312-1", same_ids=True, tokenizer=Tokenizer("zh", readings="context"))
        texts = [f"{one}，{other}" for one, other in pairwise(LINES)]
        assert [noise.ids_changed(text, noise.apply(text, 0.375)) for text in texts] == [0] * len(texts)
        assert all(noise.apply(text, 0.375).changes for text in texts)
        short = "他说，得去。好"
        assert {unit.context for unit in noise.units(short)} == {(0, 6), (6, 7)}  # the mark that ends it is looked at
        assert {unit.context for unit in Homophones().units(short)} == {(0, 2), (3, 5), (6, 7)}

    @pytest.mark.parametrize("seed", range(12))
    def test_the_end_of_a_sentence_tells(self, seed):
        noise = Homophones("gb2312-1", same_ids=True, tokenizer=Tokenizer("zh", readings="context"), seed=seed)
        text = "大家都到了都是为着。"
        assert noise.ids_changed(text, noise.apply(text, 1)) == 0

    def test_two_characters_of_one_syllable_are_refused(self):
        with pytest.raises(ValueError, match="a tokenizer with erhua=True reads two characters as one syllable"):
            Homophones(tokenizer=Tokenizer("zh", erhua=True))

    def test_it_looks_further_for_what_fits(self):
        """As many are changed where other replacements or other characters can do it."""
        strict = Homophones("gb2312-1", same_ids=True)
        free = Homophones("gb2312-1")
        for ratio in RATIOS:
            assert [len(strict.apply(text, ratio).changes) for text in LINES] == [
                len(free.apply(text, ratio).changes) for text in LINES
            ]


class TestRatio:
    @pytest.mark.parametrize("ratio", RATIOS)
    def test_exact_share_of_all(self, common, ratio):
        han = sum("\u4e00" <= char <= "\u9fff" for char in TEXT)
        noisy = common.apply(TEXT, ratio)
        assert noisy.units == han
        assert abs(len(noisy.changes) - ratio * han) < 1
        assert noisy.ratio == len(noisy.changes) / han

    def test_exact_share_of_the_changeable(self):
        noisy = Homophones("gb2312", share="changeable").apply(TEXT + "给" * 300, 0.3)
        assert noisy.units - noisy.changeable >= 300
        assert abs(len(noisy.changes) - 0.3 * noisy.changeable) < 1

    def test_all_that_can_be_where_the_share_is_more(self, common):
        noisy = common.apply("给给给世世", 0.9)
        assert [len(noisy.changes), noisy.ratio] == [2, 0.4]

    @pytest.mark.parametrize("share", ["all", "changeable"])
    def test_fractions_are_rounded_at_random(self, share):
        """7 characters at 0.3 are 2.1: 2 nine times of ten, else 3 (binomial, 4 deviations)."""
        noise = Homophones("gb2312", share=share)
        sizes = Counter(len(noise.apply("世界世界世界世", 0.3, key).changes) for key in range(2000))
        assert sizes.keys() == {2, 3}
        assert abs(sizes[3] - 200) < 4 * math.sqrt(2000 * 0.1 * 0.9)

    def test_independent_draws_are_binomial(self):
        noise = Homophones("gb2312", share="changeable", draw="independent")
        sizes = np.array([len(noise.apply("世界" * 10, 0.3, key).changes) for key in range(2000)])
        assert abs(sizes.mean() - 6) < 4 * math.sqrt(20 * 0.21 / 2000)
        assert abs(sizes.var() - 4.2) < 0.5

    def test_independent_share_of_all_is_met_too(self):
        noise = Homophones("gb2312", draw="independent")
        sizes = [len(noise.apply("世给" * 10, 0.3, key).changes) for key in range(2000)]
        assert abs(np.mean(sizes) - 6) < 4 * math.sqrt(10 * 0.24 / 2000)

    @pytest.mark.parametrize("draw", ["exact", "independent"])
    def test_ends(self, draw):
        noise = Homophones("gb2312", share="changeable", draw=draw)
        assert noise.apply(TEXT, 0).text == TEXT
        noisy = noise.apply(TEXT, 1)
        assert len(noisy.changes) == noisy.changeable

    @pytest.mark.parametrize("ratio", [-0.1, 1.01, math.nan, math.inf, 15])
    def test_wrong_ratios(self, common, ratio):
        with pytest.raises(ValueError, match="between 0 and 1"):
            common.apply(TEXT, ratio)

    def test_wrong_options(self):
        for options in ({"share": "han"}, {"draw": "random"}, {"match": "pinyin"}, {"tokenizer": Tokenizer("vi")}):
            with pytest.raises(ValueError, match=r"must be one of|needs a tokenizer for zh"):
                Homophones("gb2312", **options)
        with pytest.raises(TypeError):
            Homophones("gb2312", seed="1")
        with pytest.raises(TypeError, match="one str, not list"):
            Homophones("gb2312").apply(["世"], 0.1)


class TestDistribution:
    """Chi-square tests with a fixed seed; the bound is mean + 5 deviations of the distribution."""

    @staticmethod
    def chi_square(observed, expected):
        return sum((observed[key] - count) ** 2 / count for key, count in expected.items())

    def test_replacements_are_uniform(self, common):
        others = {char for char in characters("gb2312") if alone(char) == "yi4"} - {"意"}
        drawn = Counter(common.apply("意", 1, key).text for key in range(100 * len(others)))
        freedom = len(others) - 1
        assert drawn.keys() == others
        assert self.chi_square(drawn, dict.fromkeys(others, 100)) < freedom + 5 * math.sqrt(2 * freedom)

    def test_replacements_follow_the_counts(self):
        counts = {"是": 50, "事": 30, "市": 15, "世": 5, "适": 1000}
        noise = Homophones(counts)
        drawn = Counter(noise.apply("适", 1, key).text for key in range(4000))
        assert drawn.keys() == counts.keys() - {"适"}
        assert self.chi_square(drawn, {char: 40 * counts[char] for char in drawn}) < 3 + 5 * math.sqrt(6)

    @pytest.mark.parametrize("draw", ["exact", "independent"])
    def test_every_place_is_drawn_alike(self, draw):
        noise = Homophones("gb2312", draw=draw)
        places = Counter(change.start for key in range(2000) for change in noise.apply("世" * 20, 0.25, key).changes)
        assert self.chi_square(places, dict.fromkeys(range(20), 500)) < 19 + 5 * math.sqrt(38)


class TestSeed:
    def test_nested(self):
        for options in ({}, {"draw": "independent"}, {"share": "changeable"}, {"same_ids": True}):
            noise = Homophones("gb2312", **options)
            for text in [*LINES, TEXT]:
                sets = [set(noise.apply(text, ratio).changes) for ratio in [*RATIOS, 1]]
                assert all(one <= other for one, other in pairwise(sets))
                assert len(sets[0]) < len(sets[-1]) or not sets[-1]

    def test_not_nested(self):
        noise = Homophones("gb2312", nested=False)
        low, high = ({change.start for change in noise.apply(TEXT, ratio).changes} for ratio in (0.15, 0.3))
        shared = len(low & high) / len(low)
        assert 0.1 < shared < 0.6

    def test_seed_key_and_text_matter_and_order_does_not(self):
        one, other = (Homophones("gb2312", seed=seed) for seed in (1, 2))
        assert one.apply(TEXT, 0.3) != other.apply(TEXT, 0.3)
        assert one.apply(TEXT, 0.3) != one.apply(TEXT, 0.3, key=7)
        assert one.apply(TEXT, 0.3, key=7) == one.apply(TEXT, 0.3, key="7")
        again = Homophones("gb2312", seed=1)
        assert [one.apply(text, 0.3) for text in LINES] == [again.apply(text, 0.3) for text in reversed(LINES)][::-1]

    def test_pools_in_any_order(self):
        chars = [*{"市", "视", "试", "世", "适", "是"}]
        counts = {char: 1 + ord(char) % 7 for char in chars}
        assert Homophones(chars).apply("事" * 50, 1) == Homophones(chars[::-1]).apply("事" * 50, 1)
        backwards = dict(reversed(counts.items()))
        assert Homophones(counts).apply("事" * 50, 1) == Homophones(backwards).apply("事" * 50, 1)

    def test_pickle(self, common):
        assert pickle.loads(pickle.dumps(common)).apply(TEXT, 0.3) == common.apply(TEXT, 0.3)

    def test_other_processes(self):
        code = (
            "import json, sys; from phonemic.noise.homophones import Homophones\n"
            "text = json.loads(sys.stdin.read())\n"
            "print(json.dumps([Homophones(pool, seed=5).apply(text, 0.3).text for pool in ('all', {'是', '事', '市', '世'})]))"
        )
        here = [Homophones(pool, seed=5).apply(TEXT, 0.3).text for pool in ("all", {"是", "事", "市", "世"})]
        for seed in ("0", "1"):
            done = subprocess.run(
                [sys.executable, "-c", code], input=json.dumps(TEXT), capture_output=True, text=True, check=True,
                env=os.environ | {"PYTHONHASHSEED": seed},
            )  # fmt: skip
            assert json.loads(done.stdout) == here

    def test_frozen(self):
        """The draws are part of what is promised: these must never change."""
        noisy = Homophones("gb2312-1", seed=3).apply("今天早上下了一场小雨，院子里很安静。", 0.375)
        assert noisy.text == FROZEN


FROZEN = "今天早上下了依场晓雨，愿子礼狠氨静。"


ALL, CONTEXT = Homophones(), Homophones("gb2312", same_ids=True, share="changeable", draw="independent")


@settings(max_examples=100)
@example("银\ufe00行\U000e0100", 1.0)
@example("\ud83d\ude00世", 1.0)
@example("", 0.5)
@given(nasty, st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_nothing_but_the_chosen_characters_changes(text, ratio):
    for noise in (ALL, CONTEXT):
        noisy = noise.apply(text, ratio)
        assert len(noisy.text) == len(text)
        assert noisy.text == rebuilt(text, noisy.changes)
        assert [change.start for change in noisy.changes] == sorted({change.start for change in noisy.changes})
        assert all(change.end == change.start + 1 and change.old != change.new for change in noisy.changes)
        assert len(noisy.changes) <= noisy.changeable <= noisy.units
        assert noise.tokenizer.encode(noisy.text).spans.tolist() == noise.tokenizer.encode(text).spans.tolist()
    assert CONTEXT.ids_changed(text, CONTEXT.apply(text, ratio)) == 0


@pytest.mark.parametrize("name", ["zh/tnews", "zh/ocnli"])
def test_real_text(name, data):
    """Exact shares of real text, and readings that pypinyin confirms."""
    noise = Homophones("gb2312")
    lines = next(data(name).glob("dev*.json*")).read_text("utf-8").splitlines()[:500]
    texts = [json.loads(line).get("sentence") or json.loads(line)["sentence1"] for line in lines]
    for ratio in RATIOS:
        done = [noise.apply(text, ratio) for text in texts]
        units = sum(noisy.units for noisy in done)
        assert abs(sum(len(noisy.changes) for noisy in done) / units - ratio) < 0.005
        assert all(same_sound(alone(change.new), change.reading) for noisy in done for change in noisy.changes)


# --- nearly the same sound


def parts(syllable):
    """Initial, final and tone of numbered pinyin, by pypinyin."""
    return convert.to_initials(syllable), convert.to_finals(syllable, v_to_u=True), syllable[-1]


FINALS = {("an", "ang"), ("en", "eng"), ("in", "ing"), ("uan", "uang"), ("uen", "ueng"), ("üan", "ian"), ("üe", "ie")}
INITIALS = {("zh", "z"), ("ch", "c"), ("sh", "s"), ("n", "l"), ("f", "h")}


def confused(one, other, pairs):
    return one == other or (one, other) in pairs or (other, one) in pairs


@pytest.mark.parametrize("pool", ["gb2312-1", "big5-1"])
def test_another_tone_has_the_same_syllable(pool):
    noisy = Homophones(pool, match="default", sound="other-tone").apply(TEXT, 1)
    assert len(noisy.changes) > 100
    for change in noisy.changes:
        old, new = alone(change.old), alone(change.new)
        assert change.kind == "other-tone"
        assert same_sound(old[:-1] + "1", new[:-1] + "1")
        assert old[-1] != new[-1]


def test_confused_sounds_have_the_same_tone_and_a_confused_initial_or_final():
    noisy = Homophones("gb2312-1", match="default", sound="confused").apply(TEXT, 1)
    assert len(noisy.changes) > 100
    for change in noisy.changes:
        assert change.kind == "confused"
        (initial, final, tone), (other, end, same) = parts(alone(change.old)), parts(alone(change.new))
        assert tone == same
        assert (initial, final) != (other, end)
        assert confused(initial, other, INITIALS)
        assert confused(final, end, FINALS)


def test_what_each_sound_may_become():
    """The readings that 张, 林 and 分 may get, written out by hand."""
    expected = {"张": {"zhan1", "zang1", "zan1"}, "林": {"ling2", "ning2", "nin2"}, "分": {"feng1", "heng1"}}
    for char, readings in expected.items():
        noise = Homophones("gb2312-1", sound="confused", seed=1)
        found = {alone(noise.apply(char, 1, key).changes[0].new) for key in range(200)}
        assert found <= readings
        assert len(found) >= 2


def test_a_sound_that_is_no_option_or_that_cannot_keep_ids_is_refused():
    with pytest.raises(ValueError, match="sound must be one of same, other-tone, confused, not 'near'"):
        Homophones(sound="near")
    with pytest.raises(ValueError, match="same_ids=True keeps every sound"):
        Homophones(sound="other-tone", same_ids=True)
