"""Ids with forms through the transformers tokenizer: the text comes back, and nothing that belongs together is cut."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from transformers import AutoTokenizer, DataCollatorWithPadding

from phonemic.forms import beginnings, without_forms
from phonemic.inventory import FORM_SHIFT, TRIPLE, UNKNOWN_ID
from phonemic_bert import CheckpointError, PhonemicBertConfig, PhonemicBertTokenizer
from phonemic_bert.tokenization.truncation import windows

#: White space, capitals, both places of the tone mark, an escape, emoji, joiners, marks, what looks like a token's form.
TEXTS = {
    "vi": [
        "Quốc  kỳ bay hÀ 😀 hòa,\thoà e\u0301 x\u0301\u0302 ☃\ufe0f😀\u200d😀",
        "a|5 [UNK|2 ~\n",
        "",
        " ",
        "Straße\r\n 银",
    ],
    "zh": ["银行 门\u200d 王，1 A\r\n", "☃\ufe0f，\u0301 [ 銀行]", "\u3000 长长", "Tôi"],
}
TEXT = st.text(st.sampled_from("aàÀ Hh\n\t😀\u0301\u200d~银门長，5|[]\ufe0f"), max_size=30)


@pytest.fixture(scope="module", params=["vi", "zh"])
def ours(request):
    return PhonemicBertTokenizer(request.param, form=True)


def test_the_text_comes_back(ours):
    for text in TEXTS[ours.phonemic.lang]:
        encoded = ours(text, add_special_tokens=False)
        assert ours.decode(encoded["input_ids"]) == text
        assert ours.decode(ours(text)["input_ids"], skip_special_tokens=True) == text
        tokens = ours.tokenize(text)
        assert ours.convert_tokens_to_ids(tokens) == encoded["input_ids"]
        assert ours.convert_tokens_to_string(tokens) == text
    texts = TEXTS[ours.phonemic.lang]
    padded = ours(texts, padding=True, return_tensors="pt")["input_ids"]
    assert ours.batch_decode(padded, skip_special_tokens=True) == texts


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_any_text_comes_back(text):
    for lang in ("vi", "zh"):
        ours = PhonemicBertTokenizer(lang, form=True, split_special_tokens=True)
        encoded = ours(text, add_special_tokens=False)
        assert ours.decode(encoded["input_ids"]) == ours.convert_tokens_to_string(ours.tokenize(text)) == text
        plain = PhonemicBertTokenizer(lang, split_special_tokens=True)(text, add_special_tokens=False)
        assert without_forms(encoded["input_ids"], lang).tolist() == plain["input_ids"]


def test_positions_of_white_space_are_in_no_word():
    text = "hÀ  tôi\n😀 x\u0301"
    found = PhonemicBertTokenizer("vi", form=True)(text, add_special_tokens=False, return_offsets_mapping=True)
    words = found.word_ids()
    assert {text[start:end] for word, (start, end) in zip(words, found["offset_mapping"], strict=True) if word is None} == {
        " ", "\n",
    }  # fmt: skip
    for number, word in enumerate(text.split()):
        spans = {span for at, span in zip(words, found["offset_mapping"], strict=True) if at == number}
        assert [text[start:end] for start, end in spans] == [word]  # all bytes span the character that they belong to
        assert found.word_to_chars(number) == spans.pop()


def test_text_that_is_split_into_words():
    words = ["a b", "😀", " ", "tôi", "\u3000银"]
    ours = PhonemicBertTokenizer("vi", form=True)
    found = ours(words, is_split_into_words=True, add_special_tokens=False, return_offsets_mapping=True)
    pairs = list(zip(found.word_ids(), found["offset_mapping"], strict=True))
    assert {word for word, _ in pairs} == {None, 0, 1, 3, 4}
    assert {span for word, span in pairs if word is None} == {(0, 0)}
    assert {words[word][slice(*span)] for word, span in pairs if word is not None} == {"a", "b", "😀", "tôi", "银"}
    assert ours.decode(found["input_ids"]) == " ".join(words)


def test_a_special_symbol_takes_the_space_before_it():
    ours = PhonemicBertTokenizer("vi", form=True)
    found = ours("tôi [MASK]  bay[SEP]", add_special_tokens=False, return_offsets_mapping=True)
    assert [ours.convert_ids_to_tokens(found["input_ids"])[at] for at in (1, -1)] == ["[MASK]", "[SEP]"]
    assert found["offset_mapping"][1] == (4, 10)
    assert ours.decode(found["input_ids"]) == "tôi[MASK]  bay[SEP]"
    assert ours.decode(found["input_ids"], skip_special_tokens=True) == "tôi  bay"


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("stride", [0, 3])
def test_windows_cut_nothing_that_belongs_together(side, stride):
    ours = PhonemicBertTokenizer("vi", form=True, truncation_side=side)
    text = "Quốc kỳ hÀ 😀 x\u0301\u0302 ☃\ufe0f😀 tôi hÀ ~ bay hÀ\n\n银行 xong"
    whole = ours(text, add_special_tokens=False)["input_ids"]
    options = {"max_length": 10, "stride": stride, "return_overflowing_tokens": True, "return_offsets_mapping": True}
    rows = ours(text, truncation=True, **options)
    covered = np.zeros(len(whole), bool)
    for ids in rows["input_ids"]:
        assert len(ids) <= 10
        own, length = ids[1:-1], len(ids) - 2
        start = next(
            at for at in range(len(whole)) if whole[at : at + length] == own and not covered[at : at + length].all()
        )
        covered[start : start + length] = True
        assert beginnings(np.array(whole, np.int32))[start]
        assert "\ufffd" not in ours.decode(own)
    assert covered.all()
    first = ours(text, truncation=True, max_length=10)["input_ids"]
    assert first == rows["input_ids"][0]


def test_what_does_not_fit_a_row_is_cut():
    ours = PhonemicBertTokenizer("vi", form=True)
    rows = ours("a" + "\u0301" * 20, truncation=True, max_length=8, return_overflowing_tokens=True)["input_ids"]
    assert [len(row) for row in rows] == [8] * 6 + [7]  # 41 positions, 6 a row
    assert ours.decode(rows[1], skip_special_tokens=True).strip("\u0301\ufffd") == ""


def test_pairs_are_cut_each_by_itself():
    ours = PhonemicBertTokenizer("vi", form=True)
    for strategy in ("longest_first", "only_first", "only_second"):
        found = ours("tôi 😀 bay 😀", "hÀ hÀ xong", truncation=strategy, max_length=20)
        for part in (0, 1):
            ids = [one for one, at in zip(found["input_ids"], found.sequence_ids(), strict=True) if at == part]
            assert "\ufffd" not in ours.decode(ids)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_windows_cover_all_and_keep_to_the_places_to_cut(data):
    length, keep = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 12))
    stride, side = data.draw(st.integers(0, keep - 1)), data.draw(st.sampled_from(["right", "left"]))
    allowed = {0, length, *data.draw(st.sets(st.integers(1, length)))}
    places = (lambda text: sorted(allowed),) * 2
    found = windows([length], None, "longest_first", keep, stride, side, True, places)
    parts = sorted(row.first for row in found)
    assert parts[0][0] == 0
    assert parts[-1][1] == length
    for (start, stop), (after, _) in zip(parts, [*parts[1:], (length, length)], strict=True):
        assert 0 < stop - start <= keep
        assert after <= stop
        if {start, stop} - allowed:  # only where a row has room for no whole part
            assert not any(place in allowed for place in range(start + 1, stop)) or {start, stop} & allowed
    if len(allowed) == length + 1:
        assert found == windows([length], None, "longest_first", keep, stride, side, True)


def test_saved_and_loaded(tmp_path):
    ours = PhonemicBertTokenizer("zh", form=True)
    ours.save_pretrained(tmp_path)
    PhonemicBertConfig("zh").save_pretrained(tmp_path)
    for loaded in (PhonemicBertTokenizer.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(tmp_path)):
        assert loaded.phonemic.form
        assert loaded("银行 A")["input_ids"] == ours("银行 A")["input_ids"]
    PhonemicBertTokenizer.from_pretrained(tmp_path, form=True)
    with pytest.raises(CheckpointError, match="form=True"):
        PhonemicBertTokenizer.from_pretrained(tmp_path, form=False)
    saved = json.loads((tmp_path / "phonemic.json").read_text("utf-8"))
    assert saved["form"] is True
    (tmp_path / "phonemic.json").write_text(json.dumps(saved | {"forms_checksum": "00000000"}))
    with pytest.raises(Exception, match="forms"):
        PhonemicBertTokenizer.from_pretrained(tmp_path)


def test_special_positions_are_those_of_today():
    """[UNK] is one whatever its form, so masking passes over bytes and white space."""
    ours = PhonemicBertTokenizer("vi", form=True)
    found = ours("hÀ 😀  tôi", return_special_tokens_mask=True)
    ids = np.array(found["input_ids"])
    unknown = (ids & TRIPLE == UNKNOWN_ID).astype(int)
    unknown[[0, -1]] = 1
    assert found["special_tokens_mask"] == unknown.tolist()
    assert ours.get_special_tokens_mask(found["input_ids"], already_has_special_tokens=True) == unknown.tolist()


def test_stock_padding_keeps_forms():
    ours = PhonemicBertTokenizer("zh", form=True)
    rows = [ours(text) for text in ("银行", "长 A")]
    batch = DataCollatorWithPadding(ours)(rows)
    assert batch["input_ids"].dtype == torch.int64
    assert (batch["input_ids"] >> FORM_SHIFT).any()
    assert ours.batch_decode(batch["input_ids"], skip_special_tokens=True) == ["银行", "长 A"]


def test_datasets_keep_forms(tmp_path):
    datasets = pytest.importorskip("datasets", reason="needs datasets")
    ours = PhonemicBertTokenizer("vi", form=True)
    texts = ["Quốc kỳ", "hÀ 😀"]
    made = datasets.Dataset.from_dict({"text": texts}).map(lambda rows: ours(rows["text"]), batched=True)
    made.save_to_disk(tmp_path / "set")
    ids = datasets.load_from_disk(tmp_path / "set")["input_ids"]
    assert ours.batch_decode(list(ids), skip_special_tokens=True) == texts
