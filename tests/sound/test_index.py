"""Names found by sound: the same as by comparing the query with every name; files that are damaged or hostile."""

import contextlib
import io
import json
import pickle
import random
import struct
import subprocess
import sys
import threading
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import Index, Match, PhonemicError, SavedIndexError, Tokenizer, distance
from phonemic.sound import homophones, parts, rhymes, storage
from phonemic.sound.index import _DTYPES
from phonemic.sound.sounds import Sounds, sounds

SYLLABLES = {
    "vi": ["an", "ăn", "ang", "lan", "nan", "lang", "la", "na", "trâu", "châu", "sâu", "xâu", "da", "gia", "ra", "hỏi", "hỗi",
           "ngã", "ngả", "uyên", "oanh", "iPhone", "15", "7", "x", "!"],
    "zh": [*"北京背景湖南福兰林零长涨中宗张章啊A9。ж"],
}  # fmt: skip


def names_of(lang, most=5):
    joint = " " if lang == "vi" else ""
    return st.lists(st.sampled_from(SYLLABLES[lang]), max_size=most).map(joint.join)


def brute(names, query, lang, limit=None, max_distance=1.0):
    found = [Match(name, distance(query, name, lang), row) for row, name in enumerate(names)]
    near = [match for match in found if max_distance is None or match.distance <= max_distance + 1e-9]
    return sorted(near, key=lambda match: (match.distance, match.index))[:limit]


lists = st.sampled_from(["vi", "zh"]).flatmap(
    lambda lang: st.tuples(st.just(lang), st.lists(names_of(lang), max_size=30), names_of(lang, 6))
)


@given(
    lists, st.one_of(st.none(), st.integers(1, 12)), st.one_of(st.none(), st.sampled_from([0, 0.05, 0.3, 1, 1.5, 9]))
)
def test_found_is_what_comparing_with_every_name_finds(drawn, k, within):
    lang, names, query = drawn
    assert Index(names, lang).search(query, limit=k, max_distance=within) == brute(names, query, lang, k, within)


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_many_names(lang):
    """Enough names that the trie has many levels and the search several passes."""
    dice = random.Random(7)
    joint = " " if lang == "vi" else ""
    names = [joint.join(dice.choices(SYLLABLES[lang], k=dice.randint(0, 9))) for _ in range(1500)]
    index = Index(names, lang)
    assert list(index) == names
    for length in (0, 1, 3, 8, 14):
        query = joint.join(dice.choices(SYLLABLES[lang], k=length))
        every = brute(names, query, lang, max_distance=None)
        assert index.search(query, limit=None, max_distance=None) == every
        assert index.search(query, limit=25, max_distance=None) == every[:25]
        assert index.search(query, limit=4000, max_distance=2) == [match for match in every if match.distance <= 2]


@given(names=st.lists(st.text(max_size=12), max_size=8), lang=st.sampled_from(["vi", "zh"]))
def test_lengths_are_what_is_heard_of_each_name(names, lang):
    tokenizer = Tokenizer(lang)
    alone = [len(sounds(lang).heard(tokenizer.encode(name).ids)[0]) for name in names]
    assert Index(names, lang).lengths.tolist() == alone


def test_equally_far_names_come_as_they_were_given():
    index = Index(["lan", "nan", "Lan", "LAN", "nan"], "vi")
    assert [match.index for match in index.search("lan")] == [0, 2, 3, 1, 4]
    assert [match.index for match in index.search("lan", limit=2)] == [0, 2]
    assert [match.index for match in index.search("nan", limit=3)] == [1, 4, 0]
    assert index.search("lan", limit=1) == [Match("lan", 0.0, 0)]


@given(st.lists(st.text(max_size=6), max_size=8), st.text(max_size=6), st.sampled_from(["vi", "zh"]))
def test_any_text_is_a_name(names, query, lang):
    index = Index(names, lang)
    assert list(index) == names
    assert index.search(query, limit=None, max_distance=None) == brute(names, query, lang, max_distance=None)
    again = Index.from_bytes(index.to_bytes())
    assert list(again) == names
    assert again.search(query, limit=None, max_distance=3) == index.search(query, limit=None, max_distance=3)


def test_own_readings_and_packed_letters():
    own = Tokenizer("zh", phrases={"朝阳": "zhao1 yang2"}, fallback="packed")
    index = Index(["朝阳区", "招阳区", "COVID-19", "covid19"], tokenizer=own)
    assert [match.index for match in index.search("昭阳区", max_distance=0)] == [0, 1]
    assert [match.index for match in index.search("Covid 19", max_distance=0)] == [2, 3]
    assert Index.from_bytes(index.to_bytes()).tokenizer == own
    assert index.search(own.encode("昭阳区"), limit=1) == index.search("昭阳区", limit=1)


def test_occurrences_are_the_searches_of_all_parts(vi):
    dice = random.Random(3)
    names = [" ".join(dice.choices(SYLLABLES["vi"], k=dice.randint(1, 4))) for _ in range(200)]
    index = Index(names, "vi")
    for _ in range(10):
        words = dice.choices([word for word in SYLLABLES["vi"] if vi.factorize(word)], k=7)
        starts, ends = sorted(dice.sample(range(7), 4)), sorted(dice.sample(range(1, 8), 5))
        cut = dice.randint(1, 6)
        expected = [
            (match, start, end)
            for start in starts
            for end in ends
            if start < end and not start < cut < end
            for match in index.search(" ".join(words[start:end]), limit=None, max_distance=0.5)
        ]
        encoding = vi.encode(" ".join(words))
        assert index.occurrences(encoding, 0.5, starts=starts, ends=ends, breaks=[cut]) == expected


@pytest.mark.parametrize("block", [1, 3, 512])
def test_occurrences_of_names_of_all_lengths(vi, block, monkeypatch):
    monkeypatch.setattr(parts, "_BLOCK", block)
    dice = random.Random(block)
    words = [*(word for word in SYLLABLES["vi"] if word.isalpha()), "iPhone x", "7"]
    for within in (0, 0.3, 1.0, 2.5):
        names = [" ".join(dice.choices(words, k=size)) for size in (1, 2, 2, 3, 9, 14, 15)]
        text = " ".join([*dice.choices(words, k=5), *names[-2:], *dice.choices(words, k=4)])
        index, encoding = Index(names, "vi"), vi.encode(text)
        expected = [
            (match, start, stop)
            for start in range(len(encoding))
            for stop in range(start + 1, len(encoding) + 1)
            for match in index.search(encoding[start:stop], limit=None, max_distance=within)
        ]
        assert index.occurrences(encoding, within) == expected
        assert not within or expected


def test_a_long_name_costs_what_it_is_near_to(vi):
    """Parts of a text are compared with names only where they may be near to one: not all up to the longest name."""
    words, dice = [word for word in SYLLABLES["vi"] if vi.factorize(word)], random.Random(5)
    index = Index(["lan sâu", " ".join(dice.choices(words, k=1000))], "vi")
    encoding = vi.encode(" ".join(dice.choices(words, k=3000)))
    places, gaps = np.arange(len(encoding) + 1), np.full(len(encoding), 1000, np.uint16)
    weights = index._arrays["groups"].reshape(-1, 3)[:, 1]
    found = [len(starts) for starts, _ in parts.parts_near(weights, gaps, places[:-1], places[1:], places[-1:], 300)]
    assert 3000 < sum(found) < 2 * 3000
    assert len(found) == 6
    assert index.occurrences(encoding[:1500], 0.3)


def test_occurrences_in_text(vi):
    index = Index(["Trần Hưng Đạo", "Hồ Chí Minh", "..."], "vi")
    text = vi.encode("Đường Chần Hưng Đạo, hồ “chí minh” 3")
    found = index.occurrences(text, 0.3)
    assert [
        (match.name, text.text[text.spans[first, 0] : text.spans[stop - 1, 1]]) for match, first, stop in found
    ] == [
        ("Trần Hưng Đạo", "Chần Hưng Đạo"),
        ("Hồ Chí Minh", "hồ “chí minh"),
    ]
    assert index.occurrences(text, 0.3, breaks=[6])[1:] == []
    assert index.occurrences(vi.encode(""), 0.3) == []
    with pytest.raises(ValueError, match="max_distance"):
        index.occurrences(text, -1)


UNHEARD = {"vi": ["Иван", "Олег", "😀😀😀😀", "漢", "~ _ & # +", "..."], "zh": ["か", "Иван", "😀", "~", "。"]}


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_names_without_a_sound(lang):
    """Characters outside the vocabulary are heard as little as punctuation, in a name as alone."""
    names = ["an"] + [f"an {name}" for name in UNHEARD[lang]] + UNHEARD[lang]
    index, count = Index(names, lang), len(UNHEARD[lang])
    assert index.lengths.tolist() == [len(index.tokenizer.encode("an"))] * (count + 1) + [0] * count
    assert [match.index for match in index.search("an", limit=None, max_distance=0.2)] == [*range(count + 1)]
    assert homophones(UNHEARD[lang], lang) == rhymes(UNHEARD[lang], lang) == []
    assert homophones(names, lang)[0].words == tuple(names[: count + 1])


def test_an_index_that_heard_unknown_characters_is_refused():
    """Its rows are of a table with one row more."""
    data = Index(["Hà Nội"], "vi").to_bytes()
    with pytest.raises(SavedIndexError, match="another version of phonemic; build it again"):
        Index.from_bytes(data.replace(b"phonemic index\0\x03", b"phonemic index\0\x01", 1))


@pytest.mark.parametrize(
    ("lang", "options", "names"),
    [
        ("vi", {}, ["sounds", "vi", "vocabulary"]),
        ("zh", {"readings": "context"}, ["sounds", "vocabulary", "zh", "zh-context"]),
        ("zh", {"sandhi": True}, ["sounds", "vocabulary", "zh", "zh-speech"]),
        ("vi", {"form": True}, ["sounds", "vi", "vi-forms", "vocabulary"]),
    ],
)
def test_an_index_names_the_tables_that_it_depends_on(lang, options, names, monkeypatch):
    """With other tables its rows would mean other sounds, or queries be read otherwise than the names were."""
    index = Index(["An", "安"], tokenizer=Tokenizer(lang, **options))
    tables = json.loads(index._arrays["options"].tobytes())["tables"]
    assert sorted(tables) == names
    for name in names:
        saved = Index.from_bytes(index.to_bytes())
        saved._arrays["options"] = np.frombuffer(
            json.dumps(
                {
                    "tokenizer": index.tokenizer.options.to_json(),
                    "ignore_diacritics": False,
                    "tables": tables | {name: "0"},
                }
            ).encode(),
            np.uint8,
        )
        with pytest.raises(SavedIndexError, match=rf"made with other tables \({name}\); build it again"):
            Index.from_bytes(saved.to_bytes())


def test_sounds_in_another_order_have_another_digest():
    found, other = sounds("vi"), Sounds("vi")
    assert other.digest == found.digest != sounds("zh").digest
    for change in (
        lambda: other.symbols.update(onset=found.symbols["onset"][::-1]),
        lambda: other.rimes.__setitem__((0, 1), 7),
    ):
        before = other.digest
        change()
        del other.digest
        assert other.digest != before


def test_saved_and_loaded(tmp_path):
    names = ["Nguyễn Văn An", "Trần Hưng Đạo", "half \ud800 a pair", "", "x\ny"]
    index = Index(names, "vi")
    index.save(tmp_path / "names.index")
    again = Index.load(tmp_path / "names.index")
    assert list(again) == names
    assert again[-1] == "x\ny"
    assert again[1:3] == names[1:3]
    assert again.search("Chần Hưng Đạo") == index.search("Chần Hưng Đạo")
    assert list(pickle.loads(pickle.dumps(again))) == names
    assert (tmp_path / "names.index").read_bytes() == again.to_bytes()
    with pytest.raises(FileExistsError):
        index.save(tmp_path / "names.index", overwrite=False)
    assert not list(tmp_path.glob("*.partial"))
    Index([], "zh").save(tmp_path / "none.index")
    assert Index.load(tmp_path / "none.index").search("北京") == []


def test_arrow_arrays():
    arrow = pytest.importorskip("pyarrow", reason="needs the arrow extra")
    words = ["hoa", "Hoa", "nhà"]
    assert list(Index(arrow.array(words), "vi")) == words
    assert homophones(arrow.chunked_array([words[:1], words[1:]]), "vi") == homophones(words, "vi")
    assert rhymes(arrow.array(words), "vi") == rhymes(words, "vi")
    with pytest.raises(TypeError):
        Index(arrow.array(["hoa", None]), "vi")


def test_threads_share_an_index():
    dice = random.Random(1)
    index = Index([" ".join(dice.choices(SYLLABLES["vi"], k=3)) for _ in range(2000)], "vi")
    expected, found = index.search("lan sâu ngã", limit=50), []
    threads = [
        threading.Thread(
            target=lambda: found.extend(index.search("lan sâu ngã", limit=50) == expected for _ in range(50))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 200


OVERWRITTEN = """
import os, sys
from phonemic import Index

path = sys.argv[1]
names = [f"{a} {b} {c}" for a in ("lan", "nan", "sâu", "bọ") for b in ("an", "ba", "cha") for c in ("em", "ông")] * 3000
Index(names, "vi").save(path)
index, whole = Index.load(path), open(path, "rb").read()
queries = [index.tokenizer.encode(query) for query in ("lan an em", "sâu cha", "bọ")]
searches = lambda: ([index.search(query, limit=5) for query in queries], index.occurrences(queries[0], 0.5)[:5], index[-1])
expected = searches()
for content in (b"\\xff" * len(whole), bytes(len(whole)), os.urandom(len(whole)), whole[: len(whole) // 2], b""):
    with open(path, "r+b") as file:  # in place: the same inode
        file.write(content)
        file.truncate(len(content))
    assert searches() == expected
"""


def test_a_file_that_is_overwritten_in_place(tmp_path):
    """The searched file is the one that was checked: a map of the file would end the process, or find other names."""
    subprocess.run([sys.executable, "-c", OVERWRITTEN, str(tmp_path / "names.index")], check=True)


class TestHostileFiles:
    DATA = Index(["lan", "nan sâu", "sâu", "sâu bọ"], "vi").to_bytes()

    def test_another_file(self, tmp_path):
        for data in (b"", b"lan\nnan\n", self.DATA[:10]):
            (tmp_path / "x").write_bytes(data)
            with pytest.raises(SavedIndexError, match="x: not a saved index"):
                Index.load(tmp_path / "x")
        (tmp_path / "x").write_bytes(self.DATA[:15] + b"\x7f" + self.DATA[16:])
        with pytest.raises(SavedIndexError, match="another version"):
            Index.load(tmp_path / "x")
        with pytest.raises(FileNotFoundError):
            Index.load(tmp_path / "none")

    def test_every_byte_and_every_length_counts(self):
        for at in range(16, len(self.DATA), 7):
            with pytest.raises(SavedIndexError, match="checksum"):
                Index.from_bytes(self.DATA[:at] + bytes([self.DATA[at] ^ 0x55]) + self.DATA[at + 1 :])
        for at in range(0, len(self.DATA), 11):
            with pytest.raises(SavedIndexError):
                Index.from_bytes(self.DATA[:at])

    @given(st.data())
    def test_a_right_checksum_over_wrong_bytes(self, data):
        """Whatever the arrays hold, there is a clear error, or an index that searches without touching what is not its own."""
        changed = bytearray(self.DATA)
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(20, len(changed) - 1))
            changed[at] = data.draw(st.integers(0, 255))
        changed[16:20] = struct.pack("<I", zlib.crc32(bytes(changed[20:])))
        with contextlib.suppress(PhonemicError):
            index = Index.from_bytes(bytes(changed))
            index.search("nan sâu", limit=None, max_distance=None)
            index.search("nan sâu bọ")
            list(index)

    @pytest.mark.parametrize(
        ("name", "change", "what"),
        [
            ("symbols", lambda array: array + 500, "symbols"),
            ("symbols", lambda array: array[:-1], "groups"),
            ("sounds", lambda array: array + 250, "sounds"),
            ("sounds", lambda array: array[:-1], "sounds, groups and names"),
            ("groups", lambda array: array * 0, "groups"),
            ("groups", lambda array: -array, "groups"),
            ("groups", lambda array: array + 2**40, "groups"),
            ("groups", lambda array: np.concatenate([array, array]), "groups"),
            ("groups", lambda array: array[:0], "groups"),
            ("rows", lambda array: array + 1, "rows"),
            ("rows", lambda array: array[::-1], "rows"),
            ("rows", lambda array: array[1:], "rows"),
            ("order", lambda array: array * 0, "order"),
            ("order", lambda array: array + 7, "order"),
            ("order", lambda array: array[1:], "sounds, groups and names"),
            ("offsets", lambda array: array[::-1], "names"),
            ("offsets", lambda array: array + 1, "names"),
        ],
    )
    def test_arrays_that_do_not_fit(self, name, change, what):
        arrays = storage.read(self.DATA, _DTYPES, "it")
        arrays[name] = np.ascontiguousarray(change(arrays[name].copy()).astype(arrays[name].dtype))
        with pytest.raises(SavedIndexError, match=f"damaged .*its {what} do not fit"):
            Index.from_bytes(written(arrays))

    def test_a_dtype_or_a_name_of_its_own(self):
        arrays = storage.read(self.DATA, _DTYPES, "it")
        with pytest.raises(SavedIndexError, match="array 'rows' does not fit"):
            Index.from_bytes(written({**arrays, "rows": arrays["rows"].astype(np.int64)}))
        with pytest.raises(SavedIndexError, match="list of arrays"):
            Index.from_bytes(written({**arrays, "more": arrays["rows"]}))
        arrays.pop("rows")
        with pytest.raises(SavedIndexError, match="rows is missing"):
            Index.from_bytes(written(arrays))

    def test_names_that_are_not_utf8(self):
        arrays = storage.read(self.DATA, _DTYPES, "it")
        index = Index.from_bytes(written({**arrays, "text": np.full_like(arrays["text"], 0xFF)}))
        with pytest.raises(SavedIndexError, match="damaged"):
            index.search("lan")

    def test_options_that_are_none(self):
        arrays = storage.read(self.DATA, _DTYPES, "it")
        for text, what in ((b"{", "damaged"), (b"[]", "object"), (b"{}", "tokenizer is missing")):
            with pytest.raises(SavedIndexError, match=what):
                Index.from_bytes(written({**arrays, "options": np.frombuffer(text, np.uint8)}))
        other = arrays["options"].tobytes().replace(b'"sounds": "', b'"sounds": "0')
        with pytest.raises(SavedIndexError, match="another version"):
            Index.from_bytes(written({**arrays, "options": np.frombuffer(other, np.uint8)}))


def written(arrays):
    file = io.BytesIO()
    storage.write(file, arrays)
    return file.getvalue()


def test_what_does_not_fit_is_refused():
    with pytest.raises(TypeError, match="not one str"):
        Index("lan", "vi")
    with pytest.raises(TypeError, match="lang='vi'"):
        Index(["lan"])
    with pytest.raises(TypeError):
        Index(["lan", None], "vi")
    with pytest.raises(ValueError, match="unknown language"):
        Index(["lan"], "en")
    with pytest.raises(ValueError, match="name 1 has 1,001 positions"):
        Index(["lan", "lan " * 1001], "vi")
    index = Index(["lan"] * 3, "vi")
    with pytest.raises(ValueError, match="limit must be at least 1"):
        index.search("lan", limit=0)
    for within in (-1, float("nan")):
        with pytest.raises(ValueError, match="max_distance must be 0 or more"):
            index.search("lan", max_distance=within)
    with pytest.raises(ValueError, match="the query has 1,001 positions"):
        index.search("lan " * 1001)
    with pytest.raises(TypeError):
        index.search(None)
    for within in ("1", True, [1]):
        with pytest.raises(TypeError, match="max_distance must be a number, or None"):
            index.search("lan", max_distance=within)
        with pytest.raises(TypeError, match="max_distance must be a number, or None"):
            index.occurrences(Tokenizer("vi").encode("lan"), within)
    for k in (1.5, "2"):
        with pytest.raises(TypeError, match="limit must be a whole number, or None"):
            index.search("lan", limit=k)
    assert len(index.search("lan", limit=np.int64(2), max_distance=np.float32(1))) == 2
    with pytest.raises(TypeError, match="PathLike"):
        Index.load(3)
    with pytest.raises(ValueError, match="read as 'vi', but the query as 'zh'"):
        index.search(Tokenizer("zh").encode("兰"))
    with pytest.raises(IndexError, match="row 3"):
        index[3]
    assert len(index.search("lan " * 1000, max_distance=float("inf"))) == 3


def test_letters_are_no_syllables_and_spaces_are_not_heard():
    for dialect in (None, "saigon"):
        packed = Tokenizer("vi", fallback="packed")
        groups = homophones(["ab c", "abc", "ba c"], tokenizer=packed, dialect=dialect)
        assert [group.words for group in groups] == [("ab c", "abc")]
    assert distance("啊", "a", "zh") == 1
    found = homophones(["啊", "a", "m啊", "ma", "A"], "zh")
    assert [group.words for group in found] == [("a", "A")]


def test_a_name_begins_and_ends_with_a_position():
    packed = Tokenizer("vi", fallback="packed")
    assert Index(["23"], tokenizer=packed).occurrences(packed.encode("năm 123"), 0) == []
    found = Index(["k"], tokenizer=packed).occurrences(packed.encode("kkh"), 1)
    assert [(round(match.distance, 3), *place) for match, *place in found] == [
        (round(distance("kkh", "k", tokenizer=packed), 3), 0, 1)
    ]


def test_what_is_no_word_is_named_by_its_place():
    for group in (homophones, rhymes):
        with pytest.raises(TypeError, match="word 3 is NoneType"):
            group(["a", "a", "a", None], "vi")
    with pytest.raises(ValueError, match="near is for Vietnamese"):
        rhymes(["好"], "zh", near=True)
