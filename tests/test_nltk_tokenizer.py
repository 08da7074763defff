"""The NLTK tokenizers: their interfaces, their tokens, the parts of a word."""

import doctest
import importlib
import pickle
import re
import runpy
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

nltk = pytest.importorskip("nltk", reason="needs NLTK: pip install 'phonemic[nltk]'")

from nltk.corpus.reader import PlaintextCorpusReader  # noqa: E402
from nltk.tokenize import LineTokenizer  # noqa: E402
from nltk.tokenize.api import TokenizerI  # noqa: E402
from nltk_helpers import EXAMPLES, LANGS, PARTS, ROOT, TAGGERS, TEXTS, TOKENIZERS  # noqa: E402

from nltk_phonemic import OnsetRimeTokenizer, PhonemicTagger, PhonemicTokenizer, parse_tag  # noqa: E402
from phonemic import Tokenizer, mandarin, vietnamese  # noqa: E402
from phonemic.characters import IGNORABLE, LETTER, MARK, SPACE, fold, kind_of  # noqa: E402


@pytest.mark.parametrize("module", ["", ".tags", ".tokenizer", ".tagger"])
def test_doctests(module):
    result = doctest.testmod(importlib.import_module(f"nltk_phonemic{module}"))
    assert result.attempted
    assert not result.failed


def test_the_tutorial():
    blocks = re.findall(r"```pycon\n(.*?)```", (ROOT / "docs" / "how-to" / "nltk.md").read_text("utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/how-to/nltk.md", "docs/how-to/nltk.md", 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 25
    assert not result.failed


@given(TEXTS, st.sampled_from(sorted(TOKENIZERS, key=str)))
@example("0\U00010d40", ("vi", "_"))
def test_tokens_are_the_text_at_the_spans_and_little_is_left_out(text, options):
    tokenizer, joiner = TOKENIZERS[options], options[1]
    spans = list(tokenizer.span_tokenize(text))
    assert tokenizer.tokenize(text) == [text[start:end] for start, end in spans]
    positions = [tuple(span) for span in tokenizer.tokenizer.encode(text).spans.tolist()]
    for start, end in spans:  # a token is a position, or letters and digits
        inside = [position for position in positions if start <= position[0] and position[1] <= end]
        assert inside[0][0] == start
        assert inside[-1][1] == end
        # Python's tables of characters can be older than the core's: Garay's digits are of Unicode 16
        assert len(inside) == 1 or all(
            kind_of(text[at]) == LETTER or (fold(text[at]) or text[at]).isalnum() for at, _ in inside
        )
    at, left_out = 0, ""
    for start, end in spans:
        assert at <= start < end
        left_out += text[at:start]
        at = end
    left_out += text[at:]
    assert {kind_of(char) for char in left_out if char != joiner} <= {SPACE, MARK, IGNORABLE}
    # A mark is left out only where no character is before it.
    for run in re.finditer(r"\S+", text):
        if (joiner or " ") not in run[0] and kind_of(run[0][0]) not in (MARK, IGNORABLE):
            assert not {kind_of(char) for at, char in enumerate(text) if run.start() <= at < run.end()
                        and not any(start <= at < end for start, end in spans)} - {SPACE}  # fmt: skip


@given(st.lists(TEXTS, max_size=5), st.sampled_from(LANGS))
def test_the_forms_for_sentences(texts, lang):
    for tokenizer in (TOKENIZERS[lang, "_"], PARTS[lang]):
        assert tokenizer.tokenize_sents(texts) == [tokenizer.tokenize(text) for text in texts]
        assert list(tokenizer.span_tokenize_sents(texts)) == [list(tokenizer.span_tokenize(text)) for text in texts]
        assert tokenizer.tokenize_sents(iter(texts)) == tokenizer.tokenize_sents(tuple(texts))


def test_sentences_are_one_call_of_the_core(monkeypatch):
    calls = []
    encode_batch = Tokenizer.encode_batch
    monkeypatch.setattr(Tokenizer, "encode", None)
    monkeypatch.setattr(Tokenizer, "encode_batch", lambda *a, **k: calls.append(a) or encode_batch(*a, **k))
    assert PhonemicTokenizer("vi").tokenize_sents(["Hà Nội", "Huế"]) == [["Hà", "Nội"], ["Huế"]]
    assert len(calls) == 1
    assert len(list(PhonemicTokenizer("vi").span_tokenize_sents(EXAMPLES["vi"]))) == len(EXAMPLES["vi"])
    assert len(calls) == 2
    assert len(PhonemicTagger("zh").tag_sents([["银行", "行长"], ["你好"]])) == 2
    assert len(calls) == 3


def test_words_of_every_kind():
    assert TOKENIZERS["vi", None].tokenize("COVID-19 ở Nam,") == ["COVID", "-", "19", "ở", "Nam", ","]
    assert TOKENIZERS["vi", None].tokenize("sinh_viên") == ["sinh", "_", "viên"]
    assert TOKENIZERS["vi", "_"].tokenize("sinh_viên") == ["sinh", "viên"]
    decomposed = unicodedata.normalize("NFD", "Tiếng Việt 👍🏽")
    assert TOKENIZERS["vi", None].tokenize(decomposed) == [*decomposed.split()[:2], "👍", "🏽"]
    assert TOKENIZERS["zh", None].tokenize("他说：“好！”") == [*"他说：“好！”"]
    assert TOKENIZERS["vi", None].tokenize("") == []
    assert TOKENIZERS["vi", None].tokenize_sents(["web", "", "2a b", "3"]) == [["web"], [], ["2", "a", "b"], ["3"]]


@pytest.mark.parametrize("cls", [PhonemicTokenizer, OnsetRimeTokenizer])
def test_the_interface_and_its_errors(cls):
    tokenizer = cls("zh", phrases={"朝阳": "zhao1 yang2"}, word_joiner="_")
    assert isinstance(tokenizer, TokenizerI)
    assert repr(tokenizer) == f"{cls.__name__}('zh', word_joiner='_', phrases=<1>)"
    assert pickle.loads(pickle.dumps(tokenizer)).tokenizer == tokenizer.tokenizer
    with pytest.raises(TypeError, match="one text is a str, not bytes"):
        tokenizer.tokenize(b"x")
    with pytest.raises(TypeError, match="not one str; call tokenize"):
        tokenizer.tokenize_sents("x")
    with pytest.raises(ValueError, match="unknown language 'en'"):
        cls("en")
    with pytest.raises(ValueError, match="phrases are for Mandarin"):
        cls("vi", phrases={"朝阳": "zhao1 yang2"})


@pytest.mark.parametrize("lang", LANGS)
def test_corpus_reader(lang, nltk_folder):
    for name, lines in (("one.txt", EXAMPLES[lang][:10]), ("two.txt", EXAMPLES[lang][10:])):
        (nltk_folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    tokenizer = PhonemicTokenizer(lang)
    reader = PlaintextCorpusReader(
        str(nltk_folder), r".*\.txt", word_tokenizer=tokenizer, sent_tokenizer=LineTokenizer(), encoding="utf-8"
    )
    wanted = tokenizer.tokenize_sents(EXAMPLES[lang])
    assert [list(sent) for sent in reader.sents()] == wanted
    assert list(reader.words()) == [word for sent in wanted for word in sent]
    assert [list(sent) for para in reader.paras("two.txt") for sent in para] == wanted[10:]
    assert nltk.Text(reader.words()).vocab().N() == sum(map(len, wanted))


def test_every_vietnamese_spelling_is_cut_between_its_onset_and_its_rime():
    for text, spelling in vietnamese.spellings().items():
        parts = PARTS["vi"].tokenize(text)
        assert "".join(parts) == text
        assert len(parts) == (1 if spelling.onset == "[EMPTY]" else 2), text
        rime = vietnamese.factorize(parts[-1])
        sounds = {rime.rime} if rime else set()
        after_q = vietnamese.rime_spellings(after_q=True).get(parts[-1])
        if parts[0] == "q" and after_q:
            sounds = {vietnamese.rime_of(*after_q)}
        elif parts[-1] in vietnamese.rime_spellings():
            sounds.add(vietnamese.rime_of(*vietnamese.rime_spellings()[parts[-1]]))
        assert spelling.rime in sounds, text
        if len(parts) == 2:
            known = {**vietnamese.ONSETS, "g": {"ɣ", "z"}}[parts[0]]
            assert spelling.onset in ({known} if isinstance(known, str) else known), text


@pytest.mark.parametrize(
    ("lang", "word", "parts"),
    [
        ("vi", "NGHIÊNG", ["NGH", "IÊNG"]),
        ("vi", "hòang", ["h", "òang"]),
        ("vi", "gìa", ["gì", "a"]),
        ("vi", "Gì", ["G", "ì"]),
        ("vi", "quý", ["q", "uý"]),
        ("vi", "Ðà_Nẵng", ["Ð", "à", "_", "N", "ẵng"]),
        ("vi", "Việt Nam", ["V", "iệt", "N", "am"]),
        ("vi", "c\u00adu\u0309a", ["c\u00ad", "u\u0309a"]),
        ("vi", unicodedata.normalize("NFD", "trường"), ["tr", unicodedata.normalize("NFD", "ường")]),
        ("vi", "Internet", ["Internet"]),
        ("vi", "Wi-Fi 6", ["Wi", "-", "Fi", "6"]),
        ("vi", "", []),
        ("zh", "Zhǎng", ["Zh", "ǎng"]),
        ("zh", unicodedata.normalize("NFD", "lǜ"), ["l", unicodedata.normalize("NFD", "ǜ")]),
        ("zh", "nv3", ["n", "v3"]),
        ("zh", "yuán", ["yuán"]),
        ("zh", "ér", ["ér"]),
        ("zh", "xi'an", ["x", "i", "'", "an"]),
        ("zh", "Běijīng", ["Běijīng"]),
        ("zh", "hng", ["h", "ng"]),
        ("zh", "行A", ["行", "A"]),
    ],
)
def test_parts_of_a_word(lang, word, parts):
    assert PARTS[lang].tokenize(word) == parts


def test_every_pinyin_syllable_is_cut_behind_its_initial():
    written = {text for texts in mandarin.lexicon().characters.values() for text in [texts] if text}
    assert len(written) > 1200
    for text in written:
        *initial, final = PARTS["zh"].tokenize(text)
        assert "".join([*initial, final]) == text
        triple = mandarin.factorize(text)
        assert [mandarin.INITIALS[part] for part in initial] == [triple.onset] * (triple.onset != "[EMPTY]")


@given(TEXTS, st.sampled_from(LANGS))
def test_tokens_are_tagged_as_their_text_is_read(text, lang):
    if lang == "zh":
        text = "".join(char for char in text if kind_of(char) != SPACE)
    tagged = TAGGERS[lang].tag(TOKENIZERS[lang, None].tokenize(text))
    assert [triple for _, tag in tagged for triple in parse_tag(tag)] == TAGGERS[lang].tokenizer.encode(text).triples


@given(TEXTS, st.sampled_from(LANGS))
def test_parts_only_cut_what_the_tokenizer_keeps(text, lang):
    parts, spans = PARTS[lang].tokenize(text), list(PARTS[lang].span_tokenize(text))
    assert parts == [text[start:end] for start, end in spans]
    assert all(parts)
    assert "".join(parts) == "".join(TOKENIZERS[lang, None].tokenize(text))


@pytest.mark.parametrize("arguments", [[], ["{tmp}/bank.conllu", "--lang", "vi"], ["{tmp}/plain.txt", "--lang", "zh"]])
def test_the_tour_runs(arguments, tmp_path, monkeypatch, capsys):
    bank = "# text = Sinh viên về.\n1\tSinh viên\t_\tNOUN\n2-3\tvề.\t_\t_\n2\tvề\t_\tVERB\n2.1\tx\t_\tX\n3\t.\t_\tPUNCT\n\n"
    (tmp_path / "bank.conllu").write_text(bank, "utf-8")
    (tmp_path / "plain.txt").write_text("银行行长\n", "utf-8")
    monkeypatch.setattr(sys, "argv", ["nltk_tour.py", *(word.format(tmp=tmp_path) for word in arguments)])
    runpy.run_path(str(ROOT / "examples" / "nltk_tour.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "onsets" in shown
    if "conllu" in str(arguments):
        assert "1 sentences, 3 words, 3 syllables" in shown
        assert re.search(r"NOUN +2", shown)
    if "plain" in str(arguments):
        assert re.search(r"x +2", shown)


@given(TEXTS)
def test_forms_change_no_token(text):
    for (lang, joiner), tokenizer in TOKENIZERS.items():
        written = PhonemicTokenizer(lang, word_joiner=joiner, form=True)
        assert list(written.span_tokenize(text)) == list(tokenizer.span_tokenize(text))
    for lang in LANGS:
        tokens = TOKENIZERS[lang, None].tokenize(text)
        assert PhonemicTagger(lang, form=True).tag(tokens) == TAGGERS[lang].tag(tokens)
        assert OnsetRimeTokenizer(lang, form=True).tokenize(text) == PARTS[lang].tokenize(text)
