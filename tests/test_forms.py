"""The meaning of forms, one at a time; their frozen tables; the refused ones."""

from __future__ import annotations

import pickle
import random
import unicodedata

import numpy as np
import pytest

from phonemic import SavedTokenizerError, Tokenizer, TokenizerOptions, mandarin, vietnamese
from phonemic.forms import FORMS, characters_read, form_of, triples_with_forms, without_forms, written
from phonemic.inventory import FORM_SHIFT, vocabulary
from phonemic.lexicon.forms import forms
from phonemic.lexicon.tables import form_tables

VI, ZH = (Tokenizer(lang, form=True) for lang in ("vi", "zh"))
#: Trained weights and stored ids depend on the rows: another checksum means other forms.
CHECKSUMS = {"vi": "0919a2d5", "zh": "24129c1d"}


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_rows_are_frozen(lang):
    assert forms(lang).checksum == CHECKSUMS[lang]


@pytest.mark.parametrize(("lang", "most"), [("vi", 500_000), ("zh", 500_000)])
def test_tables_are_small(lang, most):
    assert sum(array.nbytes for array in form_tables(lang).values()) < most


def told(tokenizer: Tokenizer, text: str) -> list[object]:
    return [form_of(packed, tokenizer.lang) for packed in tokenizer.encode(text).ids.tolist()]


class TestVietnamese:
    def test_case_space_and_marks(self):
        capital, lower, upper = told(VI, "Quốc kỳ VIỆT")
        assert (capital.text, capital.case, capital.space) == ("Quốc", "first", False)
        assert (lower.text, lower.case, lower.space, lower.spelling) == (" kỳ", "lower", True, 2)
        assert (upper.text, upper.case) == (" VIỆT", "upper")

    def test_one_capital_letter_is_first(self):
        (found,) = told(VI, "Ý")
        assert found.case == "first"

    @pytest.mark.parametrize(
        ("text", "number"),
        [("hoà", 0), ("hòa", 1), ("thuỷ", 0), ("thủy", 1), ("ki", 0), ("ky", 2), ("ko", 3), ("ðà", 3)],
    )
    def test_spellings(self, text, number):
        (found,) = told(VI, text)
        assert (found.text, found.spelling) == (text, number)

    @pytest.mark.parametrize("form", ["NFC", "NFD"])
    def test_normalizations(self, form):
        (found,) = told(VI, unicodedata.normalize(form, "tiếng"))
        assert found.normalization == form

    def test_tone_apart(self):
        (found,) = told(VI, "ti\u00ea\u0301ng")
        assert (found.normalization, found.text) == ("tone apart", "ti\u00ea\u0301ng")

    def test_what_no_form_says_is_escaped(self):
        kinds = [found.kind for found in told(VI, "hÀ")]
        assert kinds == ["escaped", *["bytes"] * 4, "end of escape"]


class TestMandarin:
    def test_a_rank_is_among_those_that_are_read_so(self):
        first, second = ZH.encode("行长").ids.tolist()
        assert written(first, "zh") == "行"
        assert characters_read("zhǎng")[form_of(second, "zh").rank] == "长"

    def test_a_character_with_several_readings_has_the_rank_of_the_one_that_was_chosen(self):
        own = Tokenizer("zh", form=True, phrases={"行": "xing4"})
        for tokenizer in (ZH, own):
            packed = int(tokenizer.encode("行").ids[0])
            assert written(packed, "zh") == "行"
        assert characters_read("xing4").index("行") == form_of(int(own.encode("行").ids[0]), "zh").rank

    def test_a_reading_that_no_row_has_is_escaped(self):
        own = Tokenizer("zh", form=True, phrases={"门": "a1"})
        ids = own.encode("门口").ids
        assert form_of(int(ids[0]), "zh").kind == "escaped"
        assert own.decode(ids) == "门口"

    @pytest.mark.parametrize("pinyin", ["de5", "shi4", "yi2", "hao3", "r"])
    def test_common_characters_come_first(self, pinyin):
        if pinyin == "r":
            with pytest.raises(ValueError, match="pinyin"):
                characters_read(pinyin)
            return
        assert characters_read(pinyin)[0] in "的是一好"

    def test_all_of_gb2312_has_ranks(self):
        rows = range(0xB0, 0xF8)
        han = [bytes([row, cell]).decode("gb2312", "ignore") for row in rows for cell in range(0xA1, 0xFF)]
        for char in filter(None, han):
            found = told(ZH, char)
            assert len(found) == 1, char
            assert found[0].text == char


class TestFallback:
    def test_case_space_and_which_character(self):
        found = told(VI, "f F ，")
        assert [(each.text, each.case, each.space) for each in found] == [
            ("f", "lower", False), (" F", "upper", True), (" ，", "lower", True),
        ]  # fmt: skip
        assert found[2].rank > 0

    def test_bytes(self):
        assert [found.bytes for found in told(VI, "之")] == [bytes([byte]) for byte in "之".encode()]
        assert [found.bytes for found in told(ZH, "#")] == [b"\xc0", b"\xa3"]

    @pytest.mark.parametrize("char", " \n\t\r\u3000\xa0")
    def test_white_space_is_one_position(self, char):
        (found,) = told(ZH, char)
        assert (found.kind, found.text) == ("white space", char)


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_no_two_forms_write_the_same_and_the_core_tells_each(lang):
    triples = triples_with_forms(lang)
    tokenizer = VI if lang == "vi" else ZH
    for triple in random.Random(5).sample(triples, 300 if lang == "vi" else 600):
        told = [(written(triple | form << FORM_SHIFT, lang), form) for form in range(1, FORMS - 1)]
        numbers = {text: form for text, form in told if text is not None}
        assert len(numbers) == sum(text is not None for text, _ in told) > 0
        for text, form in numbers.items():
            ids = tokenizer.encode(text).ids
            if lang == "vi" or (len(ids) == 1 and ids[0] & 0xFFFFFF == triple):  # alone it may be read otherwise
                assert ids.tolist() == [triple | form << FORM_SHIFT]
            assert tokenizer.decode(ids) == text


def test_every_standard_spelling_needs_no_escape():
    for spelling in vietnamese.spellings().values():
        usual = vietnamese.standard(spelling.onset, spelling.rime)
        for style in ("new", "old"):
            text = vietnamese.spell((usual.onset, usual.rime, "˧˥"), style)
            ids = VI.encode(f"{text} {text.capitalize()} {text.upper()}").ids
            assert len(ids) == 3, text


def test_every_reading_of_the_lexicon_is_a_row():
    pack = vocabulary("zh").pack
    lost = [
        char for char, pinyin in mandarin.lexicon().characters.items()
        if len(characters_read(pinyin)) < 126 and char not in characters_read(pinyin)
    ]  # fmt: skip
    assert not lost
    assert pack(mandarin.factorize("shì")) in set(triples_with_forms("zh"))


class TestOptions:
    @pytest.mark.parametrize("option", [{"sandhi": True}, {"erhua": True}, {"fallback": "packed"}])
    def test_what_a_form_cannot_say_is_refused(self, option):
        with pytest.raises(ValueError, match="form"):
            Tokenizer("zh", form=True, **option)

    def test_travels(self, tmp_path):
        path = tmp_path / "tokenizer.json"
        ZH.save(path)
        for other in (Tokenizer.load(path), pickle.loads(pickle.dumps(ZH)), Tokenizer.from_options(ZH.options)):
            assert other == ZH
            assert other.form
        assert TokenizerOptions.from_json(ZH.options.to_json(), "here") == ZH.options
        assert Tokenizer("zh") != ZH

    def test_is_true_or_false(self, tmp_path):
        with pytest.raises(TypeError, match="form must be True or False"):
            Tokenizer("vi", form=1)
        with pytest.raises(SavedTokenizerError, match="form"):
            TokenizerOptions.from_json({"lang": "vi", "form": "yes"}, "here")

    def test_default_ids_have_none(self):
        assert not Tokenizer("vi").encode("Quốc kỳ bay").forms.any()


class TestViews:
    def test_forms_are_the_fourth_byte(self):
        encoding = VI.encode("Quốc kỳ bay")
        assert encoding.forms.tolist() == (encoding.ids >> 24).tolist()
        assert encoding.forms.base is not None
        batch = VI.encode_batch(["Quốc kỳ", "bay"])
        assert batch.forms.dtype == np.uint8
        assert batch.forms.tolist() == (batch.ids >> 24).tolist()

    def test_kinds_and_components_are_those_without_forms(self):
        for lang, text in (("vi", "Quốc kỳ bay, A 5"), ("zh", "银行行长A股5。")):
            with_forms, plain = Tokenizer(lang, form=True).encode(text), Tokenizer(lang).encode(text)
            assert np.array_equal(without_forms(with_forms.ids, lang), plain.ids)
            assert with_forms.components.tolist() == plain.components.tolist()
            assert with_forms.kinds.tolist() == plain.kinds.tolist()
            assert with_forms.triples == plain.triples

    def test_white_space_is_in_no_word(self):
        encoding = VI.encode(" a  b\n")
        assert encoding.word_ids.tolist() == [0, -1, 1, -1]
        assert encoding.spans.tolist() == [[1, 2], [2, 3], [4, 5], [5, 6]]

    def test_bytes_have_the_span_of_what_they_are_of(self):
        encoding = VI.encode("hÀ 😀\ufe0f!")
        assert {tuple(span) for span in encoding.spans.tolist()} == {(0, 2), (2, 3), (3, 5), (5, 6)}
        assert encoding.spans[0].tolist() == [0, 2]

    def test_syllables_from_ids_alone(self):
        (quoc, flag, unusual) = VI.syllables(VI.encode("Quốc kỳ hÀ").ids[:11])[:3]
        assert [each.text for each in (quoc, flag)] == ["Quốc", "kỳ"]
        assert (quoc.onset, quoc.start, quoc.end) == ("k", 0, 4)
        assert (flag.start, flag.end) == (5, 7)
        assert unusual.text == " "
        with pytest.raises(TypeError, match="form=True"):
            Tokenizer("vi").syllables([1, 2])


class TestCuts:
    TEXT = "Quốc kỳ hÀ 😀\ufe0f e\u0301"

    @pytest.mark.parametrize("limit", range(1, 25))
    def test_nothing_is_cut_in_the_middle(self, limit):
        encoding = VI.encode(self.TEXT)
        part = encoding.truncate(limit)
        assert len(part) <= limit
        if len(part):
            assert self.TEXT.startswith(VI.decode(part.ids))
        padded = VI.encode_batch([self.TEXT, "bay"]).pad(limit + 2)["input_ids"]
        assert self.TEXT.startswith(VI.decode(padded[0]))
        cut = VI.encode_batch([self.TEXT, "bay"], spans=True).truncate(limit)
        assert np.array_equal(cut[0].ids, part.ids)
        assert len(cut.spans) == len(cut.ids)

    def test_what_does_not_fit_at_all_is_cut_all_the_same(self):
        assert len(VI.encode("😀").truncate(1)) == 1
