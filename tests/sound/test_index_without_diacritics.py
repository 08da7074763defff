"""Names that are typed without diacritics: found as comparing what is left of every name would find them."""

import io
import json
import pickle
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import Index, Match, SavedIndexError, Tokenizer, distance
from phonemic.sound import storage
from phonemic.sound.index import _DTYPES

NAMES = [
    "Nguyễn Văn Lan",
    "Nguyễn Văn Nam",
    "Nguyên Văn Lâm",
    "Đỗ Thị Lan",
    "Trần Hưng Đạo",
    "Huyền",
    "iPhone 15",
    "...",
]
SYLLABLES = ["Nguyễn", "nguyen", "Đào", "dao", "Huế", "hue", "quốc", "ý", "y", "iPhone", "7", "!"]
names_of = st.lists(st.sampled_from(SYLLABLES), max_size=4).map(" ".join)


def stripped(text):
    """Letter by letter, by their names in Unicode."""
    made = []
    for letter in unicodedata.normalize("NFC", text):
        name = unicodedata.name(letter, "").split(" WITH ")[0]
        made.append(unicodedata.lookup(name) if name.startswith("LATIN ") else letter)
    return "".join(made)


@given(st.lists(names_of, max_size=12), names_of)
def test_it_is_what_comparing_what_is_left_finds(names, query):
    found = [Match(name, distance(stripped(query), stripped(name), "vi"), row) for row, name in enumerate(names)]
    near = sorted(
        (match for match in found if match.distance <= 1 + 1e-9), key=lambda match: (match.distance, match.index)
    )
    assert Index(names, "vi", ignore_diacritics=True).search(query, limit=None) == near


def test_typed_names():
    index = Index(NAMES, "vi", ignore_diacritics=True)
    for row, name in enumerate(NAMES):
        for query in (name, stripped(name), stripped(name).lower(), unicodedata.normalize("NFD", name)):
            assert index.search(query, limit=1) == [Match(name, 0.0, row)]
        assert index.search(Tokenizer("vi").encode(name), limit=1) == [Match(name, 0.0, row)]
    assert Index(NAMES, "vi").search("Nguyen Van Lam") == []
    assert [index[row] for row in range(len(index))] == NAMES


def test_it_stays_so_when_it_is_saved(tmp_path):
    index = Index(NAMES, "vi", ignore_diacritics=True)
    index.save(tmp_path / "names.index")
    for again in (Index.load(tmp_path / "names.index"), pickle.loads(pickle.dumps(index))):
        assert (again.ignore_diacritics, repr(again)) == (
            True,
            "Index(8 names, Tokenizer('vi'), ignore_diacritics=True)",
        )
        assert again.search("Do Thi Lan", limit=1) == [Match("Đỗ Thị Lan", 0.0, 3)]


def resaved(index, change):
    """The index with other options, as a program of another version or a liar would write it."""
    arrays = storage.read(index.to_bytes(), _DTYPES, "it")
    options = change(json.loads(arrays["options"].tobytes()))
    arrays["options"] = np.frombuffer(json.dumps(options).encode(), np.uint8)
    file = io.BytesIO()
    storage.write(file, arrays)
    return file.getvalue()


def test_anything_else_is_refused():
    with pytest.raises(SavedIndexError, match="ignore_diacritics"):
        Index.from_bytes(resaved(Index(NAMES, "vi"), lambda options: options | {"ignore_diacritics": "no"}))
    with pytest.raises(ValueError, match="ignore_diacritics=True is for Vietnamese"):
        Index(["银行"], "zh", ignore_diacritics=True)
    index = Index(NAMES, "vi", ignore_diacritics=True)
    with pytest.raises(ValueError, match="finds names, not places"):
        index.occurrences(Tokenizer("vi").encode("Nguyen Van Lam"), 0.2)
    with pytest.raises(TypeError, match="str, not int"):
        index.search(3)


def test_a_part_of_a_text_is_that_part():
    encoding = Tokenizer("vi").encode("tôi đi Hà Nội hôm nay")
    for ignored in (True, False):
        assert Index(["Hà Nội"], "vi", ignore_diacritics=ignored).search(encoding[2:4]) == [Match("Hà Nội", 0.0, 0)]
        assert Index(["Hà Nội"], "vi", ignore_diacritics=ignored).search(encoding[:0]) == []
