"""Text from ids with forms: cut, damaged and random ids; the core against its plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import DecodingError, Tokenizer
from phonemic.forms import END_OF_ESCAPE, ESCAPED, UNKNOWN, byte_form, triples_with_forms
from phonemic.inventory import CLS, MASK, SEP
from phonemic.writing.notations import speller
from phonemic.writing.written import Writer
from tests.test_forms_properties import FORMS, mandarin_text, vietnamese_text

VI, ZH = FORMS["vi"], FORMS["zh"]
PLAIN, PACKED = Tokenizer("vi"), Tokenizer("zh", fallback="packed")
SPECIALS = [symbol * 0x010101 for symbol in (0, CLS, SEP, MASK)]


def twin(tokenizer: Tokenizer, replace: bool) -> Writer:
    write = speller(tokenizer.lang)
    return Writer(tokenizer.vocabulary, lambda packed: write(tokenizer.vocabulary.unpack(packed)), True, replace)


def decoded(tokenizer: Tokenizer, ids: np.ndarray) -> str | None:
    """The text; None where an error says which position is wrong."""
    try:
        return tokenizer.decode(ids)
    except DecodingError as error:
        if not str(error).startswith("position "):
            raise
        return None


def unknown(*forms: int) -> list[int]:
    return [UNKNOWN | form << 24 for form in forms]


@st.composite
def damaged(draw) -> tuple[str, list[int]]:
    """Ids of a text, some of which are other, missing or moved."""
    lang = draw(st.sampled_from(["vi", "zh"]))
    text = draw(vietnamese_text if lang == "vi" else mandarin_text)
    ids = FORMS[lang].encode(text).ids.tolist()
    triples = st.sampled_from(triples_with_forms(lang))
    other = st.one_of(
        st.integers(-(1 << 31), (1 << 31) - 1),
        st.builds(lambda triple, form: triple | form << 24, triples, st.integers(0, 127)),
        st.builds(lambda form: UNKNOWN | form << 24, st.integers(0, 127)),
        st.sampled_from(SPECIALS),
    )
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(ids)))
        ids[at : at + draw(st.integers(0, 1))] = draw(st.lists(other, max_size=2))
    return lang, ids


@given(damaged())
def test_damaged_ids_give_an_error_that_says_where_or_what_the_twin_gives(case):
    lang, ids = case
    tokenizer, array = FORMS[lang], np.array(case[1], np.int32)
    replaced = tokenizer.decode(array, errors="replace")
    assert isinstance(replaced, str)
    text = decoded(tokenizer, array)
    if text is None:
        assert "\ufffd" in replaced
        return
    assert text == replaced == tokenizer.decode_batch([array, array])[1]
    if (array >> 24).any() and not any(packed >> 24 == 0 and packed not in SPECIALS for packed in ids):
        assert text == twin(tokenizer, False).write(array)


@given(st.lists(st.integers(-(1 << 31), (1 << 31) - 1), max_size=40))
def test_random_ids(ids):
    array = np.array(ids, np.int32)
    for tokenizer in (VI, ZH, PLAIN, PACKED):
        decoded(tokenizer, array)
        assert isinstance(tokenizer.decode(array, errors="replace"), str)


@given(st.one_of(vietnamese_text, mandarin_text), st.data())
def test_windows_lose_nothing_but_what_is_cut(text, data):
    for tokenizer in FORMS.values():
        ids = tokenizer.encode(text).ids
        start = data.draw(st.integers(0, len(ids)))
        end = data.draw(st.integers(start, len(ids)))
        kept = tokenizer.decode(ids[start:end]).split("\ufffd")
        if "\ufffd" not in text:
            assert len(kept) <= 3
            assert all(part in text for part in kept)


class TestCut:
    IDS = VI.encode("hÀ").ids  # the position, h and À as two bytes each, the end

    @pytest.mark.parametrize(
        ("kept", "text"), [(1, "\ufffd"), (2, "\ufffd"), (3, "h\ufffd"), (4, "h\ufffd"), (5, "hÀ\ufffd"), (6, "hÀ")]
    )
    def test_an_escape(self, kept, text):
        assert VI.decode(self.IDS[:kept]) == text
        assert VI.decode([*self.IDS[:kept], SPECIALS[2]]) == text

    def test_the_beginning(self):
        assert VI.decode(self.IDS[2:]) == "\ufffdÀ"
        assert VI.decode(self.IDS[5:]) == ""
        assert VI.decode([SPECIALS[1], *self.IDS[2:]]) == "\ufffdÀ"

    def test_a_character(self):
        ids = VI.encode("之").ids
        assert [VI.decode(ids[:kept]) for kept in range(4)] == ["", "\ufffd", "\ufffd", "之"]
        assert [VI.decode(ids[kept:]) for kept in range(4)] == ["之", "\ufffd", "\ufffd", ""]


class TestErrors:
    @pytest.mark.parametrize(
        ("ids", "message"),
        [
            ([127 << 24 | CLS * 0x010101], "position 0: id 0x7f020202: no position can have this form"),
            ([5 << 24 | 0xFFFFFF], r"position 0: .*\[255, 255, 255\] is not in the zh vocabulary"),
            ([-1], "position 0: id 0xffffffff"),
            (unknown(byte_form(0x80)) * 2 + ZH.encode("门").ids.tolist() + unknown(byte_form(0x80)), "position 3"),
            (ZH.encode("门").ids.tolist() + unknown(END_OF_ESCAPE), "closes an escape that was not opened"),
            ([ESCAPED << 24 | int(ZH.encode("门").ids[0]) & 0xFFFFFF, *ZH.encode("口").ids], "missing or not closed"),
            (ZH.encode("门").ids.tolist() + unknown(byte_form(0xE4), byte_form(0xE4)) + ZH.encode("门").ids.tolist(), "0xe4"),
        ],
    )  # fmt: skip
    def test_a_message_says_position_id_and_why(self, ids, message):
        with pytest.raises(DecodingError, match=message):
            ZH.decode(ids)
        assert "\ufffd" in ZH.decode(ids, errors="replace")

    def test_forms_need_a_tokenizer_with_forms(self):
        with pytest.raises(DecodingError, match=r"form=True"):
            Tokenizer("zh").decode(ZH.encode("门").ids)

    def test_errors_is_strict_or_replace(self):
        with pytest.raises(ValueError, match="errors"):
            ZH.decode([], errors="ignore")

    @pytest.mark.parametrize("offsets", [[0, 9], [1, 0], [-1, 1], [[0, 1]], [0.0, 1.0], []])
    def test_offsets_that_are_not_of_the_ids(self, offsets):
        with pytest.raises(ValueError, match="offsets"):
            ZH.decode_batch(ZH.encode("门").ids, offsets)

    def test_a_batch_of_the_other_language(self):
        with pytest.raises(ValueError, match="zh"):
            VI.decode_batch(ZH.encode_batch(["门"]))


class TestMixed:
    def test_a_position_without_a_form_stands_between_spaces(self):
        ids = ZH.encode("今天很好").ids.copy()
        ids[2] &= 0xFFFFFF
        assert ZH.decode(ids) == "今天 hěn 好"

    def test_ids_without_any_form_are_written_as_without(self):
        plain = Tokenizer("zh").encode("银行 ok 😀 12").ids
        assert ZH.decode(plain) == Tokenizer("zh").decode(plain)

    def test_specials(self):
        ids = [SPECIALS[1], *ZH.encode("门口").ids.tolist(), SPECIALS[2], 0, 0]
        assert ZH.decode(ids) == "门口"
        assert ZH.decode(ids, skip_special_tokens=False) == "[CLS]门口[SEP][PAD][PAD]"

    @pytest.mark.parametrize("to", ["pinyin", "numbers", "zhuyin", "ipa"])
    def test_a_notation_drops_the_forms(self, to):
        text = "银行A股，12 😀\u3000门"
        assert ZH.decode(ZH.encode(text), to=to) == Tokenizer("zh").decode(Tokenizer("zh").encode(text), to=to)

    def test_spacing_is_kept(self):
        text = "Quốc  kỳ hÀ 😀, e\u0301!"
        assert VI.decode(VI.encode(text), preserve_text=True) == Tokenizer("vi").decode(
            Tokenizer("vi").encode(text), preserve_text=True
        )


def test_many_ids_forget_old_cells():
    from phonemic.writing import pieces

    texts = [chr(code) for code in range(0x4E00, 0x9FA5)]
    batch = ZH.encode_batch(texts)
    kept, pieces.MOST_CELLS = pieces.MOST_CELLS, 1 << 10
    try:
        tokenizer = Tokenizer("zh", form=True)
        assert [tokenizer.decode(batch[row].ids) for row in range(0, len(texts), 7)] == texts[::7]
        assert tokenizer.decode_batch(batch) == texts
        for size in (900, 3000, 2000):  # one row with more ids than the table keeps, some of which it has
            text = "".join(texts[:size])
            assert tokenizer.decode(tokenizer.encode(text).ids) == text
    finally:
        pieces.MOST_CELLS = kept
