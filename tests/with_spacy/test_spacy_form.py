"""With forms the tokens, their attributes and tags are those without; the Doc's encoding has the forms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
pytest.importorskip("nltk", reason="needs the nltk extra")

from nltk_phonemic import OnsetRimeTokenizer, PhonemicTagger, PhonemicTokenizer  # noqa: E402
from phonemic import Tokenizer  # noqa: E402
from phonemic.units import without_bytes  # noqa: E402
from spacy_phonemic.columns import ROWS, token_columns  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

TEXTS = {
    "vi": ["Quốc  kỳ hÀ 😀, x\u0301y COVID-19\n☃\ufe0f _ sinh_viên", "", " \n", "hòa hoà\t漢字"],
    "zh": ["银行 门\u200d 王，1 A\n☃\ufe0f 12 ab", "", "長長\u3000长", "_行_"],
}
TEXT = st.text(st.sampled_from("aàÀ hH\n😀\u0301\u200d\u1161~银门長，5_\ufe0f"), max_size=16)


@pytest.mark.parametrize("lang", ["vi", "zh"])
@settings(max_examples=40, deadline=None)
@given(st.lists(TEXT, max_size=4))
def test_positions_without_bytes_are_those_without_forms(lang, drawn):
    for joiner in (None, "_"):
        one, other = (Tokenizer(lang, form=form, word_joiner=joiner) for form in (True, False))
        texts = [*drawn, *TEXTS[lang]]
        found, want = without_bytes(one.encode_batch(texts, spans=True), joiner), other.encode_batch(texts, spans=True)
        for name in ("ids", "spans", "offsets"):
            assert getattr(found, name).tolist() == getattr(want, name).tolist()


@pytest.mark.parametrize("joiner", [None, "_"])
@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_nltk(lang, joiner):
    options = [{"form": form, "word_joiner": joiner} for form in (True, False)]
    for made in (PhonemicTokenizer, OnsetRimeTokenizer):
        one, other = (made(lang, **each).tokenize_sents(TEXTS[lang]) for each in options)
        assert one == other
    sents = [text.split() for text in TEXTS[lang]]
    one, other = (PhonemicTagger(lang, **each).tag_sents(sents) for each in options)
    assert one == other


@pytest.mark.parametrize("joiner", [None, "_"])
@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_spacy(lang, joiner):
    made = []
    for form in (True, False):
        options = {"form": form, "word_joiner": joiner}
        tokenizer = {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1", **options}
        nlp = spacy.blank(lang, config={"nlp": {"tokenizer": tokenizer}})
        alone = [nlp(text) for text in TEXTS[lang]]
        nlp.add_pipe("phonemic", config=options)
        made.append([*alone, *nlp.pipe(TEXTS[lang])])
    for one, other in zip(*made, strict=True):
        assert one.text == other.text
        assert [token.text_with_ws for token in one] == [token.text_with_ws for token in other]
        assert one._.syllables == other._.syllables
        assert one._.rhymes == other._.rhymes
        for name in ("onset", "rime", "tone", "ipa", "syllables", "is_syllable"):
            assert [getattr(token._, name) for token in one] == [getattr(token._, name) for token in other]
        columns = [token_columns(doc, ["NORM"], sorted(ROWS)).tolist() for doc in (one, other)]
        assert columns[0] == columns[1]
        tokenizer = Tokenizer(lang, form=True, word_joiner=joiner)
        assert one._.phonemic == tokenizer.encode(one.text)
        assert tokenizer.decode(one._.phonemic) == one.text
        assert not other._.phonemic.forms.any()
