"""The NLTK tokenizers and tagger: their interfaces, their tags, and three treebanks whole."""

import doctest
import importlib
import json
import pickle
import re
import subprocess
import sys
import unicodedata
from bisect import bisect_right
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

nltk = pytest.importorskip("nltk", reason="needs NLTK: pip install 'phonemic[nltk]'")

from nltk.corpus.reader import PlaintextCorpusReader, TaggedCorpusReader  # noqa: E402
from nltk.jsontags import JSONTaggedDecoder, JSONTaggedEncoder  # noqa: E402
from nltk.tag import DefaultTagger, UnigramTagger, str2tuple, tuple2str, untag  # noqa: E402
from nltk.tag.api import TaggerI  # noqa: E402
from nltk.tokenize import LineTokenizer  # noqa: E402
from nltk.tokenize.api import TokenizerI  # noqa: E402

from nltk_phonemic import OnsetRimeTokenizer, PhonemicTagger, PhonemicTokenizer, format_tag, parse_tag  # noqa: E402
from phonemic import Tokenizer, mandarin, vietnamese  # noqa: E402
from phonemic.characters import IGNORABLE, LETTER, MARK, SPACE, kind_of  # noqa: E402
from phonemic.inventory import NATIVE, SPECIALS, vocabulary  # noqa: E402

ROOT = Path(__file__).parent.parent
LANGS = ("vi", "zh")
EXAMPLES = {lang: (ROOT / "examples" / f"sentences-{lang}.txt").read_text("utf-8").splitlines() for lang in LANGS}

#: Syllables, Han, marks, ignorable characters, separators and everything else.
TEXTS = st.text(
    st.one_of(
        st.sampled_from("aăâeêioôơuưyngtchqđÀẾỆổủ银行长乐重\u0301\u0323\u0302\u200b\ufe0f\u1161 \n\t_/+|.,1😅👍🏽"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=30,
)
TOKENIZERS = {(lang, joiner): PhonemicTokenizer(lang, word_joiner=joiner) for lang in LANGS for joiner in (None, "_")}
TAGGERS = {lang: PhonemicTagger(lang) for lang in LANGS}
PARTS = {lang: OnsetRimeTokenizer(lang) for lang in LANGS}


@pytest.mark.parametrize("module", ["", ".tags", ".tokenizer", ".tagger"])
def test_doctests(module):
    result = doctest.testmod(importlib.import_module(f"nltk_phonemic{module}"))
    assert result.attempted
    assert not result.failed


def test_the_tutorial():
    blocks = re.findall(r"```pycon\n(.*?)```", (ROOT / "docs" / "guide" / "nltk.md").read_text("utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/guide/nltk.md", "docs/guide/nltk.md", 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 25
    assert not result.failed


# --- Tokenizers


@given(TEXTS, st.sampled_from(sorted(TOKENIZERS, key=str)))
def test_tokens_are_the_text_at_the_spans_and_little_is_left_out(text, options):
    tokenizer, joiner = TOKENIZERS[options], options[1]
    spans = list(tokenizer.span_tokenize(text))
    assert tokenizer.tokenize(text) == [text[start:end] for start, end in spans]
    positions = [tuple(span) for span in tokenizer.tokenizer.encode(text).spans.tolist()]
    for start, end in spans:  # a token is a position, or letters and digits
        inside = [position for position in positions if start <= position[0] and position[1] <= end]
        assert inside[0][0] == start
        assert inside[-1][1] == end
        assert len(inside) == 1 or all(kind_of(text[at]) == LETTER or text[at].isalnum() for at, _ in inside)
    at, left_out = 0, ""
    for start, end in spans:
        assert at <= start < end
        left_out += text[at:start]
        at = end
    left_out += text[at:]
    assert {kind_of(char) for char in left_out if char != joiner} <= {SPACE, MARK, IGNORABLE}
    # A mark is left out only where no character stands before it.
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


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """A folder that NLTK may read: since 3.10 its corpus readers refuse any other."""
    monkeypatch.setattr("nltk.data.path", [*nltk.data.path, str(tmp_path)])
    return tmp_path


@pytest.mark.parametrize("lang", LANGS)
def test_corpus_reader(lang, corpus):
    for name, lines in (("one.txt", EXAMPLES[lang][:10]), ("two.txt", EXAMPLES[lang][10:])):
        (corpus / name).write_text("\n".join(lines) + "\n", "utf-8")
    tokenizer = PhonemicTokenizer(lang)
    reader = PlaintextCorpusReader(
        str(corpus), r".*\.txt", word_tokenizer=tokenizer, sent_tokenizer=LineTokenizer(), encoding="utf-8"
    )
    wanted = tokenizer.tokenize_sents(EXAMPLES[lang])
    assert [list(sent) for sent in reader.sents()] == wanted
    assert list(reader.words()) == [word for sent in wanted for word in sent]
    assert [list(sent) for para in reader.paras("two.txt") for sent in para] == wanted[10:]
    assert nltk.Text(reader.words()).vocab().N() == sum(map(len, wanted))


# --- Parts of a word


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


# --- Tags


def test_no_tag_is_lost_in_upper_case():
    for lang in LANGS:
        symbols = [symbol for symbol in vocabulary(lang) if symbol not in SPECIALS]
        assert len({symbol.upper() for symbol in symbols}) == len(symbols)
        for symbol in symbols:
            assert symbol.upper().lower() == symbol
            assert not set(symbol) & {"|", " "}
    assert parse_tag("T͡Ʂ|\ua7cb|˥˩") == [("t͡ʂ", "ɤ", "˥˩")]


@pytest.mark.parametrize("lang", LANGS)
def test_every_symbol_survives_str2tuple(lang):
    vocab = vocabulary(lang)
    triples = [(symbol,) * 3 for symbol in [*vocab.by_role("fallback"), "[UNK]"]]
    triples += [(onset, "a", vocab.by_role("tone")[0]) for onset in [*vocab.by_role("onset"), "[EMPTY]"]]
    triples += [("[EMPTY]", rime, vocab.by_role("tone")[0]) for rime in vocab.by_role("rime")]
    triples += [("m", "a", tone) for tone in vocab.by_role("tone")]
    for triple in triples:
        tag = format_tag([triple, triple])
        assert parse_tag(tag) == [triple, triple]
        for sep in ("/", "_"):
            token, read = str2tuple(tuple2str(("a/b_c", tag), sep), sep)
            assert token == "a/b_c"
            assert read == tag.upper()
            assert format_tag(parse_tag(read)) == tag


@pytest.mark.parametrize(
    "tag", ["NN", "a|b", "t|oi̯|˧˧|", "+", "t|oi̯|˧˧+", "q|oi̯|xx", "ab", "||", "t||˧˧", "a|a|a", "[CLS]"]
)
def test_a_tag_of_another_tagger_is_refused(tag):
    with pytest.raises(ValueError, match=re.escape(f"the tag {tag!r} is neither")):
        parse_tag(tag)


@given(st.lists(TEXTS, max_size=8), st.sampled_from(LANGS))
def test_any_tagged_sentence_survives(tokens, lang):
    tagged = TAGGERS[lang].tag(tokens)
    assert untag(tagged) == tokens
    text = (" " if lang == "vi" else "").join(tokens)
    encoding = TAGGERS[lang].tokenizer.encode(text)
    assert [triple for _, tag in tagged for triple in parse_tag(tag)] == encoding.triples
    for token, tag in tagged:
        assert str2tuple(tuple2str((token, tag))) == (token, tag.upper())
        assert format_tag(parse_tag(tag.upper())) == tag
        assert not re.search(r"[\s/_]", tag)
        if lang == "vi":
            assert format_tag(TAGGERS["vi"].tokenizer.encode(token).triples) == tag


def test_tagged_corpus_reader(corpus):
    tagger = PhonemicTagger("vi", word_joiner="_")
    sents = [["Sinh_viên", "đọc", "1/2", "cuốn", "Internet_và_đời_sống", "😅", "."], ["Gì", "cũng", "/", "+"]]
    tagged = tagger.tag_sents(sents)
    (corpus / "a.pos").write_text("\n".join(" ".join(map(tuple2str, sent)) for sent in tagged), "utf-8")
    reader = TaggedCorpusReader(str(corpus), r".*\.pos", encoding="utf-8")
    read = [[(token, format_tag(parse_tag(tag))) for token, tag in sent] for sent in reader.tagged_sents()]
    assert read == tagged


# --- Tagger


def test_mandarin_is_read_in_its_sentence():
    tagger = PhonemicTagger("zh")
    assert [tag for _, tag in tagger.tag(["银行", "行长"])] == ["|in|˧˥+x|aŋ|˧˥", "x|aŋ|˧˥+t͡ʂ|aŋ|˨˩˦"]
    # One character a token: the phrases still lie across them.
    assert [tag for _, tag in tagger.tag([*"银行行长"])] == ["|in|˧˥", "x|aŋ|˧˥", "x|aŋ|˧˥", "t͡ʂ|aŋ|˨˩˦"]
    assert tagger.tag(["行"])[0][1] == "ɕ|iŋ|˧˥"
    own = PhonemicTagger("zh", phrases={"行长": "xing2 chang2"}, word_joiner="-")
    assert own.tag(["行长", "行-长"])[0][1] == "ɕ|iŋ|˧˥+t͡ʂʰ|aŋ|˧˥"
    assert own.tag(["行-长"])[0][1] == "ɕ|iŋ|˧˥+t͡ʂ|aŋ|˨˩˦"


def test_options_reach_the_tokenizer():
    assert PhonemicTagger("vi").tag(["hoc"]) == [("hoc", "h|ɔk|˧˧")]
    assert PhonemicTagger("vi", strict=True).tag(["hoc"]) == [("hoc", "h+o+c")]
    assert PhonemicTagger("vi").tag(["sinh_viên"])[0][1] == "ʂ|iɲ|˧˧+＿+v|ien|˧˧"
    assert PhonemicTagger("vi", word_joiner="_").tag(["sinh_viên"])[0][1] == "ʂ|iɲ|˧˧+v|ien|˧˧"
    assert PhonemicTagger("vi").tag(["sinh viên"])[0][1] == "ʂ|iɲ|˧˧+v|ien|˧˧"


def test_tokens_that_are_no_syllable():
    tokens = ["web", "😅", "1/2", " ", "", "+", "Nam,"]
    tags = ["w+e+b", "[UNK]", "1+／+2", "", "", "＋", "n|am|˧˧+,"]
    assert PhonemicTagger("vi").tag(tokens) == list(zip(tokens, tags, strict=True))
    tags = [tag if "|" in tag else "X" for tag in tags]
    assert PhonemicTagger("vi", backoff=DefaultTagger("X")).tag(tokens) == list(zip(tokens, tags, strict=True))
    assert PhonemicTagger("vi", backoff=UnigramTagger(model={"x": "X"})).tag(["web"]) == [("web", None)]


@given(
    st.lists(st.one_of(TEXTS, st.sampled_from(["银行", "行长", "giếng", "web"])), max_size=8), st.sampled_from(LANGS)
)
def test_as_a_backoff_it_gives_what_it_gives_alone(tokens, lang):
    for tagger in (PhonemicTagger(lang), PhonemicTagger(lang, backoff=DefaultTagger("X"))):
        chained = UnigramTagger(model={"web": "P"}, backoff=tagger)
        wanted = [(token, "P" if token == "web" else tag) for token, tag in tagger.tag(tokens)]
        assert chained.tag(tokens) == wanted
        assert [tagger.tag_one(tokens, index, []) for index in range(len(tokens))] == [t for _, t in tagger.tag(tokens)]


def test_backoff_sees_the_tags_before_it():
    class Echo(DefaultTagger):
        def choose_tag(self, tokens, index, history):
            return f"{index}:{history[-1] if history else ''}"

    assert [tag for _, tag in PhonemicTagger("vi", backoff=Echo("")).tag(["web", "ta", "web"])] == [
        "0:",
        "t|a|˧˧",
        "2:t|a|˧˧",
    ]


def test_a_list_that_changes_is_read_again():
    tagger, tokens = PhonemicTagger("vi"), ["ta"]
    assert tagger.choose_tag(tokens, 0, []) == "t|a|˧˧"
    tokens[0] = "ma"
    assert tagger.choose_tag(tokens, 0, []) == "m|a|˧˧"


def test_training_and_evaluation():
    tagger = PhonemicTagger("zh")
    gold = tagger.tag_sents([[*line] for line in EXAMPLES["zh"]])
    assert tagger.accuracy(gold) == 1
    trained = UnigramTagger(gold, backoff=tagger)  # learns only what its backoff gets wrong: nothing
    assert trained.size() == 0
    alone = UnigramTagger(gold)
    assert 0.9 < alone.accuracy(gold) < 1  # 行 长 着 乐 ... have no one reading
    changed = [[(token, "X" if token == "的" else tag) for token, tag in sent] for sent in gold]
    assert UnigramTagger(changed, backoff=tagger).size() == 1
    share = sum(token == "的" for sent in gold for token, _ in sent) / sum(map(len, gold))
    assert tagger.accuracy(changed) == pytest.approx(1 - share)
    assert "的" not in tagger.confusion(gold).pretty_format()


def test_errors_say_what_and_where():
    tagger = PhonemicTagger("vi")
    with pytest.raises(TypeError, match="sentence 0 is one str; split it into tokens"):
        tagger.tag("Việt Nam")
    with pytest.raises(TypeError, match=r"sentence 1, token 0 is of type tuple, not str; .*untag"):
        tagger.tag_sents([["ta"], [("ta", "N")]])
    with pytest.raises(TypeError, match="token 1 is of type NoneType"):
        tagger.choose_tag(["ta", None], 0, [])


@pytest.mark.parametrize("backoff", [None, DefaultTagger("X")])
def test_pickle_and_json(backoff):
    tagger = PhonemicTagger("zh", word_joiner="_", phrases={"朝阳": "zhao1 yang2"}, backoff=backoff)
    chained = UnigramTagger(model={"北京": "B"}, backoff=tagger)
    tokens = ["北京", "朝阳", "APP", "，"]
    assert isinstance(tagger, TaggerI)
    text = json.dumps(chained, cls=JSONTaggedEncoder)
    for copy in (pickle.loads(pickle.dumps(chained)), json.loads(text, cls=JSONTaggedDecoder)):
        assert copy.tag(tokens) == chained.tag(tokens)
        assert repr(copy.backoff) == repr(tagger)
    shown = "" if backoff is None else ", backoff=<DefaultTagger: tag=X>"
    assert repr(tagger) == f"PhonemicTagger('zh', word_joiner='_', phrases=<1>{shown})"


def test_no_data_package_is_needed(tmp_path):
    code = (
        "import nltk, nltk.data; nltk.data.path[:] = []\n"
        "from nltk_phonemic import *\n"
        "print(PhonemicTokenizer('vi').tokenize('Ta về.'), PhonemicTagger('zh').tag(['好']), "
        "OnsetRimeTokenizer('vi').tokenize('ta'))"
    )
    done = subprocess.run([sys.executable, "-X", "utf8", "-c", code], cwd=tmp_path, check=True, capture_output=True)
    assert done.stdout.decode() == "['Ta', 'về', '.'] [('好', 'x|au|˨˩˦')] ['t', 'a']\n"


# --- Example


@pytest.mark.parametrize("arguments", [[], ["{tmp}/bank.conllu", "--lang", "vi"], ["{tmp}/plain.txt", "--lang", "zh"]])
def test_the_tour_runs(arguments, tmp_path):
    bank = "# text = Sinh viên về.\n1\tSinh viên\t_\tNOUN\n2-3\tvề.\t_\t_\n2\tvề\t_\tVERB\n2.1\tx\t_\tX\n3\t.\t_\tPUNCT\n\n"
    (tmp_path / "bank.conllu").write_text(bank, "utf-8")
    (tmp_path / "plain.txt").write_text("银行行长\n", "utf-8")
    command = [sys.executable, "-X", "utf8", str(ROOT / "examples" / "nltk_tour.py")]
    done = subprocess.run(
        [*command, *(word.format(tmp=tmp_path) for word in arguments)],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    assert "onsets" in done.stdout
    if "conllu" in str(arguments):
        assert "1 sentences, 3 words, 3 syllables" in done.stdout
        assert re.search(r"NOUN +2", done.stdout)
    if "plain" in str(arguments):
        assert re.search(r"x +2", done.stdout)


# --- Treebanks whole

TREEBANKS = {
    "vi/ud_vtb": ("vi", 3_323),
    "zh/ud_gsd": ("zh", 4_997),
    "zh/ud_gsdsimp": ("zh", 1_000),
}


def treebank(folder):
    """Each sentence as its text, the spans of its words in it, and the words."""
    for path in sorted(folder.glob("*.conllu")):
        for block in path.read_text("utf-8").strip().split("\n\n"):
            rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
            words = [row[1] for row in rows if row[0].isdigit()]
            shown = re.search(r"^# text =(.*)$", block, re.MULTILINE)  # the older traditional file has none
            text = shown[1].strip() if shown else "".join(words)
            spans, at = [], 0
            for word in words:
                start = text.index(word, at)
                at = start + len(word)
                spans.append((start, at))
            assert not "".join(text[end:start] for (_, end), (start, _) in pairwise(spans)).strip()
            yield text, spans, words


@pytest.mark.parametrize("name", TREEBANKS)
def test_treebank(name, data):
    lang, size = TREEBANKS[name]
    tokenizer, splitter, tagger = Tokenizer(lang), PhonemicTokenizer(lang), PhonemicTagger(lang)
    sentences = list(treebank(data(name)))
    assert len(sentences) >= size
    texts = [text for text, _, _ in sentences]
    all_tokens, all_spans = splitter.tokenize_sents(texts), list(splitter.span_tokenize_sents(texts))
    tagged = tagger.tag_sents([words for _, _, words in sentences])
    native = 0
    for (text, bounds, words), tokens, spans, pairs in zip(sentences, all_tokens, all_spans, tagged, strict=True):
        encoding = tokenizer.encode(text)
        native_at = {row.start for row in encoding.syllables if row.is_native}
        assert tokens == [text[start:end] for start, end in spans]
        syllables = [row.text for row in encoding.syllables if row.is_native]
        assert [token for token, span in zip(tokens, spans, strict=True) if span[0] in native_at] == syllables
        assert "".join(tokens) == re.sub(r"\s", "", text)
        # Every word has the values of the tokenizer's positions on its characters in the sentence.
        starts = [start for start, _ in bounds]
        own = [[] for _ in words]
        for (start, end), triple in zip(encoding.spans.tolist(), encoding.triples, strict=True):
            at = bisect_right(starts, start) - 1
            assert {kind_of(char) for char in text[bounds[at][1] : end]} <= {MARK}  # GSD has a lone macron as a word
            own[at].append(triple)
        assert [(word, parse_tag(tag)) for word, tag in pairs] == list(zip(words, own, strict=True)), text
        native += int((encoding.kinds == NATIVE).sum())
        for word, tag in pairs:
            assert format_tag(parse_tag(str2tuple(tuple2str((word, tag)))[1])) == tag
    assert native > 10_000


# --- the packed fallback


def test_packed_fallback():
    tagger = PhonemicTagger("vi", fallback="packed")
    assert tagger.tag(["Internet", "ở", "TP.HCM", "bc", "2024", "kkk"]) == [
        ("Internet", "i~n~t+e~r~n+e~t"),
        ("ở", "|ɘ|˧˩"),
        ("TP.HCM", "t~p+.+h~c~m"),
        ("bc", "b~c"),
        ("2024", "2~0~2+4"),
        ("kkk", "k~k+k"),
    ]
    triples = tagger.tokenizer.encode("COVID-19 ơ kkk 1/2_ôđ").triples
    for tag in (format_tag(triples), format_tag(triples).upper()):
        assert parse_tag(tag) == triples
    for wrong in ("b~", "b~c~d~e", "k~k~k", "b~1", ".~.", "~", "b~π"):
        with pytest.raises(ValueError, match="given by another tagger"):
            parse_tag(wrong)
    same = PhonemicTagger.decode_json_obj(tagger.encode_json_obj())
    assert same.tokenizer == tagger.tokenizer
    assert PhonemicTagger("vi", backoff=DefaultTagger("X"), fallback="packed").tag(["web"]) == [("web", "X")]


def test_packed_fallback_gives_each_mandarin_token_its_own_positions():
    tagger = PhonemicTagger("zh", fallback="packed")
    tokens = ["银行", "AT", "M", "20", "24", "年"]
    assert [tag for _, tag in tagger.tag(tokens)][1:5] == ["a~t", "m", "2~0", "2~4"]
    assert tagger.tag(["银", "行"])[1] == PhonemicTagger("zh").tag(["银", "行"])[1]


def test_packed_fallback_cuts_the_same_tokens():
    text = "COVID-19 ở Việt Nam: kkk 2024, iphone15pro"
    for kind in (PhonemicTokenizer, OnsetRimeTokenizer):
        assert kind("vi", fallback="packed").tokenize(text) == kind("vi").tokenize(text)
        assert repr(kind("vi", fallback="packed")) == f"{kind.__name__}('vi', fallback='packed')"
