"""The vectors of positions, against one plain pass of the model and against the tokens' vectors."""

import gc
import pickle

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import SYLLABLES, TEXTS, VI, ZH, docs_of, own_positions, plain_hidden  # noqa: E402

from phonemic import Tokenizer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")


def pipeline(checkpoint, lang, **options):
    nlp = spacy.blank(lang, config=SYLLABLES)
    model = {"checkpoint": checkpoint[lang], "int8_inference": False, **options}
    nlp.add_pipe("phonemic_transformer", config={"model": model})
    nlp.initialize()
    return nlp


@pytest.mark.parametrize(("lang", "text"), [("vi", VI), ("zh", ZH), ("vi", "")])
def test_each_layer_is_that_of_a_plain_pass(checkpoint, lang, text):
    nlp = pipeline(checkpoint, lang)
    encoder = nlp.get_pipe("phonemic_transformer")
    encoding = Tokenizer(lang).encode(text)
    [found] = encoder.positions([nlp.make_doc(text)], layers=(0, 1, -1))
    assert np.array_equal(found.ids, encoding.ids)
    assert np.array_equal(found.spans, encoding.spans)
    assert found.vectors.shape == (3, len(encoding.ids), 24)
    assert found.vectors.dtype == np.float32
    bert = [node for node in encoder.model.walk() if node.name == "phonemic_bert"][0].shims[0]._model.bert  # noqa: RUF015
    for layer, vectors in zip(found.layers, found.vectors, strict=True):
        if len(encoding.ids):
            assert np.allclose(vectors, plain_hidden(bert, encoding.ids, layer), atol=1e-5)


def test_tokens_are_means_of_positions(checkpoint):
    nlp = pipeline(checkpoint, "vi")
    for doc in nlp.pipe([VI, *TEXTS[:4], " "]):
        found = doc._.phonemic_positions
        for token, own in zip(doc, own_positions(doc, found.spans), strict=True):
            wanted = found.vectors[0][own].mean(0) if own else np.zeros(24)
            assert np.allclose(doc.tensor[token.i], wanted, atol=1e-5)


@pytest.mark.parametrize("text", [VI, ""])
def test_all_layers_and_the_last(checkpoint, text):
    nlp = pipeline(checkpoint, "vi")
    encoder, doc = nlp.get_pipe("phonemic_transformer"), nlp.make_doc(text)
    for layers, numbers in (("all", (0, 1, 2)), (None, (-1,))):
        [found], [wanted] = encoder.positions([doc], layers=layers), encoder.positions([doc], layers=numbers)
        assert found.layers == numbers
        assert np.array_equal(found.vectors, wanted.vectors)
    with pytest.raises(ValueError, match="layers='most': name the layers"):
        encoder.positions([doc], layers="most")


def test_several_docs_are_as_each_alone_and_windows_are_averaged(checkpoint):
    nlp = pipeline(checkpoint, "vi", window=8, stride=5)
    encoder = nlp.get_pipe("phonemic_transformer")
    docs = docs_of("vi", [" ".join(TEXTS[:3]), TEXTS[0], ""])
    together = encoder.positions(docs, (-2, -1))
    for doc, found in zip(docs, together, strict=True):
        [alone] = encoder.positions([doc], (-2, -1))
        assert np.allclose(found.vectors, alone.vectors, atol=1e-5)
    assert np.allclose(nlp(docs[0]).tensor[0], together[0].vectors[1, 0], atol=1e-5)


def test_what_cannot_be_had(checkpoint):
    nlp = pipeline(checkpoint, "vi")
    encoder = nlp.get_pipe("phonemic_transformer")
    doc = nlp.make_doc(VI)
    with pytest.raises(ValueError, match="has not been through a phonemic_transformer"):
        doc._.phonemic_positions  # noqa: B018
    for layers in ((3,), (-4,), ()):
        with pytest.raises(ValueError, match="the layers 0"):
            encoder.positions([doc], layers)
    for layers in (0, [1.5], ["0"]):
        with pytest.raises(TypeError, match="give a list of whole numbers, such as"):
            encoder.positions([doc], layers)
    for wrong in (doc, "giếng", ["giếng"]):
        with pytest.raises(TypeError, match=r"takes a list of Docs: positions\(\[nlp\(text\)\]\)"):
            encoder.positions(wrong)
    with pytest.raises(ValueError, match="made for 'vi'"):
        encoder.positions(docs_of("zh", [ZH]))
    fresh = spacy.blank("vi")
    with pytest.raises(ValueError, match="no weights yet"):
        fresh.add_pipe("phonemic_transformer").positions([doc])
    doc = nlp(doc)
    assert len(doc._.phonemic_positions.ids)
    assert doc._.phonemic_positions is not doc._.phonemic_positions
    for other in (doc.copy(), doc[:3].as_doc(), pickle.loads(pickle.dumps(doc))):
        with pytest.raises(ValueError, match="has not been through a phonemic_transformer"):
            other._.phonemic_positions  # noqa: B018
        assert len(encoder.positions([other])[0].ids)
    del nlp, encoder
    gc.collect()
