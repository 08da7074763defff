"""The written form: what a model reads and predicts of it, and that one without forms leaves it aside."""

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from transformers import AutoModelForMaskedLM

from phonemic import Tokenizer
from phonemic.forms import form_of
from phonemic.inventory import FORM_SHIFT, MASK, TRIPLE, UNKNOWN_ID
from phonemic.lexicon.forms import forms as form_tables
from phonemic_bert import (
    CheckpointError,
    PhonemicBertConfig,
    PhonemicBertForMaskedLM,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
)
from phonemic_bert.modeling.composition import components
from phonemic_bert.modeling.lists import FIELDS, FieldList
from phonemic_bert.pairs import pairs
from phonemic_bert.parameters import count_parameters
from phonemic_bert.triples import triples

#: Frozen: another checksum would give the rows of every checkpoint with forms another meaning.
CHECKSUMS = {"vi": "f3a9ebb7", "zh": "5029bf02"}
WITH_FORMS = {
    "composition": "both",
    "head": "joint",
    "output_embeddings": "tied",
    "syllable_inventory": "attested",
    "num_bigram_buckets": 50,
}
WITH_FORMS |= {"num_form_bigram_buckets": 70, "conv_kernel_size": 3, "initializer_range": 0.3}
TEXTS = {
    "vi": ["Tôi yêu HÀ NỘI, và bạn bè.", "Hà Nội: hoà bình, kì lạ 12 km² 😀", "anh ấy nói «Xin chào»\n\tVIỆT Nam"],
    "zh": ["今天天气很好，我们去北京。", "门口的Windows 11, 他們都說好😀", "银行行长慢慢地走\n了"],
}
MASKED = MASK * 0x010101

langs = pytest.mark.parametrize("lang", ["vi", "zh"])
kinds = pytest.mark.parametrize("forms", ["joint", "conditional"])
backbones = pytest.mark.parametrize("backbone", ["bert", "modernbert"])


@pytest.fixture
def config(tiny):
    """Makes the configuration of a tiny model with forms."""

    def make(lang, forms="joint", **fields):
        fields = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, **WITH_FORMS, **fields}
        return tiny(lang, forms=forms, **fields)

    return make


def predictor(config):
    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(config)
    for parameter in model.parameters():  # biases, norms and bigrams begin at 0 or 1
        torch.nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def ids_of(lang, number=0):
    """The ids of a text with forms, (1, N)."""
    return torch.from_numpy(Tokenizer(lang, form=True).encode(TEXTS[lang][number]).ids).long()[None]


def masked(ids, every=2):
    """Ids of which some are masked, and labels for these."""
    chosen = (torch.arange(ids.shape[1]) % every == 0) & ((ids & TRIPLE) != UNKNOWN_ID)
    return torch.where(chosen, MASKED, ids), torch.where(chosen, ids, -100)


# --- the list of pairs


@langs
class TestList:
    def test_is_frozen(self, lang):
        assert pairs(lang).checksum == CHECKSUMS[lang]

    def test_checksum_is_also_of_the_tables_that_say_what_forms_mean(self, lang, monkeypatch):
        import phonemic_bert.pairs as module

        monkeypatch.setattr(module, "forms", lambda lang: form_tables(lang)._replace(checksum="00000000"))
        assert pairs(lang).checksum != CHECKSUMS[lang]

    def test_has_each_pair_once_beside_its_triple_and_each_triple(self, lang):
        listed, packed = pairs(lang), pairs(lang).packed
        attested = triples(lang, "attested").packed
        assert len(np.unique(packed)) == len(packed) == len(listed)
        assert np.array_equal(attested[listed.rows], packed & TRIPLE)
        assert set(listed.rows.tolist()) == set(range(len(attested)))
        assert (np.diff(listed.rows) >= 0).all()

    def test_has_forms_that_write_something(self, lang):
        texts = [form_of(one, lang) for one in pairs(lang).packed.tolist()]
        assert all(form is not None and form.text for form in texts)

    def test_has_nearly_all_of_a_text(self, lang):
        ids = torch.cat([ids_of(lang, number)[0] for number in range(3)]).numpy()
        ids = ids[(ids & TRIPLE) != UNKNOWN_ID]
        assert np.isin(ids, pairs(lang).packed).mean() > 0.9

    def test_is_written_into_configurations_with_forms_and_refused_where_it_differs(self, lang, config):
        assert PhonemicBertConfig(lang).pairs_checksum is None
        made = config(lang)
        assert made.pairs_checksum == CHECKSUMS[lang]
        assert PhonemicBertConfig.from_dict(made.to_dict()).to_dict() == made.to_dict()
        with pytest.raises(CheckpointError, match="pairs has checksum 00000000"):
            PhonemicBertConfig.from_dict({**made.to_dict(), "pairs_checksum": "00000000"})


# --- configuration


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"forms": "some"}, "forms='some': choose one of none, joint, conditional"),
        (
            {"output_embeddings": "composed"},
            "predicted by a joint head with tied output embeddings among attested syllables",
        ),
        ({"head": "independent", "output_embeddings": "composed"}, "predicted by a joint head"),
        ({"syllable_inventory": "full"}, "among attested syllables"),
        ({"form_dropout": 1.5}, "form_dropout=1.5: must be a number from 0 to 1"),
        ({"form_noise": "some"}, "form_noise='some': must be a number"),
        ({"form_dropout": 0.7, "form_noise": 0.4}, "together they are at most 1"),
        ({"num_form_bigram_buckets": -1}, "num_form_bigram_buckets=-1: must be a number of rows"),
        ({"forms": "none", "form_dropout": 0.1, "num_form_bigram_buckets": 0}, "the model does not read forms"),
    ],
)
def test_what_does_not_go_together_is_refused(config, fields, message):
    with pytest.raises(CheckpointError, match=message):
        config("zh", **{"forms": "joint", **fields})


@langs
@kinds
def test_all_parameters_are_counted(config, lang, forms):
    made = config(lang, forms)
    parts = count_parameters(made)
    parts.pop("pooler")
    assert sum(parts.values()) == sum(one.numel() for one in PhonemicBertForMaskedLM(made).parameters())


# --- without forms


@langs
@pytest.mark.parametrize("head", ["independent", "joint"])
def test_a_model_without_forms_leaves_them_aside(tiny, lang, head):
    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(tiny(lang, head=head, num_bigram_buckets=50, composition="both")).eval()
    ids, labels = masked(ids_of(lang))
    plain = torch.where(labels == -100, labels, labels & TRIPLE)
    with torch.no_grad():
        got, want = model(ids, labels=labels), model(ids & TRIPLE, labels=plain)
    assert torch.equal(got.loss, want.loss)
    assert torch.equal(got.best, want.best)
    assert got.sounds is None


# --- what a form is read as


def named(lang, packed):
    """The fields of the form of an id, by phonemic.forms, as in the table of fields."""
    form, number = form_of(packed, lang), packed >> FORM_SHIFT
    if number == 0:
        return {"none": 0}
    if packed & TRIPLE == UNKNOWN_ID:
        return {"byte": number}
    if form.kind == "escaped":
        return {"escaped": 0}
    if form.kind == "character":
        return {"unlisted": 0}
    cases, ways = ("lower", "first", "upper"), ("NFC", "NFD", "tone apart")
    said = {"space": int(form.space), "case": cases.index(form.case)}
    if form.kind == "syllable":
        return said | {"normalization": ways.index(form.normalization), "spelling": form.spelling}
    return said | {"rank": form.rank}


@langs
def test_fields_are_what_the_form_says(tiny, lang):
    fields = FieldList(tiny(lang))
    first = dict(zip(FIELDS, np.cumsum([0, *FIELDS.values()])[:-1].tolist(), strict=True))
    some = [UNKNOWN_ID, *triples(lang, "attested").packed[::29].tolist(), *triples(lang).packed[-15:].tolist()]
    checked = 0
    for triple in some:
        for number in range(128):
            packed = triple | number << FORM_SHIFT
            if form_of(packed, lang) is None:
                continue
            row = fields.numbers[fields.rows(torch.tensor(packed))]
            want = sorted(first[name] + digit for name, digit in named(lang, packed).items())
            assert sorted(row[row >= 0].tolist()) == want, form_of(packed, lang)
            checked += 1
    assert checked > 1000


def test_each_listed_character_has_a_vector_of_its_own(config):
    forms = PhonemicBertModel(config("zh")).embeddings.forms
    listed = torch.from_numpy(pairs("zh").packed).long()
    rows = forms.rows(listed)[: len(forms.characters)]
    assert torch.equal(rows, torch.arange(len(rows)) + 3 * 128)
    assert torch.equal(forms(listed[:5]), forms.characters[:5])
    rare = next(
        one | number << FORM_SHIFT
        for one in triples("zh", "attested").packed.tolist()
        for number in (126, 60, 40)
        if form_of(one | number << FORM_SHIFT, "zh") and one | number << FORM_SHIFT not in listed
    )
    at = list(FIELDS).index("unlisted")
    assert torch.equal(forms(torch.tensor([rare]))[0], forms.vectors[at])


@langs
def test_a_form_changes_what_is_read(config, lang):
    model = predictor(config(lang))
    ids = ids_of(lang)
    with torch.no_grad():
        seen, heard = model.bert(ids)[0], model.bert(ids & TRIPLE)[0]
    assert (seen - heard).abs().max() > 1e-3


# --- what is predicted, by a slow twin


def slow(model, ids):
    """Probabilities at every position of ids (1, N) from the definition, pair by pair.

    Returns:
        Of each pair of the list, (N, P), and of each of all V x V x V triples in forms that are not listed, (N, V, V, V).
    """
    lang, embeddings, head = model.config.lang, model.bert.embeddings, model.heads
    state = head.transform(model.bert(ids).last_hidden_state[0])
    constant = embeddings.projection.bias * embeddings.component_scale
    packed = torch.from_numpy(pairs(lang).packed).long()[None]
    forms = embeddings.forms(packed)[0]
    sounds = embeddings.compose(packed)[0] - constant - forms
    biases = sum(table[part] for table, part in zip(head.biases, components(packed[0]).unbind(-1), strict=True))
    own = head.form_biases
    outside = head.outside(state)[:, :1]
    if model.config.forms == "joint":
        logits = state @ (sounds + forms).T + biases + own
        whole = torch.cat((logits, outside), 1).softmax(-1)
        likely, rest = whole[:, :-1], whole[:, -1]
    else:
        rows = pairs(lang).rows
        first = np.unique(rows, return_index=True)[1]
        whole = torch.cat((state @ sounds[first].T + biases[first], outside), 1).softmax(-1)
        rest, given = whole[:, -1], state @ forms.T + own
        likely = torch.cat(
            [
                whole[:, row, None] * given[:, start:end].softmax(-1)
                for row, (start, end) in enumerate(zip(first, [*first[1:], len(rows)], strict=True))
            ],
            1,
        )
    words, blocks = embeddings.word_embeddings.weight, embeddings.projection.weight.chunk(3, 1)
    heads = [
        state @ (words @ block.T * embeddings.component_scale).T + bias
        for block, bias in zip(blocks, head.biases, strict=True)
    ]
    heads[2] = heads[2].masked_fill(~head.listed.ends, -torch.inf)
    apart = [one.softmax(-1) for one in heads]
    return likely, torch.einsum("n,ni,nj,nk->nijk", rest, *apart)


@kinds
@pytest.mark.parametrize("lang", ["zh"])
def test_all_events_together_have_probability_one_and_the_rest_is_sums_over_them(config, lang, forms):
    model = predictor(config(lang, forms, backbone="modernbert", component_scale=0.5))
    ids, _ = masked(ids_of(lang, 2)[:, :3])
    packed = torch.from_numpy(pairs(lang).packed).long()
    with torch.no_grad():
        likely, rest = slow(model, ids)
        np.testing.assert_allclose(likely.sum(1) + rest.sum((1, 2, 3)), 1, rtol=0, atol=1e-9)
        predicted = model.predict(model.bert(ids).last_hidden_state[0])
        np.testing.assert_allclose(predicted.log_probabilities(packed).exp(), likely, rtol=1e-7, atol=1e-15)
        heard = rest.clone()
        onset, rime, tone = components(packed).unbind(-1)
        for row in range(len(heard)):
            heard[row].index_put_((onset, rime, tone), likely[row], accumulate=True)
        for axes, logits in zip([(2, 3), (1, 3), (1, 2)], predicted.logits, strict=True):
            np.testing.assert_allclose(logits.exp(), heard.sum(axes), rtol=1e-6, atol=1e-12)
        random = np.random.default_rng(0)
        some = torch.from_numpy(random.choice(triples(lang).packed, 300)).long()
        parts = components(some).unbind(-1)
        np.testing.assert_allclose(
            predicted.log_probabilities(some).exp(), heard[:, parts[0], parts[1], parts[2]], rtol=1e-7
        )
        escaped = some | 127 << FORM_SHIFT
        np.testing.assert_allclose(
            predicted.log_probabilities(escaped).exp(), rest[:, parts[0], parts[1], parts[2]], rtol=1e-7
        )
        for asked in (packed, some, escaped):
            labels = asked[torch.from_numpy(random.integers(len(asked), size=len(heard)))]
            want = -predicted.log_probabilities(labels).diagonal()
            np.testing.assert_allclose(predicted.losses(labels), want, rtol=1e-9)


@langs
@kinds
def test_losses_are_those_of_pairs_and_sounds_those_of_triples(config, lang, forms):
    model = predictor(config(lang, forms))
    ids, labels = masked(ids_of(lang))
    aims = labels[labels != -100]
    with torch.no_grad():
        output = model(ids, labels=labels)
        predicted = model.predict(model.bert(ids).last_hidden_state[labels != -100])
        pair, triple = predicted.log_probabilities(aims).diagonal(), predicted.log_probabilities(aims & TRIPLE)
    torch.testing.assert_close(output.losses, -pair)
    torch.testing.assert_close(output.loss, -pair.mean())
    torch.testing.assert_close(output.sounds[0], -triple.diagonal())
    assert (output.losses > output.sounds[0]).all()
    packed = torch.from_numpy(pairs(lang).packed).long()
    likely = predicted.log_probabilities(packed)
    assert torch.equal(output.best, packed[likely.argmax(-1)])


@kinds
def test_expectations_of_a_teacher_are_over_triples(config, forms):
    model = predictor(config("zh", forms))
    ids, labels = masked(ids_of("zh"))
    count, size = int((labels != -100).sum()), len(triples("zh", "attested"))
    soft = torch.rand(count, size, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    soft = 0.4 * soft / soft.sum(-1, keepdim=True)
    with torch.no_grad():
        hard, both = model(ids, labels=labels).losses, model(ids, labels=labels, soft_targets=soft).losses
        heard = model.predict(model.bert(ids).last_hidden_state[labels != -100]).triples
        want = 0.6 * hard - (soft * (heard.scores - heard.total()[:, None])).sum(-1)
    torch.testing.assert_close(both, want)


# --- gradients


@langs
@kinds
@backbones
def test_every_weight_gets_a_gradient(config, lang, forms, backbone):
    model = predictor(config(lang, forms, backbone=backbone)).train()
    ids, labels = masked(torch.cat((ids_of(lang)[:, :9], ids_of(lang, 1)[:, :9])), 3)
    model(ids, labels=labels).loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert (parameter.grad != 0).any() or "token_type" in name or name.endswith(("key.bias", "Wqkv.bias")), name


@kinds
def test_gradients_are_right(config, forms):
    model = predictor(config("zh", forms))
    hidden = torch.randn(3, 24, dtype=torch.float64, requires_grad=True)
    listed = pairs("zh").packed
    labels = torch.tensor([listed[7], listed[900] & TRIPLE, listed[30] & TRIPLE | 127 << FORM_SHIFT])
    assert torch.autograd.gradcheck(lambda states: model.losses(states, labels), hidden)


def test_labels_that_are_no_text_are_refused(config):
    model = predictor(config("zh"))
    labels = torch.full((1, 3), MASKED)
    with pytest.raises(ValueError, match="which the tokenizer never gives"):
        model(ids_of("zh")[:, :3], labels=labels)


# --- dropped and wrong forms


def shares(before, after):
    """Shares of positions that lost their form, and that have another."""
    dropped = (after == before & TRIPLE) & (before != after)
    return dropped.double().mean().item(), ((before != after) & ~dropped).double().mean().item()


@langs
@pytest.mark.parametrize(("dropout", "noise"), [(0.15, 0.05), (0.3, 0.0), (0.0, 0.2), (1.0, 0.0)])
def test_forms_are_dropped_and_exchanged_as_often_as_asked(config, lang, dropout, noise):
    forms = PhonemicBertModel(config(lang, form_dropout=dropout, form_noise=noise)).embeddings.forms
    counts = np.bincount(pairs(lang).rows)
    several = pairs(lang).packed[counts[pairs(lang).rows] > 1]
    ids = torch.from_numpy(np.random.default_rng(0).choice(several, (100, 400))).long()
    torch.manual_seed(0)
    read = forms.train().disturbed(ids)
    assert shares(ids, read) == pytest.approx((dropout, noise), abs=0.006)
    assert torch.equal(read & TRIPLE, ids & TRIPLE)
    exchanged = read[(read != ids) & (read >> FORM_SHIFT > 0)]
    assert np.isin(exchanged.numpy(), pairs(lang).packed).all()
    torch.manual_seed(0)
    assert torch.equal(forms.disturbed(ids), read)
    assert not torch.equal(forms.disturbed(ids), read) or dropout == 1
    assert torch.equal(forms.eval().disturbed(ids), ids)


def test_every_other_character_is_drawn_alike(config):
    forms = PhonemicBertModel(config("zh", form_noise=1.0)).embeddings.forms.train()
    listed = pairs("zh")
    row = int(np.bincount(listed.rows).argmax())
    own = torch.from_numpy(listed.packed[listed.rows == row]).long()
    torch.manual_seed(0)
    for given, others in ((own[3], len(own) - 1), (own[0] & TRIPLE | 120 << FORM_SHIFT, len(own))):
        drawn, counts = forms.disturbed(given.expand(1, 200 * others)).unique(return_counts=True)
        assert set(drawn.tolist()) == set(own.tolist()) - {int(given)}
        assert 130 < counts.min() <= counts.max() < 280


def test_what_has_no_form_stays_as_it_is(config):
    forms = PhonemicBertModel(config("zh", form_dropout=0.5, form_noise=0.5)).embeddings.forms.train()
    special = torch.arange(6) * 0x010101
    plain = torch.from_numpy(triples("zh", "attested").packed).long()
    for ids in (special, plain):
        assert torch.equal(forms.disturbed(ids.expand(9, -1)), ids.expand(9, -1))
    counts = np.bincount(pairs("zh").rows)
    alone = torch.from_numpy(pairs("zh").packed[counts[pairs("zh").rows] == 1]).long()
    forms.dropped, forms.wrong = 0.0, 1.0
    assert torch.equal(forms.disturbed(alone), alone)


@langs
@backbones
def test_training_disturbs_and_evaluation_does_not(config, lang, backbone):
    model = PhonemicBertForTokenClassification(config(lang, backbone=backbone, form_dropout=0.5, form_noise=0.2))
    ids = ids_of(lang)
    with torch.no_grad():
        model.eval()
        assert torch.equal(model(ids).logits, model(ids).logits)
        model.train()
        torch.manual_seed(3)
        first, second = model(ids).logits, model(ids).logits
        assert not torch.equal(first, second)
        torch.manual_seed(3)
        assert torch.equal(model(ids).logits, first)


# --- what a library does with models


@langs
@kinds
@backbones
def test_saved_loaded_copied_and_pickled_it_is_the_same(config, lang, forms, backbone, tmp_path):
    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(config(lang, forms, backbone=backbone)).eval()
    ids, labels = masked(ids_of(lang))
    with torch.no_grad():
        want = model(ids, labels=labels)
        model.save_pretrained(tmp_path)
        loaded = AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
        for other in (loaded, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            got = other(ids, labels=labels)
            assert torch.equal(got.losses, want.losses)
            assert torch.equal(got.sounds[0], want.sounds[0])
        task = PhonemicBertForSequenceClassification.from_pretrained(tmp_path).eval()
        torch.testing.assert_close(task.bert(ids)[0], model.bert(ids)[0])


def test_the_weights_of_a_model_without_forms_are_another_model(config, tmp_path):
    saved = config("zh", "none", num_form_bigram_buckets=0)
    PhonemicBertForMaskedLM(saved).save_pretrained(tmp_path)
    assert "forms" not in "".join(PhonemicBertForMaskedLM.from_pretrained(tmp_path).state_dict())


@backbones
def test_checkpointing_and_half_precision(config, backbone):
    model = PhonemicBertForMaskedLM(config("zh", backbone=backbone, form_dropout=0.2, initializer_range=0.05)).train()
    ids, labels = masked(ids_of("zh"))

    def gradients():
        model.zero_grad()
        torch.manual_seed(1)
        loss = model(ids, labels=labels).loss
        loss.backward()
        return loss.detach(), model.bert.embeddings.forms.characters.grad.clone()

    want = gradients()
    enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
    enable({"use_reentrant": False})
    got = gradients()
    assert torch.equal(got[0], want[0])
    torch.testing.assert_close(got[1], want[1])
    with torch.autocast("cpu", torch.bfloat16):
        loss, gradient = gradients()
    assert abs(loss - want[0]) < 0.02 * want[0]
    assert gradient.dtype == torch.float32


@langs
@kinds
def test_documents_of_a_row_do_not_see_each_other(config, lang, forms):
    from phonemic.encoding import PACKED_CLS, PACKED_SEP
    from phonemic_bert.pretraining.trainer import separate

    model = predictor(config(lang, forms, backbone="modernbert"))
    parts = [
        torch.cat((torch.tensor([PACKED_CLS]), ids_of(lang, n)[0][:8], torch.tensor([PACKED_SEP]))) for n in (0, 1)
    ]
    row, documents = torch.cat(parts)[None], torch.arange(2).repeat_interleave(10)[None]
    positions = torch.arange(10).repeat(2)[None]
    inputs = separate({"input_ids": row, "documents": documents, "position_ids": positions}, 0)
    with torch.no_grad():
        together = model.bert(**inputs)[0][0]
        alone = torch.cat([model.bert(part[None])[0][0] for part in parts])
    torch.testing.assert_close(together, alone)


# --- learning


@kinds
def test_a_character_that_only_its_neighbours_form_tells_is_learned(config, forms):
    """他 and 她 sound the same, so that by sound alone neither what is behind one nor behind the other is known."""
    tokenizer = Tokenizer("zh", form=True)
    seen = torch.stack([torch.from_numpy(tokenizer.encode(text).ids).long() for text in ("他们", "她门")])
    assert torch.equal(seen[0, :1] & TRIPLE, seen[1, :1] & TRIPLE)
    ids, labels = seen.clone(), torch.full_like(seen, -100)
    labels[:, 1], ids[:, 1] = seen[:, 1], MASKED
    model = PhonemicBertForMaskedLM(config("zh", forms, backbone="modernbert", initializer_range=0.05)).train()
    optimizer = torch.optim.AdamW(model.parameters(), 0.003)
    for _ in range(60):
        optimizer.zero_grad()
        model(ids, labels=labels).loss.backward()
        optimizer.step()
    with torch.no_grad():
        output = model.eval()(ids, labels=labels)
        assert torch.equal(output.best, seen[:, 1])
        assert output.loss < 0.1
        blind = model(torch.where(ids == MASKED, ids, ids & TRIPLE), labels=labels)
    assert blind.losses.max() > 0.5
