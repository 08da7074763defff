"""Windows of long texts: what is said of positions, cut into them and merged again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("tokenizers", reason="the baselines need tokenizers")

from baseline_helpers import write_bert

from phonemic import baselines
from phonemic_bert import PhonemicBertTokenizer
from phonemic_bert.finetuning.windows import Windows, windows_of
from phonemic_bert.tokenization.baselines import BaselineTokenizer

TEXTS = ["mưa to trời đường covid 19, " * 4, "", "mưa", "trơn quá! " * 9]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    folder = write_bert(tmp_path_factory.mktemp("bert"))
    return {
        "phonemic": PhonemicBertTokenizer("vi"),
        "baseline": BaselineTokenizer(baselines.load("mBERT", folder), "vi"),
        "fast": transformers.BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False),
    }


@pytest.mark.parametrize("name", ["phonemic", "baseline", "fast"])
@given(size=st.integers(7, 30), stride=st.integers(0, 4), padding=st.booleans(), left=st.booleans())
def test_offsets_of_windows_are_those_of_the_text(tokenizers, name, size, stride, padding, left):
    tokenizer = tokenizers[name]
    tokenizer.padding_side = "left" if left else "right"
    options = {"return_offsets_mapping": True, "add_special_tokens": True}
    whole = tokenizer(TEXTS, **options)
    batch = tokenizer(
        TEXTS,
        truncation=True,
        max_length=size,
        stride=stride,
        return_overflowing_tokens=True,
        padding=padding,
        **options,
    )
    found = windows_of(batch, stride)
    assert [row for one in found for row in one.rows] == list(range(len(batch["input_ids"])))
    for one, offsets, ids in zip(found, whole["offset_mapping"], whole["input_ids"], strict=True):
        rows = [batch["offset_mapping"][row] for row in one.rows]
        assert one.merge(rows) == offsets[1:-1]
        assert one.merge([batch["input_ids"][row] for row in one.rows]) == ids[1:-1]
        cut = one.cut(ids[1:-1], [len(row) for row in rows], -1)
        for row, values in zip(one.rows, cut, strict=True):
            expected = [
                number if sequence == 0 else -1
                for number, sequence in zip(batch["input_ids"][row], batch.sequence_ids(row), strict=True)
            ]
            assert values == expected


@pytest.mark.parametrize("name", ["phonemic", "baseline", "fast"])
def test_the_second_text_of_a_pair(tokenizers, name):
    tokenizer = tokenizers[name]
    tokenizer.padding_side = "right"
    options = {"return_offsets_mapping": True}
    whole = tokenizer(["mưa"] * 2, TEXTS[2:], **options)
    batch = tokenizer(
        ["mưa"] * 2,
        TEXTS[2:],
        truncation="only_second",
        max_length=12,
        stride=2,
        return_overflowing_tokens=True,
        **options,
    )
    for sample, one in enumerate(windows_of(batch, 2, sequence=1)):
        expected = [
            span
            for span, sequence in zip(whole["offset_mapping"][sample], whole.sequence_ids(sample), strict=True)
            if sequence == 1
        ]
        assert one.merge([batch["offset_mapping"][row] for row in one.rows]) == expected


def test_most_context_by_hand():
    # ten positions in windows of six that share four: 0-5, 2-7, 4-9
    windows = Windows((0, 1, 2), (1, 1, 1), (6, 6, 6), 4)
    assert windows.begins == [0, 2, 4]
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
    windows = Windows(tuple(range(len(rows))), (0,) * len(rows), tuple(map(len, rows)), stride)
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
