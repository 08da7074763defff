"""Counts of units and characters equal those of a plain program, line by line."""

import unicodedata

import numpy as np
import pytest
from corpus_helpers import PACKED, TOKENIZERS, characters, native_and_units
from hypothesis import example, given
from hypothesis import strategies as st

from phonemic import Tokenizer
from phonemic.corpus import filtering
from phonemic.tokenizer import encode_rows

TEXT = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from(
        "aệnghbcĐ银行囧ñж한\u1100\u1161\u11a8\u0301\u0323\u031b\u3000\u00a0\u2000\u200b\u2126Å 19-,，。🎉\r"
    ),
    max_size=30,
)


def measured(texts, lang, tokenizers=TOKENIZERS):
    parts = [text.encode() for text in texts]
    data = np.frombuffer(b"junk" + b"".join(parts), np.uint8)
    offsets = np.cumsum([4, *map(len, parts)])
    ids, ends, spans, _ = encode_rows(tokenizers[lang].core, data, offsets, 1, spans=True, word_ids=False)
    native, units = filtering.native_units(data, offsets, ids, ends, spans, lang)
    counted = filtering.characters(data, offsets)
    assert counted.dtype == np.int32
    return list(zip(native.tolist(), units.tolist(), strict=True)), counted.tolist()


@given(st.lists(TEXT, max_size=6))
@example(["", "a", "b c", " b", "xx", "xx "])
@example(["한국", "\u1112\u1161\u11ab", "\u0958", "e\u0301\u0323", "\u0301", "\u2001\u1680"])
def test_equals_the_plain_program(texts):
    for lang in TOKENIZERS:
        units, counted = measured(texts, lang)
        assert units == [native_and_units(text, lang) for text in texts]
        assert counted == [characters(text) for text in texts]
        assert measured(texts, lang, PACKED) == (units, counted)


@given(st.lists(TEXT, max_size=6))
@example(["h\u00c0  t\u00f4i", "", "h\u00c0", "h\u00c0", "\u1161a\u1161", "\u0301 \u200d", "_a_"])
def test_without_forms_is_what_a_tokenizer_without_them_gives(texts):
    parts = [text.encode() for text in texts]
    data = np.frombuffer(b"junk" + b"".join(parts), np.uint8)
    offsets = np.cumsum([4, *map(len, parts)])
    for lang in TOKENIZERS:
        for joiner in (None, "_"):
            encoded = [
                encode_rows(Tokenizer(lang, form=form, word_joiner=joiner).core, data, offsets, 1, True, False)[:3]
                for form in (True, False)
            ]
            found = filtering.without_forms(data, offsets, *encoded[0], joiner)
            for ours, want in zip(found, encoded[1], strict=True):
                assert np.array_equal(ours, want)


@pytest.mark.parametrize(
    ("text", "lang", "native", "units"),
    [
        ("Tôi yêu tiếng Việt.", "vi", 4, 4),
        ("Ông Putin, 70 tuổi: COVID-19!", "vi", 2, 6),  # ông tuổi; putin 70 covid 19
        ("iPhone15", "vi", 0, 1),
        ("我爱iPhone。", "zh", 2, 8),
        ("，。！", "zh", 0, 0),
        ("Привет мир", "vi", 0, 2),
    ],
)
def test_what_counts(text, lang, native, units):
    assert measured([text], lang)[0] == measured([text], lang, PACKED)[0] == [(native, units)]


def test_every_character_that_changes_length_under_nfc():
    changing = [
        chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and len(unicodedata.normalize("NFC", chr(c))) > 1
    ]
    assert len(changing) > 50
    assert measured(changing, "vi")[1] == [characters(char) for char in changing]
    pairs = []
    for code in range(0x110000):
        parts = unicodedata.decomposition(chr(code)) if not 0xD800 <= code < 0xE000 else ""
        if parts and not parts.startswith("<") and " " in parts:
            pairs.append("".join(chr(int(part, 16)) for part in parts.split()))
    assert measured(pairs, "zh")[1] == [characters(pair) for pair in pairs]


def test_white_space_is_no_character():
    spaces = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    assert len(spaces) > 20
    assert measured([f"a{space}b" for space in spaces], "vi")[1] == [2] * len(spaces)
