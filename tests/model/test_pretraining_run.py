"""Whole runs of a tiny model: continued exactly, stopped, killed, in two processes, on a full disk."""

import itertools
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from io import StringIO
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the arrow extra")

from corpora import character_corpus, phonemic_corpus
from rich.console import Console
from safetensors.torch import load_file
from test_pretraining_corpus import on_small_disk
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForMaskedLM

from phonemic.corpus import open_corpus
from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertTokenizer
from phonemic_bert.errors import RunError, SettingsError
from phonemic_bert.pretraining.run import STOPPED, pretrain
from phonemic_bert.pretraining.settings import Settings
from phonemic_bert.pretraining.trainer import fault

pytestmark = pytest.mark.filterwarnings(
    # transformers 4 restores torch's generators through a call that torch deprecates
    "ignore:.*torch.*:FutureWarning",
    "ignore:.*pin_memory.*:UserWarning",
)

#: A model and a run small enough for a test, with dropout, whose random states a run must carry on.
SMALL = {
    "model.hidden_size": 24,
    "model.attention_heads": 3,
    "model.intermediate_size": 40,
    "model.dropout": 0.1,
    "model.attention_dropout": 0.1,
    "sequences.length": 48,
    "optimization.steps": 24,
    "optimization.batch_size": 8,
    "machine.device_batch_size": 4,
    "evaluation.held_out_documents": 20,
    "evaluation.every": 5,
    "output.log_every": 3,
    "output.save_every": 8,
    "output.tensorboard": False,
    "machine.device": "cpu",
}


def overrides(**more):
    values = {**SMALL, **{name.replace("__", "."): value for name, value in more.items()}}
    return [f"{name}={json.dumps(value)}" for name, value in values.items()]


def settings(**more):
    return Settings.load("tiny", overrides(**more))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, vi_lines):
    return phonemic_corpus(tmp_path_factory.mktemp("corpora") / "vi", vi_lines, repeat=6)


@pytest.fixture(scope="module")
def straight(tmp_path_factory, corpus):
    """A run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("runs") / "straight"
    assert pretrain(settings(), corpus, folder, Console(quiet=True)) == 0
    return folder


def log(folder, timed=False):
    """The lines of a log, without what the clock says."""
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return rows if timed else [{k: v for k, v in row.items() if "second" not in k} for row in rows]


def weights(folder):
    return load_file(folder / "model.safetensors")


def assert_same_run(folder, other):
    assert log(folder) == log(other)
    for part in ("final", "checkpoints/checkpoint-24"):
        mine, want = weights(folder / part), weights(other / part)
        assert mine.keys() == want.keys()
        assert all(torch.equal(mine[name], want[name]) for name in want)


def command(corpus, folder, *options, **more):
    sets = [part for value in overrides(**more) for part in ("--set", value)]
    return [sys.executable, "-m", "phonemic_bert.cli", "pretrain", "tiny", str(corpus), str(folder), *sets, *options]


def environment(**more):
    return {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **more}


# --- what a run leaves


def test_what_a_run_leaves(straight, corpus):
    rows = log(straight, timed=True)
    training, evaluations = ([row for row in rows if name in row] for name in ("loss", "eval_loss"))
    assert [row["step"] for row in training] == list(range(3, 25, 3))
    assert [row["step"] for row in evaluations] == [5, 10, 15, 20, 24]
    assert training[-1]["loss"] < training[0]["loss"] < 18
    assert all(row["positions_per_second"] > 0 for row in training)
    assert [row["seconds"] for row in rows] == sorted(row["seconds"] for row in rows)
    for row in evaluations:
        parts = [row[f"eval_loss_{name}"] for name in ("onset", "rime", "tone")]
        assert row["eval_loss"] == pytest.approx(sum(parts))
        assert row["eval_accuracy"] <= min(row[f"eval_accuracy_{name}"] for name in ("onset", "rime", "tone"))
    assert sorted(path.name for path in (straight / "checkpoints").iterdir()) == ["checkpoint-16", "checkpoint-24"]
    record = json.loads((straight / "run.json").read_text())
    assert record["settings"] == settings().as_dict()
    assert not list(straight.rglob("*partial*"))

    final = straight / "final"
    names = {
        "config.json",
        "model.safetensors",
        "phonemic.json",
        "tokenizer_config.json",
        "README.md",
        "pretraining.json",
    }
    assert {path.name for path in final.iterdir()} - {"curve.png"} - {"special_tokens_map.json"} == names
    assert type(AutoModelForMaskedLM.from_pretrained(final)) is PhonemicBertForMaskedLM
    assert type(AutoTokenizer.from_pretrained(final)) is PhonemicBertTokenizer
    best = min(evaluations, key=lambda row: row["eval_loss"])
    assert json.loads((final / "pretraining.json").read_text())["step"] == best["step"]
    card = (final / "README.md").read_text()
    assert f"step {best['step']}, the best on held-out text" in card
    assert f"| {best['eval_loss']:.3f} | {best['eval_bits_per_character']:.3f} |" in card
    assert "lines.txt" in card
    assert "texts/" not in card


def test_bits_per_character(straight, corpus):
    """From the formula and the model alone, without the code that evaluates."""
    import pyarrow.parquet as pq

    row = log(straight)[-1]
    tables = [pq.read_table(path) for path in sorted(corpus.glob("shard-*.parquet"))]
    ids = [one for table in tables for one in table["ids"].to_pylist()]
    characters = [one for table in tables for one in table["characters"].to_pylist()]
    held = [(2 * number + 1) * len(ids) // 40 for number in range(20)]
    positions, count = sum(len(ids[number]) for number in held), sum(characters[number] for number in held)
    assert row["eval_bits_per_character"] == pytest.approx(row["eval_loss"] / 0.6931471805599453 * positions / count)
    assert 0.05 * positions < row["eval_predicted"] < 0.3 * positions


def test_held_out_documents_are_not_learned_from(corpus):
    from phonemic.corpus import open_corpus
    from phonemic_bert.pretraining.flat import FlatCorpus
    from phonemic_bert.pretraining.run import split

    opened = FlatCorpus(open_corpus(corpus))
    train, held_out, numbers = split(opened, settings())
    seen = {position for start, stop in train.packed.tolist() for position in range(start, stop)}
    kept = {at for number in numbers for at in range(opened.offsets[number], opened.offsets[number + 1])}
    assert not seen & kept
    assert seen | kept == set(range(len(opened.ids)))
    assert len(held_out.ids) == len(kept)


# --- continuing


@pytest.mark.parametrize("step", [8, 16])
def test_continued_bit_for_bit(straight, corpus, tmp_path, step):
    """From a checkpoint in the middle of an epoch and between two lines of the log."""
    folder = tmp_path / "run"
    pretrain(settings(output__keep=3), corpus, tmp_path / "all", Console(quiet=True))
    shutil.copytree(straight, folder, ignore=shutil.ignore_patterns("final", "best", "checkpoint-*"))
    name = f"checkpoint-{step}"
    shutil.copytree(tmp_path / "all" / "checkpoints" / name, folder / "checkpoints" / name)
    assert pretrain(settings(), corpus, folder, Console(quiet=True)) == 0
    assert_same_run(folder, straight)
    before = weights(tmp_path / "all" / "checkpoints" / name)
    assert not torch.equal(before["heads.rime.weight"], weights(folder / "final")["heads.rime.weight"])


def wait_for_lines(folder, count, running):
    """Until the log of a running process has so many lines."""
    path, deadline = folder / "log.jsonl", time.monotonic() + 90
    while not path.exists() or path.read_text().count("\n") < count:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_sigterm_saves_and_the_run_goes_on(straight, corpus, tmp_path):
    """Told to the whole process group, as a batch system may, with a worker that reads."""
    folder = tmp_path / "run"
    told = command(corpus, folder, machine__workers=1)
    running = subprocess.Popen(told, env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for_lines(folder, 1, running)
    os.killpg(running.pid, signal.SIGTERM)
    _, errors = running.communicate(timeout=90)
    assert running.returncode == STOPPED, errors
    [saved] = re.findall(r"stopped and saved after step (\d+); run it again", " ".join(errors.split()))
    assert 3 <= int(saved) < 24
    assert (folder / "checkpoints" / f"checkpoint-{saved}").is_dir()
    assert not (folder / "final").exists()
    assert pretrain(settings(), corpus, folder, Console(quiet=True)) == 0
    assert_same_run(folder, straight)


KILLING = """
import os, signal, sys, torch
saved = 0
def save(*args, _save=torch.save, **kwargs):
    global saved
    saved += "optimizer" in str(args[1])
    if saved == 2:
        args[1] and open(args[1], "wb").write(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    _save(*args, **kwargs)
torch.save = save
from phonemic_bert.cli import main
main()
"""


def test_killed_while_saving_leaves_the_checkpoint_before(straight, corpus, tmp_path):
    folder = tmp_path / "run"
    _, _, _, *arguments = command(corpus, folder)
    killed = subprocess.run([sys.executable, "-c", KILLING, *arguments], env=environment(), check=False)
    assert killed.returncode == -signal.SIGKILL
    assert sorted(path.name for path in (folder / "checkpoints").iterdir()) == ["checkpoint-8", "partial"]
    assert pretrain(settings(), corpus, folder, Console(quiet=True)) == 0
    assert_same_run(folder, straight)
    assert not (folder / "checkpoints" / "partial").exists()


def test_a_damaged_checkpoint_is_passed_over(straight, corpus, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(straight, folder, ignore=shutil.ignore_patterns("final", "best"))
    older, newest = sorted((folder / "checkpoints").iterdir())
    for name in ("model.safetensors", "optimizer.pt", "trainer_state.json"):
        whole = (newest / name).read_bytes()
        (newest / name).write_bytes(whole[: len(whole) // 2])
        assert fault(newest).startswith(str(newest / name))
        (newest / name).write_bytes(whole)
        assert not fault(newest)
    (newest / "optimizer.pt").write_bytes(b"")
    told = StringIO()
    assert pretrain(settings(), corpus, folder, Console(file=told, width=200)) == 0
    assert f"{newest / 'optimizer.pt'}: no file of torch's" in told.getvalue()
    assert_same_run(folder, straight)
    shutil.rmtree(folder / "final")
    for checkpoint in (older, newest):
        (checkpoint / "trainer_state.json").unlink(missing_ok=True)
    with pytest.raises(RunError, match="every checkpoint is damaged"):
        pretrain(settings(), corpus, folder, Console(quiet=True))


def test_a_full_disk_names_what_could_not_be_saved(straight, corpus, tmp_path):
    found = on_small_disk(tmp_path / "disk", "1300k", *command(corpus, tmp_path / "disk" / "run"))
    assert found.returncode == 1
    assert "Traceback" not in found.stderr
    message = " ".join(found.stderr.split())
    assert re.search(r"cannot save the (checkpoint|best weights).*see whether the disk is full", message), found.stderr


def test_a_full_disk_leaves_the_run_usable(straight, corpus, tmp_path, monkeypatch):
    """The disk fills while the second checkpoint is saved; with room again, the run goes on to the same end."""
    folder, save, saved = tmp_path / "run", torch.save, []

    def full(value, path, *args, **kwargs):
        if "optimizer" in str(path):
            saved.append(path)
            if len(saved) == 2:
                Path(path).write_bytes(b"half")
                raise OSError(28, "No space left on device", str(path))
        save(value, path, *args, **kwargs)

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(RunError, match=r"cannot save the checkpoint of step 16 .*No space left.*run the same command"):
        pretrain(settings(), corpus, folder, Console(quiet=True))
    monkeypatch.undo()
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["checkpoint-8"]
    assert pretrain(settings(), corpus, folder, Console(quiet=True)) == 0
    assert_same_run(folder, straight)


def test_a_complete_run_is_left_alone(straight, corpus):
    before = {path: path.stat().st_mtime_ns for path in straight.rglob("*")}
    assert pretrain(settings(), corpus, straight, Console(quiet=True)) == 0
    assert {path: path.stat().st_mtime_ns for path in straight.rglob("*")} == before


def test_other_settings_or_texts_are_refused(straight, corpus, tmp_path, vi_lines):
    with pytest.raises(RunError, match=r"this run has optimization\.seed = 0, not 1\. Only \[machine\] may change"):
        pretrain(settings(optimization__seed=1), corpus, straight)
    with pytest.raises(RunError, match="learns from another corpus"):
        pretrain(settings(), phonemic_corpus(tmp_path / "other", vi_lines, repeat=3), straight)
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(RunError, match="neither an empty folder nor a run"):
        pretrain(settings(), corpus, tmp_path)
    assert pretrain(settings(machine__workers=1), corpus, straight, Console(quiet=True)) == 0
    with pytest.raises(SettingsError, match=r"model\.lang is zh, but the corpus is vi"):
        pretrain(settings(model__lang="zh"), corpus, tmp_path / "zh")
    with pytest.raises(SettingsError, match=r"batch_size = 8 is no multiple of 1 processes times .* = 3"):
        pretrain(settings(machine__device_batch_size=3), corpus, tmp_path / "three")
    with pytest.raises(SettingsError, match=r"machine\.fsdp needs GPUs"):
        pretrain(settings(machine__fsdp=True), corpus, tmp_path / "fsdp")
    with pytest.raises(SettingsError, match='H-MLM masks every chosen syllable; only "mask"'):
        pretrain(settings(masking__replacement="80/10/10"), corpus, tmp_path / "eighty")


def test_a_loss_that_is_no_number_stops_the_run(corpus, tmp_path):
    with pytest.raises(RunError, match=r"step \d+: the loss is (nan|inf); a lower optimization\.learning_rate"):
        pretrain(settings(optimization__learning_rate=1e30), corpus, tmp_path / "run", Console(quiet=True))


# --- how it computes


def test_batches_and_workers_change_nothing_but_rounding(straight, corpus, tmp_path):
    """With dropout off: one batch of 8 is two of 4, and two worker processes give what none give."""
    quiet = {"model__dropout": 0.0, "model__attention_dropout": 0.0}
    changes = [{"machine__device_batch_size": 8}, {"machine__device_batch_size": 2, "machine__workers": 2}]
    logs = []
    for number, change in enumerate(changes):
        pretrain(settings(**quiet, **change), corpus, tmp_path / str(number), Console(quiet=True))
        logs.append(log(tmp_path / str(number)))
    for one, other in zip(*logs, strict=True):
        assert one == pytest.approx(other, rel=2e-4)


@pytest.mark.parametrize(
    "change",
    [
        {"optimization__bf16": True, "machine__gradient_checkpointing": True},
        {"sequences__separate_documents": False, "evaluation__held_out_documents": 0},
        {"sequences__attention": "eager"},
    ],
)
def test_other_ways_to_compute(corpus, tmp_path, straight, change):
    pretrain(settings(**change, optimization__steps=12), corpus, tmp_path / "run", Console(quiet=True))
    losses = [row["loss"] for row in log(tmp_path / "run") if "loss" in row]
    want = [row["loss"] for row in log(straight) if "loss" in row][: len(losses)]
    assert losses == pytest.approx(want, rel=0.03)
    assert losses != want
    assert (tmp_path / "run" / "final" / "model.safetensors").exists()


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
def test_compiled_as_not_compiled(corpus, tmp_path, monkeypatch):
    """As torch.compile traces it; what inductor makes of that takes a minute, and is torch's."""
    from phonemic_bert.pretraining import run

    traced = partial(run.training_arguments, torch_compile_backend="eager")
    logs = []
    for compiled in (False, True):
        monkeypatch.setattr(run, "training_arguments", traced if compiled else run.training_arguments)
        changes = {"machine__compile": compiled, "optimization__steps": 6}
        pretrain(settings(**changes), corpus, tmp_path / str(compiled), Console(quiet=True))
        logs.append(log(tmp_path / str(compiled)))
    assert len(logs[0]) > 2
    for one, other in zip(*logs, strict=True):
        assert one == pytest.approx(other, rel=1e-4)


def test_two_processes_learn_as_one(corpus, tmp_path):
    """DDP over gloo is told to stop through one of its processes, and one process goes on: the curve is that of one."""
    quiet = {"model__dropout": 0.0, "model__attention_dropout": 0.0, "output__log_every": 1}
    alone, folder = tmp_path / "alone", tmp_path / "two"
    pretrain(settings(**quiet), corpus, alone, Console(quiet=True))

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "GLOO_SOCKET_IFNAME": "lo"}
    workers = [
        subprocess.Popen(
            command(corpus, folder, **quiet),
            env=environment(**shared, RANK=str(rank), LOCAL_RANK=str(rank), ACCELERATE_USE_CPU="1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for rank in range(2)
    ]
    try:
        wait_for_lines(folder, 5, workers[0])
        workers[1].send_signal(signal.SIGTERM)
        outputs = "\n".join(worker.communicate(timeout=100)[0].decode() for worker in workers)
    finally:
        for worker in workers:
            worker.kill()
    assert [worker.returncode for worker in workers] == [STOPPED, STOPPED], outputs
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
    short = {"optimization__steps": 6, "output__tensorboard": True}
    pretrain(settings(**short), corpus, folder, Console(quiet=True))
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    want = [(row["step"], row["loss"]) for row in log(folder) if "loss" in row]
    assert [(event.step, event.value) for event in events.Scalars("train/loss")] == [
        (step, pytest.approx(loss)) for step, loss in want
    ]
    assert len(events.Scalars("eval/bits_per_character")) == 2


@pytest.mark.parametrize("fallback", ["character", "packed"])
def test_from_text_to_a_checkpoint(tmp_path, vi_lines, fallback):
    """What `prepare` writes is what `pretrain` reads, by their commands."""
    pytest.importorskip("matplotlib", reason="needs the corpus extra")
    from click.testing import CliRunner

    from phonemic_bert.cli import cli

    text = tmp_path / "lines.txt"
    text.write_text("\n".join(f"{line} covid" for line in vi_lines * 3), "utf-8")
    chosen = ["--lang", "vi", "--fallback", fallback]
    found = CliRunner().invoke(cli, ["prepare", str(text), str(tmp_path / "corpus"), *chosen])
    assert found.exit_code == 0, found.output
    options = [part for value in overrides(optimization__steps=3) for part in ("--set", value)]
    folders = [str(tmp_path / "corpus"), str(tmp_path / "run")]
    found = CliRunner().invoke(cli, ["pretrain", "tiny", *folders, *options, "--export", "fp16"])
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
    options = {"masking__replacement": "80/10/10", "optimization__learning_rate": 1e-2, "optimization__steps": 60}
    pretrain(settings(**options, evaluation__every=30), corpus, folder, Console(quiet=True))
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
    """Against the formula, written as its paper writes it; all other weights are those of a run that does not."""
    from phonemic_bert.pretraining.models import make_model
    from phonemic_bert.pretraining.symbols import Symbols

    manifest = corpus / "manifest.json"
    symbols = Symbols.of_manifest(json.loads(manifest.read_text())["tokenizer"], manifest)
    made = {}
    for kind in ("random", "sinusoidal"):
        torch.manual_seed(3)
        made[kind] = make_model(settings(model__first_positions=kind), symbols).state_dict()
    (name,) = (name for name in made["random"] if "position_embeddings.weight" in name)
    table = made["sinusoidal"].pop(name)
    random = made["random"].pop(name)
    for position, column in itertools.product((0, 1, 7, 47), range(24)):
        angle = position / 10_000 ** (2 * (column // 2) / 24)
        wave = math.cos(angle) if column % 2 else math.sin(angle)
        assert table[position, column].item() == pytest.approx(4 * 0.05 * 2**0.5 * wave, abs=1e-6)
    assert table.square().mean().item() == pytest.approx(16 * random.square().mean().item(), rel=0.1)
    for other, value in made["random"].items():
        assert torch.equal(value, made["sinusoidal"][other]), other


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
    torch.testing.assert_close(got.logits, want.logits[labels != -100])
    torch.testing.assert_close(ours(ids).logits, want.logits)
    half = ours(ids, labels=labels, num_items_in_batch=2 * int((labels != -100).sum())).loss
    torch.testing.assert_close(2 * half, want.loss)
