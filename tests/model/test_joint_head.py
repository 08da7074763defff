"""The joint head is a probability distribution over all triples, and its marginals and losses are sums over it."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic.encoding import PACKED_SEP
from phonemic.inventory import fallback_triple, vocabulary
from phonemic_bert import PhonemicBertForMaskedLM
from phonemic_bert.modeling.composition import pack
from phonemic_bert.modeling.heads import JointHead
from phonemic_bert.modeling.modern import PhonemicModernBertEmbeddings
from phonemic_bert.triples import triples

LISTS = [("vi", "attested"), ("vi", "full"), ("zh", "attested"), ("zh", "full")]


@pytest.fixture(params=["composed", "untied", "tied to a product", "tied to both"])
def head(tiny, request):
    """Makes a joint head with large random weights, in float64; a tied one with embeddings of its own."""
    output_embeddings, _, tied_to = request.param.partition(" to ")
    composition = tied_to.removeprefix("a ") or "product"

    def make(lang, syllable_inventory="full", **fields):
        torch.manual_seed(0)
        options = {"output_embeddings": output_embeddings, "syllable_inventory": syllable_inventory, **fields}
        options["composition"] = composition
        options["component_scale"] = 0.25 if composition == "both" else 1
        config = tiny(lang, head="joint", backbone="modernbert", **options)
        made = JointHead(config).double()
        made.reset_parameters()
        embeddings = PhonemicModernBertEmbeddings(config).double()
        for parameter in [*made.parameters(), *embeddings.parameters()]:
            torch.nn.init.normal_(parameter, std=0.7)
        made.size = embeddings.product.size = 0.7
        if tied_to:
            made.forward = partial(made.forward, embeddings=embeddings)
        made.embeddings = [embeddings] * bool(tied_to)  # in a list, so that its parameters are not the head's
        return made.eval()

    return make


def parameters_of(head):
    return [*head.parameters(), *(one for each in head.embeddings for one in each.parameters())]


def hidden(count, width=24, seed=1):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def brute_force(head, states):
    """The probability of each of all V x V x V triples, straight from the definition, float64 (M, V, V, V)."""
    w = {name: value.detach().numpy() for name, value in head.named_parameters()}
    state = head.transform(states).detach().numpy()
    listed = head.listed.triples
    size, packed = len(vocabulary(listed.lang)), listed.packed
    onset, rime, tone = packed & 255, packed >> 8 & 255, packed >> 16
    if head.embeddings:
        scores, logits = tied_scores(head, state)
    else:
        logits = {name: state @ w[f"{name}.weight"].T + w[f"{name}.bias"] for name in ("onset", "rime", "tone")}
        a, b, c = w["tables"] / head.size
        scores = (state[:, None] * a[onset] * b[rime] * c[tone] * head.size).sum(-1)
        scores += logits["onset"][:, onset] + logits["rime"][:, rime] + logits["tone"][:, tone]
    if "free" in w:
        scores[:, : len(w["free"])] += state @ w["free"].T
    outside = state @ w["outside.weight"].T + w["outside.bias"]
    weights = np.exp(np.concatenate([scores, outside], 1))
    weights /= weights.sum(1, keepdims=True)
    apart = {name: np.exp(logit) / np.exp(logit).sum(1, keepdims=True) for name, logit in logits.items()}
    apart["tone"] = np.where(listed.ends, np.exp(logits["tone"]), 0)
    apart["tone"] /= apart["tone"].sum(1, keepdims=True)
    whole = np.einsum("mi,mj,mk->mijk", apart["onset"], apart["rime"], apart["tone"]) * weights[:, -1, None, None, None]
    for row, part in enumerate(weights[:, :-1]):
        whole[row, onset, rime, tone] += part
    assert whole.shape[1:] == (size,) * 3
    return whole


def tied_scores(head, state):
    """State times embedding of each triple of the list, plus biases; and of each component alone."""
    [embeddings], packed = head.embeddings, head.listed.triples.packed
    parts = np.stack([packed & 255, packed >> 8 & 255, packed >> 16])
    with torch.no_grad():
        made = embeddings.compose(torch.from_numpy(packed).long()[None])[0].numpy()
        scale = 0.25 if embeddings.table is not None else 1
        constant = embeddings.projection.bias.numpy() * scale
        words = embeddings.word_embeddings.weight.numpy()
        blocks = np.split(embeddings.projection.weight.numpy() * scale, 3, axis=1)
        biases = head.biases.numpy()
    scores = state @ (made - constant).T + sum(bias[ids] for bias, ids in zip(biases, parts, strict=True))
    names = ("onset", "rime", "tone")
    alone = {n: state @ b @ words.T + bias for n, b, bias in zip(names, blocks, biases, strict=True)}
    return scores, alone


@pytest.mark.parametrize(("lang", "syllables"), LISTS)
def test_all_triples_together_have_probability_one_and_the_rest_is_sums_over_them(head, lang, syllables):
    made, states = head(lang, syllables), hidden(1 if lang == "vi" else 3)
    want = brute_force(made, states)
    np.testing.assert_allclose(want.sum((1, 2, 3)), 1, rtol=0, atol=1e-12)
    with torch.no_grad():
        predicted = made(states)
        for axes, logits in zip([(2, 3), (1, 3), (1, 2)], predicted.logits, strict=True):
            np.testing.assert_allclose(logits.exp().numpy(), want.sum(axes), rtol=0, atol=1e-12)
        random = np.random.default_rng(0)
        some = np.concatenate([random.choice(triples(lang).packed, 500), packed_fallbacks(lang)])
        at = (slice(None), some & 255, some >> 8 & 255, some >> 16)
        found = predicted.log_probabilities(torch.from_numpy(some).long()).numpy()
        np.testing.assert_allclose(np.exp(found), want[at], rtol=1e-9, atol=0)
        labels = torch.from_numpy(random.choice(some, len(states))).long()
        losses = made(states).losses(labels).numpy()
    own = [want[row, one & 255, one >> 8 & 255, one >> 16] for row, one in enumerate(labels.tolist())]
    np.testing.assert_allclose(losses, -np.log(own), rtol=1e-9, atol=0)


def packed_fallbacks(lang):
    pack = vocabulary(lang).pack
    return np.array([pack(fallback_triple(text)) for text in ("a", "kb", "wjf", "19", "202", "zz")], np.int32)


@pytest.mark.parametrize(("lang", "syllables"), LISTS)
def test_the_best_is_the_likeliest_of_all(head, lang, syllables):
    made = head(lang, syllables)
    states = hidden(6)
    with torch.no_grad():
        for shift, listed in ((0.0, None), (500.0, False), (-500.0, True)):
            made.outside.bias.fill_(shift)
            best = made(states).best()
            inside = np.isin(best.numpy(), triples(lang, syllables).packed)
            assert listed is None or (inside == listed).all()
            if lang == "zh":
                want = brute_force(made, states).reshape(6, -1).max(1)
                got = made(states).log_probabilities(best).diagonal().exp().numpy()
                # A fallback character is in the list and outside it; what is compared is the larger of the two.
                assert (got >= want * (1 - 1e-9)).all() or listed is None


@pytest.mark.parametrize(("lang", "syllables"), LISTS)
def test_what_no_position_of_text_can_be_is_impossible(head, lang, syllables):
    vocab, made = vocabulary(lang), head(lang, syllables)
    fallback, tone = vocab.by_role("fallback"), vocab.by_role("tone")[1]
    ends_as_a_syllable, special = vocab.pack((*fallback[:2], tone)), PACKED_SEP
    with torch.no_grad():
        assert made(hidden(2)).losses(torch.full((2,), special)).isinf().all()
        losses = made(hidden(2)).losses(torch.full((2,), ends_as_a_syllable))
    assert losses.isinf().all() if syllables == "full" else losses.isfinite().all()


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_syllables_that_are_not_attested_can_be_learned(head, lang):
    possible, attested = triples(lang).packed, triples(lang, "attested").packed
    rare = torch.from_numpy(possible[~np.isin(possible, attested)][:3]).long()
    made, states = head(lang, "attested"), hidden(3)
    optimizer = torch.optim.Adam(parameters_of(made), 0.05)
    first = None
    for _ in range(60):
        optimizer.zero_grad()
        losses = made(states).losses(rare)
        losses.sum().backward()
        optimizer.step()
        first = losses.detach() if first is None else first
    with torch.no_grad():
        assert (made(states).losses(rare) < first / 3).all()
        assert torch.equal(made(states).best(), rare)


@pytest.mark.parametrize("syllables", ["full", "attested"])
def test_half_precision_stays_close(head, syllables):
    made, states = head("zh", syllables, initializer_range=0.02).float(), hidden(40).float()
    for embeddings in made.embeddings:
        embeddings.float()
    labels = torch.from_numpy(np.random.default_rng(3).choice(triples("zh").packed, 40)).long()
    want = made(states).losses(labels)
    with torch.autocast("cpu", torch.bfloat16):
        got = made(states).losses(labels)
    assert got.dtype == torch.float32
    assert (got - want).abs().max() < 0.02 * want.abs().max()


@pytest.mark.parametrize("shape", [(), (7,), (2, 3), (2, 3, 4)])
def test_shapes_follow_the_hidden_states(head, shape):
    made = head("zh")
    predicted = made(torch.randn(*shape, 24, dtype=torch.float64))
    assert [part.shape for part in predicted.logits] == [(*shape, 112)] * 3
    assert predicted.best().shape == shape
    assert predicted.losses(predicted.best()).shape == shape
    assert predicted.log_probabilities(torch.arange(5)).shape == (*shape, 5)


def test_positions_without_labels_give_nothing(tiny, random_ids):
    model = PhonemicBertForMaskedLM(tiny("zh", head="joint"))
    ids, mask = random_ids(vocab_size=112)
    for mode in (True, False):
        output = model.train(mode)(ids, attention_mask=mask, labels=torch.full_like(ids, -100))
        assert output.loss == 0
        assert output.losses.shape == (0,)
    model.train()(ids, attention_mask=mask, labels=torch.full_like(ids, -100)).loss.backward()


@pytest.mark.parametrize(
    ("syllables", "packed"),
    [("full", PACKED_SEP), ("full", 6 | 7 << 8 | 2 << 16), ("attested", PACKED_SEP)],
)
def test_labels_that_cannot_be_predicted_are_refused(tiny, syllables, packed):
    model = PhonemicBertForMaskedLM(tiny("zh", head="joint", syllable_inventory=syllables))
    with pytest.raises(ValueError, match=r"labels hold .*\|.*, which the tokenizer never gives"):
        model(torch.full((1, 3), PACKED_SEP), labels=torch.full((1, 3), packed))


def test_pack_is_the_inverse_of_components():
    from phonemic_bert.modeling.composition import components

    ids = torch.from_numpy(triples("vi").packed).long()
    assert torch.equal(pack(components(ids)), ids)
