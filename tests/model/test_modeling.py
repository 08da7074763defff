"""The model computes the paper's equations, and what transformers' BERT computes, and nothing else."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from transformers import BertConfig, BertModel, DataCollatorForLanguageModeling

from phonemic import Tokenizer
from phonemic.inventory import MASK
from phonemic_bert import (
    COMPONENTS,
    HolisticCollator,
    PhonemicBertForMaskedLM,
    PhonemicBertForMultipleChoice,
    PhonemicBertForQuestionAnswering,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
    PhonemicBertTokenizer,
)

PACKED_MASK = MASK * 0x010101


# --- the paper's equations, straight through, in float64 numpy


def linear(weights, name, x):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def layer_norm(weights, name, x, eps):
    centred = x - x.mean(-1, keepdims=True)
    return (
        centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * weights[f"{name}.weight"]
        + weights[f"{name}.bias"]
    )


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def paper(model, ids, mask, types):
    """Three (B, N, V) arrays of probabilities, after equations 4 to 7 of the paper and BERT's encoder."""
    w = {name: value.detach().double().numpy() for name, value in model.state_dict().items()}
    config, ids, mask, types = model.config, ids.numpy(), mask.numpy(), types.numpy()
    table = w["bert.embeddings.word_embeddings.weight"]
    triples = [table[ids & 255], table[ids >> 8 & 255], table[ids >> 16 & 255]]
    x = linear(w, "bert.embeddings.projection", np.concatenate(triples, axis=-1))
    x = x + w["bert.embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = x + w["bert.embeddings.token_type_embeddings.weight"][types]
    x = layer_norm(w, "bert.embeddings.LayerNorm", x, config.layer_norm_eps)
    heads, width = config.num_attention_heads, config.hidden_size // config.num_attention_heads
    for layer in range(config.num_hidden_layers):
        name = f"bert.encoder.layer.{layer}."
        query, key, value = (
            linear(w, f"{name}attention.self.{part}", x).reshape(*ids.shape, heads, width).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(width)
        attention = softmax(np.where(mask[:, None, None, :] == 1, scores, -np.inf)) @ value
        attended = linear(w, f"{name}attention.output.dense", attention.transpose(0, 2, 1, 3).reshape(x.shape))
        x = layer_norm(w, f"{name}attention.output.LayerNorm", attended + x, config.layer_norm_eps)
        inner = gelu(linear(w, f"{name}intermediate.dense", x))
        x = layer_norm(w, f"{name}output.LayerNorm", linear(w, f"{name}output.dense", inner) + x, config.layer_norm_eps)
    return [softmax(linear(w, f"heads.{component}", x)) for component in COMPONENTS]


def paper_loss(probabilities, labels):
    """Equation 8: the sum over components of the mean cross-entropy over the masked positions."""
    rows, columns = np.nonzero(labels.numpy() != -100)
    packed = labels.numpy()[rows, columns]
    parts = zip(probabilities, (packed & 255, packed >> 8 & 255, packed >> 16 & 255), strict=True)
    return sum(-np.log(p[rows, columns, target]).mean() for p, target in parts)


def masked(ids, mask, seed=1, share=0.3):
    chosen = (torch.rand(ids.shape, generator=torch.Generator().manual_seed(seed)) < share) & mask.bool()
    return ids.masked_fill(chosen, PACKED_MASK), ids.masked_fill(~chosen, -100)


@pytest.mark.parametrize(("lang", "size"), [("vi", 256), ("zh", 112)])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_forward_and_loss_are_the_papers(tiny, random_ids, lang, size, attention):
    torch.manual_seed(0)
    config = tiny(lang, initializer_range=0.3, attn_implementation=attention)
    model = PhonemicBertForMaskedLM(config).double().eval()
    ids, mask = random_ids(vocab_size=size)
    types = torch.arange(ids.shape[1]).ge(5).long().expand_as(ids)
    inputs, labels = masked(ids, mask)
    output = model(inputs, attention_mask=mask, token_type_ids=types, labels=labels)
    expected = paper(model, inputs, mask, types)
    for got, want in zip(output.logits, expected, strict=True):
        assert got.shape == (*ids.shape, size)
        real = mask.bool().numpy()
        np.testing.assert_allclose(got.softmax(-1).detach().numpy()[real], want[real], rtol=0, atol=1e-9)
    assert output.loss.item() == pytest.approx(paper_loss(expected, labels), abs=1e-9)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_equals_bert_fed_with_the_projected_embeddings(tiny, random_ids, attention):
    model = PhonemicBertModel(tiny(attn_implementation=attention)).eval()
    bert = BertModel(BertConfig(**{**tiny().to_dict(), "model_type": "bert"}, attn_implementation=attention)).eval()
    missing, unexpected = bert.load_state_dict(model.state_dict(), strict=False)
    assert not missing
    assert unexpected == ["embeddings.projection.weight", "embeddings.projection.bias"]
    ids, mask = random_ids()
    got = model(ids, attention_mask=mask)
    embedded = model.embeddings.compose(ids)
    want = bert(inputs_embeds=embedded, attention_mask=mask)
    torch.testing.assert_close(got.last_hidden_state, want.last_hidden_state, rtol=0, atol=0)
    torch.testing.assert_close(got.pooler_output, want.pooler_output, rtol=0, atol=0)
    assert torch.equal(model(inputs_embeds=embedded, attention_mask=mask).last_hidden_state, got.last_hidden_state)


# --- masking


def test_a_masked_triple_never_leaks(tiny, random_ids, monkeypatch):
    """Whatever the masked syllable was, the logits are the same; masking one component only would not give that."""
    monkeypatch.setattr("phonemic_bert.modeling.composition.check_positions", lambda ids, symbols: None)
    model = PhonemicBertForMaskedLM(tiny(initializer_range=0.3)).eval()
    ids, mask = random_ids()
    other = ids.clone()
    other[:, 3] = random_ids(seed=9)[0][:, 3]
    assert (components_of(ids)[:, 3] != components_of(other)[:, 3]).any(0).all()

    def logits(batch, replace):
        batch = batch.clone()
        labels = torch.full_like(batch, -100)
        labels[:, 3] = batch[:, 3]
        batch[:, 3] = replace(batch[:, 3])
        return torch.stack(model(batch, attention_mask=mask, labels=labels).logits)

    whole = [logits(batch, lambda column: torch.full_like(column, PACKED_MASK)) for batch in (ids, other)]
    assert torch.equal(*whole)
    for shift in (0, 8, 16):
        one = [logits(batch, lambda c, s=shift: c & ~(255 << s) | MASK << s) for batch in (ids, other)]
        assert not torch.allclose(*one, atol=1e-3)


def components_of(packed):
    return torch.stack([packed >> shift & 255 for shift in (0, 8, 16)], -1)


def test_training_computes_the_masked_positions_only(tiny, random_ids):
    model = PhonemicBertForMaskedLM(tiny(hidden_dropout_prob=0, attention_probs_dropout_prob=0))
    inputs, labels = masked(*random_ids())
    seen = []
    for head in model.heads.children():
        head.register_forward_hook(lambda module, args, output: seen.append(output.shape))
    training = model.train()(inputs, labels=labels)
    evaluation = model.eval()(inputs, labels=labels)
    chosen = labels != -100
    assert seen[:3] == [(int(chosen.sum()), 256)] * 3
    assert training.loss.item() == pytest.approx(evaluation.loss.item(), rel=1e-6)
    for few, all_of_them in zip(training.logits, evaluation.logits, strict=True):
        torch.testing.assert_close(few, all_of_them[chosen], rtol=1e-5, atol=1e-6)


def test_nothing_masked_is_no_loss_and_no_nan(tiny, random_ids):
    ids, mask = random_ids()
    model = PhonemicBertForMaskedLM(tiny()).train()
    loss = model(ids, attention_mask=mask, labels=torch.full_like(ids, -100)).loss
    loss.backward()
    assert loss.item() == 0
    assert all(p.grad is None or bool((p.grad == 0).all()) for p in model.parameters())


def test_loss_over_the_items_of_several_batches(tiny, random_ids):
    model = PhonemicBertForMaskedLM(tiny()).double().eval()
    inputs, labels = masked(*random_ids(batch=6))
    items = (labels != -100).sum()
    parts = [
        model(i, labels=y, num_items_in_batch=items).loss for i, y in zip(inputs.split(2), labels.split(2), strict=True)
    ]
    assert sum(parts).item() == pytest.approx(model(inputs, labels=labels).loss.item(), abs=1e-9)


# --- invariances


def test_padding_changes_nothing(tiny, random_ids):
    model = PhonemicBertForMaskedLM(tiny(initializer_range=0.3)).double().eval()
    ids, mask = random_ids()
    together = torch.stack(model(ids, attention_mask=mask).logits)
    for row, length in enumerate(mask.sum(1).tolist()):
        alone = torch.stack(model(ids[row : row + 1, :length]).logits)
        torch.testing.assert_close(together[:, row, :length], alone[:, 0], rtol=0, atol=1e-12)
    padded = torch.cat([ids, torch.zeros(len(ids), 20, dtype=ids.dtype)], 1)
    wider = torch.cat([mask, torch.zeros(len(ids), 20, dtype=mask.dtype)], 1)
    more = torch.stack(model(padded, attention_mask=wider).logits)
    torch.testing.assert_close(more[:, :, : ids.shape[1]][:, mask.bool()], together[:, mask.bool()], rtol=0, atol=1e-12)


def test_order_within_the_batch_changes_nothing(tiny, random_ids):
    model = PhonemicBertForMaskedLM(tiny(initializer_range=0.3)).double().eval()
    ids, mask = random_ids(batch=5)
    order = torch.tensor([3, 0, 4, 2, 1])
    straight = torch.stack(model(ids, attention_mask=mask).logits)
    shuffled = torch.stack(model(ids[order], attention_mask=mask[order]).logits)
    torch.testing.assert_close(shuffled, straight[:, order], rtol=0, atol=1e-12)


def test_int32_and_int64_ids_are_the_same(tiny, vi_lines):
    model = PhonemicBertForMaskedLM(tiny()).eval()
    ids = torch.from_numpy(Tokenizer("vi")(vi_lines[:4], max_length=20)["input_ids"])
    assert ids.dtype == torch.int32
    assert all(map(torch.equal, model(ids).logits, model(ids.long()).logits))


# --- gradients


def test_gradcheck(tiny, random_ids):
    torch.manual_seed(0)
    config = tiny(hidden_size=6, num_attention_heads=2, intermediate_size=5, num_hidden_layers=1, initializer_range=0.3)
    model = PhonemicBertForMaskedLM(config).double().eval()
    ids, mask = random_ids(batch=2, length=4)
    inputs, labels = masked(ids, mask, share=0.6)
    table = torch.unique(components_of(inputs))
    checked = {name: p for name, p in model.named_parameters() if "position" not in name}
    small = {name: p.detach().clone().requires_grad_() for name, p in checked.items()}

    def loss(*values):
        replaced = dict(zip(small, values, strict=True))
        # Only the rows of the table that occur are perturbed: the others do not matter.
        full = (
            checked["bert.embeddings.word_embeddings.weight"]
            .detach()
            .index_copy(0, table, replaced["bert.embeddings.word_embeddings.weight"])
        )
        replaced["bert.embeddings.word_embeddings.weight"] = full
        arguments = {"attention_mask": mask, "labels": labels}
        return torch.func.functional_call(model, replaced, (inputs,), arguments).loss

    small["bert.embeddings.word_embeddings.weight"] = (
        checked["bert.embeddings.word_embeddings.weight"].detach()[table].requires_grad_()
    )
    assert torch.autograd.gradcheck(loss, tuple(small.values()), fast_mode=True)


def test_gradient_checkpointing_gives_the_same_gradients(tiny, random_ids):
    inputs, labels = masked(*random_ids())
    model = PhonemicBertForMaskedLM(tiny(hidden_dropout_prob=0, attention_probs_dropout_prob=0)).double().train()
    model(inputs, labels=labels).loss.backward()
    plain = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    enable = (
        getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
    )  # 5.x renamed it
    enable({"use_reentrant": False})
    calls = []
    model.bert.encoder.layer[0].intermediate.register_forward_pre_hook(lambda *_: calls.append(1))
    model(inputs, labels=labels).loss.backward()
    assert len(calls) == 2  # once forward, once more for the backward pass
    for name, p in model.named_parameters():
        if p.grad is not None:
            torch.testing.assert_close(p.grad, plain[name], rtol=0, atol=1e-12)


# --- numerics: attention implementations, bf16, compile


def test_eager_and_sdpa_agree(tiny, random_ids):
    ids, mask = random_ids()
    eager = PhonemicBertForMaskedLM(tiny(attn_implementation="eager", initializer_range=0.3)).eval()
    sdpa = PhonemicBertForMaskedLM(tiny(attn_implementation="sdpa")).eval()
    assert sdpa.config._attn_implementation == "sdpa"
    sdpa.load_state_dict(eager.state_dict())
    for a, b in zip(eager(ids, attention_mask=mask).logits, sdpa(ids, attention_mask=mask).logits, strict=True):
        torch.testing.assert_close(a[mask.bool()], b[mask.bool()], rtol=1e-4, atol=1e-5)
    seen = eager(ids, attention_mask=mask, output_attentions=True, output_hidden_states=True)
    assert len(seen.attentions) == 2
    assert len(seen.hidden_states) == 3
    assert len(eager(ids, return_dict=False)) == 1


def test_bf16_within_tolerance(random_ids):
    from phonemic_bert import PhonemicBertConfig

    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(PhonemicBertConfig.from_preset("paper-tiny")).eval()
    inputs, labels = masked(*random_ids(length=40))
    exact = model(inputs, labels=labels)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model(inputs, labels=labels)
    half = model.bfloat16()(inputs, labels=labels)
    assert half.logits[0].dtype == mixed.logits[0].dtype == torch.bfloat16
    assert half.loss.dtype == mixed.loss.dtype == torch.float32
    for output in (mixed, half):
        assert output.loss.item() == pytest.approx(exact.loss.item(), rel=2e-3)
        for got, want in zip(output.logits, exact.logits, strict=True):
            assert (got - want).abs().max() < 0.03 * want.abs().max()


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")  # dynamo's own
def test_compiled_is_the_same(tiny, random_ids):
    torch.manual_seed(0)
    config = tiny(num_hidden_layers=1, hidden_dropout_prob=0, attention_probs_dropout_prob=0, initializer_range=0.3)
    model = PhonemicBertForMaskedLM(config).train()
    inputs, labels = masked(*random_ids())
    model(inputs, labels=labels).loss.backward()
    plain = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    loss = model.eval()(inputs, labels=labels).loss.item()
    model.train().zero_grad()
    compiled = torch.compile(model, backend="aot_eager")  # all but generating code, which takes a minute
    output = compiled(inputs, labels=labels)
    output.loss.backward()
    assert output.loss.item() == pytest.approx(loss, rel=1e-5)
    for name, p in model.named_parameters():
        if p.grad is not None:
            torch.testing.assert_close(p.grad, plain[name], rtol=1e-4, atol=1e-5)


# --- task heads


def test_task_heads_are_transformers_own_over_the_swapped_encoder(tiny, random_ids):
    ids, mask = random_ids()
    labels = torch.tensor([0, 1, 1, 0])
    cases = [
        (PhonemicBertForSequenceClassification, {"labels": labels}, (4, 2)),
        (PhonemicBertForTokenClassification, {"labels": labels[:, None].repeat(1, 11)}, (4, 11, 2)),
        (PhonemicBertForQuestionAnswering, {"start_positions": labels, "end_positions": labels + 2}, None),
        (PhonemicBertForMultipleChoice, {"labels": labels[:2]}, (2, 2)),
    ]
    for kind, targets, shape in cases:
        model = kind(tiny())
        assert type(model.bert) is PhonemicBertModel
        choice = kind is PhonemicBertForMultipleChoice
        output = model(
            ids.view(2, 2, -1) if choice else ids, attention_mask=mask.view(2, 2, -1) if choice else mask, **targets
        )
        output.loss.backward()
        assert model.bert.embeddings.projection.weight.grad.abs().sum() > 0
        assert (output.start_logits.shape == ids.shape) if shape is None else (output.logits.shape == shape)


# --- errors


def test_too_long_a_text(tiny):
    model = PhonemicBertModel(tiny())
    with pytest.raises(ValueError, match="65 positions is longer than the model's 64: tokenize with truncation=True"):
        model(torch.zeros(1, 65, dtype=torch.long))


def test_ids_of_another_language(tiny, random_ids):
    with pytest.raises(
        ValueError, match="the vocabulary has 112: were the ids made by the tokenizer of another language"
    ):
        PhonemicBertModel(tiny("zh"))(random_ids()[0])


@pytest.mark.parametrize("packed", [5, 0x040405, 7 | 8 << 8, 7 << 8 | 8 << 16])
def test_ids_that_are_not_a_position(tiny, packed):
    """Such as the integers below 256 that transformers' collator draws for 10 % of what it masks."""
    ids = torch.tensor([[PACKED_MASK, packed]])
    with pytest.raises(ValueError, match=f"hold {packed}, components .*, which is not a position"):
        PhonemicBertModel(tiny())(ids)
    PhonemicBertModel(tiny())(torch.tensor([[0, 0x010101, 0x020202, 0x030303, 0x040404, 5 | 7 << 8 | 5 << 16]]))


def test_random_replacement_is_refused_and_not_learned_from(tiny, vi_lines):
    tokenizer = PhonemicBertTokenizer("vi")
    rows = [tokenizer(line, truncation=True, max_length=60) for line in vi_lines]
    batch = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.5, seed=0)(rows)
    with pytest.raises(ValueError, match="use HolisticCollator, or mask_replace_prob=1 and random_replace_prob=0"):
        PhonemicBertForMaskedLM(tiny())(**batch)
    with pytest.raises(ValueError, match="which is not a position"):
        HolisticCollator(tokenizer)(
            [{"input_ids": row, "attention_mask": [1] * len(row)} for row in batch["input_ids"].tolist()]
        )


def test_the_table_is_not_resized(tiny):
    model = PhonemicBertForMaskedLM(tiny())
    assert model.resize_token_embeddings(256) is model.bert.embeddings.word_embeddings
    with pytest.raises(ValueError, match="fixed at 256"):
        model.resize_token_embeddings(300)


@pytest.mark.parametrize("head", ["independent", "joint"])
@pytest.mark.parametrize("training", [True, False])
def test_what_the_output_holds_is_there_by_name(head, training):
    """Trainer takes the loss by its name, and of a tuple as the first."""
    from phonemic_bert import PhonemicBertConfig

    shape = {"num_hidden_layers": 1, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
    model = PhonemicBertForMaskedLM(PhonemicBertConfig("vi", head=head, **shape)).train(training)
    ids = torch.from_numpy(Tokenizer("vi").encode("xin chào bạn").ids)[None].long()
    output = model(ids, labels=ids)
    present = [name for name in ("loss", "logits", "losses", "best") if getattr(output, name) is not None]
    assert list(output.keys()) == present
    assert {"loss", "losses"} <= set(present)
    assert output["loss"] is output.loss
    assert output.to_tuple()[0] is output.loss
    assert "best" in model.eval()(ids, labels=ids)
