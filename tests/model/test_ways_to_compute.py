"""Every design computes the same with checkpointing, compiled, copied, in bfloat16, exported and on threads."""

import copy
import pickle

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from design_helpers import encoder, every, predictor, syllables

from phonemic import Tokenizer
from phonemic.inventory import EMPTY_ID
from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM


def step(tiny, options, prepare=lambda model: model):
    """The loss and all gradients of a step of training."""
    ids = torch.nn.utils.rnn.pad_sequence(syllables("zh", 9, 4), batch_first=True)
    labels = torch.where((ids > 5 * 0x010101) & (torch.arange(ids.shape[1]) % 3 == 1), ids, -100)
    torch.manual_seed(0)
    fields = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, **options}
    model = predictor(tiny("zh", initializer_range=0.2, **fields)).train()
    loss = prepare(model)(ids, attention_mask=(ids != 0).long(), labels=labels).loss
    loss.backward()
    return [loss.detach(), *(one.grad for one in model.parameters())]


@every
def test_gradient_checkpointing_changes_nothing(tiny, options):
    def checkpointed(model):
        enable = getattr(model, "activation_checkpointing_enable", model.gradient_checkpointing_enable)
        enable({"use_reentrant": False})
        return model

    for got, expected in zip(step(tiny, options, checkpointed), step(tiny, options), strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)


# Where dynamo leaves the graph, it looks at gradients of tensors that have none.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
@pytest.mark.compiled
@every
def test_compiled_whole_it_is_the_same(tiny, options):
    """As torch.compile traces it; what it generates is not looked at here."""
    torch.compiler.reset()  # after eight models of a class it would trace no more
    options = {**options, "num_hidden_layers": 1}  # each layer is traced by itself
    got = step(tiny, options, lambda model: torch.compile(model, backend="eager"))
    for one, expected in zip(got, step(tiny, options), strict=True):
        torch.testing.assert_close(one, expected, rtol=1e-4, atol=1e-5)


@every
def test_copies_and_pickles_give_the_same(tiny, options):
    model = predictor(tiny("zh", **options))
    (text,) = syllables("zh", 13)
    want = model(text[None]).logits
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        for got, expected in zip(other(text[None]).logits, want, strict=True):
            torch.testing.assert_close(got, expected)


@every
def test_bfloat16_stays_close(tiny, options):
    model = predictor(tiny("zh", **options))
    (text,) = syllables("zh", 13)
    labels = torch.where(torch.arange(len(text)) % 3 == 1, text, -100)[None]
    with torch.no_grad():
        want = model(text[None], labels=labels).losses
        with torch.autocast("cpu", torch.bfloat16):
            assert (model(text[None], labels=labels).losses - want).abs().max() < 0.15
        assert (model.bfloat16()(text[None], labels=labels).losses - want).abs().max() < 0.3


@every
def test_exports(tiny, options):
    """torch.export's program gives the same logits."""
    model = predictor(tiny("zh", initializer_range=0.2, **options))
    ids = torch.stack(syllables("zh", 9, 9))
    exported = torch.export.export(model, (), {"input_ids": ids, "attention_mask": torch.ones_like(ids)}, strict=False)
    other = torch.stack(syllables("zh", 9, 9, seed=5))
    got = exported.module()(input_ids=other, attention_mask=torch.ones_like(other))
    for part, want in zip(got.logits, model(other).logits, strict=True):
        torch.testing.assert_close(part, want, rtol=1e-4, atol=1e-5)


def test_bigrams_export_for_texts_of_any_length(tiny):
    """Also for [CLS] and [SEP] alone."""
    embeddings = encoder(tiny("zh", num_bigram_buckets=50)).embeddings.bigrams
    texts = [text[None] for text in syllables("zh", 9, 0, 30)]
    given = [(text, (text & 255) < EMPTY_ID) for text in texts]
    length = torch.export.Dim("length", min=2, max=64)
    exported = torch.export.export(embeddings, given[0], dynamic_shapes=({1: length}, {1: length}), strict=False)
    for one in given:
        torch.testing.assert_close(exported.module()(*one), embeddings(*one))


def test_gradients_on_two_threads_are_the_same_each_time():
    """Thousands of positions share the rows of a table; threads that add to one row in any order would differ."""
    torch.manual_seed(0)
    config = PhonemicBertConfig(
        hidden_size=64, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, max_position_embeddings=256, composition="both",
        head="joint", output_embeddings="tied", syllable_inventory="attested", conv_kernel_size=3, num_bigram_buckets=1024,
    )  # fmt: skip
    model = PhonemicBertForMaskedLM(config).eval()  # without dropout
    packed = torch.tensor(
        Tokenizer("vi").encode("sáng nay bé ăn xôi gà ở nhà bà ngoại " * 410).ids[:4096].copy()
    ).long()
    ids = packed.view(16, 256)
    labels = torch.where(torch.rand(ids.shape) < 0.05, ids, -100)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        found = []
        for _ in range(4):
            model.zero_grad()
            model(input_ids=ids, labels=labels).loss.backward()
            found.append({name: each.grad.clone() for name, each in model.named_parameters() if each.grad is not None})
    finally:
        torch.set_num_threads(threads)
    assert len(found[0]) > 20
    for other in found[1:]:
        assert [name for name in other if not torch.equal(other[name], found[0][name])] == []
