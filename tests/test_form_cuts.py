"""Where ids with forms may be cut: told at once for all positions, and in time in proportion to them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phonemic import Tokenizer
from phonemic.forms import beginnings, whole

TEXT = st.text(st.sampled_from("aàÀ hH\n\t😀🎉\u0301\u0302\u200d\u1161한~_银门長，5\ufe0f\ud800"), max_size=20)


@given(TEXT, st.sampled_from(["vi", "zh"]))
@example("hÀ hÀ\u0301 😀\ufe0f", "vi")
@example("\u0301a\u0301\u1161 \u1161", "vi")
def test_a_part_begins_where_a_character_does_that_is_no_mark(text, lang):
    """Every cut at a beginning leaves two texts that are the whole one; any other cuts a character, or parts a mark."""
    tokenizer = Tokenizer(lang, form=True)
    encoding = tokenizer.encode(text)
    begins, spans = beginnings(encoding.ids), encoding.spans.tolist()
    for at in range(1, len(encoding)):
        parts = [tokenizer.decode(part) for part in (encoding.ids[:at], encoding.ids[at:])]
        if begins[at]:
            assert "".join(parts) == text
        if spans[at] == spans[at - 1]:
            assert not begins[at]


@given(TEXT, st.sampled_from(["vi", "zh"]), st.integers(0, 30))
def test_what_is_kept_ends_before_a_beginning(text, lang, limit):
    ids = Tokenizer(lang, form=True).encode(text).ids
    kept, begins = whole(ids, limit), beginnings(ids)
    if limit >= len(ids):
        assert kept == limit
    else:
        places = np.flatnonzero(begins[1 : limit + 1]) + 1
        assert kept == (places[-1] if len(places) else limit)


@given(st.lists(st.integers(0, 127).map(lambda form: 0x010101 | form << 24) | st.integers(0, 2**31 - 1), max_size=30))
def test_any_ids_have_beginnings(numbers):
    begins = beginnings(np.array(numbers, np.int32))
    assert begins.shape == (len(numbers),)
    assert begins.dtype == bool


@pytest.mark.parametrize(
    ("text", "count"), [("😀" * 30_000, 30_000), ("a" + "\u0301" * 50_000, 1), ("hÀ " * 20_000, 40_000)]
)
def test_long_runs_of_bytes(text, count):
    """They took time in proportion to the square of their length, minutes for these."""
    encoding = Tokenizer("vi", form=True).encode(text)
    assert beginnings(encoding.ids).sum() == count
    assert 0 < len(encoding.truncate(8_000)) <= 8_000
