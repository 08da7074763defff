"""Tags of triples: none is lost on its way through NLTK."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

nltk = pytest.importorskip("nltk", reason="needs NLTK: pip install 'phonemic[nltk]'")

from nltk.corpus.reader import TaggedCorpusReader  # noqa: E402
from nltk.tag import str2tuple, tuple2str, untag  # noqa: E402
from nltk_helpers import LANGS, TAGGERS, TEXTS  # noqa: E402

from nltk_phonemic import PhonemicTagger, format_tag, parse_tag  # noqa: E402
from phonemic.inventory import SPECIALS, vocabulary  # noqa: E402


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


def test_tagged_corpus_reader(nltk_folder):
    tagger = PhonemicTagger("vi", word_joiner="_")
    sents = [["Sinh_viên", "đọc", "1/2", "cuốn", "Internet_và_đời_sống", "😅", "."], ["Gì", "cũng", "/", "+"]]
    tagged = tagger.tag_sents(sents)
    (nltk_folder / "a.pos").write_text("\n".join(" ".join(map(tuple2str, sent)) for sent in tagged), "utf-8")
    reader = TaggedCorpusReader(str(nltk_folder), r".*\.pos", encoding="utf-8")
    read = [[(token, format_tag(parse_tag(tag))) for token, tag in sent] for sent in reader.tagged_sents()]
    assert read == tagged
