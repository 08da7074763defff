"""The tokenizer behaves like a real transformers fast tokenizer whose pieces are the same positions."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from fast_tokenizers import called_alike
from tokenizers import Tokenizer as RustTokenizer
from tokenizers import models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    DataCollatorForTokenClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
)

from phonemic import SavedTokenizerError, Tokenizer
from phonemic.inventory import CLS, MASK, NATIVE, PAD, SEP, UNK, kinds_of
from phonemic_bert import CheckpointError, PhonemicBertConfig, PhonemicBertTokenizer
from phonemic_bert.syllables import syllables

SPECIALS = dict(zip(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], (PAD, UNK, CLS, SEP, MASK), strict=True))
SYLLABLES = ["tôi", "yêu", "tiếng", "việt", "giếng", "quốc", "hoà", "nghiêng"]
INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
#: Words whose positions a WordPiece model finds too: syllables, punctuation behind them, and numbers, a digit each.
WORDS = [*SYLLABLES, "Tôi", "QUỐC", "yêu,", "việt.", "hoà!?", "2024", "7", "(tôi)", "..."]


@pytest.fixture(scope="module")
def ours():
    return PhonemicBertTokenizer("vi")


@pytest.fixture(scope="module")
def fast():
    return make_fast()


def make_fast():
    pieces = [*SYLLABLES, *"0123456789.,!?()"]
    vocab = {token: number for number, token in enumerate([*SPECIALS, *pieces, *(f"##{piece}" for piece in pieces)])}
    rust = RustTokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    rust.normalizer = normalizers.Lowercase()
    rust.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    rust.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(t, vocab[t]) for t in ("[CLS]", "[SEP]")],
    )
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    return PreTrainedTokenizerFast(tokenizer_object=rust, model_max_length=512, model_input_names=INPUTS, **names)


def packed(fast, ids):
    """The ids of the WordPiece model as packed ids."""
    phonemic = Tokenizer("vi")
    pieces = [piece.removeprefix("##") for piece in fast.convert_ids_to_tokens(ids)]
    return [SPECIALS[p] * 0x010101 if p in SPECIALS else int(phonemic.encode(p).ids[0]) for p in pieces]


def lists(value):
    return (
        value.tolist()
        if hasattr(value, "tolist")
        else [lists(v) for v in value]
        if isinstance(value, list | tuple)
        else value
    )


def check_same(ours, fast, *args, **options):
    both = called_alike(ours, fast, *args, **options)
    if both is None:
        return
    got, want = both
    assert set(got) == set(want)
    got_ids, want_ids = lists(got["input_ids"]), lists(want["input_ids"])
    if got_ids and not isinstance(got_ids[0], list):
        got_ids, want_ids = [got_ids], [want_ids]
    assert got_ids == [packed(fast, row) for row in want_ids]
    for name in set(want) - {"input_ids"}:
        assert lists(got[name]) == lists(want[name]), name
        assert type(got[name]) is type(want[name])
        if hasattr(want[name], "dtype"):
            assert got[name].dtype == want[name].dtype
    assert len(got.encodings) == len(want.encodings)
    for row, (one, other) in enumerate(zip(got.encodings, want.encodings, strict=True)):
        assert got.word_ids(row) == want.word_ids(row)
        assert got.sequence_ids(row) == want.sequence_ids(row)
        assert one.offsets == other.offsets
        for name in ("type_ids", "attention_mask", "special_tokens_mask", "n_sequences"):
            assert getattr(one, name) == getattr(other, name)
        assert len(one) == len(other)
        assert len(got.tokens(row)) == len(other)


text = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
words = st.lists(st.sampled_from(WORDS), max_size=12)
call = st.fixed_dictionaries(
    {
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from([False, True, "longest", "max_length"]),
        "truncation": st.sampled_from([False, True, "longest_first", "only_first", "only_second"]),
        "max_length": st.integers(5, 24),  # with less, the windows of a pair have no room for both
        "stride": st.integers(0, 3),
        "return_overflowing_tokens": st.booleans(),
        "return_offsets_mapping": st.booleans(),
        "return_special_tokens_mask": st.booleans(),
        "return_length": st.booleans(),
        "return_token_type_ids": st.sampled_from([None, False]),
        "return_attention_mask": st.sampled_from([None, False]),
        "padding_side": st.sampled_from([None, "left", "right"]),
        "pad_to_multiple_of": st.sampled_from([None, 4]),
    }
)


@pytest.mark.filterwarnings("ignore:.max_length. is ignored when:UserWarning")
@settings(max_examples=300)
@given(data=st.data(), options=call, side=st.sampled_from(["right", "left"]), pair=st.booleans(), split=st.booleans())
def test_every_option_is_the_fast_tokenizers(data, options, side, pair, split, ours, fast):
    sample = words.filter(bool) if split else text
    texts = data.draw(st.lists(sample, min_size=1, max_size=4))
    if options["padding"] == "max_length" and options["pad_to_multiple_of"] and options["truncation"]:
        options = {**options, "max_length": -(-options["max_length"] // 4) * 4}
    options = {**options, "is_split_into_words": split}
    ours.truncation_side = fast.truncation_side = side
    if pair:
        pairs = data.draw(st.lists(sample.filter(bool), min_size=len(texts), max_size=len(texts)))
        check_same(ours, fast, texts, pairs, **options)
        check_same(ours, fast, texts[0], pairs[0], **options)
    else:
        check_same(ours, fast, texts, **options)
        check_same(ours, fast, texts[0], **options)
    ours.truncation_side = fast.truncation_side = "right"


@pytest.mark.parametrize("tensors", ["pt", "np"])
def test_tensors(ours, fast, tensors):
    texts, options = ["tôi yêu tiếng việt", "giếng, 2024"], {"return_tensors": tensors, "return_offsets_mapping": True}
    check_same(ours, fast, texts, padding=True, **options)
    check_same(ours, fast, texts[0], texts[1], **options)
    check_same(ours, fast, texts, padding="max_length", max_length=9, truncation=True, **options)
    check_same(
        ours,
        fast,
        texts,
        padding=True,
        max_length=4,
        truncation=True,
        return_overflowing_tokens=True,
        stride=1,
        **options,
    )
    if tensors == "pt":
        with pytest.raises(ValueError, match="activate truncation and/or padding"):
            ours(texts, return_tensors=tensors)


def test_windows_for_question_answering(ours, fast):
    question, context = "tôi yêu tiếng việt?", " ".join(["giếng quốc, 2024 hoà"] * 9)
    options = {"truncation": "only_second", "max_length": 20, "stride": 5, "return_overflowing_tokens": True}
    check_same(
        ours, fast, [question] * 2, [context, "hoà"], return_offsets_mapping=True, padding="max_length", **options
    )
    rows = ours(question, context, **options)
    seen = set()
    for row in range(len(rows["input_ids"])):
        sequences, offsets = rows.sequence_ids(row), rows.encodings[row].offsets
        seen |= {at for s, (start, end) in zip(sequences, offsets, strict=True) if s == 1 for at in range(start, end)}
    assert seen == {at for at, char in enumerate(context) if not char.isspace()}


def test_lookups_between_characters_words_and_positions(ours, fast):
    texts = ["(tôi) yêu 2024 việt."]
    got, want = ours(texts, texts, padding=True), fast(texts, texts, padding=True)
    for sequence in (0, 1):
        for at in range(len(texts[0])):
            assert got.char_to_token(0, at, sequence) == want.char_to_token(0, at, sequence)
            if not texts[0][at].isspace():
                assert got.char_to_word(0, at, sequence) == want.char_to_word(0, at, sequence)
        for word in range(4):
            assert got.word_to_tokens(0, word, sequence) == want.word_to_tokens(0, word, sequence)
            assert got.word_to_chars(0, word, sequence) == want.word_to_chars(0, word, sequence)
    for token in range(len(got["input_ids"][0])):
        assert got.token_to_chars(0, token) == want.token_to_chars(0, token)
        if want.token_to_sequence(0, token) is not None:
            assert got.token_to_word(0, token) == want.token_to_word(0, token)
            assert got.token_to_sequence(0, token) == want.token_to_sequence(0, token)


def test_pairs_given_as_tuples(ours):
    pairs = [("tôi yêu", "tiếng"), ("việt", "quốc hoà")]
    assert ours(pairs) == ours([a for a, _ in pairs], [b for _, b in pairs])


# --- what is phonemic's own


def test_ids_are_phonemics(ours, vi_lines, zh_lines):
    for tokenizer, lines in ((ours, vi_lines), (PhonemicBertTokenizer("zh"), zh_lines)):
        want = tokenizer.phonemic(lines)
        got = tokenizer(lines, padding=True, return_tensors="np")
        np.testing.assert_array_equal(got["input_ids"], want["input_ids"])
        np.testing.assert_array_equal(got["attention_mask"], want["attention_mask"])
        for row, line in enumerate(lines):
            encoding = tokenizer.phonemic.encode(line)
            inner = slice(1, 1 + len(encoding))
            assert got.encodings[row].offsets[inner] == list(map(tuple, encoding.spans.tolist()))
            assert got.word_ids(row)[inner] == encoding.word_ids.tolist()
            assert got.tokens(row)[inner] == encoding.tokens
            assert tokenizer.decode(got["input_ids"][row], skip_special_tokens=True) == tokenizer.phonemic.decode(
                encoding
            )


def test_specials_written_in_a_text(ours):
    mask = MASK * 0x010101
    assert ours.mask_token_id == mask
    got = ours("tôi [MASK] tiếng việt[SEP]", return_offsets_mapping=True, return_special_tokens_mask=True)
    plain = ours("tôi tiếng việt")["input_ids"]
    assert got["input_ids"] == [*plain[:2], mask, *plain[2:4], SEP * 0x010101, plain[4]]
    assert got["offset_mapping"] == [(0, 0), (0, 3), (4, 10), (11, 16), (17, 21), (21, 26), (0, 0)]
    assert got["special_tokens_mask"] == [1, 0, 1, 0, 0, 1, 1]
    assert got.word_ids() == [None, 0, 1, 2, 3, 3, None]
    assert mask not in ours("tôi [MASK]", split_special_tokens=True)["input_ids"]
    words = ours(["tôi", "[MASK]", "[", "MASK", "]"], is_split_into_words=True)
    assert words["input_ids"].count(mask) == 1
    assert words.word_ids()[:4] == [None, 0, 1, 2]
    assert ours.decode(got["input_ids"]) == "[CLS] tôi [MASK] tiếng việt [SEP] [SEP]"


@given(
    st.lists(st.sampled_from(["[MASK]", "[SEP]", "[", "]", "tôi", " ", "mask", "\u0302", "Ê", "9"]), max_size=9).map(
        "".join
    )
)
def test_written_specials_anywhere(ours, text):
    pieces = re.split(r"(\[MASK\]|\[SEP\])", text)
    want = [
        p
        for piece in pieces
        for p in ([SPECIALS[piece] * 0x010101] if piece in SPECIALS else ours.phonemic.encode(piece).ids.tolist())
    ]
    got = ours(text, add_special_tokens=False)["input_ids"]
    if "\u0302" not in text:  # a mark behind "]" belongs to it
        assert got == want
    assert [p for p in got if p in (MASK * 0x010101, SEP * 0x010101)] == [
        p for p in want if p in (MASK * 0x010101, SEP * 0x010101)
    ]


def test_mandarin_words_are_read_in_context():
    zh = PhonemicBertTokenizer("zh")
    chars = list("银行行长在重庆。")
    split = zh(chars, is_split_into_words=True, return_offsets_mapping=True)
    assert split["input_ids"] == zh("".join(chars))["input_ids"]
    assert split.word_ids() == [None, *range(8), None]
    assert split["offset_mapping"][1:-1] == [(0, 1)] * 8
    assert zh(["", "银行", "", "好"], is_split_into_words=True).word_ids() == [None, 1, 1, 3, None]


def test_tokens_and_ids(ours):
    vocab = ours.get_vocab()
    assert len(ours) == ours.vocab_size == 256
    assert len(set(vocab.values())) == len(vocab) > 10_000
    assert all(ours.convert_tokens_to_ids(token) == packed for token, packed in vocab.items())
    assert ours.convert_ids_to_tokens(list(vocab.values())) == list(vocab)
    assert ours.convert_tokens_to_ids(["||", "x|y", "no such"]) == [ours.unk_token_id] * 3
    assert ours.tokenize("Tôi, 7") == ["t|oi̯|˧˧", ",", "7"]
    assert ours.convert_tokens_to_string(ours.tokenize("Tôi, 7")) == "tôi , 7"
    assert ours.all_special_ids == [SPECIALS[t] * 0x010101 for t in ours.all_special_tokens]
    assert sorted(ours.all_special_tokens) == sorted(SPECIALS)
    with pytest.raises(ValueError, match=r"cannot add <x>: the vocabulary is fixed"):
        ours.add_tokens(["<x>"])
    assert ours.batch_decode(ours(["tôi", "yêu"])["input_ids"], skip_special_tokens=True) == ["tôi", "yêu"]


def test_specials_mask_of_finished_rows(ours):
    row = ours("tôi ☃ yêu", "việt", padding="max_length", max_length=10)
    assert ours.get_special_tokens_mask(row["input_ids"], already_has_special_tokens=True) == [
        1,
        0,
        1,
        0,
        1,
        0,
        1,
        1,
        1,
        1,
    ]
    a, b = (ours(t, add_special_tokens=False)["input_ids"] for t in ("tôi ☃ yêu", "việt"))
    assert ours.build_inputs_with_special_tokens(a, b) == row["input_ids"][:7]
    assert ours.create_token_type_ids_from_sequences(a, b) == row["token_type_ids"][:7]


# --- collators


def test_stock_collators(ours):
    rows = [ours("tôi yêu tiếng việt"), ours("hoà")]
    padded = DataCollatorWithPadding(ours)(rows)
    assert padded["input_ids"].shape == (2, 6)
    assert padded["input_ids"][1, 3:].tolist() == [0, 0, 0]
    assert padded["attention_mask"].sum().item() == 9
    tagged = [{**row, "labels": list(range(len(row["input_ids"])))} for row in rows]
    assert DataCollatorForTokenClassification(ours)(tagged)["labels"][1].tolist() == [0, 1, 2, -100, -100, -100]
    whole = DataCollatorForLanguageModeling(
        ours, mlm_probability=0.9, mask_replace_prob=1, random_replace_prob=0, seed=0
    )
    masked, original = whole(rows), padded["input_ids"]
    chosen = masked["labels"] != -100
    assert 0 < chosen.sum() <= 5
    assert not chosen[torch.isin(original, torch.tensor([PAD * 0x010101, CLS * 0x010101, SEP * 0x010101]))].any()
    assert (masked["input_ids"][chosen] == MASK * 0x010101).all()
    assert torch.equal(masked["labels"][chosen], original[chosen])
    assert torch.equal(masked["input_ids"][~chosen], original[~chosen])


# --- files


@pytest.mark.parametrize(
    "options", [{"lang": "vi", "strict": True, "word_joiner": "_"}, {"lang": "zh", "phrases": {"行长": "hang2 zhang3"}}]
)
def test_save_and_load(tmp_path, options):
    tokenizer = PhonemicBertTokenizer(**options, model_max_length=99, padding_side="left")
    tokenizer.save_pretrained(tmp_path)
    for loaded in (
        PhonemicBertTokenizer.from_pretrained(tmp_path),
        AutoTokenizer.from_pretrained(tmp_path),
        pickle.loads(pickle.dumps(tokenizer)),
    ):
        assert type(loaded) is PhonemicBertTokenizer
        assert loaded.phonemic == tokenizer.phonemic
        assert loaded.model_max_length == 99
        assert loaded.padding_side == "left"
        text = "sinh_viên hoc 行长"
        assert loaded(text) == tokenizer(text)


def test_other_readings_than_the_saved_ones_are_refused(tmp_path):
    PhonemicBertTokenizer("zh", readings="context").save_pretrained(tmp_path)
    for load in (PhonemicBertTokenizer.from_pretrained, AutoTokenizer.from_pretrained):
        assert load(tmp_path, readings="context").phonemic.readings == "context"
        with pytest.raises(
            CheckpointError, match=r"saved with readings='context'.*PhonemicBertTokenizer\('zh', readings="
        ):
            load(tmp_path, readings="pypinyin")
        with pytest.raises(CheckpointError, match="saved with sandhi=False"):
            load(tmp_path, sandhi=True)


def test_auto_tokenizer_finds_it_by_the_models_configuration(tmp_path):
    PhonemicBertTokenizer("zh").save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    PhonemicBertConfig("zh").save_pretrained(tmp_path)
    assert AutoTokenizer.from_pretrained(tmp_path).phonemic == Tokenizer("zh")


def test_errors(ours, tmp_path):
    with pytest.raises(CheckpointError, match="give the language"):
        PhonemicBertTokenizer()
    with pytest.raises(CheckpointError, match=r"mask_token is \[MASK\] and cannot be <mask>"):
        PhonemicBertTokenizer("vi", mask_token="<mask>")
    ours.save_pretrained(tmp_path)
    path = tmp_path / "phonemic.json"
    path.write_text(path.read_text().replace(ours.phonemic.vocab.checksum, "00000000"))
    with pytest.raises(SavedTokenizerError, match=r"phonemic\.json: its vocabulary is not this version's"):
        PhonemicBertTokenizer.from_pretrained(tmp_path)
    path.unlink()
    with pytest.raises(CheckpointError, match=r"there is no phonemic\.json in it"):
        PhonemicBertTokenizer.from_pretrained(tmp_path)
    with pytest.raises(OSError, match=r".+"):
        PhonemicBertTokenizer.from_pretrained(tmp_path / "nothing")
    with pytest.raises((TypeError, ValueError), match="text"):
        ours([1, 2])
    with pytest.raises(ValueError, match="max_length=1 leaves no room for 2 special tokens"):
        ours("tôi", truncation=True, max_length=1)
    with pytest.raises(ValueError, match="no room for both texts of the pair"):
        ours("tôi yêu", "việt", truncation=True, max_length=4, return_overflowing_tokens=True)
    with pytest.raises(ValueError, match="max_length is too small for windows"):
        ours("tôi", truncation=True, max_length=2, return_overflowing_tokens=True)
    with pytest.raises(ValueError, match="stride=9 must be smaller than the 4 positions"):
        ours("tôi " * 9, truncation=True, max_length=6, stride=9)


def test_no_texts_and_empty_texts(ours):
    assert ours([])["input_ids"] == []
    assert ours([""])["input_ids"] == [[CLS * 0x010101, SEP * 0x010101]]
    assert ours("", add_special_tokens=False)["input_ids"] == []


# --- the packed fallback


def test_packed_fallback(tmp_path):
    made = PhonemicBertTokenizer("vi", fallback="packed")
    made.save_pretrained(tmp_path)
    phonemic = Tokenizer("vi", fallback="packed")
    text = "Tôi bị covid-19 [MASK] kkk"
    for tokenizer in (made, pickle.loads(pickle.dumps(made)), PhonemicBertTokenizer.from_pretrained(tmp_path)):
        assert tokenizer.phonemic == phonemic
        row = tokenizer(text, return_offsets_mapping=True)
        tokens = tokenizer.convert_ids_to_tokens(row["input_ids"])
        assert tokens[3:-1] == ["cov", "id", "-", "19", "[MASK]", "kk", "k"]
        assert row.tokens() == tokens
        assert row["offset_mapping"][3:5] == [(7, 10), (10, 12)]
        assert row.word_ids()[3:-1] == [2, 2, 2, 2, 3, 4, 4]
        assert tokenizer.convert_tokens_to_ids(tokens) == row["input_ids"]
        assert tokenizer.decode(row["input_ids"], skip_special_tokens=True) == "tôi bị covid - 19 kkk"
        assert sum(row["attention_mask"]) == len(tokens)
        assert tokenizer.get_special_tokens_mask(row["input_ids"], already_has_special_tokens=True)[3:8] == [
            0,
            0,
            0,
            0,
            1,
        ]
    # "an" and "ic" are rimes' symbols as well as letters that share a position.
    ids = phonemic.encode("bcdan bcdic").ids.tolist()
    assert made.convert_tokens_to_ids(made.convert_ids_to_tokens(ids)) == ids
    assert made.convert_tokens_to_ids(["kkk", "covid", "a1"]) == [made.unk_token_id] * 3
    assert PhonemicBertTokenizer("vi").convert_tokens_to_ids("cov") == made.unk_token_id
    vocab = made.get_vocab()
    assert all(made.convert_tokens_to_ids(token) == packed for token, packed in vocab.items())


def test_packed_fallback_keeps_to_the_given_words():
    samples = [["银", "行", "A", "T", "M", "机", "2", "0", "2", "4"], ["iphone", "pro", "", "好"]]
    packs, plain = PhonemicBertTokenizer("zh", fallback="packed"), PhonemicBertTokenizer("zh")
    for words in samples:
        row = packs(words, is_split_into_words=True, return_offsets_mapping=True)
        found = {}
        for packed, number, (start, end) in zip(row["input_ids"], row.word_ids(), row["offset_mapping"], strict=True):
            if number is not None:
                assert 0 <= start < end <= len(words[number])
                found.setdefault(number, []).append(packed)
        context = plain(words, is_split_into_words=True)
        for number, word in enumerate(words):
            ids = [packed for packed, at in zip(context["input_ids"], context.word_ids(), strict=True) if at == number]
            assert found.get(number, []) == (packs.phonemic.encode(word).ids.tolist() if word.isascii() else ids)


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_only_syllables_are_offered_for_a_mask(lang):
    assert (kinds_of(syllables(lang)) == NATIVE).all()
