"""Without gradients on a CPU a model computes the same as its layers, without the padding."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
from torch import nn

from phonemic import Tokenizer
from phonemic.encoding import PACKED_CLS, PACKED_SEP
from phonemic_bert import PhonemicBertConfig, PhonemicBertModel
from phonemic_bert.modeling import products, unpadded

TEXTS = {
    "vi": ["Tôi yêu tiếng Việt Nam.", "chào", "HÀ Nội là thủ đô, phải không bạn?", "", "chào"],
    "zh": ["我们学习中文。", "好", "银行行长去重庆", "好", "重新长大了 OK"],
}
DESIGNS = {
    "paper": {"num_hidden_layers": 2},
    "modern": {"backbone": "modernbert", "composition": "both", "conv_kernel_size": 3, "num_bigram_buckets": 64},
    "forms": {
        "backbone": "modernbert",
        "composition": "both",
        "head": "joint",
        "output_embeddings": "tied",
        "syllable_inventory": "attested",
        "conv_kernel_size": 3,
        "forms": "joint",
        "num_form_bigram_buckets": 64,
    },
}


def model_of(design, lang="vi", **fields):
    torch.manual_seed(3)
    shape = {"num_hidden_layers": 3, "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48}
    config = PhonemicBertConfig(
        lang=lang, max_position_embeddings=64, **{**shape, **DESIGNS[design], **fields}, initializer_range=0.3
    )
    return PhonemicBertModel(config).eval()


def batch(lang="vi", forms=False):
    tokenizer = Tokenizer(lang, form=forms)
    rows = [[PACKED_CLS, *tokenizer.encode(text).ids.tolist(), PACKED_SEP] for text in TEXTS[lang]]
    width = max(map(len, rows)) + 2
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    return ids, ids != 0


def slow(model, *args, **named):
    """The same by transformers' own layers: with gradients."""
    output = model(*args, **named)
    assert output.last_hidden_state.requires_grad
    return output


def same(found, wanted, mask):
    assert not found.requires_grad
    scale = wanted[mask].abs().max()
    assert torch.allclose(found[mask] / scale, wanted[mask] / scale, atol=1e-5)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("lang", TEXTS)
def test_the_states_are_those_of_the_layers(design, lang, fused, monkeypatch):
    if fused and not products.has_onednn():
        pytest.skip("this torch or processor has no fused products")
    monkeypatch.setattr(products, "has_onednn", lambda: fused)
    monkeypatch.setattr(products, "BLOCK", 8)
    monkeypatch.setattr(unpadded, "BLOCK", 8)
    model, (ids, mask) = model_of(design, lang), batch(lang, design == "forms")
    for given in (mask, mask.long(), None):
        kept = torch.ones_like(mask) if given is None else mask
        wanted = slow(model, ids, attention_mask=given, output_hidden_states=True)
        with torch.no_grad():
            found = model(ids, attention_mask=given, output_hidden_states=True)
            same(model(ids, given).last_hidden_state, wanted.last_hidden_state, kept)
        assert len(found.hidden_states) == len(wanted.hidden_states)
        for one, other in zip(found.hidden_states, wanted.hidden_states, strict=True):
            same(one, other, kept)
        same(found.pooler_output, wanted.pooler_output, torch.ones(len(ids), dtype=torch.bool))


@pytest.mark.parametrize("design", DESIGNS)
def test_a_text_does_not_see_the_others(design):
    model, (ids, mask) = model_of(design), batch()
    with torch.no_grad():
        together = model(ids, mask).last_hidden_state
        for row, (one, kept) in enumerate(zip(ids, mask, strict=True)):
            alone = model(one[None, kept]).last_hidden_state[0]
            assert torch.allclose(together[row, kept], alone, atol=1e-5)


@pytest.mark.parametrize("design", DESIGNS)
def test_padding_may_be_anywhere(design):
    model, (ids, mask) = model_of(design), batch()
    left, seen = ids.flip(1), mask.flip(1).clone()
    seen[0, 4] = False
    wanted = slow(model, left, attention_mask=seen).last_hidden_state
    with torch.no_grad():
        same(model(left, attention_mask=seen).last_hidden_state, wanted, seen)


@pytest.mark.parametrize("design", DESIGNS)
def test_new_weights_count_at_once(design):
    model, (ids, mask) = model_of(design), batch()
    with torch.no_grad():
        before = model(ids, mask).last_hidden_state
        for weights in model.parameters():
            weights.data = weights.data * 1.5
        after = model(ids, mask).last_hidden_state
    assert not torch.allclose(before, after, atol=1e-3)
    same(after, slow(model, ids, mask).last_hidden_state, mask)


def test_what_the_layers_alone_can_give_is_asked_of_them():
    model, (ids, mask) = model_of("modern"), batch()
    seen = []
    with torch.no_grad():
        plain = model(ids, mask).last_hidden_state
        hook = model.encoder.layers[1].register_forward_hook(lambda *given: seen.append(given))
        assert torch.allclose(model(ids, mask).last_hidden_state[mask], plain[mask], atol=1e-4)
        assert len(seen) == 1
        hook.remove()
        nothing = torch.zeros_like(mask)
        assert model(ids, nothing).last_hidden_state.shape == plain.shape
        half = model.bfloat16()(ids, mask).last_hidden_state
        assert half.dtype == torch.bfloat16


def test_a_layer_that_is_not_only_its_weights_is_called():
    class Doubled(nn.Linear):
        def forward(self, rows):
            return 2 * super().forward(rows)

    model, (ids, mask) = model_of("modern"), batch()
    old = model.encoder.layers[0].mlp.Wi
    new = Doubled(old.in_features, old.out_features, bias=False)
    new.weight = old.weight
    model.encoder.layers[0].mlp.Wi = new
    wanted = slow(model, ids, mask).last_hidden_state
    with torch.no_grad():
        same(model(ids, mask).last_hidden_state, wanted, mask)
