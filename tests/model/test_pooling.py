"""The input of the heads for whole texts: the first position, as BERT's, or the mean of all but padding."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from transformers import AutoModelForSequenceClassification

from phonemic.encoding import PACKED_CLS, PACKED_SEP
from phonemic_bert import (
    CheckpointError,
    PhonemicBertConfig,
    PhonemicBertForMaskedLM,
    PhonemicBertForSequenceClassification,
    PhonemicBertModel,
)
from phonemic_bert.configuration import PlainModernBertConfig
from phonemic_bert.modeling.plain import PlainModernBertForSequenceClassification, PlainModernBertModel
from phonemic_bert.triples import triples

backbones = pytest.mark.parametrize("backbone", ["bert", "modernbert"])


def rows(*lengths):
    """Texts of random syllables, padded, and their attention mask."""
    random = np.random.default_rng(0)
    packed = triples("zh").packed
    texts = [torch.tensor([PACKED_CLS, *random.choice(packed, n).tolist(), PACKED_SEP]) for n in lengths]
    ids = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
    return texts, ids, (ids != 0).long()


def encoder(tiny, backbone, pooling):
    torch.manual_seed(0)
    return PhonemicBertModel(tiny("zh", backbone=backbone, pooling=pooling, initializer_range=0.3)).eval()


@backbones
def test_the_mean_is_of_the_positions_that_are_not_padding(tiny, backbone):
    model = encoder(tiny, backbone, "mean")
    _, ids, mask = rows(9, 2, 5)
    with torch.no_grad():
        output = model(ids, attention_mask=mask)
        as_tuple = model(ids, attention_mask=mask, return_dict=False)
    states, kept = output.last_hidden_state.double().numpy(), mask.numpy()[..., None]
    mean = (states * kept).sum(1) / kept.sum(1)
    weight, bias = (one.detach().double().numpy() for one in (model.pooler.dense.weight, model.pooler.dense.bias))
    assert np.allclose(output.pooler_output.numpy(), np.tanh(mean @ weight.T + bias), atol=1e-5)
    assert torch.equal(as_tuple[1], output.pooler_output)


@backbones
@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_padding_changes_nothing(tiny, backbone, pooling):
    model = encoder(tiny, backbone, pooling)
    texts, ids, mask = rows(9, 2, 5)
    with torch.no_grad():
        together = model(ids, attention_mask=mask).pooler_output
        for text, pooled in zip(texts, together, strict=True):
            assert torch.allclose(model(text[None]).pooler_output[0], pooled, atol=1e-5)


@backbones
def test_by_default_it_is_berts(tiny, backbone):
    """The same weights, seed for seed, and the state of [CLS]."""
    _, ids, mask = rows(7, 3)
    model = encoder(tiny, backbone, "first")
    with torch.no_grad():
        output = model(ids, attention_mask=mask)
        first = torch.tanh(model.pooler.dense(output.last_hidden_state[:, 0]))
    assert PhonemicBertConfig("zh").pooling == "first"
    assert torch.equal(output.pooler_output, first)


@backbones
def test_a_pretrained_model_is_fine_tuned_with_either(tmp_path, tiny, backbone):
    PhonemicBertForMaskedLM(tiny("zh", backbone=backbone)).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["pooling"]  # older checkpoints have none
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = {}
    for options in ({}, {"pooling": "mean"}):
        torch.manual_seed(1)
        model = AutoModelForSequenceClassification.from_pretrained(tmp_path, num_labels=3, **options).eval()
        assert isinstance(model, PhonemicBertForSequenceClassification)
        found[model.config.pooling] = model
    _, ids, mask = rows(6, 4)
    with torch.no_grad():
        first, mean = (found[name](ids, attention_mask=mask).logits for name in ("first", "mean"))
    assert not torch.allclose(first, mean)
    found["mean"].save_pretrained(tmp_path / "tuned")
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path / "tuned").eval()
    with torch.no_grad():
        assert torch.equal(again(ids, attention_mask=mask).logits, mean)


def test_plain_models_have_the_same():
    shape = {"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16}
    config = PlainModernBertConfig(vocab_size=20, pad_token_id=0, pooling="mean", num_labels=4, **shape)
    ids = torch.tensor([[1, 7, 8, 2, 0, 0], [1, 9, 10, 11, 12, 2]])
    mask = (ids != 0).long()
    torch.manual_seed(0)
    model = PlainModernBertModel(config).eval()
    with torch.no_grad():
        output = model(ids, attention_mask=mask)
        mean = output.last_hidden_state[0, :4].mean(0)
        assert torch.allclose(output.pooler_output[0], torch.tanh(model.pooler.dense(mean)), atol=1e-6)
        assert PlainModernBertForSequenceClassification(config)(ids, attention_mask=mask).logits.shape == (2, 4)


def test_another_is_refused():
    for made in (lambda: PhonemicBertConfig("vi", pooling="max"), lambda: PlainModernBertConfig(pooling="max")):
        with pytest.raises(CheckpointError, match="pooling='max': choose one of first, mean"):
            made()
