"""Baselines against transformers, sentencepiece by hand, and slow plain rules."""

from __future__ import annotations

import json
import string
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import baselines
from phonemic.baselines import Baseline, BaselineError

pytest.importorskip("sentencepiece", reason="the baselines need sentencepiece")
pytest.importorskip("tokenizers", reason="the baselines need tokenizers")

from baseline_helpers import (
    CHINESE,
    CODES,
    SIZES,
    SUBCHAR,
    WORDS,
    chinese,
    train_subchar,
    train_xlmr,
    vietnamese,
    write_bert,
    write_phobert,
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return train_subchar(tmp_path_factory.mktemp("tokenizers"))


class TestRegistry:
    def test_the_papers_tokenizers_are_there(self):
        wanted = (
            "Character Subword SubChar-Wubi SubChar-Pinyin SubChar-Pinyin-NoIndex bert-base-chinese mBERT DistilBERT "
            "WikiBERT PhoBERT XLM-R Byte-BPE"
        )
        assert set(wanted.split()) <= set(baselines.names())
        for name in baselines.names():
            assert baselines.get(name).name == name
            assert set(baselines.get(name).langs) <= {"vi", "zh"}

    def test_unknown_name(self):
        with pytest.raises(BaselineError, match=r"no tokenizer is named 'mbert': choose one of Character, .*XLM-R"):
            baselines.load("mbert")

    def test_import_is_light(self, monkeypatch):
        import subprocess
        import sys

        code = "import sys, phonemic.baselines, phonemic.intrinsic; print({'tokenizers', 'sentencepiece', 'pyvi', 'matplotlib', 'rich'} & set(sys.modules))"
        assert (
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
        )

    @pytest.mark.parametrize("name", baselines.names())
    def test_a_missing_file_is_named_with_its_home(self, name, tmp_path):
        with pytest.raises(BaselineError) as error:
            baselines.load(name, tmp_path)
        for file, home in baselines.get(name).files.items():
            assert f"{file}, published at {home}" in str(error.value)
        assert str(tmp_path) in str(error.value)

    def test_only_what_is_missing_is_named(self, tmp_path):
        (tmp_path / "phobert").mkdir()
        (tmp_path / "phobert/vocab.txt").write_text("a 1\n")
        with pytest.raises(BaselineError, match=r"PhoBERT: .*phobert lacks bpe.codes, published at \S+$"):
            baselines.load("PhoBERT", tmp_path)

    def test_folder_from_the_environment(self, trained, monkeypatch):
        monkeypatch.delenv("PHONEMIC_TOKENIZERS", raising=False)
        with pytest.raises(BaselineError, match=r"PHONEMIC_TOKENIZERS"):
            baselines.load("Character")
        monkeypatch.setenv("PHONEMIC_TOKENIZERS", str(trained))
        assert baselines.load("Character").encode("今") == baselines.load("Character", trained / "subchar").encode("今")

    def test_missing_package(self, trained, monkeypatch):
        import sys

        monkeypatch.setitem(sys.modules, "sentencepiece", None)
        with pytest.raises(Exception, match=r'needs sentencepiece: pip install "phonemic\[baselines\]"'):
            baselines.load("Subword", trained)


class TestOwn:
    def test_of_the_page(self, tmp_path):
        page = (Path(__file__).parents[1] / "docs/how-to/own-data.md").read_text(encoding="utf-8")
        (tmp_path / "mine.py").write_text(page.rpartition("```python\n")[2].partition("```")[0], encoding="utf-8")
        try:
            for _ in range(2):
                words = baselines.load(str(tmp_path / "mine.py"))
            assert words.name == "Words"
            assert len(words.encode("ba  bốn")) == 2
            assert words.id_count == words.vocab_size == 10_000
        finally:
            baselines.base.REGISTRY.pop("Words", None)

    def test_no_such_file(self):
        with pytest.raises(BaselineError, match=r"none.py: no such file"):
            baselines.load("none.py")

    def test_a_name_from_a_file_runs_none(self, tmp_path):
        program = tmp_path / "mine.py"
        program.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
        for name in (str(program), "none.py", None, ["mBERT"]):
            with pytest.raises(BaselineError, match="no tokenizer is named"):
                baselines.load_registered(name)
        assert not (tmp_path / "ran").exists()

    def test_a_corpus_names_what_a_file_registers_and_not_the_file(self, tmp_path):
        pytest.importorskip("pyarrow", reason="needs the corpus extra")
        from phonemic import Tokenizer
        from phonemic.corpus import Options

        page = (Path(__file__).parents[1] / "docs/how-to/own-data.md").read_text(encoding="utf-8")
        (tmp_path / "mine.py").write_text(page.rpartition("```python\n")[2].partition("```")[0], encoding="utf-8")
        try:
            options = Options(Tokenizer("vi"), (str(tmp_path / "mine.py"), str(tmp_path)))
            assert options.describe_tokenizer()["name"] == "Words"
        finally:
            baselines.base.REGISTRY.pop("Words", None)

    def test_registers_none(self, tmp_path):
        (tmp_path / "empty.py").write_text("")
        with pytest.raises(BaselineError, match=r"registers 0 baselines"):
            baselines.load(str(tmp_path / "empty.py"))


class TestInput:
    def test_types(self, trained):
        character = baselines.load("Character", trained)
        with pytest.raises(TypeError, match=r"not one str"):
            character.encode_batch("今天")
        with pytest.raises(TypeError, match=r"text 1 is of type NoneType"):
            character.encode_batch(["今", None])

    @pytest.mark.parametrize("name", [*SUBCHAR, "Character", "Byte-BPE"])
    def test_lone_surrogates_are_replaced(self, trained, name):
        tokenizer = baselines.load(name, trained)
        assert tokenizer.encode("今\ud83d天") == tokenizer.encode("今\ufffd天")
        assert tokenizer.encode("\ud83d\ude42") == tokenizer.encode("🙂")

    @pytest.mark.parametrize("name", [*SUBCHAR, "Character", "Byte-BPE"])
    @given(text=chinese)
    def test_ids_lie_in_range_and_batches_are_rows(self, trained, name, text):
        tokenizer = LOADED.setdefault((trained, name), baselines.load(name, trained))
        rows = tokenizer.encode_batch([text, "", "今天"])
        assert rows == [tokenizer.encode(text), [], tokenizer.encode("今天")]
        assert all(0 <= number < tokenizer.id_count for number in rows[0])
        unknown = 0 if tokenizer.unknown_id is None else rows[0].count(tokenizer.unknown_id)
        assert tokenizer.unknown_id is None or tokenizer.unknown_tokens([text]).total() == unknown


LOADED: dict[object, Baseline] = {}


# --- the SubChar paper's


def plain_subchar(text, codes, index=True):
    """The rules, a character at a time."""
    narrow = dict(zip("，。！？【】（）％＃＠＆１２３４５６７８９０；：", ",.!?[]()%#@&1234567890;:", strict=True))
    written = ""
    for char in text.lower():
        if char.isspace():
            continue
        char = narrow.get(char, char)  # noqa: PLW2901
        if char in string.ascii_lowercase or char in string.digits:
            written += chr(ord(char) + 50_000)
        elif char in codes and char not in ",.!?[]()%#@&;:":
            written += (codes[char] if index else "".join(c for c in codes[char] if c not in string.digits)) + "\uc3af"
        else:
            written += char
    return written


class TestSubChar:
    @given(chinese)
    def test_rewriting(self, trained, text):
        for name, index in (("SubChar-Pinyin", True), ("SubChar-Pinyin-NoIndex", False)):
            rewrite = LOADED.setdefault((trained, name), baselines.load(name, trained))._rewrite
            assert rewrite(text) == plain_subchar(text, CODES, index)

    def test_rewriting_by_hand(self, trained):
        rewrite = baselines.load("SubChar-Pinyin", trained)._rewrite
        assert rewrite("今 天，A1１龘") == "jin❁0\uc3aftian❁0\uc3af,\uc3b1\uc381\uc381龘"
        assert baselines.load("SubChar-Pinyin-NoIndex", trained)._rewrite("气") == "qi❄\uc3af"

    @pytest.mark.parametrize("name", SUBCHAR)
    def test_sentencepiece_by_hand(self, trained, name):
        sentencepiece = pytest.importorskip("sentencepiece")
        stem = dict(zip(SUBCHAR, ("raw_zh", "wubi_zh", "pinyin_zh", "pinyin_no_index"), strict=True))[name]
        model = sentencepiece.SentencePieceProcessor(model_file=str(trained / f"subchar/{stem}_{SIZES[name]}.model"))
        tokenizer = baselines.load(name, trained)
        assert tokenizer.vocab_size == tokenizer.id_count == model.get_piece_size() == SIZES[name]
        for text in [*CHINESE, "x"]:
            prepared = text.lower() if name == "Subword" else tokenizer._rewrite(text)
            pieces = model.encode_as_pieces(prepared)
            assert tokenizer.encode(text) == [model.piece_to_id(piece) for piece in pieces]

    def test_control_symbols_are_no_pieces_of_text(self, trained):
        control = {1, 2, 3, 4}
        for name in SUBCHAR:
            assert not control & set(baselines.load(name, trained).encode("[PAD] [CLS] [SEP] [MASK] 今天"))
        assert not control & set(baselines.load("Character", trained).encode("[PAD]"))

    def test_homophones_share_a_code_without_index(self, tmp_path):
        (tmp_path / "subchar").mkdir()
        (tmp_path / "subchar/chinese_to_pinyin.tsv").write_text("他\tta❁0\n她\tta❁1\n好\thao❃0\n", encoding="utf-8")
        texts = ["他好", "她好"] * 30
        one, other = (
            baselines.train(name, texts, tmp_path, size) for name, size in zip(SUBCHAR[2:], (18, 13), strict=True)
        )
        assert one.encode("他好") != one.encode("她好")
        assert other.encode("他好") == other.encode("她好")

    def test_character(self, trained):
        character = baselines.load("Character", trained)
        lines = (trained / f"subchar/bert_chinese_uncased_{character.vocab_size}.vocab").read_text("utf-8").splitlines()
        entries = [line.split(" ")[0] for line in lines]
        counts = Counter("".join(CHINESE).lower().replace(" ", ""))
        assert set(entries[5:]) == set(counts)
        assert [int(line.split(" ")[1]) for line in lines[5:]] == sorted(counts.values(), reverse=True)
        assert [entries[number] for number in character.encode("今 天A\u3000。")] == ["今", "天", "a", "。"]
        assert character.encode("龘") == [character.unknown_id]
        assert character.unknown_tokens(["龘今", "龘 麤"]) == {"龘": 2, "麤": 1}

    def test_several_models(self, trained, tmp_path):
        for size in (1, 2):
            (tmp_path / f"raw_zh_{size}.model").write_bytes((trained / "subchar/raw_zh_49.model").read_bytes())
        with pytest.raises(BaselineError, match=r"raw_zh_1.model, raw_zh_2.model: leave only one"):
            baselines.load("Subword", tmp_path)

    def test_damaged(self, tmp_path):
        (tmp_path / "raw_zh_9.model").write_bytes(b"no model")
        with pytest.raises(BaselineError, match=r"raw_zh_9.model: not a SentencePiece model"):
            baselines.load("Subword", tmp_path)
        (tmp_path / "pinyin_zh_9.model").write_bytes(b"no model")
        (tmp_path / "chinese_to_pinyin.tsv").write_text("今\tjin\n天 tian\n", encoding="utf-8")
        with pytest.raises(BaselineError, match=r"chinese_to_pinyin.tsv, line 2: not CHARACTER<TAB>CODE"):
            baselines.load("SubChar-Pinyin", tmp_path)

    def test_training_without_a_code_map(self, tmp_path):
        with pytest.raises(BaselineError, match=r"lacks chinese_to_wubi.tsv, published at https"):
            baselines.train("SubChar-Wubi", CHINESE, tmp_path, 60)

    def test_too_small_a_corpus(self, tmp_path):
        with pytest.raises(BaselineError, match=r"Subword: SentencePiece cannot learn 9999 entries"):
            baselines.train("Subword", CHINESE, tmp_path, 9999)
        assert not list(tmp_path.glob("subchar/*"))

    def test_what_is_there_is_kept(self, trained):
        with pytest.raises(BaselineError, match=r"raw_zh_49.model: already exists; give --force"):
            baselines.train("Subword", CHINESE * 20, trained, 48)

    def test_what_is_there_is_replaced_when_asked(self, tmp_path):
        """Also where the new file has another name, so that there are never two to choose from."""
        for texts, size in ((["ab"], 7), (["abc"], 8), (["abd"], 8)):
            baselines.train("Character", texts, tmp_path, 100, overwrite=True)
            assert [path.name for path in tmp_path.glob("*/*")] == [f"bert_chinese_uncased_{size}.vocab"]
            assert set(texts[0]) <= set(baselines.load("Character", tmp_path).tokens(range(size)))

    def test_another_training_that_ends_meanwhile(self, tmp_path):
        """Neither removes the other's file, though the system may give a new file the number of one that is gone."""

        def texts():
            baselines.train("Character", ["xy"], tmp_path, 100, overwrite=True)
            yield "ab"

        baselines.train("Character", ["de"], tmp_path, 100)
        trained = baselines.train("Character", texts(), tmp_path, 100, overwrite=True)
        assert "a" in trained.tokens(range(7))
        baselines.train("Character", ["abc"], tmp_path, 100, overwrite=True)
        trained = baselines.train("Character", texts(), tmp_path, 100, overwrite=True)
        assert [path.name for path in tmp_path.glob("*/*")] == ["bert_chinese_uncased_7.vocab"]

    def test_long_texts_are_learnt_from(self, tmp_path):
        once = baselines.train("Subword", ["".join(CHINESE) * 200], tmp_path, 49)
        assert once.unknown_id not in once.encode("".join(CHINESE))


def test_published_files_cannot_be_trained(tmp_path):
    with pytest.raises(BaselineError, match=r"mBERT cannot be trained here"):
        baselines.train("mBERT", [], tmp_path)


# --- the others


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return write_bert(tmp_path_factory.mktemp("bert"))


class TestBert:
    @pytest.mark.parametrize(("name", "lower"), [("bert-base-chinese", True), ("mBERT", False), ("WikiBERT", False)])
    @given(text=vietnamese)
    def test_transformers_agrees(self, bert, name, lower, text):
        legacy = pytest.importorskip("transformers.models.bert.tokenization_bert_legacy", reason="needs transformers 5")
        truth = LOADED.setdefault(
            ("truth", name), legacy.BertTokenizerLegacy(str(bert / "vocab.txt"), do_lower_case=lower)
        )
        ours = LOADED.setdefault(("bert", name), baselines.load(name, bert))
        # The slow tokenizer takes [SEP] in a text for the control symbol, and puts text into NFC; the fast one does not.
        plain = unicodedata.normalize("NFC", text.replace("[", "("))
        expected = [
            piece
            for word in truth.basic_tokenizer.tokenize(plain)
            for piece in truth.wordpiece_tokenizer.tokenize(word)
        ]
        assert ours.encode(plain) == truth.convert_tokens_to_ids(expected)

    @given(text=vietnamese)
    def test_the_fast_tokenizer_agrees_in_any_normal_form(self, bert, text):
        transformers = pytest.importorskip("transformers", reason="transformers' BertTokenizer is the truth")
        make = transformers.BertTokenizerFast
        truth = LOADED.get("fast") or LOADED.setdefault("fast", make(str(bert / "vocab.txt"), do_lower_case=False))
        ours = LOADED.setdefault(("bert", "mBERT"), baselines.load("mBERT", bert))
        for form in ("NFC", "NFD"):
            plain = unicodedata.normalize(form, text.replace("[", "("))
            assert ours.encode(plain) == truth(plain, add_special_tokens=False)["input_ids"]

    def test_control_symbols_are_text(self, bert):
        ours = baselines.load("mBERT", bert)
        assert not {0, 2, 3, 4} & set(ours.encode("[CLS] mưa [SEP] [MASK][PAD]"))
        assert len(ours.encode("[SEP] mưa")) > 2

    def test_case_from_the_config(self, bert, tmp_path):
        (tmp_path / "vocab.txt").write_bytes((bert / "vocab.txt").read_bytes())
        assert baselines.load("WikiBERT", tmp_path).encode("CO") == [1]
        (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true}')
        lowered = baselines.load("WikiBERT", tmp_path)
        assert lowered.encode("CO") == lowered.encode("co") != [1]

    def test_distilbert_is_mbert(self, bert):
        one, other = (baselines.load(name, bert) for name in ("mBERT", "DistilBERT"))
        assert (one.encode("mưa to"), one.vocab_size) == (other.encode("mưa to"), other.vocab_size)

    def test_no_vocabulary(self, tmp_path):
        (tmp_path / "vocab.txt").write_text("a\nb\n")
        with pytest.raises(BaselineError, match=r"vocab.txt: not a BERT vocabulary, since it lacks \[UNK\]"):
            baselines.load("mBERT", tmp_path)


@pytest.fixture(scope="module")
def phobert(tmp_path_factory):
    return write_phobert(tmp_path_factory.mktemp("phobert"))


def plain_phobert(folder, segment):
    transformers = pytest.importorskip("transformers", reason="transformers' PhobertTokenizer is the truth")
    truth = transformers.PhobertTokenizer(str(folder / "vocab.txt"), str(folder / "bpe.codes"))
    return lambda text: [
        truth.convert_tokens_to_ids(piece) for word in segment(text).split() for piece in truth.bpe(word).split(" ")
    ]


class TestPhoBert:
    @given(st.lists(st.text("toưamrờiđcvd_xé ", max_size=9), max_size=4).map(" ".join))
    def test_transformers_agrees(self, phobert, text):
        truth = LOADED.get("phobert truth") or LOADED.setdefault("phobert truth", plain_phobert(phobert, str))
        ours = LOADED.setdefault("phobert", baselines.load("PhoBERT-unsegmented", phobert))
        assert ours.encode(text) == truth(text)

    def test_by_hand(self, phobert):
        entries = (phobert / "vocab.txt").read_text("utf-8").split("\n")
        ids = {line.split(" ")[0]: number for number, line in enumerate(entries, start=4)}
        ours = baselines.load("PhoBERT-unsegmented", phobert)
        assert ours.encode("trời to") == [ids["trời"], ids["to"]]
        assert ours.encode("covid") == [ids["cov@@"], ids["id"]]
        assert ours.encode("mưa") == [3]  # merged to what is not an entry
        assert ours.vocab_size == len(ids) - 1 + 4  # the last line is empty

    def test_segmented(self, phobert):
        words = baselines.load("PhoBERT", phobert, segment=lambda text: text.replace("trời mưa", "trời_mưa"))
        plain = baselines.load("PhoBERT-unsegmented", phobert)
        assert words.encode("trời mưa to") == plain.encode("trời_mưa to")

    def test_pyvi_is_the_default(self, phobert):
        pyvi = pytest.importorskip("pyvi.ViTokenizer", reason="needs pyvi, the default segmenter")
        words, plain = (baselines.load(name, phobert) for name in ("PhoBERT", "PhoBERT-unsegmented"))
        text = "sinh viên trường đại học"
        assert "_" in pyvi.tokenize(text)
        assert words.encode(text) == plain.encode(pyvi.tokenize(text))
        assert words.encode_batch(["", "  \n"]) == [[], []]

    def test_damaged_codes(self, phobert, tmp_path):
        (tmp_path / "vocab.txt").write_bytes((phobert / "vocab.txt").read_bytes())
        (tmp_path / "bpe.codes").write_text("a b 1\nab\n")
        with pytest.raises(BaselineError, match=r"bpe.codes, line 2: not LEFT RIGHT COUNT"):
            baselines.load("PhoBERT-unsegmented", tmp_path)

    def test_transformers_agrees_on_real_text(self, data):
        folder = data("tokenizers/phobert")
        lines = data("vi/vsfc/dev/sents.txt").read_text("utf-8").split("\n")[:300]
        ours, truth = baselines.load("PhoBERT-unsegmented", folder), plain_phobert(folder, str)
        assert ours.vocab_size == 64_000
        assert ours.encode_batch(lines) == [truth(line) for line in lines]


@pytest.fixture(scope="module")
def xlmr(tmp_path_factory):
    return train_xlmr(tmp_path_factory.mktemp("xlmr"))


class TestXlmR:
    def test_fairseq_ids(self, xlmr):
        sentencepiece = pytest.importorskip("sentencepiece")
        model = sentencepiece.SentencePieceProcessor(model_file=str(xlmr / "sentencepiece.bpe.model"))
        # <s> 0, <pad> 1, </s> 2, <unk> 3, then the model's pieces behind its own <unk>, <s>, </s>; <mask>
        pieces = ["<s>", "<pad>", "</s>", "<unk>", *map(model.id_to_piece, range(3, 41)), "<mask>"]
        ours = baselines.load("XLM-R", xlmr)
        assert ours.vocab_size == len(pieces) == 43
        for text in ["Trời mưa to quá!", "đường \u4e2d trơn"]:
            tokens = model.encode_as_pieces(text)
            assert ours.encode(text) == [pieces.index(token) if token in pieces else 3 for token in tokens]
        assert not {0, 1, 2, 42} & set(ours.encode("<s> <pad> </s> <mask>"))
        assert ours.unknown_tokens(["mưa \u4e2d\u4e2d", "\u4e2d"]) == {"\u4e2d\u4e2d": 1, "\u4e2d": 1}

    def test_real_model(self, data):
        ours = baselines.load("XLM-R", data("tokenizers"))
        assert ours.vocab_size == 250_002
        assert ours.encode("") == []


class TestByteBpe:
    @given(st.text())
    def test_text_comes_back(self, trained, text):
        tokenizers = pytest.importorskip("tokenizers")
        ours = LOADED.setdefault((trained, "Byte-BPE"), baselines.load("Byte-BPE", trained))
        library = tokenizers.Tokenizer.from_file(str(trained / "byte-bpe/tokenizer.json"))
        assert library.decode(ours.encode(text)) == text
        assert len(ours.encode(text)) <= len(text.encode())

    def test_merges_are_learnt(self, trained):
        ours = baselines.load("Byte-BPE", trained)
        assert ours.vocab_size == 290
        assert len(ours.encode("covid")) < 5

    def test_control_symbols_of_a_foreign_file_are_left_out(self, trained, tmp_path):
        tokenizers = pytest.importorskip("tokenizers")
        library = tokenizers.Tokenizer.from_file(str(trained / "byte-bpe/tokenizer.json"))
        library.add_special_tokens(["<|end|>"])
        library.save(str(tmp_path / "tokenizer.json"))
        ours = baselines.load("Byte-BPE", tmp_path)
        assert ours.encode("mưa<|end|>to") == [*ours.encode("mưa"), *ours.encode("to")]

    def test_too_small(self, tmp_path):
        with pytest.raises(BaselineError, match=r"each of the 256 bytes"):
            baselines.train("Byte-BPE", WORDS, tmp_path, 100)

    def test_damaged(self, tmp_path):
        (tmp_path / "tokenizer.json").write_text(json.dumps({"model": 1}))
        with pytest.raises(BaselineError, match=r"tokenizer.json: not a file of the library tokenizers"):
            baselines.load("Byte-BPE", tmp_path)
