"""Vietnamese spelling noise: what keeps the sound keeps every id; what does not is what its name says."""

import json
import os
import pickle
import subprocess
import sys
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from phonemic import Tokenizer, vietnamese
from phonemic.noise.misspellings import GROUPS, Misspellings
from phonemic.noise.respelling import KINDS

LINES = (Path(__file__).parents[2] / "examples" / "sentences-vi.txt").read_text("utf-8").splitlines()
RATIOS = [0.075, 0.15, 0.3, 0.6, 1.0]


def nfc(text):
    return unicodedata.normalize("NFC", text)


def nfd(text):
    return unicodedata.normalize("NFD", text)


WORDS_TEXT = (
    "lý lí Quý quí yêu iêu Thủy thuỷ hoà HÒA khoẻ Khỏe quả giá già Gì gìa gìn giếng dành DÌ Đắk Ðà kỹ sỹ y Ở xoong khuỷu thuở "
    "tiếng Việt QUỐC nghiêng uỵch hoc ka gé hòang thủơ COVID-19 sinh_viên ọe oà uỷ quỷ uý ti\u00adếng a\u0301\u0301 ıt ſinh Kỳ"
)
WORDS = WORDS_TEXT.split()
pieces = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS).map(nfd),
    st.sampled_from(LINES),
    st.text(st.sampled_from(sorted(vietnamese.ALPHABET + "ýỳỷỹỵíìỉĩịàòỏ\u0301\u0300\u0309\u0323\u0302\u031b\u200b\ufe0f😅 _-.世\ud800\u0340")), max_size=6),
    st.text(max_size=4),
)  # fmt: skip
nasty = st.lists(pieces, max_size=6).map(" ".join)


def options(kind, word):
    noise = Misspellings([kind])
    made = noise.units(word)[0].options if noise.units(word) else None
    return sorted(made.texts) if made else []


class TestKinds:
    @pytest.mark.parametrize(
        ("kind", "word", "expected"),
        [
            ("i-y", "lý", ["lí"]),
            ("i-y", "Kĩ", ["Kỹ"]),
            ("i-y", "QUÍ", ["QUÝ"]),
            ("i-y", "yêu", ["iêu"]),
            ("i-y", "iên", ["yên"]),
            ("i-y", "Y", ["I"]),
            ("i-y", "quýt", ["quít"]),
            ("i-y", "tay", []),
            ("i-y", "thi", []),
            ("i-y", "đi", []),
            ("i-y", "thúy", []),
            ("i-y", "miền", []),
            ("i-y", "gì", []),
            ("i-y", "nhìn", []),
            ("tone-placement", "hoà", ["hòa"]),
            ("tone-placement", "Khỏe", ["Khoẻ"]),
            ("tone-placement", "THUỶ", ["THỦY"]),
            ("tone-placement", "oà", ["òa"]),
            ("tone-placement", "quý", []),
            ("tone-placement", "hoa", []),
            ("tone-placement", "hoàng", []),
            ("tone-placement", "mùa", []),
            ("d-gi", "dành", ["giành"]),
            ("d-gi", "Giá", ["Dá"]),
            ("d-gi", "GÌ", ["DÌ"]),
            ("d-gi", "dì", ["gì"]),
            ("d-gi", "giếng", ["diếng"]),
            ("d-gi", "diễn", ["giễn"]),
            ("d-gi", "gìa", ["dà"]),
            ("d-gi", "đà", []),
            ("d-gi", "ghi", []),
            ("d-gi", "duyên", ["giuyên"]),
            ("without-tone", "Tiếng", ["Tiêng"]),
            ("without-tone", "tiêng", []),
            ("without-diacritics", "Đường", ["Duong"]),
            ("without-diacritics", "Ðắk", ["Dak"]),
            ("without-diacritics", "ban", []),
            ("wrong-tone", "tiếng", ["tiềng", "tiểng", "tiễng", "tiệng"]),
            ("wrong-tone", "Hoà", ["Hoá", "Hoả", "Hoã", "Hoạ"]),
            ("wrong-tone", "hòa", ["hóa", "hỏa", "hõa", "họa"]),
            ("wrong-tone", "QUỐC", ["QUỘC"]),
            ("wrong-tone", "việt", ["viết"]),
            ("wrong-tone", "ban", []),
            ("adjacent-key", "á", []),
            ("adjacent-key", "Ế", []),
            ("doubled-letter", "Ăn", ["Ăăn", "Ănn"]),
            ("doubled-letter", "ĂN", ["ĂNN", "ĂĂN"]),
            ("dropped-letter", "ở", []),
            ("dropped-letter", "bà", ["b", "à"]),
            ("swapped-letters", "bàn", ["bnà", "àbn"]),
            ("swapped-letters", "xoong", ["oxong", "xonog", "xoogn"]),
            ("telex", "tiếng", ["tieengs", "tieesng", "tiêngs"]),
            ("telex", "Đường", ["DDuwowfng", "DDuwowngf", "Đươngf"]),
            ("telex", "VIỆT", ["VIEEJT", "VIEETJ", "VIÊTJ"]),
            ("telex", "ban", []),
            ("vni", "tiếng", ["tie61ng", "tie6ng1", "tiêng1"]),
            ("vni", "được", ["d9u7o75c", "d9u7o7c5", "đươc5"]),
            ("normal-form", "ban", []),
        ],
    )
    def test_respellings(self, kind, word, expected):
        assert options(kind, word) == sorted(expected)

    def test_neighbours_on_the_keyboard(self):
        assert options("adjacent-key", "Dế") == sorted(key + "ế" for key in "ERSFXC")
        assert options("adjacent-key", "ào") == sorted("à" + key for key in "ipkl")

    def test_normal_forms(self):
        """Forms of *ế*: composed; e, circumflex, acute; ê, acute."""
        assert options("normal-form", "ế") == sorted(["e\u0302\u0301", "ê\u0301"])
        assert options("normal-form", "e\u0302\u0301") == sorted(["\u1ebf", "ê\u0301"])

    def test_the_normal_form_is_kept(self):
        assert options("i-y", nfd("lý")) == [nfd("lí")]
        assert options("without-tone", nfd("tiếng")) == [nfd("tiêng")]
        assert options("without-tone", nfd("trăng")) == []

    def test_telex_and_vni_are_the_input_methods_own_letters(self):
        """Typed keys, read back by an input method's rules, are the syllable again."""
        letters = {"aw": "ă", "aa": "â", "dd": "đ", "ee": "ê", "oo": "ô", "ow": "ơ", "uw": "ư"}
        tones = {"f": "\u0300", "s": "\u0301", "r": "\u0309", "x": "\u0303", "j": "\u0323"}
        for word in ("tiếng", "được", "ngữ", "bằng", "cổ", "trời", "hỏi", "ngã"):
            keys = KINDS["telex"](word)[0]
            bare, tone = keys[:-1], tones[keys[-1]]
            for typed, letter in letters.items():
                bare = bare.replace(typed, letter)
            assert vietnamese.strip_tone(nfc(bare + "")) == (vietnamese.strip_tone(word)[0], "ngang")
            assert vietnamese.TONES[vietnamese.strip_tone(word)[1]][1] == tone

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_finds_something_in_ordinary_text(self, kind):
        assert any(Misspellings([kind]).apply(line, 1).changes for line in LINES)

    def test_every_other_kind_is_in_one_group(self):
        assert sorted(kind for group in GROUPS.values() for kind in group) == sorted(
            KINDS.keys() - {"d-gi", "wrong-tone"}
        )


class TestSound:
    def test_whole_lexicon_keeps_its_ids(self, vi):
        """Every spelling the tokenizer reads, with every tone, in three forms."""
        noise = Misspellings(["same-sound"])
        tones = [mark for _, mark in vietnamese.TONES.values()]
        checked = 0
        for bare in vietnamese.spellings():
            vowel = max(at for at, char in enumerate(bare) if char in vietnamese.VOWELS)
            word = nfc(bare[: vowel + 1] + tones[len(bare) % 6] + bare[vowel + 1 :])
            for typed in (word, word.upper(), nfd(word)):
                (unit,) = noise.units(typed)
                for text in unit.options.texts if unit.options else ():
                    checked += 1
                    assert vi.encode(text).ids.tolist() == vi.encode(typed).ids.tolist(), (typed, text)
        assert checked > 10_000

    def test_d_and_gi_differ_for_the_tokenizer_in_the_onset_alone(self, vi):
        noise = Misspellings(["d-gi"])
        seen = 0
        for bare in vietnamese.spellings():
            for change in noise.apply(bare, 1).changes:
                (one,), (other,) = (vi.encode(text).components.tolist() for text in (change.old, change.new))
                assert {vi.vocab[one[0]], vi.vocab[other[0]]} == {"j", "z"}
                assert one[1:] == other[1:]
                seen += 1
        assert seen > 200

    def test_lost_marks_lose_the_tone(self, vi):
        noise = Misspellings(["without-tone"])
        for line in LINES:
            noisy = noise.apply(line, 1)
            before, now = vi.encode(line), vi.encode(noisy.text)
            assert (before.components[:, :2] == now.components[:, :2]).all()
            assert noise.ids_changed(line, noisy) == len(noisy.changes) == int((before.ids != now.ids).sum())

    def test_diacritics(self):
        for line in LINES:
            bare = Misspellings(["without-diacritics"]).apply(line, 1).text
            assert not any(unicodedata.combining(char) for char in nfd(bare))
            assert "đ" not in bare.lower()


SAME = Misspellings(["same-sound"])
SAME_STRICT = Misspellings(["same-sound"], Tokenizer("vi", strict=True), share="changeable", draw="independent")
SAME_JOINED = Misspellings(["same-sound"], Tokenizer("vi", word_joiner="_"))
ANY = Misspellings([*KINDS], seed=2)


@settings(max_examples=150)
@example("ho\u0301a\u0300 ti\u00adếng\u200b", 1.0)
@example("lý\u0301", 1.0)
@example("\ud83d\ude05ly\u0301", 1.0)
@given(nasty, st.sampled_from([0.0, 0.3, 1.0]))
def test_noise_that_keeps_the_sound_keeps_every_id(text, ratio):
    for noise in (SAME, SAME_STRICT, SAME_JOINED):
        noisy = noise.apply(text, ratio)
        encode = noise.tokenizer.encode
        assert encode(noisy.text).ids.tolist() == encode(text).ids.tolist()
        assert noise.ids_changed(text, noisy) == 0


@settings(max_examples=100)
@given(nasty, st.sampled_from([0.0, 0.3, 1.0]))
def test_nothing_but_the_changes_changes(text, ratio):
    noisy = ANY.apply(text, ratio)
    rebuilt, at = "", 0
    for change in noisy.changes:
        assert text[change.start : change.end] == change.old != change.new
        assert vietnamese.factorize(change.old)
        assert change.start >= at
        rebuilt += text[at : change.start] + change.new
        at = change.end
    assert noisy.text == rebuilt + text[at:]
    assert len(noisy.changes) <= noisy.changeable <= noisy.units


class TestDraws:
    def test_kinds_are_drawn_alike(self):
        """tiếng has 1 respelling without its tone and dozens of neighbouring keys."""
        noise = Misspellings(["without-tone", "adjacent-key", "telex"])
        drawn = Counter(noise.apply("tiếng", 1, key).changes[0].kind for key in range(3000))
        assert drawn.keys() == {"without-tone", "adjacent-key", "telex"}
        assert sum((count - 1000) ** 2 / 1000 for count in drawn.values()) < 2 + 5 * 2

    def test_respellings_are_drawn_alike(self):
        noise = Misspellings(["dropped-letter"])
        drawn = Counter(noise.apply("tiếng", 1, key).text for key in range(2500))
        assert drawn.keys() == {"iếng", "tếng", "ting", "tiếg", "tiến"}
        assert sum((count - 500) ** 2 / 500 for count in drawn.values()) < 4 + 5 * 8**0.5

    def test_nested_and_exact(self):
        text = " ".join(LINES)
        noisy = [ANY.apply(text, ratio) for ratio in RATIOS]
        assert all(set(one.changes) < set(other.changes) for one, other in pairwise(noisy))
        for ratio, one in zip(RATIOS, noisy, strict=True):
            assert abs(len(one.changes) - ratio * one.units) < 1

    def test_groups_and_names(self):
        assert Misspellings("same-sound").kinds == GROUPS["same-sound"]
        assert Misspellings(["telex", "i-y"]).kinds == Misspellings(["i-y", "telex"]).kinds == ("i-y", "telex")
        for kinds in (["typo"], [], ""):
            with pytest.raises(ValueError, match=r"choose"):
                Misspellings(kinds)
        with pytest.raises(ValueError, match=r"tokenizer for vi"):
            Misspellings("typing", Tokenizer("zh"))

    def test_processes_and_pickle(self):
        text = " ".join(LINES)
        here = ANY.apply(text, 0.3).text
        code = (
            "import json, sys; from phonemic.noise.misspellings import Misspellings; from phonemic.noise.respelling import KINDS\n"
            "print(json.dumps(Misspellings(set(KINDS), seed=2).apply(json.loads(sys.stdin.read()), 0.3).text))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], input=json.dumps(text), capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": "1"},
        )  # fmt: skip
        assert json.loads(done.stdout) == here == pickle.loads(pickle.dumps(ANY)).apply(text, 0.3).text
        assert Misspellings([*KINDS], seed=3).apply(text, 0.3).text != here


def test_real_text_keeps_its_ids(data, vi):
    texts = data("vi/vsfc/test/sents.txt").read_text("utf-8").splitlines()
    noisy = [SAME.apply(text, 1) for text in texts]
    assert sum(len(one.changes) for one in noisy) > len(texts)
    for text, one in zip(texts, noisy, strict=True):
        assert vi.encode(one.text).ids.tolist() == vi.encode(text).ids.tolist()
