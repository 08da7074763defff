"""Metrics against figures worked out by hand."""

import math
import unicodedata

import numpy as np
import pytest

from phonemic import Tokenizer
from phonemic.encoding import PACKED_CLS, PACKED_SEP
from phonemic.inventory import CLS, EMPTY_ID, MASK, PAD, SEP, UNK
from phonemic.metrics import Statistics, component_counts, fertility, renyi_efficiency, written_units


@pytest.fixture(scope="module")
def vi():
    return Tokenizer("vi")


@pytest.fixture(scope="module")
def zh():
    return Tokenizer("zh")


def measured(tokenizer, *texts):
    statistics = Statistics(tokenizer)
    statistics.update(list(texts))
    return statistics


class TestRenyiEfficiency:
    def test_worked_example(self):
        # p = 1/2, 1/4, 1/4 of 8 entries, alpha 2: -log(1/4 + 1/16 + 1/16) / log 8 = log2(8/3) / 3
        assert renyi_efficiency([2, 1, 1], 8, alpha=2) == pytest.approx(math.log2(8 / 3) / 3)

    def test_default_alpha_is_the_papers(self):
        power_sum = 0.75**2.5 + 0.25**2.5
        assert renyi_efficiency([3, 0, 1], 4) == pytest.approx(math.log(power_sum) / -1.5 / math.log(4))

    def test_alpha_1_is_shannon(self):
        assert renyi_efficiency([2, 1, 1], 8, alpha=1) == pytest.approx(1.5 / 3)

    def test_alpha_1_is_the_limit(self):
        at_limit = renyi_efficiency([5, 3, 1], 16, alpha=1)
        assert renyi_efficiency([5, 3, 1], 16, alpha=1 + 1e-6) == pytest.approx(at_limit, rel=1e-5)
        assert renyi_efficiency([5, 3, 1], 16, alpha=1 - 1e-6) == pytest.approx(at_limit, rel=1e-5)

    def test_alpha_0_counts_the_entries(self):
        assert renyi_efficiency([9, 1, 0, 0], 16, alpha=0) == pytest.approx(1 / 4)

    def test_large_alpha_does_not_underflow(self):
        # sum p ** 5000 is 0 in floating point; the entropy tends to -log max p
        assert renyi_efficiency([3, 1], 2, alpha=5000) == pytest.approx(-math.log2(0.75), rel=1e-3)

    @pytest.mark.parametrize("alpha", [0, 0.5, 1, 2.5, 10])
    def test_uniform_is_1(self, alpha):
        assert renyi_efficiency(np.full(112, 7), 112, alpha) == pytest.approx(1)

    @pytest.mark.parametrize("alpha", [0.5, 1, 2.5])
    def test_one_entry_is_0(self, alpha):
        value = renyi_efficiency([12], 112, alpha)
        assert value == 0
        assert math.copysign(1, value) == 1

    def test_falls_as_alpha_grows(self):
        values = [renyi_efficiency([8, 4, 2, 1], 8, alpha) for alpha in (0, 0.5, 1, 2.5, 5)]
        assert values == sorted(values, reverse=True)
        assert len(set(values)) == len(values)

    def test_nothing_counted_is_nan(self):
        assert math.isnan(renyi_efficiency([], 112))
        assert math.isnan(renyi_efficiency(np.zeros(112), 112))

    @pytest.mark.parametrize("size", [1, 0, -3])
    def test_vocabulary_too_small(self, size):
        with pytest.raises(ValueError, match="at least 2"):
            renyi_efficiency([], size)

    def test_more_entries_than_the_vocabulary(self):
        with pytest.raises(ValueError, match="3 entries occur, but the vocabulary has only 2"):
            renyi_efficiency([1, 1, 1], 2)

    def test_negative_count(self):
        with pytest.raises(ValueError, match="negative"):
            renyi_efficiency([3, -1], 4)

    @pytest.mark.parametrize("alpha", [-1, math.nan, math.inf])
    def test_bad_alpha(self, alpha):
        with pytest.raises(ValueError, match="alpha"):
            renyi_efficiency([1, 2], 4, alpha)


class TestFertility:
    def test_sums_before_it_divides(self):
        assert fertility([2, 6], [2, 2]) == 2
        assert fertility([1, 9], [1, 3]) == 2.5  # not the mean of 1 and 3

    def test_of_totals(self):
        assert fertility(9, 6) == 1.5

    def test_without_units_is_nan(self):
        assert math.isnan(fertility([0, 0], [0, 0]))
        assert math.isnan(fertility([], []))


class TestComponentCounts:
    def test_all_three_slots(self, vi):
        ids = [vi.vocab.pack(("b", "a", "˧˧")), vi.vocab.pack(("b", "i", "˧˧")), vi.vocab.id("b") * 0x010101]
        counts = component_counts(ids, 256)
        assert counts.shape == (256,)
        found = {vi.vocab[number]: count for number, count in enumerate(counts.tolist()) if count}
        assert found == {"b": 5, "a": 1, "i": 1, "˧˧": 2}

    def test_control_symbols_are_left_out(self, vi):
        rows = vi(["ơi", "ba \u4e2d bốn"])["input_ids"]
        assert {PACKED_CLS, PACKED_SEP, 0} <= set(rows.ravel().tolist())
        counts = component_counts(rows, 256)
        assert counts[[PAD, CLS, SEP, MASK]].tolist() == [0, 0, 0, 0]
        assert counts[UNK] == 3
        assert counts[EMPTY_ID] == 1
        assert counts.sum() == 3 * 4

    def test_no_ids(self):
        assert component_counts([], 112).tolist() == [0] * 112


class TestVietnamese:
    # units:      Mẹ  mua  2  cái  bánh,    mẹ
    # positions:   1    1  1    1      2     1
    text = "Mẹ mua 2 cái bánh, mẹ"

    def test_counts(self, vi):
        found = measured(vi, self.text, "")
        assert (found.texts, found.units, found.positions) == (2, 6, 7)
        assert found.fertility == 7 / 6
        assert found.average_length == 7 / 2
        assert found.average_input_length == 6 / 2
        assert found.fallback_share == 2 / 7
        assert found.unknown_share == 0

    def test_coverage(self, vi):
        found = measured(vi, self.text)
        # units: mẹ mua 2 cái bánh , mẹ
        assert (found.occurrences, found.native_occurrences, found.token_coverage) == (7, 5, 5 / 7)
        assert (found.types, found.native_types, found.type_coverage) == (6, 4, 4 / 6)

    def test_units_of_coverage(self):
        assert written_units(["Covid19 ở Q.1", "a_b  \u1ec8a\u0301 50%"]) == {
            "covid": 1,
            "1": 2,
            "9": 1,
            "ở": 1,
            "q": 1,
            ".": 1,
            "a": 1,
            "_": 1,
            "b": 1,
            "ỉá": 1,
            "5": 1,
            "0": 1,
            "%": 1,
        }
        assert written_units(["bà_con bà"], "_") == {"bà": 2, "con": 1}

    def test_run_of_letters_that_is_no_syllable(self, vi):
        found = measured(vi, "covid19 ba")
        assert (found.occurrences, found.native_occurrences, found.positions) == (4, 1, 8)

    def test_component_counts(self, vi):
        counts = measured(vi, "mẹ mẹ ơ").counts
        found = {vi.vocab[number]: count for number, count in enumerate(counts.tolist()) if count}
        assert found == {"m": 2, "ɛ": 2, "˧ˀ˩": 2, "[EMPTY]": 1, "ɘ": 1, "˧˧": 1}

    def test_renyi_efficiency(self, vi):
        expected = math.log(3 * (2 / 9) ** 2.5 + 3 * (1 / 9) ** 2.5) / -1.5 / math.log(256)
        assert measured(vi, "mẹ mẹ ơ").renyi_efficiency() == pytest.approx(expected)

    def test_types_ignore_case_and_normal_form(self, vi):
        found = measured(vi, "Bé bé BÉ be\u0301", "BE\u0301")
        assert (found.types, found.units, found.type_coverage) == (1, 5, 1)

    def test_unit_of_one_fallback_character_is_not_native(self, vi):
        assert measured(vi, "7 ! w").token_coverage == 0

    def test_unknown(self, vi):
        found = measured(vi, "ba \u4e2d\u4e2d")
        assert found.unknown_share == 2 / 3
        assert found.token_coverage == 1 / 2

    def test_units_without_positions(self, vi):
        found = measured(vi, "\u200b ba \u200b", "\u200b", "bốn")
        assert (found.units, found.positions) == (5, 2)
        assert found.token_coverage == 2 / 5
        assert found.type_coverage == 2 / 3

    def test_every_space_of_python_parts_units(self, vi):
        spaces = [chr(code) for code in range(0x3001) if chr(code).isspace()]
        found = measured(vi, *(f"ba{space}bốn" for space in spaces))
        assert found.units == 2 * len(spaces)
        assert found.token_coverage == 1

    def test_word_joiner(self):
        found = measured(Tokenizer("vi", word_joiner="_"), "bà_con vui")
        assert (found.units, found.positions) == (2, 3)
        assert found.token_coverage == 1


class TestMandarin:
    def test_worked_example(self, zh):
        # characters: 我 有 3 本 书 ， 好 书 !
        found = measured(zh, "我有3本 书，", "好书!")
        assert (found.texts, found.units, found.positions) == (2, 3, 9)
        assert found.fertility == 9 / 3
        assert found.average_length == found.average_input_length == 9 / 2
        assert found.token_coverage == 6 / 9
        assert found.types == 8
        assert found.type_coverage == 5 / 8
        assert found.fallback_share == 3 / 9

    def test_character_beyond_the_bmp_and_marks(self, zh):
        found = measured(zh, "e\u0301 \u00c9", "\U0001f600 好 \U0001f600")
        assert found.positions == 5
        assert found.types == 3  # é twice, the smiley twice, 好
        assert found.type_coverage == 1 / 3
        assert found.unknown_share == 2 / 5

    def test_lone_surrogate(self, zh):
        assert measured(zh, "\ud800好").type_coverage == 1 / 2


@pytest.mark.parametrize(
    ("lang", "texts"),
    [
        ("vi", ["Trời mưa to, đường trơn.", "", "ok 12", "\u200b", "TRỜI nắng", "bé đi\tchơi"]),
        ("zh", ["今天下雨，路滑。", "", "ok 12", "\u200b", "e\u0301 天", "孩子 去玩"]),
    ],
)
class TestStreaming:
    def test_parts_equal_the_whole(self, lang, texts):
        whole = measured(Tokenizer(lang), *texts)
        parts = Statistics(Tokenizer(lang))
        for text in texts:
            parts.update([text])
        assert parts.summary() == whole.summary()
        assert np.array_equal(parts.counts, whole.counts)

    def test_threads_change_nothing(self, lang, texts):
        threaded = Statistics(Tokenizer(lang))
        threaded.update(texts * 50, num_threads=3)
        assert threaded.summary() == measured(Tokenizer(lang), *texts * 50).summary()

    def test_takes_any_iterable(self, lang, texts):
        found = Statistics(Tokenizer(lang))
        found.update(text for text in texts)
        assert found.summary() == measured(Tokenizer(lang), *texts).summary()

    def test_nothing_is_nan(self, lang, texts):
        found = Statistics(Tokenizer(lang))
        found.update([])
        measures = found.summary(alpha=2)
        counts = {name for name, value in measures.items() if value == 0}
        assert counts == {
            *["texts", "units", "positions", "occurrences", "native_occurrences", "types", "native_types"]
        }
        assert all(
            math.isnan(value) for name, value in measures.items() if name not in {*counts, "alpha", "vocab_size"}
        )

    def test_a_wrong_element_adds_nothing(self, lang, texts):
        found = measured(Tokenizer(lang), *texts)
        before = found.summary()
        with pytest.raises(TypeError, match="text 1"):
            found.update(["ba", None])
        assert found.summary() == before


def plain_units(text):
    """Runs of letters, and every other character but spaces, one character at a time."""
    found = []
    before = " "
    for char in text:
        if char.isalpha() and before.isalpha():
            found[-1] += char
        elif not char.isspace():
            found.append(char)
        before = char
    return found


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_plain_python_agrees(lang):
    """The same measures, one position at a time."""
    tokenizer = Tokenizer(lang)
    texts = [
        "Xin chào các bạn, hôm nay 20 độ!",
        "我们明天 e\u0301 见。 \u200b",
        "Nhà tôi ở gần chợ \U0001f600",
        "银行 a b",
    ]
    positions = units = native = 0
    types, native_types = set(), set()
    for text in texts:
        encoding = tokenizer.encode(text)
        positions += len(encoding)
        if lang == "vi":
            rows = [(unit, list(tokenizer.encode(unit))) for unit in plain_units(unicodedata.normalize("NFC", text))]
        else:
            rows = [(syllable.text, [syllable]) for syllable in encoding]
        for surface, syllables in rows:
            units += 1
            types.add(surface.lower().replace("e\u0301", "é"))
            if len(syllables) == 1 and syllables[0].is_native:
                native += 1
                native_types.add(surface.lower())
    found = measured(tokenizer, *texts)
    assert found.positions == positions
    assert found.token_coverage == native / units
    assert (found.types, found.type_coverage) == (len(types), len(native_types) / len(types))
