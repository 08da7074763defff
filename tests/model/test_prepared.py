"""A prepared encoder gives what the model gives, whatever it has read before, and from several threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
from test_unpadded import DESIGNS, TEXTS, batch, model_of, same, slow

from phonemic_bert.modeling import products
from phonemic_bert.modeling.prepared import ComposedOnce, PreparedEncoder


@pytest.mark.parametrize("few", [1, 1000])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("lang", TEXTS)
def test_the_states_are_those_of_the_model(design, lang, few, monkeypatch):
    for module in (products, "phonemic_bert.modeling.prepared"):
        monkeypatch.setattr(f"{getattr(module, '__name__', module)}.FEW", few)
    model, (ids, mask) = model_of(design, lang), batch(lang, design == "forms")
    wanted, prepared = slow(model, ids, attention_mask=mask).last_hidden_state, PreparedEncoder(model)
    for _ in range(2):
        found = prepared(ids, mask)
        same(found, wanted, mask)
        assert not found[~mask].any()
    for row, kept in zip(ids, mask, strict=True):
        alone = row[None, kept]
        everything = torch.ones_like(alone, dtype=torch.bool)
        same(prepared(alone), slow(model, alone).last_hidden_state, everything)
        two = torch.cat((alone, alone), 1)  # two documents in a row
        same(prepared(two), slow(model, two).last_hidden_state, torch.ones_like(two, dtype=torch.bool))


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("lang", TEXTS)
def test_weights_in_half_precision_stay_so_and_lose_nothing(design, lang, monkeypatch):
    if not products.has_fbgemm():
        pytest.skip("this torch or processor has no products with weights in half precision")
    monkeypatch.setattr(products, "LARGE", 1)
    monkeypatch.setattr("phonemic_bert.modeling.prepared.FEW", 1000)
    monkeypatch.setattr(products, "FEW", 1000)
    model, (ids, mask) = model_of(design, lang), batch(lang, design == "forms")
    assert not isinstance(products.kept_product(a_linear(model), 999), products.Half)
    model.half().float()
    assert isinstance(products.kept_product(a_linear(model), 999), products.Half)
    same(PreparedEncoder(model)(ids, mask), slow(model, ids, attention_mask=mask).last_hidden_state, mask)


@pytest.mark.parametrize("part", [slice(None), slice(3, 9)])
@pytest.mark.parametrize("bias", [True, False])
def test_products_in_half_precision_are_those_of_the_layer(part, bias):
    if not products.has_fbgemm():
        pytest.skip("this torch or processor has no products with weights in half precision")
    linear, rows = torch.nn.Linear(7, 11, bias).half().float().requires_grad_(False), torch.randn(5, 7)
    wanted = linear(rows)[:, part]
    made, other = products.Half(linear, part, torch.tanh), torch.randn(wanted.shape)
    kept = other.clone()
    assert torch.allclose(made(rows), wanted.tanh(), atol=1e-6)
    assert torch.allclose(made.plus(rows, other), kept + wanted.tanh(), atol=1e-6)
    assert torch.equal(other, kept)
    assert torch.allclose(made.times(rows, other), kept * wanted.tanh(), atol=1e-6)


@pytest.mark.parametrize("check", [products.has_fbgemm, products.has_onednn, products.has_int8])
def test_checking_the_processor_draws_nothing(check):
    """A training run must not depend on whether it is the first that evaluates in its process."""
    before = torch.get_rng_state()
    assert check.__wrapped__() == check()
    assert torch.equal(torch.get_rng_state(), before)


needs_int8 = pytest.mark.skipif(not products.has_int8(), reason="this torch or processor has no products in 8 bits")


def in_steps(rows, weight):
    """The same products by whole numbers, row by row and output by output: numpy, int64."""
    rows, weight = rows.double().numpy(), weight.double().numpy()
    row_scales, scales = np.abs(rows).max(1, keepdims=True) / 127, np.abs(weight).max(1, keepdims=True) / 63
    whole = np.rint(rows / row_scales).astype(np.int64) @ np.rint(weight / scales).astype(np.int64).T
    return torch.from_numpy(whole * row_scales * scales.T).float()


@needs_int8
@pytest.mark.parametrize("rows", [1, 7, 64, 513])
@pytest.mark.parametrize(("part", "bias"), [(slice(None), False), (slice(3, 90), True)])
def test_products_in_8_bits_are_those_of_whole_numbers(rows, part, bias):
    torch.manual_seed(rows)
    linear = torch.nn.Linear(256, 96, bias).requires_grad_(False)
    given = torch.randn(rows, 256) * torch.logspace(-6, 6, rows)[:, None]
    wanted = in_steps(given, linear.weight[part]) + (linear.bias[part] if bias else 0)
    made, near = products.Eight(linear, part, None), {"rtol": 1e-4, "atol": 0}
    scale = given.abs().amax(1, keepdim=True)
    torch.testing.assert_close(made(given) / scale, wanted / scale, rtol=1e-3, atol=1e-4)
    assert all(torch.equal(made(row[None])[0], found) for row, found in zip(given, made(given), strict=True))
    other = torch.randn(wanted.shape)
    torch.testing.assert_close(made.plus(given, other.clone()), other + made(given), **near)
    read, active = made.read(given), products.Eight(linear, part, torch.tanh)
    torch.testing.assert_close(active.times(read, other.clone()), other * made(given).tanh(), **near)


@needs_int8
def test_the_largest_sums_in_8_bits_do_not_overflow():
    for sign in (1, -1):
        linear = torch.nn.Linear(1024, 8, bias=False).requires_grad_(False)
        linear.weight.fill_(sign)
        rows = torch.ones(70, 1024)
        rows[::2] = -1
        torch.testing.assert_close(products.Eight(linear, slice(None), None)(rows), linear(rows))
    assert not products.Eight(linear, slice(None), None)(torch.zeros(3, 1024)).any()


@needs_int8
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("lang", TEXTS)
def test_states_in_8_bits_are_near_and_of_each_text_alone(design, lang):
    model, (ids, mask) = model_of(design, lang), batch(lang, design == "forms")
    wanted, prepared = slow(model, ids, attention_mask=mask).last_hidden_state, PreparedEncoder(model, int8=True)
    found = prepared(ids, mask)
    assert 0 < (found - wanted)[mask].norm() < 0.1 * wanted[mask].norm()
    for row, kept, states in zip(ids, mask, found, strict=True):
        assert torch.allclose(prepared(row[None, kept])[0], states[kept], atol=1e-5)


@pytest.mark.parametrize("design", DESIGNS)
def test_states_of_all_layers_and_of_texts_that_do_not_begin_as_texts(design):
    model, (ids, mask) = model_of(design, "vi"), batch("vi", design == "forms")
    prepared = PreparedEncoder(model)
    for given, kept in ((ids, mask), (ids[:, 1:], mask[:, 1:] | (torch.arange(ids.shape[1] - 1) == 0))):
        wanted = slow_layers(model, given, kept)
        chosen = [len(wanted) - 1, 0, 2]
        for layer, found in zip(chosen, prepared.layers(given, kept, chosen), strict=True):
            same(found, wanted[layer], kept)


def slow_layers(model, ids, mask):
    return model(ids, attention_mask=mask, output_hidden_states=True).hidden_states


@pytest.mark.parametrize("weight", [0.1, 1e5, 1e-9])
def test_what_half_precision_would_lose_is_not_half(weight):
    assert not products.is_half(torch.tensor([1.0, weight]))


def a_linear(model):
    return next(module for module in model.encoder.modules() if isinstance(module, torch.nn.Linear))


@pytest.mark.parametrize("room", [3, 20, 8192])
def test_ids_are_forgotten_where_there_is_no_room(room):
    embeddings, (ids, _) = model_of("forms", "zh").embeddings, batch("zh", forms=True)
    composed = ComposedOnce(embeddings, room)
    with torch.no_grad():
        for _ in range(2):
            for row in ids:
                assert torch.allclose(composed(row[None]), embeddings.compose(row[None]), atol=1e-6)
                assert len(composed.places) <= room


def test_several_threads_may_read_at_once():
    model, (ids, mask) = model_of("modern"), batch()
    wanted, prepared = slow(model, ids, attention_mask=mask).last_hidden_state, PreparedEncoder(model)
    prepared.vectors.room = 24
    rows = [(row, kept) for row, kept in zip(range(len(ids)), mask, strict=True)] * 40
    with ThreadPoolExecutor(8) as pool:
        for (row, kept), found in zip(
            rows, pool.map(lambda one: prepared(ids[one[0], one[1]][None]), rows), strict=True
        ):
            assert torch.allclose(found[0], wanted[row, kept], atol=1e-4)


def test_a_copy_is_made_of_the_model():
    model, (ids, mask) = model_of("modern"), batch()
    prepared = PreparedEncoder(model)
    assert torch.equal(pickle.loads(pickle.dumps(prepared))(ids, mask), prepared(ids, mask))


def test_what_cannot_be_prepared_says_so():
    model = model_of("modern")
    for other in (model_of("modern").train(), model_of("modern").half()):
        with pytest.raises(ValueError, match="in evaluation, in float32 and on a CPU"):
            PreparedEncoder(other)
    with pytest.raises(ValueError, match="65 positions is longer than 64"):
        PreparedEncoder(model)(torch.ones(1, 65, dtype=torch.long) * 0x010101)
    with pytest.raises(ValueError, match="which is not a position"):
        PreparedEncoder(model)(torch.full((1, 3), 0x020103))
