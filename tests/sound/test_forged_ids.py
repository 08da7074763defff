"""Ids that no tokenizer made: refused where arrays come in, and nothing is read outside the tables of sounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from phonemic import Batch, Encoding, Index, Tokenizer, distance
from phonemic.inventory import pack, vocabulary
from phonemic.sound.sounds import sounds

any_ids = arrays(np.int32, st.integers(0, 40), elements=st.integers(-(1 << 31), (1 << 31) - 1))


@given(st.sampled_from(["vi", "zh"]), any_ids | arrays(np.uint8, st.tuples(st.integers(0, 40), st.just(3))).map(pack))
def test_rows_are_those_of_the_tables(lang, ids):
    found = sounds(lang)
    rows, where = found.heard(ids)
    assert np.all(rows < [len(found.onsets), len(found.rimes) - 1, len(found.tones) - 1])
    assert np.all(np.diff(where) >= 0)
    assert np.all(where < max(len(ids), 1))


def test_packed_positions_of_marks():
    """Three different symbols that are not letters, as no tokenizer packs them, were a row beyond the tables."""
    vocab = vocabulary("vi")
    ids = np.array([vocab.pack((".", ",", "x")), vocab.pack((".", ",", "-"))], np.int32)
    forged = Encoding("ab", ids, np.array([[0, 1], [1, 2]], np.int32), None, vocab)
    assert distance(forged, "x", "vi") == 0
    assert Index(["m", "x"], "vi").search(forged, limit=1)[0].name == "x"


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (np.array([-1], np.int32), "position 0: the id -1 is not in the zh vocabulary"),
        (np.array([0, 255], np.int32), "position 1: the id 255 is not"),
        (np.array([112 << 8], np.int32), "position 0: the id 28672 is not"),
        (np.array([5], np.int64), r"an array int32 \(N,\), not int64 \(1,\)"),
        (np.array([[5, 5, 5]], np.int32), r"not int32 \(1, 3\)"),
        ([5], "not list"),
    ],
)
def test_other_ids_are_refused(ids, told):
    with pytest.raises(ValueError, match=told):
        Encoding("a", ids, None, None, vocabulary("zh"))


@pytest.mark.parametrize(
    "spans", [[[-1, 1], [1, 2]], [[0, 1], [1, 3]], [[1, 2], [0, 1]], [[1, 0], [1, 2]], [[0, 1]], [[0, 1, 2], [1, 2, 2]]]
)
def test_other_spans_are_refused(spans):
    encoding = Tokenizer("zh").encode("你好")
    assert Encoding("你好", encoding.ids, encoding.spans, None, encoding.vocabulary) == encoding
    with pytest.raises(
        ValueError, match=r"position \d: the span .* does not follow|the spans of 2 positions are int32"
    ):
        Encoding("你好", encoding.ids, np.array(spans, np.int32), None, encoding.vocabulary)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"ids": np.array([5, 255, 5], np.int32)}, "position 1: the id 255 is not in the zh vocabulary"),
        ({"ids": [5, 5, 5]}, "not list"),
        ({"offsets": np.array([0, 2, 2, 4], np.int64)}, "from 0 to 3"),
        ({"offsets": np.array([1, 2, 2, 3], np.int64)}, "from 0 to 3"),
        ({"texts": ["你好", ""]}, "the offsets of 2 rows"),
        ({"offsets": np.array([0, 2, 3], np.int32)}, r"are int64 \(4,\), not int32"),
        ({"offsets": np.array([0, 3, 2, 3], np.int64)}, "without a step back"),
        ({"spans": np.array([[0, 1], [1, 2], [0, 2]], np.int32)}, r"position 2: the span \[0, 2\] .* text of 1 char"),
        ({"spans": np.array([[1, 2], [0, 1], [0, 1]], np.int32)}, "position 0: the span .* text of 2 char"),
        ({"spans": np.array([[0, 1], [1, 3], [0, 1]], np.int32)}, "position 1: the span .* text of 2 char"),
        ({"spans": np.array([[0, 1], [-1, 2], [0, 1]], np.int32)}, "position 0: the span|position 1: the span"),
        ({"spans": np.array([[0, 1], [1, 2], [-1, 1]], np.int32)}, "position 2: the span"),
        ({"spans": np.zeros((2, 2), np.int32)}, "the spans of 3 positions"),
        ({"words": np.zeros(2, np.int32)}, "the word ids of 3 positions"),
    ],
)
def test_other_batches_are_refused(changed, told):
    texts = ["你好", "", "吗"]
    made = Tokenizer("zh").encode_batch(texts, spans=True, word_ids=True)
    arrays = {"texts": texts, "ids": made.ids, "offsets": made.offsets, "spans": made.spans, "words": made.word_ids}
    assert list(Batch(**arrays, vocabulary=made.vocabulary)) == list(made)
    with pytest.raises(ValueError, match=told):
        Batch(**arrays | changed, vocabulary=made.vocabulary)


def test_a_batch_of_no_positions():
    made = Tokenizer("vi").encode_batch(["", ""], spans=True)
    assert len(Batch(["", ""], made.ids, made.offsets, made.spans, None, made.vocabulary)) == 2
    assert len(Batch([], made.ids, np.zeros(1, np.int64), made.spans, None, made.vocabulary)) == 0
