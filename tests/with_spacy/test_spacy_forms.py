"""With ``form=True`` the tokens say what they say without; the Doc's ids give its text back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import Tokenizer

spacy = pytest.importorskip("spacy")
from spacy.tokens import DocBin  # noqa: E402

from spacy_phonemic import render  # noqa: E402
from spacy_phonemic.attributes import NAMES  # noqa: E402
from spacy_phonemic.columns import MASKS, token_columns  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

from spacy_helpers import SYLLABLES, VI, ZH  # noqa: E402

TEXTS = {
    "vi": [VI, "Quốc  Kỳ bay,\tHÀ hÀ hòa 😀😀\n\n x\u0301\u0301 e\u200b \u200bnga\u0303_na", ""],
    "zh": [ZH, "银行 行长，\u3000重庆😀 乂ABC\u0301é\u200b\n\n花儿\U00020000", ""],
}


def pipeline(lang, form, tokenizer=False, **options):
    """With our tokenizer, the component, or both; ``form`` in the component, or in the tokenizer alone."""
    own = {**SYLLABLES["nlp"]["tokenizer"], "lang": lang, "form": form} if tokenizer else SYLLABLES["nlp"]["tokenizer"]
    nlp = spacy.blank(lang, config={"nlp": {"tokenizer": own}})
    if not tokenizer:
        nlp.add_pipe("phonemic", config={"form": form, **options})
    return nlp


def same(one, other):
    assert [token.text_with_ws for token in one] == [token.text_with_ws for token in other]
    for name in NAMES:
        for each, expected in zip(one, other, strict=True):
            if expected.has_extension(name):
                assert each._.get(name) == expected._.get(name), name
    assert one._.syllables == other._.syllables
    assert one._.ipa == other._.ipa
    assert render(one, jupyter=False) == render(other, jupyter=False)
    columns = [token_columns(doc, ["NORM"], [*MASKS, "bigram"]) for doc in (one, other)]
    assert np.array_equal(*columns)


@pytest.mark.parametrize("lang", ["vi", "zh"])
@pytest.mark.parametrize("tokenizer", [False, True])
def test_the_tokens_are_the_same(lang, tokenizer):
    written, plain = (pipeline(lang, form, tokenizer) for form in (True, False))
    for doc, other in zip(written.pipe(TEXTS[lang]), plain.pipe(TEXTS[lang]), strict=True):
        same(doc, other)
        encoding = doc._.phonemic
        assert encoding == Tokenizer(lang, form=True).encode(doc.text)
        assert Tokenizer(lang, form=True).decode(encoding.ids) == doc.text


NLPS = {form: pipeline("vi", form, word_joiner="_") for form in (True, False)}


@given(st.text(st.sampled_from("àHeghnoô银 _\n\t.\u0301\u200b😀"), max_size=15))
def test_any_text(text):
    one, other = (NLPS[form](text) for form in (True, False))
    assert [token.text for token in one] == [token.text for token in other]
    assert one._.syllables == other._.syllables
    for token, expected in zip(one, other, strict=True):
        assert token._.syllables == expected._.syllables
        assert (token._.onset, token._.is_syllable) == (expected._.onset, expected._.is_syllable)


def test_stored_and_saved(tmp_path):
    nlp = pipeline("vi", True, store=True)
    kept = DocBin(store_user_data=True, docs=[nlp(text) for text in TEXTS["vi"][:2]])
    nlp.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert loaded.get_pipe("phonemic").tokenizer == Tokenizer("vi", form=True)
    for doc, text in zip(kept.get_docs(loaded.vocab), TEXTS["vi"], strict=False):
        assert doc._.phonemic.ids.tolist() == Tokenizer("vi", form=True).encode(text).ids.tolist()
        same(doc, pipeline("vi", False)(text))


def test_what_excludes_them():
    with pytest.raises(ValueError, match="form and sandhi exclude each other"):
        spacy.blank("zh").add_pipe("phonemic", config={"form": True, "sandhi": True})
