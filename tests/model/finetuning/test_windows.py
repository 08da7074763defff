"""Windows of long texts: what is said of positions, cut into them and merged again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("tokenizers", reason="the baselines need tokenizers")

from baseline_helpers import write_bert

from phonemic import baselines
from phonemic_bert import PhonemicBertTokenizer
from phonemic_bert.finetuning.encoded import encode
from phonemic_bert.finetuning.kinds.base import pad
from phonemic_bert.finetuning.windows import Windows, windows_of
from phonemic_bert.tokenization.baselines import BaselineTokenizer

#: With forms windows are of several lengths, so that no character is cut.
WRITTEN = ["Mưa 😀 hÀ x\u0301  to, " * 5, "", "mưa", "😀" * 9]
TEXTS = ["mưa to trời đường covid 19, " * 4, "", "mưa", "trơn quá! " * 9]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    folder = write_bert(tmp_path_factory.mktemp("bert"))
    return {
        "phonemic": PhonemicBertTokenizer("vi"),
        "form": PhonemicBertTokenizer("vi", form=True),
        "baseline": BaselineTokenizer(baselines.load("mBERT", folder), "vi"),
        "fast": transformers.BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False),
    }


@pytest.mark.parametrize("name", ["phonemic", "form", "baseline", "fast"])
@given(size=st.integers(7, 30), stride=st.integers(0, 4))
def test_offsets_of_windows_are_those_of_the_text(tokenizers, name, size, stride):
    tokenizer, texts = tokenizers[name], WRITTEN if name == "form" else TEXTS
    whole = tokenizer(texts, return_offsets_mapping=True)
    encoded = encode(tokenizer, texts, max_length=size, stride=stride)
    ids = [encoded.row(row)["input_ids"].tolist() for row in range(len(encoded))]
    spans = [list(map(tuple, part.tolist())) for part in np.split(encoded.spans, encoded.offsets[1:-1])]
    found = windows_of(encoded, stride)
    assert [row for one in found for row in one.rows] == list(range(len(encoded)))
    for one, offsets, expected in zip(found, whole["offset_mapping"], whole["input_ids"], strict=True):
        assert one.merge([spans[row] for row in one.rows]) == offsets[1:-1]
        assert one.merge([ids[row] for row in one.rows]) == expected[1:-1]
        cut = one.cut(expected[1:-1], [len(ids[row]) for row in one.rows], -1)
        for row, values in zip(one.rows, cut, strict=True):
            assert values == [-1, *ids[row][1:-1], -1]


@pytest.mark.parametrize("name", ["phonemic", "form", "baseline", "fast"])
def test_the_second_text_of_a_pair(tokenizers, name):
    tokenizer = tokenizers[name]
    whole = tokenizer(["mưa"] * 2, TEXTS[2:], return_offsets_mapping=True)
    encoded = encode(tokenizer, ["mưa"] * 2, TEXTS[2:], truncation="only_second", max_length=12, stride=2)
    spans = [list(map(tuple, part.tolist())) for part in np.split(encoded.spans, encoded.offsets[1:-1])]
    for sample, one in enumerate(windows_of(encoded, 2, sequence=1)):
        expected = [
            span
            for span, sequence in zip(whole["offset_mapping"][sample], whole.sequence_ids(sample), strict=True)
            if sequence == 1
        ]
        assert one.merge([spans[row] for row in one.rows]) == expected


@pytest.mark.parametrize("name", ["phonemic", "form", "baseline", "fast"])
@given(
    size=st.integers(9, 40),
    stride=st.none() | st.integers(0, 3),
    truncation=st.sampled_from(["only_first", "only_second", None]),
    texts=st.lists(st.text("mưa tođ12,x ", max_size=40), min_size=1, max_size=4),
)
def test_rows_are_those_of_the_tokenizers_call(tokenizers, name, size, stride, truncation, texts):
    """Value for value what the lists say that transformers' call gives, and so are batches of them."""
    tokenizer = tokenizers[name]
    pairs = None if truncation is None else [text[::-1] for text in texts]
    if truncation == "only_second":  # what is not cut must fit in
        texts = [text[: size // 4] for text in texts]
    elif truncation == "only_first":
        pairs = [text[: size // 4] for text in pairs]
    truncation = truncation or "longest_first"
    options = {"truncation": truncation, "max_length": size}
    if stride is not None:
        options |= {"stride": stride, "return_overflowing_tokens": True}
    expected = tokenizer(texts, pairs, return_offsets_mapping=True, **options)
    found = encode(tokenizer, texts, pairs, max_length=size, truncation=truncation, stride=stride)
    names = [name for name in ("input_ids", "token_type_ids", "attention_mask") if name in expected]
    rows = [found.row(at) for at in range(len(found))]
    assert [{name: values.tolist() for name, values in row.items()} for row in rows] == [
        {name: expected[name][at] for name in names} for at in range(len(expected["input_ids"]))
    ]
    padded = tokenizer.pad({name: expected[name] for name in names}, padding_side="right", return_tensors="pt")
    fills = {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id}
    for part in names:
        batch = pad([row[part] for row in rows], fills.get(part, 0))
        assert batch.dtype == padded[part].dtype
        assert batch.tolist() == padded[part].tolist()
    if stride is None:
        return
    assert found.samples.tolist() == list(map(int, expected["overflow_to_sample_mapping"]))
    for at, row in enumerate(np.split(found.spans, found.offsets[1:-1])):
        sequences = expected.sequence_ids(at)
        assert [
            None if one < 0 else one for one in np.split(found.sequences, found.offsets[1:-1])[at].tolist()
        ] == sequences
        given = expected["offset_mapping"][at]
        assert [tuple(span) for span, one in zip(row.tolist(), sequences, strict=True) if one is not None] == [
            span for span, one in zip(given, sequences, strict=True) if one is not None
        ]


def test_most_context_by_hand():
    # ten positions in windows of six that share four: 0-5, 2-7, 4-9
    windows = Windows((0, 1, 2), (1, 1, 1), (6, 6, 6), (0, 2, 4))
    rows = [
        ["[", *(f"{at}{name}" for at in range(begin, begin + 6)), "]"] for begin, name in ((0, "a"), (2, "b"), (4, "c"))
    ]
    # Position 3 has two to its right in a and one to its left in b; 4 one in a, two in b; the text's ends do not count.
    assert windows.merge(rows) == ["0a", "1a", "2a", "3a", "4b", "5b", "6c", "7c", "8c", "9c"]


@given(st.integers(1, 30), st.integers(1, 8), st.data())
def test_most_context_against_a_slow_search(length, size, data):
    stride = data.draw(st.integers(0, size - 1))
    begins = [0]
    while begins[-1] + size < length:
        begins.append(begins[-1] + size - stride)
    ends = [min(begin + size, length) for begin in begins]
    rows = [
        list(range(number * 100, number * 100 + end - begin))
        for number, (begin, end) in enumerate(zip(begins, ends, strict=True))
    ]
    windows = Windows(tuple(range(len(rows))), (0,) * len(rows), tuple(map(len, rows)), tuple(begins))
    expected = []
    for at in range(length):
        context = {
            number: min(at - begin if begin else 10**6, end - 1 - at if end < length else 10**6)
            for number, (begin, end) in enumerate(zip(begins, ends, strict=True))
            if begin <= at < end
        }
        best = min(number for number, value in context.items() if value == max(context.values()))
        expected.append(rows[best][at - begins[best]])
    assert windows.merge(rows) == expected
