"""The distance: a metric, near for what is confused and far for what is not, on pairs that others have judged."""

import random
from itertools import combinations
from operator import ne
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mergers import area, areas

import phonemic
from phonemic import Tokenizer, distance, mandarin, vietnamese
from phonemic.inventory import vocabulary
from phonemic.noise import Homophones
from phonemic.sound import matrix
from phonemic.sound.sounds import LETTER, SYLLABLE, sounds, table_rows
from phonemic.writing.dialects import DIALECTS, pronounce

LANGUAGES = ("vi", "zh")
PARTS = ("onset", "rime", "tone")
JUDGED = [
    line.split("\t")
    for line in (Path(__file__).parent / "judged.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
][1:]


WORDS = ["an", "ăn", "lan", "nan", "trâu", "châu", "gì", "9", "x", "Huế", "!"]
TEXTS = {
    "vi": st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    "zh": st.lists(st.sampled_from([*"北背景兰南中宗啊A9。"]), max_size=5).map("".join),
}


class TestMetric:
    @pytest.mark.parametrize("lang", LANGUAGES)
    @pytest.mark.parametrize("part", PARTS)
    def test_of_every_part(self, lang, part):
        """All axioms, for all symbols that the vocabulary has for the part."""
        symbols, costs = matrix(lang, part)
        absent = {"[EMPTY]"} if part == "onset" or (lang, part) == ("zh", "tone") else set()
        assert set(symbols) == {*vocabulary(lang).by_role(part)} | absent
        assert np.array_equal(costs, costs.T)
        assert np.array_equal(costs == 0, np.eye(len(symbols), dtype=bool))
        thousandths = np.rint(costs * SYLLABLE).astype(int)
        for via in range(len(symbols)):
            assert (thousandths <= thousandths[:, via, None] + thousandths[via]).all()

    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_with_letters_and_digits(self, lang):
        """The kinds of positions as wholes: syllables, characters, and none."""
        own, dice = sounds(lang), random.Random(5)
        sizes = len(own.symbols["onset"]), len(own.symbols["rime"]), len(own.symbols["tone"])
        rows = [tuple(dice.randrange(size) for size in sizes) for _ in range(40)]
        rows += [(row, sizes[1], sizes[2]) for row in range(sizes[0], len(own.onsets))]
        o, r, t = np.array(rows).T
        costs = sum(each.astype(int)[np.ix_(at, at)] for each, at in ((own.onsets, o), (own.rimes, r), (own.tones, t)))
        gaps = own.gaps.astype(int)[o]
        costs = np.block([[costs, gaps[:, None]], [gaps[None], np.zeros((1, 1), int)]])
        assert costs.max() == SYLLABLE
        for via in range(len(costs)):
            assert (costs <= costs[:, via, None] + costs[via]).all()
        same = np.array([[one == other for other in [*rows, None]] for one in [*rows, None]])
        assert np.array_equal(costs == 0, same)

    @given(st.data(), st.sampled_from(LANGUAGES))
    def test_of_texts(self, data, lang):
        a, b, c = (data.draw(TEXTS[lang]) for _ in range(3))
        there = distance(a, b, lang)
        assert there == distance(b, a, lang)
        assert distance(a, a, lang) == 0
        assert there <= distance(a, c, lang) + distance(c, b, lang) + 1e-9
        own, heard = Tokenizer(lang), sounds(lang).heard
        rows = [heard(own.encode(text).ids)[0].tolist() for text in (a, b)]
        assert (there == 0) == (rows[0] == rows[1])
        assert there == pytest.approx(aligned(*rows, lang))

    def test_shares_make_a_syllable(self):
        for lang in LANGUAGES:
            assert sum(int(row.value) for row in table_rows(lang) if row.row == "share") == SYLLABLE


def aligned(a, b, lang):
    """The cheapest alignment, in plain Python: all ways to begin, remembered."""
    own = sounds(lang)
    best = {(0, 0): 0}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            ways = [best[i, j]] if (i, j) in best else []
            if i:
                ways.append(best[i - 1, j] + own.gaps[a[i - 1][0]].item())
            if j:
                ways.append(best[i, j - 1] + own.gaps[b[j - 1][0]].item())
            if i and j:
                pairs = zip((own.onsets, own.rimes, own.tones), a[i - 1], b[j - 1], strict=True)
                ways.append(best[i - 1, j - 1] + sum(costs[x, y].item() for costs, x, y in pairs))
            best[i, j] = min(ways)
    return best[len(a), len(b)] / SYLLABLE


class TestHeard:
    @pytest.mark.parametrize(
        ("a", "b", "lang", "expected"),
        [
            ("Hoà Bình!", "hòa bình", "vi", 0),
            ("kỹ", "kĩ", "vi", 0),
            ("", "...", "vi", 0),
            ("an", "", "vi", 1),
            ("an an", "an", "vi", 1),
            ("事实", "逝时", "zh", 0),
            ("iPhone", "iPhon", "vi", LETTER / SYLLABLE),
            ("số 7", "số 8", "vi", 1),
            ("７", "7", "zh", 0),
            ("Москва", "", "vi", 0),  # what the vocabulary does not have is not heard
            ("Hà Nội ~", "Hà Nội", "vi", 0),
            ("Hà😀 & Nội", "Hà Nội", "vi", 0),
            ("北京か", "北京", "zh", 0),
            ("ж", "x", "vi", LETTER / SYLLABLE),
            ("x", "an", "vi", 1),
        ],
    )
    def test_what_is_written(self, a, b, lang, expected):
        assert distance(a, b, lang) == expected

    def test_homophones_are_at_0(self, zh):
        text = "我们在银行等了很久，他才说出事实。"
        noisy = Homophones(pool="gb2312-1", same_ids=True, seed=3).apply(text, 0.5).text
        assert noisy != text
        assert distance(text, noisy, "zh") == 0

    def test_encodings_and_tokenizers(self):
        own = Tokenizer("zh", phrases={"朝阳": "chao2 yang2"}, fallback="packed")
        assert distance("朝阳", "潮阳", tokenizer=own) == 0 < distance("朝阳", "潮阳", "zh")
        assert distance(own.encode("朝阳 covid"), own.encode("潮阳 Covid")) == 0
        assert distance(own.encode("covid"), "covi", "zh") == LETTER / SYLLABLE
        for text in ("covid", "19", "ab1", "Wi-Fi 中文 2024"):
            assert distance(own.encode(text), text, "zh") == 0

    def test_what_does_not_fit(self):
        with pytest.raises(TypeError, match="lang='vi'"):
            distance("an", "ăn")
        with pytest.raises(TypeError, match="not NoneType"):
            distance("an", None, "vi")
        with pytest.raises(ValueError, match="unknown language 'en'"):
            distance("an", "ăn", "en")
        with pytest.raises(ValueError, match="a distance needs texts of one language, not of vi, zh"):
            distance(Tokenizer("vi").encode("an"), Tokenizer("zh").encode("安"))
        with pytest.raises(ValueError, match="a distance needs texts of one language"):
            distance(*[Tokenizer("vi").encode("an")] * 2, "zh")
        with pytest.raises(ValueError, match="the tokenizer reads 'zh'"):
            distance("an", "ăn", "vi", tokenizer=Tokenizer("zh"))
        with pytest.raises(ValueError, match="no matrix for"):
            matrix("vi", "coda")

    def test_it_is_imported_when_it_is_asked_for(self):
        assert (
            {"distance", "Index", "Match"} <= {*phonemic.__all__} <= {*dir(phonemic)} | {"distance", "Index", "Match"}
        )
        with pytest.raises(AttributeError, match="no attribute 'nearness'"):
            phonemic.nearness  # noqa: B018


class TestTruth:
    """Against what others have found, and not what the weights were made from alone."""

    @pytest.mark.parametrize(("lang", "word", "nearer", "farther"), JUDGED)
    def test_judged(self, lang, word, nearer, farther):
        assert distance(word, nearer, lang) < distance(word, farther, lang)

    def test_mergers_of_transcriptions(self, data):
        """Vietnamese syllables that WikiPron's speakers pronounce the same, against others, and others that differ as they do."""
        folder = data("vi/dialects/wikipron-hanoi-dev.tsv").parent
        found = areas(folder, most=800)
        assert set(found) == set(DIALECTS)
        for against_random, against_like, count in found.values():
            assert count > 100
            assert against_random > 0.995
            assert against_like > 0.96

    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_mergers_of_the_rules(self, dialect):
        """The same by the rules of three cities, for syllables that differ in one part."""
        dice = random.Random(2)
        triples = [vietnamese.factorize(spelling) for spelling in dice.sample(sorted(vietnamese.spellings()), 700)]
        said = {triple: pronounce(triple, dialect) for triple in triples}
        pairs = [pair for pair in combinations(said, 2) if sum(map(ne, *pair)) == 1]
        merged = [pair for pair in pairs if said[pair[0]] == said[pair[1]]]
        others = dice.sample([pair for pair in pairs if said[pair[0]] != said[pair[1]]], 2000)
        near, far = ([distance(*map(vietnamese.spell, pair), "vi") for pair in some] for some in (merged, others))
        assert len(near) > 20
        assert area(near, far) > 0.95

    #: The pairs that Chinese input methods offer as fuzzy pinyin.
    FUZZY = ("zh-z", "ch-c", "sh-s", "l-n", "f-h", "r-l", "an-ang", "en-eng", "in-ing", "ian-iang", "uan-uang")

    def test_fuzzy_pinyin(self):
        """Syllables that an input method may take for each other, against others that differ in the same part."""
        spelled = {mandarin.spell((onset, rime, "˥˥"), numbers=True)[:-1] for onset, rime in sorted(mandarin.pairs())}
        near, far = [], []
        for pair in self.FUZZY:
            one, other = pair.split("-")
            final = one[0] in "aeiu"
            for syllable in sorted(spelled):
                other_syllable = swapped(syllable, one, other, final)
                if other_syllable not in spelled:
                    continue
                a, b = (mandarin.factorize(each + "1") for each in (syllable, other_syllable))
                near.append(measured(a, b))
                like = [c for c in map(mandarin.factorize, sorted(f"{each}1" for each in spelled))
                        if (c[0] == a[0]) == final and (c[1] == a[1]) != final and c not in (a, b)]  # fmt: skip
                far += [measured(a, c) for c in like]
        assert len(near) > 100
        assert area(near, far) > 0.95
        assert np.quantile(near, 0.95) < 0.1  # but not ri and li, whose vowels are others


def swapped(syllable, one, other, final):
    if final:
        bare = syllable.removesuffix(one)
        return bare + other if bare != syllable and (len(one) > 2 or bare[-1:] not in "iu") else None
    return other + syllable.removeprefix(one) if syllable.startswith(one) and syllable[len(one)] != "h" else None


def measured(a, b):
    own = sounds("zh")
    rows = zip((own.onsets, own.rimes, own.tones), own.symbols.values(), a, b, strict=True)
    return sum(costs[symbols.index(x), symbols.index(y)].item() for costs, symbols, x, y in rows) / SYLLABLE
