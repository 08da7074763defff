"""Whole runs of a tiny model, computed in other ways: batches, workers, processes, compiled, plain BERT."""

import itertools
import json
import math
import os
import signal
import socket
from functools import cached_property, partial

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the arrow extra")

from corpora import character_corpus
from pretraining_helpers import (
    EXPECTED_WARNINGS,
    FORKS,
    assert_alike,
    log,
    overrides,
    settings,
    started,
    wait_for_lines,
    weights,
)
from rich.console import Console
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForMaskedLM, TrainingArguments

from phonemic.corpus import open_corpus
from phonemic_bert.errors import SettingsError
from phonemic_bert.pretraining.compiled import filled_up
from phonemic_bert.pretraining.run import STOPPED, pretrain
from phonemic_bert.triples import triples

pytestmark = EXPECTED_WARNINGS


@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")  # on one core
def test_batches_and_workers_change_nothing_but_rounding(straight, corpus, tmp_path):
    """With dropout off: one batch of 8 is two of 4, and two worker processes give what none give."""
    quiet = {"model__hidden_dropout_prob": 0.0, "model__attention_probs_dropout_prob": 0.0}
    changes = [
        {"machine__per_device_train_batch_size": 8},
        {"machine__per_device_train_batch_size": 2, "machine__dataloader_num_workers": 2},
    ]
    logs = []
    for number, change in enumerate(changes):
        pretrain(settings(**quiet, **change), corpus, tmp_path / str(number), Console(quiet=True))
        logs.append(log(tmp_path / str(number)))
    assert_alike(*logs, rel=2e-4)


def test_several_gpus_of_one_process_change_nothing(straight, corpus, tmp_path, monkeypatch):
    """Trainer would read a batch for each, and train on all at once."""
    theirs = vars(TrainingArguments)["_setup_devices"]

    def two(args):
        device = (getattr(theirs, "func", None) or theirs.fget)(args)
        args._n_gpu = 2
        return device

    found = cached_property(two)
    found.__set_name__(TrainingArguments, "_setup_devices")
    monkeypatch.setattr(TrainingArguments, "_setup_devices", found)
    pretrain(settings(), corpus, tmp_path / "run", Console(quiet=True))
    assert log(tmp_path / "run") == log(straight)


@pytest.mark.parametrize(
    "change",
    [
        {"optimization__bf16": True, "machine__gradient_checkpointing": True},
        {"sequences__separate_documents": False, "evaluation__held_out_documents": 0},
        {"sequences__attn_implementation": "eager"},
    ],
)
def test_other_ways_to_compute(corpus, tmp_path, straight, change):
    pretrain(settings(**change, optimization__max_steps=12), corpus, tmp_path / "run", Console(quiet=True))
    losses = [row["loss"] for row in log(tmp_path / "run") if "loss" in row]
    want = [row["loss"] for row in log(straight) if "loss" in row][: len(losses)]
    assert losses == pytest.approx(want, rel=0.03)
    assert losses != want
    assert (tmp_path / "run" / "final" / "model.safetensors").exists()


# Where dynamo leaves the graph, it looks at gradients of tensors that have none.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
@pytest.mark.compiled
@pytest.mark.parametrize(
    "beyond", [{}, {"backbone": "modernbert", "composition": "product", "head": "joint", "conv_kernel_size": 3}]
)
def test_compiled_as_not_compiled(corpus, tmp_path, monkeypatch, beyond):
    """As torch.compile traces it; what inductor makes of the heads is looked at in test_generated_code."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    module_compile = torch.nn.Module.compile
    monkeypatch.setattr(torch.nn.Module, "compile", lambda self, **kw: module_compile(self, backend="eager", **kw))
    logs = []
    for compiled in (False, True):
        changes = {
            "machine__torch_compile": compiled,
            "optimization__max_steps": 6,
            **{f"model__{k}": v for k, v in beyond.items()},
        }
        pretrain(settings(**changes), corpus, tmp_path / str(compiled), Console(quiet=True))
        logs.append(log(tmp_path / str(compiled)))
    assert len(logs[0]) > 2
    assert_alike(*logs, rel=1e-4)


def test_no_compiler_is_said(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SettingsError, match=r"machine\.torch_compile = true needs a C\+\+ compiler"):
        pretrain(settings(machine__torch_compile=True), corpus, tmp_path / "run", Console(quiet=True))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 23])
def test_filled_up_asks_for_multiples_and_changes_nothing(count):
    asked = []
    weight = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)

    def losses(hidden, labels):
        asked.append(len(hidden))
        return torch.nn.functional.cross_entropy(hidden @ weight.T, labels, reduction="none")

    hidden, labels = torch.randn(count, 3, requires_grad=True), torch.arange(count) % 5
    got = filled_up(losses, 8)(hidden, labels)
    assert asked == [-(-count // 8) * 8]
    want = torch.nn.functional.cross_entropy(hidden @ weight.T, labels, reduction="none")
    torch.testing.assert_close(got, want)
    for one, other in zip(*(torch.autograd.grad(x.sum(), (hidden, weight)) for x in (got, want)), strict=True):
        torch.testing.assert_close(one, other)


@FORKS
def test_two_processes_learn_as_one(corpus, tmp_path):
    """DDP over gloo is told to stop through one of its processes, and one process continues: the curve is that of one."""
    quiet = {"model__hidden_dropout_prob": 0.0, "model__attention_probs_dropout_prob": 0.0, "output__logging_steps": 1}
    alone, folder = tmp_path / "alone", tmp_path / "two"
    pretrain(settings(**quiet), corpus, alone, Console(quiet=True))

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "GLOO_SOCKET_IFNAME": "lo"}
    ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank), "ACCELERATE_USE_CPU": "1"} for rank in range(2)]
    workers = [started(corpus, folder, extra={**shared, **rank}, **quiet) for rank in ranks]
    wait_for_lines(folder, 5, lambda: workers[0].running)
    os.kill(workers[1].pid, signal.SIGTERM)
    ended = [worker.finished() for worker in workers]
    assert [one.returncode for one in ended] == [STOPPED, STOPPED], ended
    together = log(folder)
    assert len(together) >= 5
    assert not (folder / "final").exists()

    assert pretrain(settings(**quiet), corpus, folder, Console(quiet=True)) == 0
    assert log(folder)[: len(together)] == together
    for one, other in zip(log(folder), log(alone), strict=True):
        assert one == pytest.approx(other, rel=2e-4)
    for name, value in weights(alone / "final").items():
        torch.testing.assert_close(weights(folder / "final")[name], value, rtol=0, atol=2e-5)


def test_tensorboard(corpus, tmp_path):
    pytest.importorskip("tensorboard", reason="needs the pretrain extra")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = tmp_path / "run"
    short = {"optimization__max_steps": 6, "output__tensorboard": True}
    pretrain(settings(**short), corpus, folder, Console(quiet=True))
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    want = [(row["step"], row["loss"]) for row in log(folder) if "loss" in row]
    assert [(event.step, event.value) for event in events.Scalars("train/loss")] == [
        (step, pytest.approx(loss)) for step, loss in want
    ]
    assert len(events.Scalars("eval/bits_per_character")) == 2


def test_tensorboard_forgets_what_a_run_that_begins_again_had_shown(corpus, tmp_path, monkeypatch):
    """Killed before its first checkpoint."""
    pytest.importorskip("tensorboard", reason="needs the pretrain extra")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    class Killed(BaseException):
        pass

    def killed(self, args, state, control, **kwargs):
        if state.global_step == 4:
            raise Killed

    folder = tmp_path / "run"
    asked = settings(optimization__max_steps=6, output__logging_steps=1, output__tensorboard=True)
    monkeypatch.setattr("phonemic_bert.pretraining.callbacks.ProgressBar.on_step_begin", killed, raising=False)
    with pytest.raises(Killed):
        pretrain(asked, corpus, folder, Console(quiet=True))
    monkeypatch.undo()
    pretrain(asked, corpus, folder, Console(quiet=True))
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    assert [event.step for event in events.Scalars("train/loss")] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("fallback", ["character", "packed"])
def test_from_text_to_a_checkpoint(tmp_path, vi_lines, fallback):
    """`pretrain` reads the output of `prepare`, by their commands."""
    pytest.importorskip("matplotlib", reason="needs the corpus extra")
    from click.testing import CliRunner

    from phonemic.cli import cli as phonemic
    from phonemic_bert.cli import cli

    text = tmp_path / "lines.txt"
    text.write_text("\n".join(f"{line} covid" for line in vi_lines * 3), "utf-8")
    chosen = ["--lang", "vi", "--fallback", fallback]
    found = CliRunner().invoke(phonemic, ["prepare", str(text), str(tmp_path / "corpus"), *chosen])
    assert found.exit_code == 0, found.output
    options = [part for value in overrides(optimization__max_steps=3) for part in ("--set", value)]
    folders = [str(tmp_path / "corpus"), str(tmp_path / "run")]
    found = CliRunner().invoke(cli, ["pretrain", "paper-tiny", *folders, *options, "--export", "fp16"])
    assert found.exit_code == 0, found.output
    assert "lines.txt" in (tmp_path / "run" / "final-fp16" / "README.md").read_text()
    assert str(tmp_path) not in (tmp_path / "run" / "final-fp16" / "pretraining.json").read_text()
    AutoModelForMaskedLM.from_pretrained(tmp_path / "run" / "final-fp16")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "run" / "final-fp16")
    shard = open_corpus(tmp_path / "corpus")[0]
    ids = tokenizer(f"{vi_lines[0]} covid", add_special_tokens=False)["input_ids"]
    assert shard.ids[: shard.offsets[1]].tolist() == ids
    assert tokenizer.convert_ids_to_tokens(ids[-2:]) == (["cov", "id"] if fallback == "packed" else ["i", "d"])


# --- plain BERT


def test_plain_bert_over_another_tokenizer(tmp_path, vi_lines):
    folder = tmp_path / "run"
    corpus = character_corpus(tmp_path / "characters", vi_lines, repeat=4)
    options = {"masking__replacement": "80/10/10", "optimization__learning_rate": 1e-2, "optimization__max_steps": 60}
    pretrain(settings(**options, evaluation__eval_steps=30), corpus, folder, Console(quiet=True))
    rows = log(folder)
    assert rows[-1]["eval_loss"] < 0.9 * rows[0]["loss"]
    assert {"eval_loss", "eval_accuracy", "eval_bits_per_character"} <= rows[-1].keys()
    assert not [name for name in rows[-1] if name.endswith(("_symbol", "_onset"))]
    model = AutoModelForMaskedLM.from_pretrained(folder / "final")
    assert type(model) is BertForMaskedLM
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    origin = json.loads((folder / "final" / "pretraining.json").read_text())
    assert origin["input_ids"] == {"special": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[MASK]": 3}, "shift": 4}
    assert origin["corpus"]["tokenizer"]["name"] == "character"
    assert model.config.vocab_size == origin["corpus"]["tokenizer"]["id_count"] + 4
    assert "BERT over character" in (folder / "final" / "README.md").read_text()


def test_position_embeddings_may_begin_as_sinusoids(corpus):
    """Against the formula, written as its paper writes it.

    What is composed of onset, rime and tone begins as loud; all other weights are those of a run that does not.
    """
    from phonemic_bert.pretraining.models import make_model
    from phonemic_bert.pretraining.symbols import Symbols

    manifest = corpus / "manifest.json"
    symbols = Symbols.of_manifest(json.loads(manifest.read_text())["tokenizer"], manifest)
    made = {}
    for kind in ("random", "sinusoidal"):
        torch.manual_seed(3)
        model = make_model(settings(model__position_init=kind, model__composition="product"), symbols)
        made[kind] = model.state_dict()
        composed = model.bert.embeddings.compose(torch.from_numpy(triples("vi").packed).long()[None])
    (name,) = (name for name in made["random"] if "position_embeddings.weight" in name)
    table = made["sinusoidal"].pop(name)
    random = made["random"].pop(name)
    for position, column in itertools.product((0, 1, 7, 47), range(24)):
        angle = position / 10_000 ** (2 * (column // 2) / 24)
        wave = math.cos(angle) if column % 2 else math.sin(angle)
        assert table[position, column].item() == pytest.approx(4 * 0.05 * 2**0.5 * wave, abs=1e-6)
    assert table.square().mean().item() == pytest.approx(16 * random.square().mean().item(), rel=0.1)
    assert composed.square().mean().item() == pytest.approx(2 * table.square().mean().item(), rel=0.25)
    for other, value in made["random"].items():
        louder = other.endswith("projection.weight")
        assert torch.equal(value, made["sinusoidal"][other]) != louder, other


def test_plain_bert_computes_what_transformers_computes():
    from transformers import BertConfig

    from phonemic_bert.pretraining.models import BertForMaskedLM as Ours

    torch.manual_seed(0)
    shape = {"vocab_size": 30, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
    config = BertConfig(**shape, intermediate_size=40, hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    ours, stock = Ours(config), BertForMaskedLM(config)
    stock.load_state_dict(ours.state_dict())
    ids = torch.randint(0, 30, (3, 9))
    labels = torch.where(torch.rand(3, 9) < 0.4, ids, -100)
    got, want = ours(ids, labels=labels), stock(ids, labels=labels)
    torch.testing.assert_close(got.loss, want.loss)
    torch.testing.assert_close(ours.eval()(ids, labels=labels).logits, want.logits[labels != -100])
    torch.testing.assert_close(ours(ids).logits, want.logits)
    half = ours(ids, labels=labels, num_items_in_batch=2 * int((labels != -100).sum())).loss
    torch.testing.assert_close(2 * half, want.loss)
