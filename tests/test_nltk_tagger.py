"""The NLTK tagger: readings, options, backoff, training; the packed fallback."""

import json
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

nltk = pytest.importorskip("nltk", reason="needs NLTK: pip install 'phonemic[nltk]'")

from nltk.jsontags import JSONTaggedDecoder, JSONTaggedEncoder  # noqa: E402
from nltk.tag import DefaultTagger, UnigramTagger  # noqa: E402
from nltk.tag.api import TaggerI  # noqa: E402
from nltk_helpers import EXAMPLES, LANGS, TEXTS  # noqa: E402

from nltk_phonemic import OnsetRimeTokenizer, PhonemicTagger, PhonemicTokenizer, format_tag, parse_tag  # noqa: E402


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


def test_a_backoff_looks_at_each_token_once():
    class Counting(list):
        seen = 0

        def __iter__(self):
            Counting.seen += 1
            return super().__iter__()

    tokens = Counting(["nhà", "web"] * 500)
    chained = UnigramTagger(model={"x": "X"}, backoff=PhonemicTagger("vi"))
    tags = [chained.tag_one(tokens, index, []) for index in range(len(tokens))]
    assert tags == [tag for _, tag in PhonemicTagger("vi").tag(tokens)]
    assert Counting.seen < 10
