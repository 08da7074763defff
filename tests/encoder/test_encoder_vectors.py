"""The vectors of tokens, against a plain forward pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import SYLLABLES, TEXTS, VI, ZH, docs_of, encoder, own_positions, plain_hidden, reference  # noqa: E402
from spacy.tokens import Doc  # noqa: E402

from phonemic import Tokenizer  # noqa: E402
from phonemic_bert import PhonemicBertModel  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")


class TestVectors:
    @pytest.mark.parametrize("pooling", ["mean", "first"])
    @pytest.mark.parametrize(("lang", "text"), [("vi", VI), ("zh", ZH)])
    def test_equal_a_plain_forward_pass(self, checkpoint, lang, text, pooling):
        docs = docs_of(lang, [text, text[:5], ""])
        model = encoder(checkpoint[lang], docs, pooling=pooling)
        bert = PhonemicBertModel.from_pretrained(checkpoint[lang])
        for doc, vectors in zip(docs, model.predict(docs), strict=True):
            assert vectors.shape == (len(doc), 24)
            assert vectors.dtype == np.float32
            assert np.allclose(vectors, reference(bert, doc, lang, pooling), atol=1e-5)

    @given(st.text("ab hoàngếquốc🎉,1\u0301 ", max_size=30), st.lists(st.integers(1, 6), max_size=30))
    @settings(max_examples=40)
    def test_whatever_the_tokenizer(self, vi_encoder, text, cuts):
        """Tokens cut at random, through the middle of syllables, over white space."""
        nlp = spacy.blank("vi", config=SYLLABLES)
        words, rest = [], text
        for cut in cuts:
            words, rest = [*words, rest[:cut]], rest[cut:]
        words = [word for word in [*words, rest] if word]
        doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words))
        assert doc.text == text
        bert = vi_encoder.shims[0]._model.bert
        assert np.allclose(vi_encoder.predict([doc])[0], reference(bert, doc, "vi"), atol=1e-5)

    def test_treebank_words(self, checkpoint, data):
        from spacy_phonemic.convert import read_conllu

        nlp = spacy.blank("vi", config=SYLLABLES)
        read = read_conllu(data("vi/ud_vtb/vi_vtb-ud-dev.conllu"), nlp)
        docs = [doc for doc in read.docs if len(doc) < 30][:40]
        assert sum(" " in token.text for doc in docs for token in doc) > 50
        model = encoder(checkpoint["vi"], docs)
        bert = PhonemicBertModel.from_pretrained(checkpoint["vi"])
        for doc, vectors in zip(docs, model.predict(docs), strict=True):
            assert np.allclose(vectors, reference(bert, doc, "vi"), atol=1e-5)

    def test_tokens_without_positions(self, checkpoint):
        docs = docs_of("vi", ["", "   ", "\n", "hoà  bình", "\u200b"])
        vectors = encoder(checkpoint["vi"], docs).predict(docs)
        assert [len(each) for each in vectors] == [len(doc) for doc in docs]
        for doc, each in zip(docs, vectors, strict=True):
            for token, vector in zip(doc, each, strict=True):
                assert bool(vector.any()) == token.text.strip("\u200b \n").isalpha()
        model = encoder(checkpoint["vi"], docs)
        assert [each.shape for each in model.predict(docs[:3])] == [(0, 24), (1, 24), (1, 24)]
        empty, backprop = model.begin_update(docs[:3])
        assert backprop([np.ones_like(each) for each in empty]) == []

    def test_long_documents_average_where_windows_overlap(self, checkpoint):
        """Seven syllables in windows of four, three apart: the fourth is in both."""
        docs = docs_of("vi", ["một hai ba bốn năm sáu bảy"])
        model = encoder(checkpoint["vi"], docs, window=4, stride=3)
        bert = model.shims[0]._model.bert
        ids = Tokenizer("vi").encode(docs[0].text).ids
        left, right = plain_hidden(bert, ids[:4]), plain_hidden(bert, ids[3:])
        by_hand = np.vstack([left[:3], (left[3] + right[0]) / 2, right[1:]])
        assert np.allclose(model.predict(docs)[0], by_hand, atol=1e-5)
        assert not np.allclose(left[3], right[0], atol=1e-2)

    def test_longer_than_512(self):
        docs = docs_of("vi", ["hoà bình ở Huế " * 300])
        model = encoder(None, docs, preset="paper-tiny", window=510, stride=384)
        (vectors,) = model.predict(docs)
        assert vectors.shape == (1200, 128)
        assert np.abs(vectors).min(axis=1).max() > 0
        bert, ids = model.shims[0]._model.bert, Tokenizer("vi").encode(docs[0].text).ids
        assert np.allclose(vectors[:384], plain_hidden(bert, ids[:510])[:384], atol=1e-4)
        assert np.allclose(vectors[-180:], plain_hidden(bert, ids[-510:])[-180:], atol=1e-4)

    def test_neither_order_nor_padding_matters(self, checkpoint):
        docs = docs_of("vi", [*TEXTS[:7], "", VI, " ".join(TEXTS), "Huế"])
        model = encoder(checkpoint["vi"], docs)
        alone = [model.predict([doc])[0] for doc in docs]
        for size in (1, 70, 100_000):
            other = encoder(checkpoint["vi"], docs, max_batch_positions=size)
            for one, each in zip(alone, other.predict(docs), strict=True):
                assert np.allclose(one, each, atol=1e-5)
        for one, each in zip(alone[::-1], model.predict(docs[::-1]), strict=True):
            assert np.allclose(one, each, atol=1e-5)

    def test_layers(self, checkpoint):
        docs = docs_of("vi", [VI])
        ids = Tokenizer("vi").encode(VI).ids
        for layer in (0, 1, 2, -1, -3):
            model = encoder(checkpoint["vi"], docs, layers=[layer])
            hidden = plain_hidden(model.shims[0]._model.bert, ids, layer)
            spans = Tokenizer("vi").encode(VI).spans
            want = [hidden[own].mean(0) if own else np.zeros(24) for own in own_positions(docs[0], spans)]
            assert np.allclose(model.predict(docs)[0], want, atol=1e-5)
        mixed = encoder(checkpoint["vi"], docs, layers=[0, 1, 2])
        singles = [encoder(checkpoint["vi"], docs, layers=[layer]).predict(docs)[0] for layer in (0, 1, 2)]
        assert np.allclose(mixed.predict(docs)[0], np.mean(singles, axis=0), atol=1e-5)
        whole = encoder(checkpoint["vi"], docs, layers="all")
        assert np.array_equal(whole.predict(docs)[0], mixed.predict(docs)[0])
        vectors, backprop = mixed.begin_update(docs)
        backprop([np.random.default_rng(0).normal(size=vectors[0].shape).astype(np.float32)])
        assert mixed.shims[0]._model.mix.grad.abs().sum() > 0

    def test_dropout_is_for_training(self):
        docs = docs_of("vi", [VI])
        model = encoder(None, docs, preset="paper-tiny")
        one, other = (model.predict(docs)[0] for _ in range(2))
        assert np.array_equal(one, other)
        (one,), (other,) = (model.begin_update(docs)[0] for _ in range(2))
        assert not np.allclose(one, other, atol=1e-3)

    def test_gradient_is_the_derivative(self, checkpoint):
        """Through the pooling and the windows: a numerical derivative by one weight of the embedding table."""
        docs = docs_of("vi", TEXTS[:2])
        model = encoder(checkpoint["vi"], docs, window=5, stride=3)
        network = model.shims[0]._model
        vectors, backprop = model.begin_update(docs)
        rng = np.random.default_rng(0)
        weights = [rng.normal(size=each.shape).astype(np.float32) for each in vectors]
        backprop(weights)
        table = network.bert.embeddings.word_embeddings.weight
        row = int(Tokenizer("vi").encode(docs[0].text).components[0, 1])
        network.double()
        step, losses = 1e-3, []
        for sign in (1, -1):
            with torch.no_grad():
                table[row, 3] += sign * step
            losses.append(sum(float((w * v).sum()) for w, v in zip(weights, model.predict(docs), strict=True)))
            with torch.no_grad():
                table[row, 3] -= sign * step
        assert table.grad[row, 3] == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=0.02)
