"""Which characters a baseline's ids stand for: by hand, and what must hold of any text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phonemic import baselines
from phonemic.baselines import Baseline, BaselineError
from phonemic.baselines.offsets import Rewritten
from phonemic.baselines.segmented import aligned, composed

pytest.importorskip("sentencepiece", reason="the baselines need sentencepiece")
pytest.importorskip("tokenizers", reason="the baselines need tokenizers")

from baseline_helpers import SUBCHAR, chinese, train_subchar, train_xlmr, vietnamese, write_bert, write_phobert

REAL = (
    "Character",
    *SUBCHAR,
    "bert-base-chinese",
    "mBERT",
    "DistilBERT",
    "PhoBERT",
    "PhoBERT-unsegmented",
    "XLM-R",
)
anything = st.one_of(vietnamese, chinese, st.text(max_size=12))


def by_space(text: str) -> str:
    """Joins the first two words between white space, and puts all into NFC: what a segmenter may do."""
    words = unicodedata.normalize("NFC", text).split()
    return " ".join(["_".join(words[:2]), *words[2:]])


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, Baseline]:
    """One of every family, trained or written here."""
    folder = tmp_path_factory.mktemp("made")
    train_subchar(folder)
    for name, make in (("bert", write_bert), ("phobert", write_phobert), ("xlm-r", train_xlmr)):
        (folder / name).mkdir()
        make(folder / name)
    found = {name: baselines.load(name, folder) for name in ("Character", *SUBCHAR, "Byte-BPE", "XLM-R")}
    found |= {name: baselines.load(name, folder / "bert") for name in ("bert-base-chinese", "mBERT", "WikiBERT")}
    found["PhoBERT"] = baselines.load("PhoBERT", folder, segment=by_space)
    return found | {"PhoBERT-unsegmented": baselines.load("PhoBERT-unsegmented", folder)}


MADE = ("Character", *SUBCHAR, "Byte-BPE", "XLM-R", "bert-base-chinese", "mBERT", "PhoBERT", "PhoBERT-unsegmented")


def check(tokenizer: Baseline, text: str) -> list[tuple[int, int]]:
    """Checks the properties of every baseline."""
    ids, spans = tokenizer.encode_with_spans(text)
    assert ids == tokenizer.encode(text)
    assert len(ids) == len(spans)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    for ends in zip(*spans, strict=True) if spans else ():
        assert list(ends) == sorted(ends)
    for start, end in spans:
        piece = text[start:end]
        assert not piece.strip() or piece == piece.strip()
    return spans


class TestEveryBaseline:
    @pytest.mark.parametrize("name", MADE)
    @given(text=anything)
    @example(text="İstanbul ΣΑΣ ﷺ 🙂 e\u0301 \u200b\ufeff x")
    @example(text="\u3000今\u00a0天 ")
    def test_spans(self, made, name, text):
        spans = check(made[name], text)
        covered = {at for start, end in spans for at in range(start, end)}
        for at, char in enumerate(text):
            # White space, and what is no text of its own (marks, formats, controls), may be dropped.
            if unicodedata.category(char)[0] not in "ZMC" and char != "\u1160" and not char.isspace():
                assert at in covered or not self.alone(made[name], char), char

    @staticmethod
    def alone(tokenizer, char):
        """Whether a character by itself gives any id; some turn into white space (a Hangul filler under NFKC)."""
        ids, spans = tokenizer.encode_with_spans(char)
        return bool(ids) and any(end > start for start, end in spans)

    @pytest.mark.parametrize("name", MADE)
    def test_batches(self, made, name):
        texts = ["", " ", "Trời mưa to", "今天"]
        tokenizer = made[name]
        assert tokenizer.encode_batch_with_spans(texts) == [tokenizer.encode_with_spans(text) for text in texts]
        assert tokenizer.encode_with_spans("") == ([], [])
        with pytest.raises(TypeError, match="not one str"):
            tokenizer.encode_batch_with_spans("今天")

    @pytest.mark.parametrize("name", MADE)
    def test_surrogates(self, made, name):
        """Two halves of a character count as the two characters that they are in the text."""
        for text, wide in (("to \ud83d\ude42 to", "to 🙂 to"), ("to\ud83d to", "to\ufffd to")):
            ids, spans = made[name].encode_with_spans(text)
            plain_ids, plain = made[name].encode_with_spans(wide)
            longer = len(text) - len(wide)
            assert ids == plain_ids
            moved = [(start + longer * (start > 3), end + longer * (end > 3)) for start, end in plain]
            assert spans == moved

    def test_one_that_does_not_tell(self, tmp_path):
        class Words(Baseline):
            name, langs, folder = "Words", ("vi",), "words"

            def ids(self, texts):
                return [[0] * len(text.split()) for text in texts]

        with pytest.raises(BaselineError, match="Words does not tell which characters an id stands for"):
            Words(tmp_path).encode_with_spans("a")

    @pytest.mark.parametrize("name", MADE)
    def test_tokens(self, made, name):
        tokenizer = made[name]
        tokens = tokenizer.tokens(range(tokenizer.id_count))
        assert len(tokens) == tokenizer.id_count
        assert all(isinstance(token, str) and token for token in tokens)


class TestByHand:
    """A text of each family whose spans were worked out on paper."""

    def test_character(self, made):
        # Spaces are dropped, Ａ is not a letter that is known, and İ becomes two characters.
        assert made["Character"].encode_with_spans("今 天İ。")[1] == [(0, 1), (2, 3), (3, 4), (3, 4), (4, 5)]

    def test_subchar(self, made):
        tokenizer = made["SubChar-Pinyin"]
        text = "今 天，A"
        pieces = tokenizer.tokens(tokenizer.encode(text))
        # jin❁0 SEP tian❁0 SEP , shifted-a: the pieces lie one behind the other in this.
        written = "jin❁0\uc3aftian❁0\uc3af,\uc3b1"
        owners = [0] * 6 + [2] * 7 + [3] + [4]
        assert "".join(pieces) == written
        at, expected = 0, []
        for piece in pieces:
            expected.append((owners[at], owners[at + len(piece) - 1] + 1))
            at += len(piece)
        assert tokenizer.encode_with_spans(text)[1] == expected

    def test_part_of_a_code_has_the_whole_character(self, made):
        tokenizer = made["SubChar-Pinyin"]
        ids, spans = tokenizer.encode_with_spans("今天")
        assert tokenizer.tokens(ids) == ["j", "i", "n", "❁", "0", "\uc3af", "tian❁0\uc3af"]
        assert spans == [(0, 1)] * 6 + [(1, 2)]

    def test_subword(self, made):
        tokenizer = made["Subword"]
        ids, spans = tokenizer.encode_with_spans("我们在A")
        pieces = tokenizer.tokens(ids)
        assert [len(piece) for piece in pieces[:-1]] == [end - start for start, end in spans[:-1]]
        assert spans[-1] == (3, 4)

    def test_xlmr(self, made):
        tokenizer = made["XLM-R"]
        ids, spans = tokenizer.encode_with_spans("  to  mưa ﷺ")
        first = ["▁t", "o", "▁", "m", "ư", "a", "▁"]
        assert tokenizer.tokens(ids)[:7] == first
        assert spans[:7] == [(2, 3), (3, 4), (4, 6), (6, 7), (7, 8), (8, 9), (9, 10)]
        assert set(spans[7:]) == {(10, 11)}  # four words come of this character
        assert tokenizer.tokens(ids)[7:] == ["<unk>", "▁", "<unk>", "▁", "<unk>", "▁", "<unk>"]

    def test_xlmr_puts_a_mark_before_the_text(self, made):
        tokenizer = made["XLM-R"]
        ids, spans = tokenizer.encode_with_spans(",to")
        assert tokenizer.tokens(ids)[0] == "▁"
        assert spans[:2] == [(0, 0), (0, 1)]

    def test_bert(self, made):
        # trờ|##i is in no vocabulary: tr is unknown as a whole word; co|##v|##i|##d; "quá," is a word and a mark.
        _, spans = made["mBERT"].encode_with_spans("mưa covid, xyz今")
        assert spans == [(0, 3), (4, 6), (6, 7), (7, 8), (8, 9), (9, 10), (11, 12), (12, 13), (13, 14), (14, 15)]

    def test_bert_strips_accents(self, made):
        # In NFD: lower case, and the marks are dropped, so no piece stands for them.
        ids, spans = made["bert-base-chinese"].encode_with_spans("C" + unicodedata.normalize("NFD", "Ố") + " to")
        assert made["bert-base-chinese"].tokens(ids) == ["co", "t", "##o"]
        assert spans == [(0, 2), (5, 6), (6, 7)]
        assert made["mBERT"].encode_with_spans("Co\u0302\u0301")[1] == [(0, 4)]  # unknown as a whole

    def test_bytes_of_a_character(self, made):
        # Four bytes in two pieces; the space is a piece of its own here, so it keeps its place.
        ids, spans = made["Byte-BPE"].encode_with_spans("a🙂 b")
        assert made["Byte-BPE"].tokens(ids) == ["a", "ðŁ", "ĻĤ", "Ġ", "b"]
        assert spans == [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4)]

    def test_phobert(self, made):
        plain = made["PhoBERT-unsegmented"]
        ids, spans = plain.encode_with_spans("covid trời")
        assert plain.tokens(ids) == ["cov@@", "id", "trời"]
        assert spans == [(0, 3), (3, 5), (6, 10)]

    def test_phobert_segmented(self, made):
        words = made["PhoBERT"]
        text = unicodedata.normalize("NFD", "trời  to đi")
        ids, spans = words.encode_with_spans(text)
        # "tr" is merged to what is not an entry; the ơ huyền is three characters; the joiner stands for two spaces
        assert words.tokens(ids)[:5] == ["<unk>", "ờ@@", "i@@", "_@@", "to"]
        assert spans[:5] == [(0, 2), (2, 5), (5, 6), (6, 8), (8, 10)]

    def test_a_segmenter_that_rewrites(self, made):
        words = baselines.load("PhoBERT", made["PhoBERT"].path, segment=str.upper)
        with pytest.raises(BaselineError, match=r"PhoBERT: its segmenter writes 'to' as 'TO'"):
            words.encode_with_spans("to")


class TestSegmented:
    @given(st.text("to mư\u0302\u0301e_áｋ\u212a가\u1100\u1161\u11a8 \n", max_size=12))
    def test_composed(self, text):
        pieces = composed(text)
        assert "".join(piece for piece, _ in pieces) == text
        assert "".join(written for _, written in pieces) == unicodedata.normalize("NFC", text)

    def test_aligned_by_hand(self):
        found = aligned(zip("a, _b", "a, _b", strict=True), "a , __b")
        # a; a space that the segmenter wrote; the comma; its space; the underscore of the text; a joiner of nothing; b
        assert found == Rewritten([0, 1, 1, 2, 3, 4, 4, 5], [1, 1, 2, 2, 4, 4, 5, 5])
        assert aligned(zip("ab", "ab", strict=True), "a b c") is None

    @given(st.lists(st.text("abư", min_size=1, max_size=3), max_size=5))
    def test_aligned_words(self, words):
        """Any white space in, any of space and underscore out: each letter finds its own."""
        text, written = " \n".join(words), "_".join(words)
        found = aligned(zip(text, text, strict=True), written)
        assert found is not None
        for at, char in enumerate(written):
            if char != "_":
                assert text[found.starts[at] : found.ends[at]] == char
            else:
                assert text[found.starts[at] : found.ends[at]] == " \n"


class TestRewritten:
    @given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
    def test_of_starts_against_a_slow_search(self, steps):
        starts = [sum(steps[:at]) for at in range(len(steps) + 1)]
        found = Rewritten.of_starts(starts)
        for at, start in enumerate(starts):
            behind = [one for one in starts[at:] if one > start]
            assert found.ends[at] == (behind[0] if behind else starts[-1])

    @given(anything)
    def test_lower_case(self, text):
        """As many characters come of a character in a text as by itself, also of a final sigma."""
        origin = Rewritten.of_characters(text, str.lower)
        assert len(origin.starts) - 1 == len(text.lower())


class TestRealVocabularies:
    @pytest.mark.parametrize("name", REAL)
    def test_real_text(self, data, name):
        if name == "PhoBERT":
            pytest.importorskip("pyvi.ViTokenizer", reason="needs pyvi, the default segmenter")
        tokenizer = baselines.load(name, data("tokenizers"))
        files = {"vi": "vi/vsfc/dev/sents.txt", "zh": "zh/cmrc2018/cmrc2018_dev.json"}
        for lang in tokenizer.langs:
            for line in data(files[lang]).read_text("utf-8")[:20_000].split("\n" if lang == "vi" else "。")[:80]:
                spans = check(tokenizer, line)
                covered = {at for start, end in spans for at in range(start, end)}
                missed = {char for at, char in enumerate(line) if at not in covered and not char.isspace()}
                assert {unicodedata.category(char)[0] for char in missed} <= set("CM")
