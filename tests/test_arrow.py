"""Arrow in, Arrow out: equal to the list of str, on every string type, slice and chunk; bad UTF-8 named by its row."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phonemic import DecodingError, InputError, Tokenizer
from phonemic.tokenizer import encode_rows

pa = pytest.importorskip("pyarrow")
from phonemic import arrow  # noqa: E402

TOKENIZERS = {lang: Tokenizer(lang) for lang in ("vi", "zh")}
FILLER = "giếng nước quo\u0302\u0301c zô " * 900
valid_text = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("aệ银行 \u0301不了\u200b🎉가"), max_size=20
)


def test_nothing_but_nulls():
    """As Arrow types a batch of a column in which every text is missing."""
    for missing in (pa.nulls(2), pa.array([], pa.null())):
        found = arrow.encode(missing, TOKENIZERS["vi"], spans=True)
        assert found.type == pa.struct({"ids": pa.list_(pa.int32()), "spans": pa.list_(pa.int32())}.items())
        assert found.to_pylist() == [None] * len(missing)


@given(st.lists(st.none() | valid_text, max_size=8), st.sampled_from([1, 2]), st.booleans())
def test_equals_the_list_of_str(texts, threads, long):
    texts = [*texts, FILLER, *texts] if long else texts
    for tokenizer in TOKENIZERS.values():
        rows = [None if text is None else tokenizer.encode(text).ids.tolist() for text in texts]
        for kind in (pa.string(), pa.large_string()):
            encoded = arrow.encode(pa.array(texts, kind), tokenizer, threads)
            encoded.validate(full=True)
            assert encoded.type == pa.list_(pa.int32())
            assert encoded.to_pylist() == rows


def test_slices_chunks_views_and_dictionaries(vi):
    texts = ["Tôi", None, "", "yêu tiếng", "Việt", None, "giếng"]
    rows = [None if text is None else vi.encode(text).ids.tolist() for text in texts]
    array = pa.array(texts)
    assert arrow.encode(array[2:6], vi).to_pylist() == rows[2:6]
    assert arrow.encode(array[0:0], vi).to_pylist() == arrow.encode(pa.array([], pa.string()), vi).to_pylist() == []
    assert arrow.encode(pa.array(texts, pa.string_view()), vi).to_pylist() == rows
    assert arrow.encode(array.dictionary_encode(), vi).to_pylist() == rows
    categories = pa.DictionaryArray.from_arrays(
        pa.array([1, None, 0], pa.uint32()), pa.array(["giếng", "ba"], pa.string_view())
    )
    assert arrow.encode(categories, vi).to_pylist() == [
        vi.encode("ba").ids.tolist(),
        None,
        vi.encode("giếng").ids.tolist(),
    ]
    chunked = arrow.encode(pa.chunked_array([array[:3], array[3:]]), vi, num_threads=2)
    assert isinstance(chunked, pa.ChunkedArray)
    assert [len(chunk) for chunk in chunked.chunks] == [3, 4]
    assert chunked.to_pylist() == rows


def test_nulls_among_the_values_of_a_dictionary(vi):
    texts = ["ba", None, "mẹ", "ba", None]
    rows = [None if text is None else vi.encode(text).ids.tolist() for text in texts]
    indices = pa.array([0, 1, 2, 0, None], pa.int32())
    array = pa.DictionaryArray.from_arrays(indices, pa.array(["ba", None, "mẹ"]))
    assert arrow.encode(array, vi).to_pylist() == rows
    assert arrow.encode(array[1:4], vi, spans=True, triples=True).to_pylist()[0] is None
    assert arrow.encode(pa.chunked_array([array, array[2:]]), vi).to_pylist() == rows + rows[2:]


@pytest.mark.parametrize("kind", [pa.RecordBatch, pa.Table])
def test_columns_of_one_name(vi, kind):
    data = kind.from_arrays(
        [pa.array([1]), pa.array([2]), pa.array(["ba"]), pa.array([[0]])], ["a", "a", "text", "ids"]
    )
    encoded = arrow.encode(data, vi)
    assert encoded.schema.names == ["a", "a", "text", "ids"]
    assert [column.to_pylist() for column in encoded.columns] == [[1], [2], ["ba"], [vi.encode("ba").ids.tolist()]]
    with pytest.raises(InputError, match="2 columns are named 'a'"):
        arrow.encode(data, vi, column="a")


def test_what_points_outside_an_array(vi):
    """Damaged indices, views and offsets, which Arrow's own kernels would follow."""
    far = pa.DictionaryArray.from_arrays(pa.array([0, 9], pa.int32()), pa.array(["ba"]), safe=False)
    views = bytearray(pa.array(["a text that is not within its view", "b"], pa.string_view()).buffers()[1].to_pybytes())
    views[8:12] = (7).to_bytes(4, "little")
    view = pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(bytes(views)), pa.py_buffer(b"x" * 40)])
    offsets = np.array([0, 1 << 30, 3], np.int32)
    validity = pa.py_buffer(b"\x01")
    null = pa.Array.from_buffers(pa.string(), 2, [validity, pa.py_buffer(offsets), pa.py_buffer(b"abc")], null_count=1)
    inner = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"abc")])
    nested = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), inner)
    for array in (far, view, null, nested):
        with pytest.raises(InputError, match="a damaged array of"):
            arrow.encode(array, vi)


def test_views_of_bytes_that_are_no_utf8(vi):
    data = pa.array([b"ba", b"x\xff", b"a longer one, beside the view \xff"], pa.binary_view()).view(pa.string_view())
    with pytest.raises(InputError, match="row 1: byte 1 of the text is not UTF-8"):
        arrow.encode(data, vi)
    with pytest.raises(InputError, match="row 0: byte 30 of the text is not UTF-8"):
        arrow.encode(data[2:], vi)


def test_bytes_spans(vi):
    text = "Tôi \U0001f389 giếng"
    data = np.frombuffer(text.encode(), np.uint8)
    _, _, spans, words = encode_rows(vi.core, data, np.array([0, len(data)], np.int64), 1, spans=True, word_ids=True)
    assert [text.encode()[start:end].decode() for start, end in spans] == ["Tôi", "\U0001f389", "giếng"]
    assert words.tolist() == [0, 1, 2]


def of_bytes(rows):
    ends = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    return pa.Array.from_buffers(pa.string(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(rows))])


BAD = [b"\xff", b"\x80", b"\xc0\x80", b"\xc1\xbf", b"\xc3", b"\xe1\xba", b"\xe1\xbax", b"\xe0\x80\x80", b"\xed\xa0\x80",
       b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf0\x9f\x8e"]  # fmt: skip


@pytest.mark.parametrize("lang", TOKENIZERS)
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("around", [b"", b"gi\xe1\xba\xbfng ", b"\xe9\x93\xb6\xe8\xa1\x8c", FILLER.encode()])
def test_bad_utf8_is_named_by_row_and_byte(lang, bad, around):
    rows = [FILLER.encode(), around + bad + b"a", b"b"]
    for array in (of_bytes(rows), of_bytes([*rows[:2], b""])):
        with pytest.raises(InputError, match=f"row 1: byte {len(around)} of the text is not UTF-8"):
            arrow.encode(array, TOKENIZERS[lang])
    with pytest.raises(InputError, match="row 0: byte"):
        arrow.encode(of_bytes([around + bad]), TOKENIZERS[lang])


#: Characters of phrases that change a reading, at their ends and in the middle, letters, and bytes that are no UTF-8.
PIECES = [text.encode() for text in "数一个银行不了长城了解的a9 \u0301"] + BAD + [b"\xe6\x95", b"\xa5\xb0", b"\x80" * 5]
USERS = Tokenizer("zh", phrases={"一个": "yi4 ge5", "行长": "hang2 zhang3"}, fallback="packed")


@pytest.mark.parametrize("tokenizer", [*TOKENIZERS.values(), USERS], ids=["vi", "zh", "phrases"])
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
@example(b"\xe6\x95\xb0\x80\xe4\xb8\x80\xe4\xb8\xaa")  # a stray byte before two that change a reading
def test_bytes_between_the_characters_of_phrases(tokenizer, text):
    """Bytes that Python decodes are encoded as their str is; others are refused where Python refuses them."""
    array = of_bytes([text])
    try:
        expected = tokenizer.encode(text.decode()).ids.tolist()
    except UnicodeDecodeError as error:
        with pytest.raises(InputError, match=f"row 0: byte {error.start} of the text is not UTF-8"):
            arrow.encode(array, tokenizer, spans=True)
        with pytest.raises(InputError, match=f"row 0: byte {error.start} of the text is not UTF-8"):
            arrow.encode(array, tokenizer)
    else:
        assert arrow.encode(array, tokenizer).to_pylist() == [expected]


@pytest.mark.parametrize("byte", [0x80, 0xFF])
@pytest.mark.parametrize("lang", TOKENIZERS)
def test_no_byte_is_read_as_a_joiner(lang, byte):
    """A byte that is not UTF-8 comes to the loops as a lone surrogate."""
    with pytest.raises(ValueError, match="word_joiner must be one character"):
        Tokenizer(lang, word_joiner=chr(0xDC00 | byte))


def test_rows_of_a_chunked_array_are_counted_from_its_chunk(vi):
    chunks = pa.chunked_array([pa.array(["a", "b"]), of_bytes([b"c", b"\xff"])])
    with pytest.raises(InputError, match=r"row 1: .* \(counted from row 2, where its chunk begins\)"):
        arrow.encode(chunks, vi)


@pytest.mark.parametrize("wrong", [["a"], pa.array([1]), pa.array([b"a"]), None])
def test_what_is_no_array_of_strings(vi, wrong):
    with pytest.raises(TypeError, match="expected"):
        arrow.encode(wrong, vi)


def test_damaged_offsets_are_an_error_and_no_crash(vi):
    data = np.frombuffer(b"abc", np.uint8)
    for offsets in ([0, 4], [-1, 2], [2, 1], [0, 3, 1 << 40]):
        for threads in (1, 2):
            with pytest.raises(InputError, match="row"):
                encode_rows(vi.core, data, np.array(offsets, np.int64), threads, spans=False, word_ids=False)


def test_triples_and_spans(vi):
    rows = ["Tôi 🎉", None, "", "giếng"]
    array = pa.array(rows)
    encoded = arrow.encode(array, vi, triples=True, spans=True)
    encoded.validate(full=True)
    assert encoded.type == pa.struct(
        {"ids": pa.list_(pa.int32()), "triples": pa.list_(pa.uint8()), "spans": pa.list_(pa.int32())}
    )
    for text, row in zip(rows, encoded.to_pylist(), strict=True):
        if text is None:
            assert row is None
            continue
        expected = vi.encode(text)
        assert row["ids"] == expected.ids.tolist()
        assert np.array(row["triples"]).reshape(-1, 3).tolist() == expected.components.tolist()
        pieces = [text.encode()[start:end].decode() for start, end in np.array(row["spans"]).reshape(-1, 2)]
        assert pieces == [text[start:end] for start, end in expected.spans]
    alone = arrow.encode(array, vi, spans=True)
    assert alone.field("ids").equals(encoded.field("ids"))
    chunked = arrow.encode(pa.chunked_array([array[:2], array[2:]]), vi, triples=True, spans=True)
    assert chunked.to_pylist() == encoded.to_pylist()
    assert arrow.encode(pa.chunked_array([], pa.string()), vi, spans=True).type == alone.type


@pytest.mark.parametrize("kind", [pa.RecordBatch, pa.Table])
def test_record_batches_and_tables(vi, kind):
    texts = ["Tôi", None, "yêu tiếng"]
    data = kind.from_pydict({"n": [1, 2, 3], "text": texts, "ids": ["old"] * 3})
    data = data.replace_schema_metadata({"made": "here"})
    encoded = arrow.encode(data, vi)
    assert isinstance(encoded, kind)
    assert encoded.schema.names == ["n", "text", "ids"]
    assert encoded.schema.metadata == {b"made": b"here"}
    assert encoded["ids"].to_pylist() == arrow.encode(pa.array(texts), vi).to_pylist()
    both = arrow.encode(data.rename_columns(["n", "body", "ids"]), vi, column="body", triples=True, spans=True)
    assert both.schema.names == ["n", "body", "ids", "triples", "spans"]
    assert both["ids"].to_pylist()[1] is both["spans"].to_pylist()[1] is None
    with pytest.raises(InputError, match="no column 'words'; the columns are: n, text, ids"):
        arrow.encode(data, vi, column="words")
    with pytest.raises(TypeError, match="expected an array of strings, not int64"):
        arrow.encode(data, vi, column="n")


class TestDecode:
    """The result is that of ``Tokenizer.decode``, of every kind of list."""

    TEXTS = ("Quốc kỳ bay,  hoà bình", None, "", "银行行长 15h 😀", "covid \u200d\t")

    @pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.large_list(pa.int64()), pa.list_(pa.uint32())])
    @pytest.mark.parametrize("lang", ["vi", "zh"])
    @pytest.mark.parametrize("form", [False, True])
    def test_equals_decode(self, lang, form, kind):
        tokenizer = Tokenizer(lang, form=form)
        ids = pa.array([text and tokenizer.encode(text).ids.tolist() for text in self.TEXTS], kind)
        for way in ({}, {"to": "ipa"}, {"skip_special_tokens": False}):
            rows = [text and tokenizer.decode(tokenizer.encode(text).ids, **way) for text in self.TEXTS]
            found = arrow.decode(ids, tokenizer, **way)
            found.validate(full=True)
            assert found.type == (pa.large_string() if "large" in str(kind) else pa.string())
            assert found.to_pylist() == rows
            assert arrow.decode(ids[1:4], tokenizer, **way).to_pylist() == rows[1:4]
            chunked = arrow.decode(pa.chunked_array([ids[:2], ids[2:]]), tokenizer, **way)
            assert [len(chunk) for chunk in chunked.chunks] == [2, 3]
            assert chunked.to_pylist() == rows
        if form:
            assert arrow.decode(ids, tokenizer).to_pylist() == list(self.TEXTS)

    @given(st.lists(st.none() | valid_text, max_size=8))
    def test_there_and_back(self, texts):
        for lang in TOKENIZERS:
            tokenizer = Tokenizer(lang, form=True)
            assert arrow.decode(arrow.encode(pa.array(texts, pa.string()), tokenizer), tokenizer).to_pylist() == texts

    def test_many_rows_are_written_some_at_a_time(self, monkeypatch):
        from phonemic.files import cells

        monkeypatch.setattr(cells, "IDS", 7)
        tokenizer, texts = Tokenizer("vi", form=True), ["Một hai ba", None, "", "Bốn " * 20] * 9
        assert arrow.decode(arrow.encode(pa.array(texts), tokenizer), tokenizer).to_pylist() == texts
        ids = pa.array([[0]] * 20 + [[1, 0x7F010101]], pa.list_(pa.int32()))
        with pytest.raises(DecodingError, match=r"^row 20: position 1: "):
            arrow.decode(ids, tokenizer)

    @pytest.mark.parametrize("kind", [pa.RecordBatch, pa.Table])
    def test_columns(self, kind):
        vi = Tokenizer("vi")
        ids = pa.array([vi.encode("bà").ids.tolist(), None], pa.list_(pa.int32()))
        data = kind.from_arrays([ids, pa.array([1, 2]), pa.array(["?", "?"])], ["ids", "n", "text"])
        found = arrow.decode(data.replace_schema_metadata({"a": "b"}), vi)
        assert isinstance(found, kind)
        assert found.schema.names == ["ids", "n", "text"]
        assert found.schema.metadata == {b"a": b"b"}
        assert found.column(2).to_pylist() == ["bà", None]
        assert arrow.decode(data, vi, column="ids", to="ipa").column(2).to_pylist() == [
            vi.decode(ids[0].as_py(), to="ipa"),
            None,
        ]
        with pytest.raises(InputError, match="no column 'id'; the columns are: ids, n, text"):
            arrow.decode(data, vi, column="id")

    def test_nothing(self):
        vi = Tokenizer("vi")
        assert arrow.decode(pa.nulls(2), vi) == pa.nulls(2, pa.string())
        assert arrow.decode(pa.array([], pa.list_(pa.int32())), vi).to_pylist() == []
        assert arrow.decode(pa.chunked_array([], pa.list_(pa.int32())), vi).type == pa.string()

    @pytest.mark.parametrize(
        ("row", "told"),
        [
            ([5, None], "row 1: position 1: None is not a packed id"),
            ([5, 1 << 40], "row 1: position 1: 1099511627776 is not a packed id"),
            ([5, 0xFFFFFF], r"row 1: position 1: .*\[255, 255, 255\] is not in the zh vocabulary"),
            ([-1], "row 1: position 0: "),
        ],
    )
    def test_errors_name_the_row(self, row, told):
        for form in (False, True):
            chunks = [pa.array([[]], pa.list_(pa.int64())), pa.array([row], pa.list_(pa.int64()))]
            for data in (pa.concat_arrays(chunks), pa.chunked_array(chunks)):
                with pytest.raises(ValueError, match=f"^{told}"):
                    arrow.decode(data, Tokenizer("zh", form=form))

    def test_half_of_a_pair(self):
        tokenizer = Tokenizer("zh", form=True)
        ids = pa.array([[], tokenizer.encode("一\ud800").ids.tolist()], pa.list_(pa.int32()))
        with pytest.raises(DecodingError, match=r"^row 1: half of a surrogate pair"):
            arrow.decode(ids, tokenizer)
        assert arrow.decode(ids, tokenizer, errors="replace").to_pylist() == ["", "一\ufffd"]

    def test_what_does_not_fit(self):
        vi = Tokenizer("vi")
        for wrong in (pa.array(["a"]), pa.array([[1.5]]), pa.array([1])):
            with pytest.raises(TypeError, match="expected an array of lists of integers, not "):
                arrow.decode(wrong, vi)
        with pytest.raises(TypeError, match="expected a pyarrow Array"):
            arrow.decode([[1]], vi)
        for name, value in (("to", "pinyin"), ("style", "x"), ("errors", "ignore"), ("dialect", "paris")):
            with pytest.raises(ValueError, match=f"'{value}'"):
                arrow.decode(pa.nulls(1), vi, **{name: value})

    def test_a_damaged_array(self):
        offsets = pa.py_buffer(np.array([0, 9000, 1], np.int32))
        damaged = pa.Array.from_buffers(pa.list_(pa.int32()), 2, [None, offsets], children=[pa.array([1], pa.int32())])
        with pytest.raises(InputError, match="a damaged array of list"):
            arrow.decode(damaged, Tokenizer("vi"))
