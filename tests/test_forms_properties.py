"""Ids with forms lose nothing, and are the ids without forms once these are dropped: the core and its plain twin."""

from __future__ import annotations

import unicodedata

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from phonemic import Tokenizer, reference_forms, vietnamese
from phonemic.forms import without_forms
from tests.test_properties import beside, nasty, rows, texts

FORMS = {lang: Tokenizer(lang, form=True) for lang in ("vi", "zh")}
PLAIN = {lang: Tokenizer(lang) for lang in ("vi", "zh")}
IN_CONTEXT = Tokenizer("zh", form=True, readings="context")
JOINED = Tokenizer("vi", form=True, word_joiner="_")

_spellings = sorted(vietnamese.spellings())
_cases = st.sampled_from([str, str.upper, str.capitalize, str.swapcase, lambda text: text[:1] + text[1:].upper()])
_normal = st.sampled_from(["NFC", "NFD", "NFKD"])
#: Between syllables, and inside of them.
_between = st.sampled_from(
    [
        " ",
        "  ",
        "",
        "\n",
        "\t",
        "\u3000",
        "\xa0",
        "\u2003",
        "\u200b",
        "\u200d",
        "\ufe0f",
        "\u0301",
        "_",
        ".",
        "，",
        "😀",
    ]
)


@st.composite
def syllable(draw) -> str:
    """A spelling with a tone mark anywhere, in some case and normalization."""
    text = draw(st.sampled_from(_spellings))
    mark = draw(st.sampled_from([mark for _, mark in vietnamese.TONES.values()]))
    at = draw(st.integers(1, len(text)))
    written = draw(_cases)(text[:at] + mark + text[at:])
    return unicodedata.normalize(draw(_normal), written)


vietnamese_text = st.lists(st.one_of(syllable(), _between), max_size=12).map("".join)
#: Han characters of all planes that have readings, rare ones too, and what is between them.
mandarin_text = st.lists(
    st.one_of(
        st.characters(min_codepoint=0x3400, max_codepoint=0x9FFF),
        st.characters(min_codepoint=0xF900, max_codepoint=0xFAFF),
        st.characters(min_codepoint=0x20000, max_codepoint=0x2CEAF),
        st.sampled_from("行长重为还著的地得好一不了"),
        _between,
        st.characters(),
    ),
    max_size=12,
).map("".join)


def check(tokenizer: Tokenizer, text: str, plain: np.ndarray) -> None:
    encoding = tokenizer.encode(text)
    assert tokenizer.decode(encoding.ids) == text
    assert np.array_equal(without_forms(encoding.ids, tokenizer.lang, tokenizer.word_joiner), plain)
    options = {"joiner": tokenizer.word_joiner, "readings": tokenizer.readings}
    assert rows(tokenizer, encoding) == reference_forms.encode(text, tokenizer.lang, **options)
    (twin,) = tokenizer.encode_batch([text], spans=True, word_ids=True)
    assert np.array_equal(twin.ids, encoding.ids)
    assert np.array_equal(twin.spans, encoding.spans)
    assert np.array_equal(twin.word_ids, encoding.word_ids)


@nasty
@beside
@given(texts)
@example("\ud800\udc00")
@example("e\u0301\u0301")
@example("\u1167\u1167")
@example("\uff19\u200b\u1161")
@example("\u0301\u1167\u0301a\u1167")
def test_nothing_is_lost(text):
    for lang, tokenizer in FORMS.items():
        check(tokenizer, text, PLAIN[lang].encode(text).ids)


@nasty
@given(vietnamese_text)
@example("hÀ Hà HÀ hà")
@example("Ðà Nẵng, Đắk Lắk ko OK")
@example("h\u200dà\u200d")
@example("tie\u0302\u0301ng ti\u00ea\u0301ng ti\u1ebfng tie\u0301\u0302ng a\u0323\u0302 \u1ea1\u0302")
def test_vietnamese(text):
    check(FORMS["vi"], text, PLAIN["vi"].encode(text).ids)
    check(JOINED, text, Tokenizer("vi", word_joiner="_").encode(text).ids)


@nasty
@given(mandarin_text)
@example("葛\U000e0100 城 a")
def test_mandarin(text):
    check(FORMS["zh"], text, PLAIN["zh"].encode(text).ids)
    check(IN_CONTEXT, text, Tokenizer("zh", readings="context").encode(text).ids)


@given(st.lists(st.one_of(vietnamese_text, mandarin_text), max_size=30), st.integers(1, 3))
def test_batches_are_texts_one_by_one(several, threads):
    many = several * 40  # enough for the memo of frequent syllables
    for tokenizer in (*FORMS.values(), IN_CONTEXT):
        batch = tokenizer.encode_batch(many, num_threads=threads)
        for text, encoding in zip(several, batch, strict=False):
            assert np.array_equal(encoding.ids, tokenizer.encode(text).ids)
        assert tokenizer.decode_batch(batch) == many


@given(st.lists(st.one_of(vietnamese_text, mandarin_text), min_size=1, max_size=8))
def test_arrow_is_as_str(several):
    import pyarrow as pa

    from phonemic import arrow

    kept = [text for text in several if not any("\ud800" <= char <= "\udfff" for char in text)]
    for tokenizer in (*FORMS.values(), IN_CONTEXT):
        made = arrow.encode(pa.array(kept, pa.string()), tokenizer)
        assert made.to_pylist() == [tokenizer.encode(text).ids.tolist() for text in kept]
