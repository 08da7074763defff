"""The transformers tokenizer over a baseline, held to BertTokenizerFast over the same vocabulary."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("sentencepiece", reason="the baselines need sentencepiece")

from baseline_helpers import WORDS, train_subchar, train_xlmr, write_bert
from fast_tokenizers import called_alike

from phonemic import baselines
from phonemic.baselines import BaselineError
from phonemic_bert import CheckpointError
from phonemic_bert.tokenization.baselines import BaselineTokenizer

SPECIALS = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
PLAIN = [word for word in WORDS if not word.startswith("[")]  # a special symbol in a text is text here


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("tokenizers")
    (root / "mbert").mkdir()
    write_bert(root / "mbert")
    (root / "xlm-r").mkdir()
    train_xlmr(root / "xlm-r")
    return train_subchar(root)


@pytest.fixture(scope="module")
def ours(folder):
    return BaselineTokenizer(baselines.load("mBERT", folder), "vi")


@pytest.fixture(scope="module")
def fast(folder):
    return transformers.BertTokenizerFast(str(folder / "mbert/vocab.txt"), do_lower_case=False)


def shifted(fast, ids):
    tokens = fast.convert_ids_to_tokens(ids)
    return [
        SPECIALS.index(token) if token in SPECIALS else number + 4 for token, number in zip(tokens, ids, strict=True)
    ]


def check_same(ours, fast, *args, word_ids, **options):
    both = called_alike(ours, fast, *args, **options)
    if both is None:
        return
    got, want = both
    assert set(got) == set(want)
    rows = want["input_ids"] if want["input_ids"] and isinstance(want["input_ids"][0], list) else [want["input_ids"]]
    assert [one.ids for one in got.encodings] == [shifted(fast, row) for row in rows]
    for name in set(want) - {"input_ids"}:
        assert got[name] == want[name], name
    for row, (one, other) in enumerate(zip(got.encodings, want.encodings, strict=True)):
        assert one.offsets == other.offsets
        assert got.sequence_ids(row) == want.sequence_ids(row)
        for name in ("type_ids", "attention_mask", "special_tokens_mask", "n_sequences", "tokens"):
            assert getattr(one, name) == getattr(other, name)
        if word_ids:
            assert got.word_ids(row) == want.word_ids(row)


text = st.lists(st.sampled_from(PLAIN), max_size=9).map(" ".join)
words = st.lists(st.sampled_from([*PLAIN, "mưa to", "co,vid"]), min_size=1, max_size=9)
call = st.fixed_dictionaries(
    {
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from([False, True, "max_length"]),
        "truncation": st.sampled_from([False, True, "only_first", "only_second"]),
        "max_length": st.integers(5, 24),
        "stride": st.integers(0, 3),
        "return_overflowing_tokens": st.booleans(),
        "return_offsets_mapping": st.booleans(),
        "return_special_tokens_mask": st.booleans(),
        "padding_side": st.sampled_from([None, "left"]),
    }
)


@pytest.mark.filterwarnings("ignore:.max_length. is ignored when:UserWarning")
@settings(max_examples=100)
@given(data=st.data(), options=call, pair=st.booleans(), split=st.booleans())
def test_every_option_is_the_fast_tokenizers(data, options, pair, split, ours, fast):
    sample = words if split else text
    texts = data.draw(st.lists(sample, min_size=1, max_size=3))
    options = {**options, "is_split_into_words": split, "word_ids": split}
    if pair:
        pairs = data.draw(st.lists(sample.filter(bool), min_size=len(texts), max_size=len(texts)))
        check_same(ours, fast, texts, pairs, **options)
        check_same(ours, fast, texts[0], pairs[0], **options)
    else:
        check_same(ours, fast, texts, **options)
        check_same(ours, fast, texts[0], **options)


@given(st.lists(st.text("ab, \u3000\n1今", max_size=4), max_size=5).map(" ".join))
def test_word_ids_count_whitespace_delimited_units(ours, text):
    encoded = ours(text, add_special_tokens=False, return_offsets_mapping=True)
    units = text.split()
    for word, (start, end) in zip(encoded.word_ids(), encoded["offset_mapping"], strict=True):
        assert text[start:end] in units[word]
        assert word == max(len(text[: start + 1].split()) - 1, 0)


@pytest.mark.parametrize(
    ("name", "lang"), [("Character", "zh"), ("SubChar-Pinyin", "zh"), ("XLM-R", "vi"), ("Byte-BPE", "vi")]
)
def test_ids_are_the_baselines_and_four(folder, name, lang):
    baseline = baselines.load(name, folder)
    tokenizer = BaselineTokenizer(baseline, lang)
    texts = ["今天 天气很好", "Trời mưa to quá!", ""]
    encoded = tokenizer(texts, return_offsets_mapping=True)
    for text, ids, spans in zip(texts, encoded["input_ids"], encoded["offset_mapping"], strict=True):
        want, want_spans = baseline.encode_with_spans(text)
        assert ids == [1, *(number + 4 for number in want), 2]
        assert spans == [(0, 0), *want_spans, (0, 0)]
    assert len(tokenizer) == tokenizer.vocab_size == baseline.id_count + 4
    assert (tokenizer.pad_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.mask_token_id) == (
        0,
        1,
        2,
        3,
    )


def test_words_of_vietnamese_have_a_space_before_them(folder):
    """Byte-BPE writes a space into the token behind it, so the words of a text are cut as in the text."""
    baseline = baselines.load("Byte-BPE", folder)
    words = ["Trời", "mưa", "to quá", "", "!"]
    split = BaselineTokenizer(baseline, "vi")(
        words, is_split_into_words=True, add_special_tokens=False, return_offsets_mapping=True
    )
    expected = [number + 4 for number in baseline.encode("Trời mưa to quá  !")]
    assert split["input_ids"] == expected
    for word, (start, end) in zip(split.word_ids(), split["offset_mapping"], strict=True):
        assert 0 <= start <= end <= len(words[word])
    joined = BaselineTokenizer(baseline, "zh")(words, is_split_into_words=True, add_special_tokens=False)
    assert joined["input_ids"] == [number + 4 for word in words for number in baseline.encode(word)]


def test_tokens_and_decoding(ours):
    ids = ours("mưa to")["input_ids"]
    tokens = ["[CLS]", "mưa", "t", "##o", "[SEP]"]
    assert ours.convert_ids_to_tokens(ids) == tokens
    assert ours.convert_ids_to_tokens(ids, skip_special_tokens=True) == tokens[1:-1]
    assert ours.convert_tokens_to_ids(tokens) == ids
    assert ours.decode(ids, skip_special_tokens=True) == "mưa t ##o"
    assert ours.tokenize("mưa") == ["mưa"]
    vocab = ours.get_vocab()
    assert vocab["[MASK]"] == 3
    assert ours.convert_tokens_to_ids("no such token") is None
    # the baseline's own [PAD], [CLS] ... are written like ours, which come first
    assert len(vocab) == len(ours) - 4


def test_special_symbols_in_a_text_are_text(ours):
    assert not {0, 1, 2, 3} & set(ours("[MASK] [SEP]", add_special_tokens=False)["input_ids"])


def test_padding(ours):
    batch = ours.pad([{"input_ids": [1, 9, 2]}, {"input_ids": [1, 9, 9, 2]}], return_tensors="np")
    assert batch["input_ids"].tolist() == [[1, 9, 2, 0], [1, 9, 9, 2]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert np.array_equal(ours(["mưa"], padding="max_length", max_length=5)["input_ids"][0][3:], [0, 0])


def test_saving_and_loading(ours, folder, tmp_path):
    ours.save_pretrained(tmp_path)
    again = BaselineTokenizer.from_pretrained(tmp_path, tokenizers=folder)
    assert again("mưa to").data == ours("mưa to").data
    assert (again.lang, again.baseline.name) == ("vi", "mBERT")
    (folder / "mbert2").mkdir()
    (folder / "mbert2/vocab.txt").write_text("[UNK]\na\n")
    with pytest.raises(CheckpointError, match=r"with another vocab.txt of mBERT \(SHA-256 [0-9a-f]{64}\) than the one"):
        BaselineTokenizer.from_pretrained(tmp_path, tokenizers=folder / "mbert2")
    (tmp_path / "baseline.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"baseline.json: damaged \('name'\)"):
        BaselineTokenizer.from_pretrained(tmp_path, tokenizers=folder)
    program = tmp_path / "tok.py"
    program.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "baseline.json").write_text(json.dumps({"name": str(program)}))
    with pytest.raises(BaselineError, match=r"no tokenizer is named '.*tok.py'"):
        BaselineTokenizer.from_pretrained(tmp_path, tokenizers=folder)
    assert not (tmp_path / "ran").exists()
    (tmp_path / "baseline.json").unlink()
    with pytest.raises(CheckpointError, match=r"there is no baseline.json in it"):
        BaselineTokenizer.from_pretrained(tmp_path, tokenizers=folder)


def test_how_rows_are_cut_and_padded_is_saved(folder, tmp_path):
    options = {"model_max_length": 7, "padding_side": "left", "truncation_side": "left"}
    saved = BaselineTokenizer(baselines.load("mBERT", folder), "vi", **options)
    saved.save_pretrained(tmp_path)
    again = BaselineTokenizer.from_pretrained(tmp_path, tokenizers=folder)
    assert {name: getattr(again, name) for name in options} == options
    texts = ["mưa to mưa to mưa to", "mưa"]
    assert again(texts, truncation=True, padding=True).data == saved(texts, truncation=True, padding=True).data
    other = BaselineTokenizer.from_pretrained(tmp_path, tokenizers=folder, model_max_length=9, padding_side="right")
    assert (other.model_max_length, other.padding_side, other.truncation_side) == (9, "right", "left")
    for written in ("[", "[]", '{"model_max_length": "7"}', '{"padding_side": "up"}'):
        (tmp_path / "tokenizer_config.json").write_text(written)
        with pytest.raises(CheckpointError, match=r"tokenizer_config\.json: (is not JSON|a JSON object|damaged)"):
            BaselineTokenizer.from_pretrained(tmp_path, tokenizers=folder)


@pytest.mark.parametrize("name", ["mBERT", "SubChar-Pinyin", "Byte-BPE", "Character", "XLM-R"])
def test_pickling(folder, name):
    """Data loaders that are spawned get the tokenizer as bytes."""
    tokenizer = BaselineTokenizer(baselines.load(name, folder))
    again = pickle.loads(pickle.dumps(tokenizer))
    assert again("今天 mưa").data == tokenizer("今天 mưa").data


def test_other_special_tokens(folder):
    with pytest.raises(CheckpointError, match=r"pad_token is \[PAD\] and cannot be <pad>"):
        BaselineTokenizer(baselines.load("mBERT", folder), pad_token="<pad>")
