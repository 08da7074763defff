"""Texts with their syllables written anew: the compiled loop is its plain twin, whatever the text and the notation."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phonemic import Batch, Encoding, Tokenizer
from phonemic.writing.decoding import decoder, spaced
from tests.test_forms_properties import mandarin_text, vietnamese_text
from tests.test_properties import texts

WAYS = {
    "vi": [{"to": "spelling"}, {"to": "spelling", "style": "old"}, {"to": "ipa"}, {"dialect": "saigon"}],
    "zh": [{"to": "pinyin"}, {"to": "numbers"}, {"to": "zhuyin"}, {"to": "ipa"}],
}
TOKENIZERS = {
    "vi": [Tokenizer("vi"), Tokenizer("vi", word_joiner="_"), Tokenizer("vi", fallback="packed")],
    "zh": [Tokenizer("zh"), Tokenizer("zh", erhua=True, sandhi=True)],
}
mixed = st.lists(
    st.one_of(texts, mandarin_text, vietnamese_text, st.sampled_from(["花儿", "女兒 ", "A", "ǅà"])), max_size=4
)


def twin(tokenizer, encoding, to=None, style="new", dialect=None):
    write = decoder(tokenizer, to, style, True, dialect, "strict")
    return spaced(encoding, write._syllable, write.name)


@pytest.mark.parametrize("lang", ["vi", "zh"])
@given(mixed.map("".join), mixed.map("".join))
@example("Hoà HÀ hÀ Ỳ Y ủy", "花儿花儿")
@example("\U0001f600 HÀ\U00020000", "行\x00行é行")
def test_the_core_is_its_twin(lang, one, other):
    for tokenizer in TOKENIZERS[lang]:
        batch = tokenizer.encode_batch([one, "", other, one], spans=True)
        for way in WAYS[lang]:
            rows = [twin(tokenizer, encoding, **way) for encoding in batch]
            assert tokenizer.decode_batch(batch, preserve_text=True, **way) == rows
            short = batch.truncate(2)[1:]
            assert tokenizer.decode_batch(short, preserve_text=True, **way) == [
                twin(tokenizer, encoding, **way) for encoding in short
            ]
            encoding = tokenizer.encode(one)
            assert tokenizer.decode(encoding, preserve_text=True, **way) == rows[0]
            for part in (encoding[1:], encoding[:-1], encoding[2:2]):
                assert tokenizer.decode(part, preserve_text=True, **way) == twin(tokenizer, part, **way)


@pytest.mark.parametrize("lang", ["vi", "zh"])
@given(st.text(st.sampled_from("Hà hoa行儿\U00020000😀 ,.\n15"), max_size=20))
def test_forms_change_nothing(lang, text):
    plain, written = Tokenizer(lang), Tokenizer(lang, form=True)
    for way in WAYS[lang]:
        expected = plain.decode(plain.encode(text), preserve_text=True, **way)
        assert written.decode(written.encode(text), preserve_text=True, **way) == expected
        assert written.decode_batch(written.encode_batch([text], spans=True), preserve_text=True, **way) == [expected]


@given(st.lists(st.tuples(st.integers(-2, 6), st.integers(-2, 6)), min_size=1, max_size=4), st.booleans())
def test_any_spans(spans, part):
    """Ids of no text are as the twin has them: an error, or the text; nothing is read outside it."""
    tokenizer = Tokenizer("vi")
    ids = np.resize(tokenizer.encode("Hà a,").ids, len(spans))
    encoding = Encoding("Hà 行\U0001f600", ids, np.zeros((len(spans), 2), np.int32), None, tokenizer.vocabulary)
    encoding._spans = np.array(spans, np.int32)  # which the constructor refuses, unless they follow in the text
    encoding.is_part = part
    try:
        expected = twin(tokenizer, encoding)
    except ValueError:
        with pytest.raises(ValueError, match="do not follow one another"):
            tokenizer.decode(encoding, preserve_text=True)
    else:
        assert tokenizer.decode(encoding, preserve_text=True) == expected


def test_a_batch_that_was_not_made_here():
    vi = Tokenizer("vi")
    made = vi.encode_batch(["hà nội", "huế"], spans=True)
    for changed in (
        {"offsets": made.offsets + 1},
        {"offsets": made.offsets[:2]},
        {"offsets": made.offsets[::-1]},
        {"spans": made.spans[:2]},
        {"spans": made.spans[:, :1]},
        {"texts": made.texts[:1]},
    ):
        arrays = {"texts": made.texts, "ids": made.ids, "offsets": made.offsets, "spans": made.spans} | changed
        with pytest.raises(ValueError, match=r"are not of these ids|offsets run upwards"):
            vi.decode_batch(Batch.made(**arrays, words=None, vocabulary=vi.vocabulary), preserve_text=True)
        with pytest.raises(ValueError, match=r"^the (offsets|spans) of"):
            Batch(**arrays, words=None, vocabulary=vi.vocabulary)


def test_what_does_not_fit():
    vi = Tokenizer("vi")
    with pytest.raises(ValueError, match="needs an Encoding, which knows its text, or a Batch"):
        vi.decode_batch([vi.encode("hà").ids], preserve_text=True)
    with pytest.raises(ValueError, match="encoded without spans"):
        vi.decode_batch(vi.encode_batch(["hà"]), preserve_text=True)
    with pytest.raises(ValueError, match="Batch of zh: a tokenizer of vi cannot decode it"):
        vi.decode_batch(Tokenizer("zh").encode_batch(["行"], spans=True), preserve_text=True)
    assert vi.decode_batch(vi.encode_batch([], spans=True), preserve_text=True) == []
