"""Notations against independent truth: pypinyin's zhuyin and tone numbers, and texts put together again."""

import contextlib
import itertools
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pypinyin.phrases_dict import phrases_dict
from pypinyin.pinyin_dict import pinyin_dict

from phonemic import PinyinError, Tokenizer, from_pinyin, mandarin
from phonemic.inventory import NATIVE, Triple
from phonemic.writing import zhuyin
from phonemic.writing.notations import NOTATIONS, notation, speller

VI, ZH = Tokenizer("vi"), Tokenizer("zh")
SYLLABLES = sorted(
    mandarin.spell(Triple(onset, rime, tone), numbers=True)
    for (onset, rime), tone in itertools.product(mandarin.pairs(), mandarin.TONES.values())
)
texts = st.text(st.sampled_from("银行长重庆的了呢，。“”3:A我xǐ é\t\u3000😀\u0301giếng nƯỚC hoà-_?!"), max_size=30)


class TestZhuyin:
    def test_against_pypinyin(self):
        """Every syllable with each tone, but for syllabic nasals; pypinyin has the neutral tone's dot behind."""
        from pypinyin import Style
        from pypinyin.style import convert

        compared = 0
        for written in SYLLABLES:
            if not re.match("h?(m|n|ng)[1-5]$", written):
                marked = mandarin.spell(mandarin.factorize(written))
                expected = re.sub("(.*)˙$", r"˙\1", convert(marked, Style.BOPOMOFO, strict=True))
                assert zhuyin.spell(mandarin.factorize(written)) == expected, (written, marked)
                compared += 1
        assert compared > 2000

    def test_words(self):
        assert ZH.decode(ZH.encode("中華民國的女兒"), to="zhuyin") == "ㄓㄨㄥ ㄏㄨㄚˊ ㄇㄧㄣˊ ㄍㄨㄛˊ ˙ㄉㄜ ㄋㄩˇ ㄦˊ"

    def test_no_syllable(self):
        with pytest.raises(ValueError, match="no pinyin syllable"):
            zhuyin.spell(("p", "y", "˧˧"))


def with_a_character():
    """The syllables that some character has in pypinyin's data."""
    readings = {mandarin.factorize("ng2")[:2], mandarin.factorize("yo1")[:2]}
    for reading in ",".join(pinyin_dict.values()).split(","):
        with contextlib.suppress(ValueError):
            readings.add(mandarin.factorize(reading)[:2])
    return [written for written in SYLLABLES if mandarin.factorize(written)[:2] in readings]


READ = with_a_character()


class TestFromPinyin:
    def test_every_syllable(self):
        assert len(READ) > 2000
        for written in READ:
            triple = mandarin.factorize(written)
            marked = mandarin.spell(triple)
            for form in (written, marked, unicodedata.normalize("NFD", marked), marked.upper(), f" {marked}\n"):
                assert from_pinyin(form) == [triple], form
            assert from_pinyin(written.replace("ü", "v")) == from_pinyin(written.replace("ü", "u:")) == [triple]

    @given(st.lists(st.sampled_from(READ), max_size=8), st.sampled_from([" ", "  ", "'", "-", "\u2019", "\t"]))
    def test_parted_syllables(self, syllables, part):
        expected = [mandarin.factorize(one) for one in syllables]
        assert from_pinyin(part.join(syllables)) == expected
        assert from_pinyin("".join(syllables)) == expected  # the numbers part them

    def test_written_together(self):
        """By the orthography's rule: an apostrophe before a, e, o."""
        for together, apart in {
            "yínháng": "yín háng",
            "Xī'ān": "xī ān",
            "xiān": "xiān",
            "fǎngǎn": "fǎn gǎn",
            "fāng'àn": "fāng àn",
            "nǚ'ér": "nǚ ér",
            "Tiān'ānmén": "tiān ān mén",
            "zhōnghuárénmíngònghéguó": "zhōng huá rén mín gòng hé guó",
        }.items():
            assert from_pinyin(together) == from_pinyin(apart)

    @given(texts)
    def test_anything_is_read_or_refused_by_name(self, text):
        try:
            found = from_pinyin(text)
        except PinyinError as error:
            assert re.match(r"character \d+: .* is not pinyin", str(error), re.DOTALL)  # noqa: PT017
        else:
            assert [mandarin.factorize(mandarin.spell(one)) for one in found] == found

    def test_errors(self):
        with pytest.raises(PinyinError, match="character 5: 'hxng2' is not pinyin"):
            from_pinyin("yin2 hxng2")
        with pytest.raises(PinyinError, match="'@' is not a letter, a tone number, a hyphen or an apostrophe"):
            from_pinyin("nǐ@hǎo")
        with pytest.raises(TypeError, match="takes a str, not list"):
            from_pinyin(["yin2"])

    def test_long_text_without_spaces(self):
        """Its syllables are held once: with a copy of the rest at each, these would take gigabytes."""
        assert from_pinyin("ma" * 50_000) == from_pinyin("ma") * 50_000
        with pytest.raises(PinyinError, match="is not pinyin"):
            from_pinyin("ma" * 50_000 + "x")

    @pytest.mark.parametrize("to", ["pinyin", "numbers"])
    def test_what_erhua_writes_is_read(self, to):
        tokenizer = Tokenizer("zh", erhua=True)
        encoding = tokenizer.encode("花儿一点儿也没在这儿玩儿")
        written = tokenizer.decode(encoding, to=to)
        assert "r" in written
        assert from_pinyin(written) == encoding.triples
        assert from_pinyin(written.replace(" ", "'")) == encoding.triples

    def test_r_that_begins_a_syllable_is_not_erhua(self):
        assert from_pinyin("huaren") == from_pinyin("hua ren")
        assert from_pinyin("huar ren") == from_pinyin("hua ren")
        with pytest.raises(PinyinError):
            from_pinyin("huarr1")

    @pytest.mark.parametrize("written", ["yīn2", "máo2", "nǐ3hǎo", "lǜ4", "yin2 háng2"])
    def test_a_tone_is_told_once(self, written):
        with pytest.raises(PinyinError, match="a tone mark and a number: write one of them"):
            from_pinyin(written)
        assert from_pinyin("lü4") == from_pinyin("lǜ")  # a dieresis is not a tone mark

    @pytest.mark.parametrize("written", ["fiang1", "gü1", "ging4", "rei2", "zhv3"])
    def test_syllables_are_those_of_some_character(self, written):
        with pytest.raises(PinyinError, match="is not pinyin"):
            from_pinyin(written)

    def test_every_reading_that_pypinyin_has_is_a_syllable(self):
        single = {reading for text in pinyin_dict.values() for reading in text.split(",")}
        in_phrases = {column[0] for columns in phrases_dict.values() for column in columns}
        read = 0
        for reading in single | in_phrases:
            try:
                triple = mandarin.factorize(reading)
            except ValueError:
                continue
            read += 1
            assert from_pinyin(reading) == [triple]
        assert read > 1400

    def test_what_is_written_together_is_cut_into_syllables_that_exist(self):
        assert from_pinyin("tianan") == from_pinyin("tian an")
        assert from_pinyin("yi1 hui4 r5") == from_pinyin("yi1 hui4 r") == from_pinyin("yi1 huir4")
        assert from_pinyin("yü2 yüan4") == from_pinyin("yu2 yuan4")
        with pytest.raises(PinyinError, match="character 0: 'r5'"):
            from_pinyin("r5")

    @pytest.mark.parametrize(
        ("together", "apart"),
        [("bùyánéryù", "bù yán ér yù"), ("wánér", "wán ér"), ("wánr", "wán"), ("gēr", "gē"), ("nér", "né")],
    )
    def test_er_that_is_a_syllable_goes_before_erhua(self, together, apart):
        assert from_pinyin(together) == from_pinyin(apart)

    @pytest.mark.parametrize("form", ["NFC", "NFD"])
    def test_punctuated_pinyin_has_spans(self, form):
        text = unicodedata.normalize(form, "Nǐ hǎo, shìjiè: “lu:4 hua1 r5”，xī'ān! huār.")
        triples, spans = from_pinyin(text, spans=True)
        assert triples == from_pinyin("ni3 hao3 shi4 jie4 lü4 hua1 xi1 an1 hua1")
        written = [unicodedata.normalize("NFC", text[begin:end]) for begin, end in spans]
        assert written == ["Nǐ", "hǎo", "shì", "jiè", "lu:4", "hua1 r5", "xī", "ān", "huār"]
        assert from_pinyin(text) == from_pinyin(text, spans=False) == triples
        assert from_pinyin("，。", spans=True) == ([], [])

    def test_any_length(self):
        assert len(from_pinyin("yin2hang2" * 1000)) == 2000
        with pytest.raises(PinyinError):
            from_pinyin("a" * 1_000_000 + "q")


class TestSpacing:
    def test_what_stood_there(self):
        text = "3:30 chạy 100km/h, check inbox HÀ NỘI Hoà😀 sinh_viên\r\n\tÝ  "
        assert VI.decode(VI.encode(text), preserve_text=True) == text
        assert VI.decode(VI.encode("gIẾNG lý"), preserve_text=True) == "giếng lí"
        text = "我们3:30在ATM机，“走吧”。OK 行\n"
        assert ZH.decode(ZH.encode(text), preserve_text=True) == "wǒ men 3:30 zài ATM jī，“zǒu ba”。OK xíng\n"

    def test_of_a_part_that_part(self):
        text = " Cái giếng  cổ ở đầu làng\n"
        whole = VI.encode(text)
        batch = VI.encode_batch([text, "Hà Nội\t"], spans=True)
        assert VI.decode(whole[1:3], preserve_text=True) == "giếng  cổ"
        assert VI.decode(whole[1:3][:1], preserve_text=True) == "giếng"
        assert VI.decode(whole[:0], preserve_text=True) == ""
        assert VI.decode(whole[:], preserve_text=True) == VI.decode(batch[0], preserve_text=True) == text
        for short in (whole.truncate(2), batch.truncate(2)[0], batch.truncate(2)[:1][0]):
            assert VI.decode(short, preserve_text=True) == "Cái giếng"
        assert VI.decode(batch.truncate(2)[1], preserve_text=True) == "Hà Nội\t"
        with pytest.raises(ValueError, match="do not follow one another"):
            VI.decode(whole[::-1], preserve_text=True)

    def test_what_is_no_row_of_ids(self):
        with pytest.raises(ValueError, match=r"decode\(batch\[i\]\)"):
            VI.decode(VI.encode_batch(["a", "b c"]))
        with pytest.raises(ValueError, match="float64"):
            VI.decode([[10.7, 60.2, 200.1]])
        for triple in ((1, 2, 300), (-1, 2, 3)):
            with pytest.raises(ValueError, match="is not in the vi vocabulary"):
                VI.spell(triple)

    @given(texts)
    @example("行3行A行")
    @example("a\u0301行")
    def test_only_syllables_change(self, text):
        for tokenizer in (VI, ZH):
            encoding = tokenizer.encode(text)
            for to in NOTATIONS[tokenizer.lang]:
                found = tokenizer.decode(encoding, to=to, preserve_text=True)
                write = speller(tokenizer.lang, to)
                at = 0
                for triple, kind, (start, end) in zip(
                    encoding.triples, encoding.kinds, encoding.spans.tolist(), strict=True
                ):
                    piece = write(triple) if kind == NATIVE else text[start:end]
                    place = found.lower().find(piece.lower(), at)
                    assert place >= 0
                    at = place + len(piece)
                if not (encoding.kinds == NATIVE).any():
                    assert found == text

    @given(texts)
    def test_vietnamese_is_read_again_alike(self, text):
        encoding = VI.encode(text)
        assert VI.encode(VI.decode(encoding, preserve_text=True)).ids.tolist() == encoding.ids.tolist()

    def test_packed_fallback(self):
        packed = Tokenizer("vi", fallback="packed")
        assert packed.decode(packed.encode("Covid-19 ở HUẾ"), preserve_text=True) == "Covid-19 ở HUẾ"

    def test_needs_a_text(self):
        with pytest.raises(ValueError, match="needs an Encoding"):
            VI.decode(VI.encode("a").ids, preserve_text=True)
        with pytest.raises(ValueError, match="spans"):
            VI.decode(VI.encode_batch(["a"])[0], preserve_text=True)


def test_every_notation_by_name():
    assert ZH.decode(ZH.encode("银行"), to="numbers") == "yin2 hang2"
    assert ZH.decode(ZH.encode("银行")) == "yín háng"
    assert (notation("vi", None, "hue"), notation("vi"), notation("zh")) == ("ipa", "spelling", "pinyin")
    for lang, to in (("vi", "pinyin"), ("zh", "spelling"), ("vi", "zhuyin"), ("zh", "jyutping")):
        with pytest.raises(ValueError, match=f"cannot decode {lang} to '{to}': choose one of"):
            notation(lang, to)
