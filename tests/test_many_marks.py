"""Runs of combining marks of any length: normalized as by Python, in time that grows with the text."""

import re
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import Index, PinyinError, Tokenizer, from_pinyin, intrinsic, mandarin, metrics, vietnamese
from phonemic.baselines.segmented import composed
from phonemic.characters import _MANY_MARKS, normalize
from phonemic.corpus.filtering import characters
from phonemic.noise.respelling import without_diacritics

MARKS = [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.normalize("NFD", char) != char and not
         char.isalpha()] + [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.combining(char)]  # fmt: skip

#: Marks whose sorting takes minutes where it is quadratic.
CROWD = "a" + "\u0301\u0323" * 100_000


def test_no_mark_is_overlooked():
    assert not [
        ascii(mark) for mark in MARKS if unicodedata.combining(mark) and not re.fullmatch(r"[^\w\s\x00-\x7f]", mark)
    ]
    for char in map(chr, range(sys.maxunicode + 1)):  # and what begins with a mark once it is taken apart is one
        if unicodedata.combining(unicodedata.normalize("NFD", char)[0]):
            assert re.fullmatch(r"[^\w\s\x00-\x7f]", char)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*"aeạ đ.a가ᄀ", "", "\u09c7", "\u0b47"]),
            st.lists(st.sampled_from([*MARKS, *"\u0301\u0323\u031b\u0345\u0f73\u0f71\u1161\u11a8\u09be\u3002\u200b"]), max_size=90),
        ),
        max_size=4,
    )
)  # fmt: skip
def test_the_same_as_pythons(parts):
    text = "".join(base + "".join(marks) for base, marks in parts)
    for form in ("NFC", "NFD"):
        assert normalize(form, text) == unicodedata.normalize(form, text)
    assert "".join(written for _, written in composed(text)) == unicodedata.normalize("NFC", text)
    assert "".join(piece for piece, _ in composed(text)) == text


def test_runs_of_thirty_are_left_to_python():
    assert not _MANY_MARKS.search("a" + "\u0323" * 30)
    assert _MANY_MARKS.search("a" + "\u0323" * 31)


@pytest.mark.parametrize(
    "use",
    [
        lambda: normalize("NFC", CROWD),
        lambda: composed(CROWD),
        lambda: metrics.fold(CROWD),
        lambda: without_diacritics(CROWD),
        lambda: vietnamese.factorize(CROWD),
        lambda: Index([CROWD], "vi", ignore_diacritics=True).search(CROWD),
        lambda: characters(np.frombuffer(CROWD.encode(), np.uint8), np.array([0, len(CROWD.encode())])),
        lambda: intrinsic.measure("", "vi", [[CROWD]], {"Phonemic": Tokenizer("vi")}, form="NFC"),
    ],
    ids=["normalize", "segmented", "stats", "search", "factorize", "index", "prepare", "measure"],
)
def test_many_marks(use):
    """That it ends at all is the test."""
    use()


@pytest.mark.parametrize("text", [CROWD, "1" + CROWD, CROWD + "1"])
def test_many_marks_in_pinyin(text):
    with pytest.raises(PinyinError):
        from_pinyin(text)
    with pytest.raises(ValueError, match="pinyin"):
        mandarin.factorize(text)
