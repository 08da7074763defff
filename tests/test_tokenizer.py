"""The public calls: encoding, batches, padding, decoding, saving, phrases, and their messages of errors."""

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import phonemic
from phonemic import Batch, Encoding, OtherTablesWarning, PhraseError, SavedTokenizerError, Syllable, Tokenizer

TEXT = "Tôi yêu tiếng Việt."


def test_encode(vi):
    encoding = vi.encode(TEXT)
    assert encoding.ids.dtype == np.int32
    assert encoding.components.dtype == np.uint8
    assert encoding.components.shape == (5, 3)
    assert np.shares_memory(encoding.components, encoding.ids)
    assert encoding.spans.tolist() == [[0, 3], [4, 7], [8, 13], [14, 18], [18, 19]]
    assert encoding.word_ids.tolist() == [0, 1, 2, 3, 3]
    assert [TEXT[start:end] for start, end in encoding.spans.tolist()] == ["Tôi", "yêu", "tiếng", "Việt", "."]
    assert encoding.kinds.tolist() == [0, 0, 0, 0, 1]
    assert encoding.tokens == ["t|oi̯|˧˧", "|ieu̯|˧˧", "t|ieŋ|˧˥", "v|iet|˧ˀ˩", "."]
    assert encoding.triples[1] == ("[EMPTY]", "ieu̯", "˧˧")


def test_the_first_lines_that_people_type(vi):
    assert vi.syllables("hoàng") == [Syllable("hoàng", "h", "u̯aŋ", "˨˩", "hu̯aŋ˨˩", 0, 5)]
    assert vi.decode(vi.encode(TEXT).ids) == "tôi yêu tiếng việt ."
    ours = Tokenizer("zh", phrases={"行长": "hang2 zhang3"})
    assert ours.decode(ours.encode("他是行长")) == "tā shì háng zhǎng"


def test_an_encoding_is_a_sequence_of_syllables(vi):
    encoding = vi.encode(TEXT)
    assert len(encoding) == len(list(encoding)) == 5
    assert encoding[2] == encoding.syllables[2] == encoding[-3]
    assert encoding[4] == Syllable(".", "", "", "", "", 18, 19)
    assert not encoding[4].is_native
    assert encoding[2].is_native
    part = encoding[1:3]
    assert isinstance(part, Encoding)
    assert np.shares_memory(part.ids, encoding.ids)
    assert np.shares_memory(part.spans, encoding.spans)
    assert [syllable.text for syllable in part] == ["yêu", "tiếng"]
    assert encoding.truncate(2) == encoding[:2]
    assert encoding != vi.encode("Tôi")
    assert encoding != 3


def test_mandarin_neutral_tone_and_fallback(zh):
    (de, mark, letter, emoji) = zh.syllables("的，Ａ🎉")
    assert (de.onset, de.rime, de.tone, de.ipa) == ("t", "ɤ", "", "tɤ")
    assert mark.rime == letter.rime == emoji.rime == ""
    assert zh.encode("的，Ａ🎉").tokens == ["t|ɤ|", ",", "a", "[UNK]"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("COVID-19", "c o v i d - 1 9"), ("，。、“”…！？", ", . , \" \" . ! ?"), ("éz Ợz ñ", "e z ơ z n"), ("٣５²", "3 5 2"),
        ("Å K ſz", "a k s z"), ("《》【】", '" " [ ]'),
    ],
)  # fmt: skip
def test_fallback_folds_one_character_to_one_position(vi, text, tokens):
    assert vi.encode(text).tokens == tokens.split(" ")


def test_mandarin_fallback_knows_no_vietnamese_letters(zh):
    assert zh.encode("Đường ợ").tokens == list("duongo")


def test_word_joiner(vi):
    joined = Tokenizer("vi", word_joiner="_").encode("sinh_viên đi_học")
    assert [syllable.text for syllable in joined] == ["sinh", "viên", "đi", "học"]
    assert joined.word_ids.tolist() == [0, 0, 1, 1]
    assert [syllable.text for syllable in vi.encode("sinh_viên")] == ["sinh", "_", "viên"]
    for wrong in ("ab", "a", "1", " ", "ơ"):
        with pytest.raises(ValueError, match="word_joiner"):
            Tokenizer("vi", word_joiner=wrong)


# --- batches


def test_batch(vi):
    batch = vi.encode_batch(["Tôi yêu", "", "giếng nước sâu"], spans=True)
    assert isinstance(batch, Batch)
    assert batch.offsets.tolist() == [0, 2, 2, 5]
    assert batch.lengths.tolist() == [2, 0, 3]
    assert batch.components.shape == (5, 3)
    assert batch.kinds.tolist() == [0] * 5
    assert np.shares_memory(batch[2].ids, batch.ids)
    assert batch[-1].spans.tolist() == [[0, 5], [6, 10], [11, 14]]
    assert [encoding.text for encoding in batch] == batch.texts == ["Tôi yêu", "", "giếng nước sâu"]
    tail = batch[1:]
    assert np.shares_memory(tail.ids, batch.ids)
    assert tail.offsets.tolist() == [0, 0, 3]
    assert tail[1] == batch[2]
    assert len(batch[2:1]) == 0
    with pytest.raises(IndexError, match="row 3 of a batch of 3"):
        batch[3]
    with pytest.raises(ValueError, match="step"):
        batch[::2]
    with pytest.raises(ValueError, match="word_ids=True"):
        _ = batch.word_ids
    with pytest.raises(ValueError, match="spans=True"):
        _ = vi.encode_batch(["a"])[0].spans


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "lengths", [[1] * 1500 + [500_000] * 20, [500_000] * 20 + [1] * 1500, [5000] * 2000, [9_999_999]]
)
def test_room_is_found_whatever_the_first_texts_promise(vi, lengths, threads):
    """Arrays of more than 32 MB, which are made larger, or larger than they need to be, in other ways than small ones."""
    texts = {length: "một " * length for length in set(lengths)}
    batch = vi.encode_batch([texts[length] for length in lengths], num_threads=threads, spans=True)
    assert np.array_equal(batch.offsets, np.cumsum([0, *lengths]))
    assert (batch.ids == vi.encode("một").ids[0]).all()
    starts = 4 * (np.arange(len(batch.ids)) - np.repeat(batch.offsets[:-1], lengths))
    assert np.array_equal(batch.spans, np.stack([starts, starts + 3], axis=1))


def test_empty_batch(vi):
    batch = vi.encode_batch([])
    assert len(batch) == 0
    assert batch.offsets.tolist() == [0]
    assert batch.pad()["input_ids"].shape == (0, 2)
    assert vi.encode_batch([], num_threads=3, spans=True).spans.shape == (0, 2)
    assert vi.encode_batch(["", ""]).pad(special_tokens=False)["input_ids"].tolist() == [[0], [0]]


def test_pad(vi):
    batch = vi.encode_batch(["Tôi yêu tiếng", "", "giếng"])
    cls, sep = 0x020202, 0x030303
    a, b = batch[0].ids.tolist(), batch[2].ids.tolist()
    padded = batch.pad()
    assert padded["input_ids"].dtype == padded["attention_mask"].dtype == np.int32
    assert padded["input_ids"].tolist() == [[cls, *a, sep], [cls, sep, 0, 0, 0], [cls, *b, sep, 0, 0]]
    assert padded["attention_mask"].tolist() == [[1] * 5, [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]]
    assert batch.pad(4)["input_ids"].tolist() == [[cls, *a[:2], sep], [cls, sep, 0, 0], [cls, *b, sep, 0]]
    assert batch.pad(2, special_tokens=False)["input_ids"].tolist() == [a[:2], [0, 0], [*b, 0]]
    assert batch.pad(6)["input_ids"].shape == (3, 6)
    assert batch.pad(2)["attention_mask"].tolist() == [[1, 1]] * 3
    for length, special in ((1, True), (0, True), (0, False), (-1, False)):
        with pytest.raises(ValueError, match="leaves no room"):
            batch.pad(length, special)
    single = vi.encode("giếng").pad(4)
    assert single["input_ids"].tolist() == [cls, *b, sep, 0]
    assert vi("giếng")["attention_mask"].tolist() == [1, 1, 1]
    assert vi(["giếng", "Tôi yêu"], max_length=3)["input_ids"].shape == (2, 3)


def test_truncate(vi):
    batch = vi.encode_batch(["Tôi yêu tiếng", "", "giếng nước"], spans=True, word_ids=True).truncate(1)
    assert batch.offsets.tolist() == [0, 1, 1, 2]
    assert batch[2].spans.tolist() == [[0, 5]]
    assert batch.word_ids.tolist() == [0, 0]


@pytest.mark.parametrize("bad", [None, b"bytes", 3, ["x"]])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_no_str_is_named_by_its_index(vi, bad, threads):
    with pytest.raises(TypeError, match=r"text 1500 is \w+, not str"):
        vi.encode_batch([*["a"] * 1500, bad, "b"], num_threads=threads)
    with pytest.raises(TypeError, match="encode takes a str"):
        vi.encode(bad)


def test_wrong_arguments(vi):
    with pytest.raises(ValueError, match="unknown language 'ja': choose one of vi, zh"):
        Tokenizer("ja")
    with pytest.raises(TypeError, match="list of str"):
        vi.encode_batch("one text")
    with pytest.raises(ValueError, match="num_threads"):
        vi.encode_batch(["a"], num_threads=0)
    assert len(vi.encode_batch(text for text in ("a", "b"))) == 2


class Text(str):
    __slots__ = ()


def test_str_subclasses_are_texts(vi):
    assert vi.encode(Text("giếng")) == vi.encode("giếng")
    assert vi.encode_batch([Text("giếng")])[0] == vi.encode("giếng")


# --- decoding


def test_decode(vi, zh):
    ids = vi("COVID-19: hoà bình!")["input_ids"]
    assert vi.decode(ids) == "covid - 19 : hoà bình !"
    assert vi.decode(ids, style="old") == "covid - 19 : hòa bình !"
    assert vi.decode(ids, skip_special_tokens=False) == "[CLS] covid - 19 : hoà bình ! [SEP]"
    assert vi.decode(ids, to="ipa") == "covid - 19 : hu̯a˨˩ ɓiɲ˨˩ !".replace("ɓ", "b")
    assert vi.decode(vi.encode("🎉 a").components) == "\ufffd a"
    assert vi.decode([]) == zh.decode(zh.encode("")) == ""
    assert zh.decode(zh.encode("重庆 2024"), to="ipa") == "t͡ʂʰʊŋ˧˥ t͡ɕʰiŋ˥˩ 2024"
    for tokenizer, to in ((vi, "pinyin"), (zh, "spelling"), (zh, "x")):
        with pytest.raises(ValueError, match="cannot decode"):
            tokenizer.decode([], to=to)
    with pytest.raises(ValueError, match=r"position 1: .* not in the zh vocabulary"):
        zh.decode([7, 120])
    with pytest.raises(ValueError, match="packed ids"):
        zh.decode([0.5])


def test_decode_writes_a_triple_that_no_syllable_has(vi):
    assert vi.decode([vi.vocab.pack(("b", "b", "˧˧"))]) == "bb˧˧"


# --- saving


@pytest.mark.parametrize(
    "tokenizer",
    [Tokenizer("vi"), Tokenizer("vi", strict=True, word_joiner="_"), Tokenizer("zh", phrases={"行长": "háng zhǎng"})],
)
def test_save_load_and_pickle(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.json")
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]
    for copy in (Tokenizer.load(tmp_path / "tokenizer.json"), pickle.loads(pickle.dumps(tokenizer))):
        assert copy == tokenizer
        assert hash(copy) == hash(tokenizer)
        assert repr(copy) == repr(tokenizer)
        assert copy.encode("đi_học hoc 他是行长") == tokenizer.encode("đi_học hoc 他是行长")


def test_load_refuses(tmp_path):
    path = tmp_path / "tokenizer.json"
    Tokenizer("vi").save(path)
    state = json.loads(path.read_text("utf-8"))
    for change, message in (
        ({"vocabulary_checksum": "0" * 8}, "its vocabulary is not this version's"),
        ({"lang": "ja"}, "unknown language"),
        ({"format": "other"}, "not a saved tokenizer"),
    ):
        path.write_text(json.dumps(state | change), encoding="utf-8")
        with pytest.raises(SavedTokenizerError, match=message):
            Tokenizer.load(path)
    for content in ("{", "[]", "\xff"):
        path.write_text(content, encoding="latin-1")
        with pytest.raises(SavedTokenizerError):
            Tokenizer.load(path)
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "none.json")


@pytest.mark.parametrize(
    "options", [{"lang": "vi"}, {"lang": "zh", "readings": "context"}, {"lang": "zh", "form": True}]
)
def test_other_tables_are_told(options, tmp_path):
    """The digests are those of the files; with others a text may be read otherwise, which is not an error."""
    path = tmp_path / "tokenizer.json"
    Tokenizer(**options).save(path)
    state = json.loads(path.read_text("utf-8"))
    folder = Path(phonemic.__file__).parent / "lexicon"
    for name, digest in state["digests"].items():
        assert digest == hashlib.sha256((folder / f"tables-{name}.bin").read_bytes()).hexdigest()
        path.write_text(json.dumps(state | {"digests": state["digests"] | {name: "0" * 64}}), "utf-8")
        with pytest.warns(OtherTablesWarning, match=rf"{path}: was saved with other tables \({name}\)"):
            assert Tokenizer.load(path) == Tokenizer(**options)
    path.write_text(json.dumps({name: state[name] for name in state if name != "digests"}), "utf-8")
    assert Tokenizer.load(path) == Tokenizer(**options)
    for damaged in ([], {"zh": 5}, "0"):
        path.write_text(json.dumps(state | {"digests": damaged}), "utf-8")
        with pytest.raises(SavedTokenizerError, match="not named by their digests"):
            Tokenizer.load(path)


# --- phrases


def test_phrases_win(zh):
    own = Tokenizer("zh", phrases={"银行长": "yin2 xing2 chang2", "重": "zhong4", "中国": ["zhōng", "guǒ"]})
    assert own.decode(own.encode("银行长")) == "yín xíng cháng"
    assert own.decode(own.encode("中国人民")) == "zhōng guǒ rén mín"
    assert own.decode(own.encode("重庆")) == zh.decode(zh.encode("重庆"))  # a single character: phrases come first
    assert own.decode(own.encode("重")) == "zhòng"
    assert Tokenizer("zh", phrases={"\uf90a": "jin4"}).encode("金").tokens == ["t͡ɕ|in|˥˩"]
    assert Tokenizer("zh", phrases={}) == zh


def test_phrases_from_a_file(tmp_path, zh):
    path = tmp_path / "phrases.tsv"
    path.write_text("\ufeff# mine\n\n行长\thang2 zhang3\r\n朝阳\tzhāo yáng\n", encoding="utf-8")
    tokenizer = Tokenizer("zh", phrases=path)
    assert tokenizer.phrases == {"行长": "hang2 zhang3", "朝阳": "zhao1 yang2"}
    for name in (str(path), b"", 5, ["a"]):  # what may come from JSON or TOML is never a path
        with pytest.raises(TypeError, match=r"phrases must be a dict of readings, or a file .* pathlib\.Path"):
            Tokenizer("zh", phrases=name)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("行长\thang2", r"line 2: '行长' has 2 characters but 1 pinyin syllables"),
        ("行长\thang2 zhang9", "line 2: .*the tone is 1 to 5"),
        ("行长\thang2 zhqng3", "line 2: .*not a pinyin syllable"),
        ("行长 hang2 zhang3", "line 2: .*has no tab"),
        ("a\ta1", "line 2: a phrase must be one or more Han characters"),
        ("\ta1", "line 2: a phrase must be one or more Han characters"),
    ],
)
def test_a_wrong_phrase_is_named_by_its_line(tmp_path, line, message):
    path = tmp_path / "phrases.tsv"
    path.write_text(f"重庆\tchong2 qing4\n{line}\n", encoding="utf-8")
    with pytest.raises(PhraseError, match=message):
        Tokenizer("zh", phrases=path)


def test_wrong_phrases(tmp_path):
    with pytest.raises(PhraseError, match="phrase 1: '行长' has 2"):
        Tokenizer("zh", phrases={"行长": "hang2"})
    with pytest.raises(PhraseError, match="phrase 1"):
        Tokenizer("zh", phrases={"行": [3]})
    with pytest.raises(ValueError, match="phrases are for Mandarin"):
        Tokenizer("vi", phrases={"行长": "hang2 zhang3"})
    (tmp_path / "latin.tsv").write_bytes("行\thang2\n\xe9".encode("latin-1", "ignore") + b"\xe9")
    with pytest.raises(PhraseError, match="not UTF-8 at byte"):
        Tokenizer("zh", phrases=tmp_path / "latin.tsv")


def test_many_phrases():
    chars = [chr(code) for code in range(0x4E00, 0x4E00 + 9000)]
    assert Tokenizer("zh", phrases=dict.fromkeys(chars, "a1")).encode("丁").tokens == ["|a|˥˥"]
    many = {one + other: "a1 e4" for one in chars[:100] for other in chars[:100]}
    assert Tokenizer("zh", phrases=many).encode("一丁").tokens == ["|a|˥˥", "|ɤ|˥˩"]


# --- printing


def test_repr(vi):
    assert repr(vi.encode(TEXT)) == "Encoding(5 positions of vi: t|oi̯|˧˧ |ieu̯|˧˧ t|ieŋ|˧˥ v|iet|˧ˀ˩ .)"
    assert repr(vi.encode("a " * 20)).endswith(" …)")
    assert repr(vi.encode_batch(["a", "b"])) == "Batch(2 texts, 2 positions of vi)"
    assert repr(vi.vocab) == "Vocabulary('vi', 256 symbols)"


def test_html_shows_each_syllable_and_escapes(vi):
    html = vi.encode("giếng <b>")._repr_html_()
    assert html.count("<td") == 4 * 5
    for cell in ("giếng", "ieŋ", "zieŋ˧˥", "&lt;", "&gt;"):
        assert f">{cell}</td>" in html
    assert "<b>" not in html
    assert "… and 100 more positions" in vi.encode("a " * 300)._repr_html_()
    assert vi.encode_batch(["a", "b"], spans=True)._repr_html_().count("<table") == 2
    assert "2 texts" in vi.encode_batch(["a", "b"])._repr_html_()
    assert "1 positions" in vi.encode_batch(["giếng"])[0]._repr_html_()


def test_version():
    assert phonemic.__version__.count(".") == 2


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_threads_share_many_pieces_in_order(lang):
    tokenizer = Tokenizer(lang)
    text = {"vi": "Cái giếng ở đầu làng chưa cạn. ", "zh": "银行行长觉得还不错，了不起。"}[lang]
    texts = [text * (number % 700) for number in range(1500)]  # tens of pieces, of few texts and of many
    alone = tokenizer.encode_batch(texts, spans=True, word_ids=True)
    for threads in (2, 3, 24):
        shared = tokenizer.encode_batch(texts, num_threads=threads, spans=True, word_ids=True)
        for name in ("ids", "offsets", "spans", "word_ids"):
            assert np.array_equal(getattr(alone, name), getattr(shared, name)), name


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_first_wrong_text_is_named(vi, threads):
    texts = [*["giếng nước " * 3000] * 40, None, *["a" * 3000] * 900, 7]
    with pytest.raises(TypeError, match="text 40 is NoneType"):
        vi.encode_batch(texts, num_threads=threads)


@pytest.mark.parametrize("make", [lambda tok, text: tok.encode(text), lambda tok, text: tok.encode_batch([text])[0]])
def test_encodings_are_pickled(vi, make):
    encoding = make(vi, "giếng nước")
    made = pickle.loads(pickle.dumps(encoding))
    assert made == encoding
    assert made.text == "giếng nước"
    assert made[1:].ids.tolist() == encoding[1:].ids.tolist()
