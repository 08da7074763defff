"""Options beyond the paper: compositions, neighbours and ModernBERT, and that nothing of one document reaches another."""

from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from design_helpers import BEYOND, TASKS, encoder, every, predictor, syllables
from transformers import AutoModelForMaskedLM, ModernBertModel

from phonemic import Tokenizer
from phonemic.encoding import PACKED_CLS
from phonemic.inventory import MASK
from phonemic_bert import (
    CheckpointError,
    PhonemicBertConfig,
    PhonemicBertForMaskedLM,
    PhonemicBertForMultipleChoice,
    PhonemicBertForQuestionAnswering,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
)
from phonemic_bert.modeling.adjacent import Bigrams
from phonemic_bert.modeling.modern import modern_config
from phonemic_bert.pretraining.trainer import separate
from phonemic_bert.triples import triples

# --- compositions


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_product_and_table_are_plain_sums_and_products(tiny, lang):
    for composition in ("linear", "product", "table", "both"):
        scale = 0.25 if composition == "both" else 1
        config = tiny(lang, composition=composition, initializer_range=0.3, component_scale=scale)
        embeddings = encoder(config).embeddings.double()
        w = {name: value.detach().numpy() for name, value in embeddings.named_parameters()}
        ids = triples(lang).packed[::37].astype(np.int64)
        onset, rime, tone = ids & 255, ids >> 8 & 255, ids >> 16
        rows = np.concatenate([w["word_embeddings.weight"][part] for part in (onset, rime, tone)], axis=1)
        want = rows @ w["projection.weight"].T + w["projection.bias"]
        if composition in ("product", "both"):
            a, b, c = w["product.tables"] / 0.3
            want += (a[onset] * b[rime] * c[tone]) @ w["product.projection.weight"].T
        want *= scale
        if composition in ("table", "both"):
            want += w["table.vectors"][::37]
        got = embeddings.compose(torch.from_numpy(ids)[None])[0].detach().numpy()
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


def test_what_is_not_in_the_list_has_no_row_of_the_table(tiny):
    table = encoder(tiny("vi", composition="table")).embeddings.table
    packed = torch.tensor([PACKED_CLS, MASK * 0x010101, 6 | 7 << 8 | 250 << 16])
    assert (table(packed) == 0).all()


def test_first_vectors_are_as_large_as_the_other_weights(tiny):
    """Composed embeddings begin about as large as initializer_range says, whatever they are composed of."""
    ids = torch.from_numpy(triples("zh").packed).long()[None]
    for composition in ("product", "table"):
        embeddings = encoder(tiny("zh", hidden_size=96, composition=composition, initializer_range=0.05)).embeddings
        added = embeddings.product if composition == "product" else embeddings.table
        own = added(torch.stack((ids & 255, ids >> 8 & 255, ids >> 16), -1)) if composition == "product" else added(ids)
        assert 0.04 < own.std() < 0.06


# --- one document, however it is


@every
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_alone_padded_and_packed_give_the_same_states(tiny, options, attention):
    bert = encoder(tiny("zh", initializer_range=0.2, attn_implementation=attention, **options))
    texts = syllables("zh", 7, 3, 12)
    with torch.no_grad():
        alone = [bert(text[None]).last_hidden_state[0] for text in texts]
        padded = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
        states = bert(padded, attention_mask=(padded != 0).long()).last_hidden_state
        for text, want, got in zip(texts, alone, states, strict=True):
            torch.testing.assert_close(got[: len(text)], want, rtol=0, atol=1e-5)
        packed = bert(**packed_row(texts, attention)).last_hidden_state[0]
    start = 0
    for text, want in zip(texts, alone, strict=True):
        torch.testing.assert_close(packed[start : start + len(text)], want, rtol=0, atol=1e-5)
        start += len(text)


def packed_row(texts, attention, padding=4):
    """One row of several documents, as pretraining makes it."""
    lengths = [len(text) for text in texts]
    inputs = {
        "input_ids": torch.cat([*texts, torch.zeros(padding, dtype=torch.long)])[None],
        "position_ids": torch.cat([torch.arange(n) for n in (*lengths, padding)])[None],
        "documents": torch.repeat_interleave(torch.arange(len(texts) + 1), torch.tensor([*lengths, padding]))[None],
    }
    return separate(inputs, 0, attention=attention)


@every
def test_nothing_of_one_document_reaches_another(tiny, options):
    """The gradient of one document's states by another's embeddings is exactly 0."""
    bert = encoder(tiny("zh", initializer_range=0.2, attn_implementation="sdpa", **options))
    seen = {}
    bert.embeddings.word_embeddings.register_forward_hook(lambda module, given, found: seen.update(found=found))
    bert.embeddings.word_embeddings.weight.requires_grad_()
    texts = syllables("zh", 5, 6, 4)
    states = bert(**packed_row(texts, "sdpa")).last_hidden_state[0]
    middle = slice(len(texts[0]), len(texts[0]) + len(texts[1]))
    reached = torch.autograd.grad(states[middle].pow(2).sum(), seen["found"])[0][0].abs().flatten(1).sum(1)
    assert (reached[middle] > 0).all()
    reached[middle] = 0
    assert (reached == 0).all()


@pytest.mark.parametrize("backbone", ["bert", "modernbert"])
def test_neighbours_are_seen_as_far_as_the_width_reaches(tiny, backbone):
    embeddings = encoder(tiny("zh", conv_kernel_size=5, backbone=backbone, initializer_range=0.2)).embeddings
    (text,) = syllables("zh", 11)
    other = text.clone()
    other[6] = triples("zh").packed[0]
    with torch.no_grad():
        differ = (embeddings(text[None]) != embeddings(other[None])).any(-1)[0]
    assert differ.nonzero()[:, 0].tolist() == [4, 5, 6, 7, 8]


# --- bigrams


def hashed(one, other, rows):
    """The row of a bigram, in numbers without bounds."""
    prime = 2**31 - 1
    mixed = (one * 0x5BD1E995 + other * 0x1B873593) % prime
    mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6D % prime
    return (mixed ^ mixed >> 12) % rows


def test_a_position_gets_the_bigrams_that_it_ends_and_begins(tiny):
    embeddings = encoder(tiny("zh", num_bigram_buckets=1000)).embeddings.double()
    texts = [text.tolist() for text in syllables("zh", 9, 4)]
    ids = [*texts[0][:4], MASK * 0x010101, *texts[0][4:], *texts[1], 0, 0]
    table, weight = embeddings.bigrams.table.detach().numpy(), embeddings.bigrams.projection.weight.detach().numpy()
    want = np.zeros((len(ids), weight.shape[0]))
    for at, (one, other) in enumerate(pairwise(ids)):
        if min(one, other) & 255 > MASK:  # neither is a special symbol
            row = table[hashed(one, other, 1000)]
            want[at + 1] += weight[:, :64] @ row
            want[at] += weight[:, 64:] @ row
    batch = torch.tensor([ids])
    with torch.no_grad():
        got = embeddings.embed(batch) - embeddings.compose(batch)
    np.testing.assert_allclose(got[0].numpy(), want, rtol=0, atol=1e-12)
    assert [at for at in range(len(ids)) if not want[at].any()] == [0, 4, 11, 12, 17, 18, 19]  # special ones


def test_bigrams_begin_at_nothing(tiny):
    config = tiny("vi", num_bigram_buckets=100)
    torch.manual_seed(0)
    embeddings = PhonemicBertModel(config).embeddings
    (text,) = syllables("vi", 9)
    assert torch.equal(embeddings.embed(text[None]), embeddings.compose(text[None]))


def test_the_rows_of_the_largest_ids_do_not_overflow():
    ids = [0, 1, (1 << 24) - 1, (1 << 24) - 2, 5, (1 << 24) - 1]
    rows = Bigrams(4096, 8).rows(torch.tensor([ids]))[0].tolist()
    assert rows == [hashed(one, other, 4096) for one, other in pairwise([*ids, ids[0]])]


@pytest.mark.parametrize("lang", ["vi", "zh"])
@pytest.mark.parametrize("rows", [3000, 4096, 1 << 16, 1 << 20])
def test_bigrams_of_real_syllables_fall_on_rows_as_evenly_as_chance(lang, rows):
    packed = torch.from_numpy(triples(lang, "attested").packed.astype(np.int64))[:1200]
    pairs = torch.cartesian_prod(packed, packed)
    counts = torch.bincount(Bigrams(rows, 1).rows(pairs)[:, 0], minlength=rows).double()
    mean = len(pairs) / rows
    chi_square = ((counts - mean) ** 2 / mean).sum() / (rows - 1)
    assert abs(chi_square - 1) < 5 * np.sqrt(2 / (rows - 1))


@pytest.mark.parametrize("length", [1, 2])
def test_a_short_text_has_no_bigram_around_its_end(tiny, length):
    embeddings = encoder(tiny("zh", num_bigram_buckets=10)).embeddings
    ids = syllables("zh", 5)[0][1 : length + 1][None]  # syllables only
    with torch.no_grad():
        added = embeddings.embed(ids) - embeddings.compose(ids)
    assert added.any() == (length == 2)


# --- ModernBERT


def test_equals_modernbert_given_the_composed_embeddings(tiny):
    config = tiny("vi", backbone="modernbert", composition="product", initializer_range=0.2)
    bert = encoder(config)
    plain = ModernBertModel._from_config(modern_config(config), attn_implementation="sdpa").eval()
    missing, unexpected = plain.load_state_dict(bert.encoder.state_dict(), strict=False)
    assert not unexpected
    assert missing == ["embeddings.tok_embeddings.weight", "embeddings.norm.weight"]
    plain.embeddings.norm.load_state_dict(bert.embeddings.norm.state_dict())
    ids = torch.nn.utils.rnn.pad_sequence(syllables("vi", 9, 4), batch_first=True)
    mask = (ids != 0).long()
    with torch.no_grad():
        want = plain(inputs_embeds=bert.embeddings.compose(ids), attention_mask=mask).last_hidden_state
        got = bert(ids, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(got[mask.bool()], want[mask.bool()], rtol=0, atol=1e-6)


def test_first_weights_of_the_encoder_are_modernberts(tiny):
    """Weights that write into the residual stream begin smaller the more layers there are."""
    config = tiny("vi", hidden_size=96, num_hidden_layers=8, backbone="modernbert", initializer_range=0.05)
    layer = encoder(config).encoder.layers[3]
    for linear, want in ((layer.attn.Wqkv, 0.05), (layer.attn.Wo, 0.05 / 4), (layer.mlp.Wo, 0.05 / 4)):
        assert 0.8 * want < linear.weight.std() < 1.05 * want
    assert (layer.mlp_norm.weight == 1).all()


def test_hidden_states_of_modernbert_end_with_the_last(tiny):
    config = tiny("vi", backbone="modernbert", attn_implementation="eager")
    (text,) = syllables("vi", 6)
    for output in (
        encoder(config)(text[None], output_hidden_states=True, output_attentions=True),
        encoder(tiny("vi", backbone="modernbert", attn_implementation="eager", output_hidden_states=True))(text[None]),
    ):
        assert len(output.hidden_states) == config.num_hidden_layers + 1
        assert torch.equal(output.hidden_states[-1], output.last_hidden_state)
    assert encoder(config)(text[None]).hidden_states is None
    assert isinstance(encoder(config)(text[None], return_dict=False), tuple)


@pytest.mark.parametrize("backbone", ["bert", "modernbert"])
@pytest.mark.parametrize("asked", ["output_attentions", "output_hidden_states", "return_dict"])
def test_the_configuration_says_what_is_returned(tiny, backbone, asked):
    """As of transformers' BERT, of every class; what is asked of one call wins."""
    [text] = syllables("vi", 5)
    for kind in (*TASKS, PhonemicBertModel, PhonemicBertForMaskedLM):
        model = kind(tiny(backbone=backbone, attn_implementation="eager", **{asked: asked != "return_dict"})).eval()
        ids = text[None, None] if kind is PhonemicBertForMultipleChoice else text[None]
        output, other = model(ids), model(ids, **{asked: asked == "return_dict"})
        if asked == "return_dict":
            assert isinstance(output, tuple)
            assert not isinstance(other, tuple)
        else:
            name = asked.removeprefix("output_")
            assert len(output[name]) == (2 if name == "attentions" else 3)
            assert other.get(name) is None


def test_modernbert_is_longer_than_its_windows(tiny):
    """Every layer attends to the whole text, farther than ModernBERT's own windows of 128."""
    config = tiny("zh", backbone="modernbert", max_position_embeddings=400, num_hidden_layers=3)
    bert = encoder(config)
    (text,) = syllables("zh", 300)
    given = bert.embeddings.compose(text[None]).detach().requires_grad_()
    seen = {}
    bert.encoder.layers[1].register_forward_hook(lambda module, given, found: seen.update(found=found))
    bert.encoder.layers[1].register_forward_pre_hook(lambda module, given: seen.update(given=given[0]))
    bert(inputs_embeds=given)
    found = seen["found"][0] if isinstance(seen["found"], tuple) else seen["found"]
    reached = torch.autograd.grad(found[0, 0].sum(), seen["given"])[0][0].abs().sum(-1)
    assert (reached > 0).all()


@every
def test_saved_and_loaded_by_every_class(tiny, options, tmp_path):
    model = predictor(tiny("zh", initializer_range=0.2, **options))
    model.save_pretrained(tmp_path)
    (text,) = syllables("zh", 7)
    labels = torch.where(torch.arange(len(text)) % 3 == 1, text, -100)[None]
    with torch.no_grad():
        want = model(text[None], labels=labels)
        for made in (PhonemicBertForMaskedLM, AutoModelForMaskedLM):
            got = made.from_pretrained(tmp_path).eval()(text[None], labels=labels)
            assert torch.equal(got.losses, want.losses)
        states = model.base_model(text[None]).last_hidden_state
        tasks = (
            PhonemicBertForSequenceClassification,
            PhonemicBertForTokenClassification,
            PhonemicBertForQuestionAnswering,
            PhonemicBertForMultipleChoice,
        )
        for task in tasks:
            loaded = task.from_pretrained(tmp_path).eval()
            assert torch.equal(loaded.base_model(text[None]).last_hidden_state, states)
            rows = text[None, None] if task is PhonemicBertForMultipleChoice else text[None]
            output = loaded(rows)
            assert all(part.isfinite().all() for part in output.to_tuple())
        plain = PhonemicBertModel.from_pretrained(tmp_path).eval()
        assert torch.equal(plain(text[None]).last_hidden_state, states)
        assert isinstance(plain, PhonemicBertModel)


def test_a_checkpoint_of_before_is_the_papers(tmp_path, tiny):
    """A config.json that knows nothing of the options describes what it always did."""
    import json

    model = predictor(tiny("vi"))
    model.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    for name in (
        "composition",
        "head",
        "output_embeddings",
        "conv_kernel_size",
        "num_bigram_buckets",
        "backbone",
        "triples_checksum",
    ):
        config.pop(name)
    path.write_text(json.dumps(config))
    (text,) = syllables("vi", 5)
    loaded = AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    assert all(torch.equal(*pair) for pair in zip(loaded(text[None]).logits, model(text[None]).logits, strict=True))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"component_scale": 0}, "component_scale=0: must be more than 0 and at most 1"),
        ({"component_scale": 1.5}, "component_scale=1.5: must be more than 0 and at most 1"),
        ({"composition": "sum"}, "composition='sum': choose one of linear, product, table, both"),
        ({"head": "both"}, "head='both': choose one of independent, joint"),
        ({"output_embeddings": "own"}, "output_embeddings='own': choose one of composed, untied, tied"),
        (
            {"output_embeddings": "tied"},
            "output_embeddings='tied' with head='independent' and composition='linear': only a joint head",
        ),
        (
            {"output_embeddings": "tied", "head": "joint"},
            "only to embeddings that tell triples apart, 'product' or 'both'",
        ),
        ({"backbone": "roberta"}, "backbone='roberta': choose one of bert, modernbert"),
        ({"conv_kernel_size": 2}, "conv_kernel_size=2: must be 0 or an odd number of at least 3"),
        ({"conv_kernel_size": -1}, "conv_kernel_size=-1"),
        ({"conv_kernel_size": "3"}, "conv_kernel_size='3'"),
        ({"conv_kernel_size": 3.0}, "conv_kernel_size=3.0"),
        ({"num_bigram_buckets": -1}, "num_bigram_buckets=-1: must be a number of rows from 0 to 16,777,216"),
        ({"num_bigram_buckets": "9"}, "num_bigram_buckets='9'"),
        ({"num_bigram_buckets": True}, "num_bigram_buckets=True"),
        ({"num_bigram_buckets": 1 << 25}, "num_bigram_buckets=33554432"),
        ({"component_scale": "a"}, "component_scale='a'"),
        ({"backbone": "modernbert", "hidden_act": "relu"}, "hidden_act='relu' with backbone='modernbert'"),
    ],
)
def test_unknown_options_are_refused(options, said):
    with pytest.raises(CheckpointError, match=said):
        PhonemicBertConfig("vi", **options)


# --- learning


def test_learns_a_text_that_the_papers_model_does_not(tiny):
    """After the same steps on text in which a syllable follows from its neighbour, it has most of them right."""
    random = np.random.default_rng(0)
    pool = Tokenizer("zh").encode("天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏").ids
    pairs = random.permutation(pool).reshape(-1, 2)
    rows = torch.from_numpy(pairs[random.integers(0, len(pairs), (400, 8))].reshape(400, 16)).long()
    mask = torch.from_numpy(random.random(rows.shape) < 0.2)
    right = {}
    for name in ("paper", "all"):
        torch.manual_seed(0)
        options = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.05}
        model = PhonemicBertForMaskedLM(tiny("zh", **options, **BEYOND[name])).train()
        optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
        for step in range(100):
            here = slice(step % 9 * 40, step % 9 * 40 + 40)
            ids, labels = rows[here].masked_fill(mask[here], MASK * 0x010101), rows[here].masked_fill(~mask[here], -100)
            model(ids, labels=labels).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        held = slice(360, 400)
        ids, labels = rows[held].masked_fill(mask[held], MASK * 0x010101), rows[held].masked_fill(~mask[held], -100)
        output = model.eval()(ids, labels=labels)
        right[name] = (output.best == labels[labels != -100]).float().mean().item()
    assert right["all"] > 0.6
    assert right["paper"] < 0.3
