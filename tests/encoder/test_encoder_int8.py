"""Products in 8 bits: near float32, the same whatever is read together with a document, and never of weights that were."""

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import SYLLABLES, TEXTS, VI, ZH, docs_of, encoder, example, pipeline  # noqa: E402
from thinc.api import Adam  # noqa: E402

from phonemic_bert.modeling import products  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel"),
    pytest.mark.skipif(not products.has_int8(), reason="this torch or processor has no products in 8 bits"),
]
MANY = {"vi": [VI, *TEXTS], "zh": [ZH, "好", "重新长大了 OK", "我们学习中文。", ZH * 9]}


def network_of(model):
    return model.shims[0]._model


@pytest.mark.parametrize("layers", [None, "all"])
@pytest.mark.parametrize("lang", MANY)
def test_vectors_are_near_those_in_float32(checkpoint, lang, layers):
    docs = docs_of(lang, MANY[lang])
    exact, model = (encoder(checkpoint[lang], docs, layers=layers, int8_inference=int8) for int8 in (False, True))
    for wanted, found in zip(exact.predict(docs), model.predict(docs), strict=True):
        assert not np.array_equal(wanted, found)
        assert np.linalg.norm(wanted - found) < 0.1 * np.linalg.norm(wanted)


@pytest.mark.parametrize("lang", MANY)
def test_a_document_has_its_vectors_alone_and_among_others(checkpoint, lang):
    docs = docs_of(lang, MANY[lang])
    model = encoder(checkpoint[lang], docs, int8_inference=True)
    together = model.predict(docs * 5)
    for doc, vectors in zip(docs * 5, together, strict=True):
        assert np.allclose(model.predict([doc])[0], vectors, atol=1e-5)


def test_vectors_are_those_of_the_weights_after_every_change():
    nlp = pipeline(int8_inference=True)
    examples = [example(nlp, text) for text in TEXTS]
    sgd, component = nlp.initialize(lambda: examples), nlp.get_pipe("phonemic_transformer")
    docs, network = [nlp.make_doc(VI)], network_of(component.model)
    kept = []

    def check():
        found = component.predict(docs)[0]
        fresh = pipeline(int8_inference=True).from_bytes(nlp.to_bytes()).get_pipe("phonemic_transformer")
        assert np.array_equal(found, fresh.predict(docs)[0])
        assert not any(np.array_equal(found, other) for other in kept)
        kept.append(found)

    nlp.update(examples, sgd=sgd)  # output layers begin at zero, and give no gradients at first
    check()
    for _ in range(2):
        nlp.update(examples, sgd=sgd)
        check()
    with torch.no_grad():
        network.bert.embeddings.word_embeddings.weight.mul_(1.5)
    check()
    other = {(component.model.shims[0].id, name): 2 * value.detach() for name, value in network.named_parameters()}
    with nlp.use_params(other):
        check()
    last = kept[-2]
    assert np.array_equal(component.predict(docs)[0], last)


def test_training_is_as_without(checkpoint):
    docs, found = docs_of("vi", TEXTS), []
    for int8 in (False, True):
        model = encoder(checkpoint["vi"], docs, int8_inference=int8)
        vectors, backprop = model.begin_update(docs)
        backprop([np.ones_like(one) for one in vectors])
        model.finish_update(Adam(0.001))
        found.append((vectors, model.to_bytes()))
    (wanted, weights), (vectors, others) = found
    assert all(np.array_equal(one, other) for one, other in zip(wanted, vectors, strict=True))
    assert weights == others


def test_processors_without_compute_in_float32(checkpoint, monkeypatch):
    docs = docs_of("vi", MANY["vi"])
    wanted = encoder(checkpoint["vi"], docs).predict(docs)
    monkeypatch.setattr("phonemic_bert.modeling.prepared.has_int8", lambda: False)
    found = encoder(checkpoint["vi"], docs, int8_inference=True).predict(docs)
    assert all(np.array_equal(one, other) for one, other in zip(wanted, found, strict=True))


def test_positions_and_tokens_are_of_the_same_numbers(checkpoint):
    nlp = spacy.blank("vi", config=SYLLABLES)
    nlp.add_pipe("phonemic_transformer", config={"model": {"checkpoint": checkpoint["vi"]}})
    nlp.initialize()
    doc = nlp(" ".join(["Hà", "Nội", "mưa", "cả", "ngày"]))
    assert np.allclose(doc.tensor, doc._.phonemic_positions.vectors[0], atol=1e-5)
