"""Training one model: dropout everywhere or nowhere, and batches in parts that learn as whole ones."""

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("sklearn", reason="needs the finetune extra")
pytest.importorskip("seqeval", reason="needs the finetune extra")

from baseline_helpers import write_bert
from safetensors.torch import load_file
from synthetic import RULES, dataset, made, settings

from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer
from phonemic_bert.finetuning.encoders import load_encoder
from phonemic_bert.finetuning.kinds import make_kind
from phonemic_bert.finetuning.training import train

SHAPE = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}


def saved(folder, kind, rate):
    """The same weights whatever the rate of dropout that the configuration says they were pretrained with."""
    torch.manual_seed(0)
    folder.mkdir(parents=True)
    if kind == "foreign":  # whose configuration calls its rates otherwise
        write_bert(folder)
        inputs = ["input_ids", "attention_mask"]
        transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_input_names=inputs).save_pretrained(folder)
        size = len((folder / "vocab.txt").read_text("utf-8").splitlines())
        rates = dict.fromkeys(("attention_dropout", "embedding_dropout", "mlp_dropout", "classifier_dropout"), rate)
        ids = {f"{name}_token_id": 0 for name in ("pad", "bos", "eos", "cls", "sep")}
        config = transformers.ModernBertConfig(vocab_size=size, reference_compile=False, **SHAPE, **rates, **ids)
        transformers.ModernBertForMaskedLM(config).save_pretrained(folder)
    else:
        rates = {"hidden_dropout_prob": rate, "attention_probs_dropout_prob": rate}
        PhonemicBertForMaskedLM(PhonemicBertConfig("vi", backbone=kind, **SHAPE, **rates)).save_pretrained(folder)
        PhonemicBertTokenizer("vi").save_pretrained(folder)
    return folder


def trained(folder, encoder, name=("classification", "macro-f1"), count=16, **more):
    """A model after one epoch, and a batch for it."""
    asked = settings(grid__num_train_epochs=1, **more)
    kind = make_kind(dataset(folder, *name), "label", encoder, asked.text)
    rows = kind.rows(made("train", RULES[name][0])[:count], train=True)
    done = train(kind, asked.points()[0], asked, 1, rows, lambda model: {"score": 0.0})
    return done.model, kind.collate(rows[:4])


# --- dropout


@pytest.mark.parametrize("rate", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["bert", "modernbert", "foreign"])
@pytest.mark.filterwarnings("ignore:`torch.cpu.amp.autocast:FutureWarning")  # of transformers 4
def test_dropout_is_everywhere_whatever_the_checkpoint_was_pretrained_with(tmp_path, kind, rate):
    folders = [saved(tmp_path / str(before) / "final", kind, before) for before in (0.0, 0.2)]
    asked = {"optimization__dropout": rate, "optimization__bf16": True}  # on a CPU with eager attention, which shows it
    (model, batch), (other, _) = (trained(tmp_path, load_encoder(folder), **asked) for folder in folders)
    for name, value in model.state_dict().items():
        assert torch.equal(other.state_dict()[name], value), name

    states, inputs = model.base_model.train(), {name: value for name, value in batch.items() if name != "labels"}
    with torch.no_grad():
        one, two = (states(**inputs, output_attentions=True) for _ in range(2))
    assert torch.equal(one[0], two[0]) == (rate == 0)
    text = batch["attention_mask"].bool()
    dropped = torch.cat([(part.transpose(1, -1)[text] == 0).flatten() for part in one.attentions])
    assert dropped.float().mean() == pytest.approx(rate, abs=0.05)


@pytest.mark.parametrize("kind", ["bert", "modernbert", "foreign"])
def test_rates_of_dropout_change_no_weight(tmp_path, kind):
    folder = saved(tmp_path / "run" / "final", kind, 0.0)
    still = {"optimization__dropout": 0.2, "grid__learning_rate": 0.0}
    own = trained(tmp_path, load_encoder(folder), **still)[0].state_dict()
    loaded = {name: value for name, value in load_file(folder / "model.safetensors").items() if name in own}
    assert len(loaded) > 10
    assert all(torch.equal(own[name], value) for name, value in loaded.items())


# --- parts of batches


# That of a question goes over the padding of its batch too.
@pytest.mark.parametrize("name", [name for name in RULES if name[0] != "question-answering"])
def test_batches_in_parts_learn_as_whole_ones(tmp_path, checkpoint, name):
    """13 examples, 8 an update: the parts have different numbers of labels, and the last update is not full.

    With an epsilon this large Adam's steps are proportional to the gradient.
    """
    plain = {"optimization__adam_epsilon": 1.0, "optimization__max_grad_norm": 0, "optimization__warmup_ratio": 0.0}
    whole, *parts = (
        trained(
            tmp_path,
            load_encoder(checkpoint()),
            name,
            13,
            grid__batch_size=8,
            grid__learning_rate=1.0,
            machine__per_device_train_batch_size=size,
            **plain,
        )[0].state_dict()
        for size in (8, 2, 1)
    )
    for part in parts:
        for key, value in whole.items():
            torch.testing.assert_close(part[key], value, rtol=1e-4, atol=1e-5)


# --- runs of one process


@pytest.mark.filterwarnings("ignore:`torch.cpu.amp.autocast:FutureWarning")  # of transformers 4
def test_a_run_in_bfloat16_leaves_the_next_one_as_it_is(tmp_path, checkpoint, monkeypatch):
    monkeypatch.delenv("ACCELERATE_MIXED_PRECISION", raising=False)  # by which transformers 4 tells accelerate
    first, half, again = (
        trained(tmp_path, load_encoder(checkpoint()), optimization__bf16=bf16)[0].state_dict()
        for bf16 in (False, True, False)
    )
    assert not all(torch.equal(half[name], value) for name, value in first.items())
    assert all(torch.equal(again[name], value) for name, value in first.items())


def test_no_gradient_of_attention_is_cudnns(tmp_path, monkeypatch):
    """A model that is not one of ours, and so does not see to it by itself."""
    attention, seen = torch.nn.functional.scaled_dot_product_attention, []

    def recording(*args, **kwargs):
        seen.append((torch.is_grad_enabled(), torch.backends.cuda.cudnn_sdp_enabled()))
        return attention(*args, **kwargs)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", recording)
    trained(tmp_path, load_encoder(str(saved(tmp_path / "foreign", "foreign", 0.1))), optimization__bf16=False)
    assert (True, False) in seen
    assert (True, True) not in seen
    assert torch.backends.cuda.cudnn_sdp_enabled()
