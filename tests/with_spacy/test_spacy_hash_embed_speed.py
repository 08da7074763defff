"""PhonemicHashEmbed embeds a word that is in many places once: the same vectors as one by one, by thinc's chain."""

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from spacy.tokens import Doc  # noqa: E402
from spacy_helpers import VI  # noqa: E402
from thinc.api import chain  # noqa: E402

from spacy_phonemic import hash_embed  # noqa: E402
from spacy_phonemic.hash_embed import phonemic_hash_embed  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

NLP = spacy.blank("vi", config={"nlp": {"tokenizer": {"use_pyvi": False}}})
WORDS = ["Tôi", "tôi", "yêu", "Huế", "Hà Nội", "covid", "2024", ",", "🎉", "tiếng", "tieng", "tiếng"]


def filled(**options):
    """A model whose tables say something: those of sounds begin with zeros."""
    model = phonemic_hash_embed(12, ["NORM", "SHAPE"], [100, 50], homophone_noise=0, **options)
    model.initialize(X=[NLP.make_doc(VI)])
    rng = np.random.default_rng(0)
    for node in model.walk():
        if node.has_param("E"):
            node.set_param("E", rng.normal(size=node.get_param("E").shape).astype("f"))
    return model


MODEL = filled()


def one_by_one(model, docs):
    return chain(*model.layers).predict(docs)


def assert_alike(found, expected):
    assert [one.shape for one in found] == [one.shape for one in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=9), max_size=5))
def test_the_vectors_are_those_of_each_token(texts):
    docs = [Doc(NLP.vocab, words) for words in texts]
    assert_alike(MODEL.predict(docs), one_by_one(MODEL, docs))


def test_each_word_is_embedded_once(monkeypatch):
    model, seen = filled(), []
    tables = model.layers[0].layers[2].layers[0].layers[0]
    forward = tables._func

    def counting(layer, keys, is_train):
        seen.append(len(keys))
        return forward(layer, keys, is_train)

    monkeypatch.setattr(tables, "_func", counting)
    docs = [Doc(NLP.vocab, ["Tôi", "yêu", "Huế", "yêu", "Tôi"]), Doc(NLP.vocab, ["Tôi"])]
    model.predict(docs)
    model.begin_update(docs)
    assert seen == [3, 6]


def test_words_that_would_be_taken_for_one_are_not(monkeypatch):
    monkeypatch.setattr(hash_embed, "MIX", np.uint64(0))
    docs = [NLP.make_doc(VI), NLP.make_doc("Tôi yêu Huế")]
    assert_alike(MODEL.predict(docs), one_by_one(MODEL, docs))


def test_a_model_that_was_saved_before_is_read():
    """The layers are a chain's still, so that its bytes fit."""
    before = chain(*filled().layers)
    model = phonemic_hash_embed(12, ["NORM", "SHAPE"], [100, 50], homophone_noise=0).from_bytes(before.to_bytes())
    docs = [NLP.make_doc(VI)]
    assert_alike(model.predict(docs), before.predict(docs))


@pytest.mark.parametrize("options", [{"include_static_vectors": True}, {"components": ["syllable", "bigram"]}])
def test_what_is_not_a_token_s_alone_is_not_taken_together(options):
    """A word's vectors are not among the columns, and a bigram is seldom there twice: such models are plain chains."""
    NLP.vocab.set_vector("Tôi", np.ones(4, "f"))
    model = filled(**options)
    docs = [Doc(NLP.vocab, ["Tôi", "yêu", "Huế", "yêu", "Tôi"])]
    assert_alike(model.predict(docs), one_by_one(model, docs))
