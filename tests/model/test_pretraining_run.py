"""Whole runs of a tiny model: continued exactly, stopped, killed, in two processes, on a full disk."""

import json
import os
import re
import shutil
import signal
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the arrow extra")

import forking
from corpora import phonemic_corpus
from pretraining_helpers import (
    EXPECTED_WARNINGS,
    FORKS,
    arguments,
    assert_same_run,
    log,
    run_as_session,
    run_until_saved_twice,
    settings,
    wait_for_lines,
    weights,
)
from rich.console import Console
from transformers import AutoModelForMaskedLM, AutoTokenizer

from phonemic.corpus import open_corpus
from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertTokenizer
from phonemic_bert.errors import RunError, SettingsError
from phonemic_bert.pretraining.finish import finish
from phonemic_bert.pretraining.models import measured
from phonemic_bert.pretraining.run import STOPPED, pretrain
from phonemic_bert.pretraining.trainer import PretrainingTrainer, checkpoint_damage

pytestmark = EXPECTED_WARNINGS


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
    from phonemic_bert.pretraining.flat import FlatCorpus
    from phonemic_bert.pretraining.run import split

    opened = FlatCorpus(open_corpus(corpus))
    train, held_out, numbers = split(opened, settings())
    seen = {position for start, stop in train.packed.tolist() for position in range(start, stop)}
    kept = {at for number in numbers for at in range(opened.offsets[number], opened.offsets[number + 1])}
    assert not seen & kept
    assert seen | kept == set(range(len(opened.ids)))
    assert len(held_out.ids) == len(kept)


def test_held_out_text_without_a_mask_is_refused(tmp_path):
    """Its loss would be 0, so that no later model were better than the first. A refused run leaves nothing behind."""
    corpus = phonemic_corpus(tmp_path / "corpus", ["Hà Nội", "tiếng Việt", "một hai", "ba bốn"], repeat=40)
    with pytest.raises(
        SettingsError, match=r"no position of the held-out documents is masked: raise evaluation\.held_"
    ):
        pretrain(settings(evaluation__held_out_documents=1), corpus, tmp_path / "run", Console(quiet=True))
    assert not (tmp_path / "run" / "run.json").exists()
    for count in (0, 20):
        few = settings(evaluation__held_out_documents=count, optimization__max_steps=2)
        assert pretrain(few, corpus, tmp_path / "run", Console(quiet=True)) == 0
        shutil.rmtree(tmp_path / "run")


def test_half_of_a_small_corpus_is_held_out_and_said_so(tmp_path):
    corpus = phonemic_corpus(tmp_path / "corpus", ["một hai ba bốn năm sáu bảy tám"], repeat=40)
    told = Console(record=True, file=StringIO(), width=200)
    few = settings(evaluation__held_out_documents=30, optimization__max_steps=2)
    assert pretrain(few, corpus, tmp_path / "run", told) == 0
    assert "20 of 40 documents are held out, not 30: at most half" in told.export_text()


@pytest.mark.parametrize(
    ("error", "batch", "told"),
    [
        (torch.OutOfMemoryError("CUDA out of memory."), 4, r"4 x 48 .*per_device_train_batch_size, or sequences\.max_"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), 1, r"memory: lower sequences\.max_seq"),
    ],
)
def test_steps_that_do_not_fit_into_memory(corpus, tmp_path, monkeypatch, error, batch, told):
    def fail(*_):
        raise error

    monkeypatch.setattr(PretrainingTrainer, "training_step", fail)
    asked = settings(optimization__batch_size=4, machine__per_device_train_batch_size=batch)
    with pytest.raises(RunError, match=told):
        pretrain(asked, corpus, tmp_path / "run", Console(quiet=True))


def test_a_model_that_cannot_be_is_refused_by_its_fields(corpus, tmp_path):
    asked = settings(model__head="joint", model__output_embeddings="tied")
    with pytest.raises(
        SettingsError, match=r"^section \[model\]: output_embeddings='tied' with .* composition='linear'"
    ):
        pretrain(asked, corpus, tmp_path / "run", Console(quiet=True))


# --- continuing


@pytest.mark.parametrize("step", [8, 16])
def test_continued_bit_for_bit(straight, corpus, tmp_path, step):
    """From a checkpoint in the middle of an epoch and between two lines of the log."""
    folder = tmp_path / "run"
    pretrain(settings(output__save_total_limit=3), corpus, tmp_path / "all", Console(quiet=True))
    shutil.copytree(straight, folder, ignore=shutil.ignore_patterns("final", "best", "checkpoint-*"))
    name = f"checkpoint-{step}"
    shutil.copytree(tmp_path / "all" / "checkpoints" / name, folder / "checkpoints" / name)
    assert pretrain(settings(), corpus, folder, Console(quiet=True)) == 0
    assert_same_run(folder, straight)
    before = weights(tmp_path / "all" / "checkpoints" / name)
    assert not torch.equal(before["heads.rime.weight"], weights(folder / "final")["heads.rime.weight"])


@FORKS
def test_sigterm_saves_and_the_run_goes_on(straight, corpus, tmp_path):
    """Told to the whole process group, as a batch system may, with a worker that reads."""
    folder = tmp_path / "run"
    told = arguments(corpus, folder, machine__dataloader_num_workers=1)
    running = forking.Process(run_as_session, told, parent=True)
    wait_for_lines(folder, 1, lambda: running.running)
    os.killpg(running.pid, signal.SIGTERM)
    stopped = running.finished()
    errors = stopped.stderr.decode()
    assert stopped.returncode == STOPPED, errors
    [saved] = re.findall(r"stopped and saved after step (\d+); run it again", " ".join(errors.split()))
    assert 3 <= int(saved) < 24
    assert (folder / "checkpoints" / f"checkpoint-{saved}").is_dir()
    assert not (folder / "final").exists()
    assert pretrain(settings(), corpus, folder, Console(quiet=True)) == 0
    assert_same_run(folder, straight)


@FORKS
def test_killed_while_saving_leaves_the_checkpoint_before(straight, corpus, tmp_path):
    folder = tmp_path / "run"
    killed = forking.Process(run_until_saved_twice, arguments(corpus, folder)).finished()
    assert killed.returncode == -signal.SIGKILL
    whole, unfinished = sorted((path.name for path in (folder / "checkpoints").iterdir()), key=len)
    assert whole == "checkpoint-8"
    assert re.fullmatch(r"checkpoint-16\.[0-9a-f]{12}\.partial", unfinished)
    assert pretrain(settings(), corpus, folder, Console(quiet=True)) == 0
    assert_same_run(folder, straight)
    assert not list(folder.rglob("*.partial"))


def test_a_damaged_checkpoint_is_passed_over(straight, corpus, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(straight, folder, ignore=shutil.ignore_patterns("final", "best"))
    older, newest = sorted((folder / "checkpoints").iterdir())
    for name in ("model.safetensors", "optimizer.pt", "trainer_state.json"):
        whole = (newest / name).read_bytes()
        (newest / name).write_bytes(whole[: len(whole) // 2])
        assert checkpoint_damage(newest).startswith(str(newest / name))
        (newest / name).write_bytes(whole)
        assert not checkpoint_damage(newest)
    for path in newest.iterdir():  # of weights and the optimizer's state, a bit that still is a number
        whole = bytearray(path.read_bytes())
        whole[len(whole) // 2] ^= 1
        path.write_bytes(whole)
        assert checkpoint_damage(newest).startswith(str(newest)), path
        whole[len(whole) // 2] ^= 1
        path.write_bytes(whole)
        assert not checkpoint_damage(newest)
    (newest / "optimizer.pt").write_bytes(b"")
    told = StringIO()
    assert pretrain(settings(), corpus, folder, Console(file=told, width=200)) == 0
    assert f"{newest / 'optimizer.pt'}: not a torch file" in told.getvalue()
    assert_same_run(folder, straight)
    shutil.rmtree(folder / "final")
    for checkpoint in (older, newest):
        (checkpoint / "trainer_state.json").unlink(missing_ok=True)
    with pytest.raises(RunError, match="every checkpoint is damaged"):
        pretrain(settings(), corpus, folder, Console(quiet=True))


@pytest.mark.figures
def test_a_flipped_bit_of_the_best_weights_is_not_passed_on(straight, corpus, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(straight, folder, ignore=shutil.ignore_patterns("final"))
    path = folder / "best" / "model.safetensors"
    whole = bytearray(path.read_bytes())
    whole[-5] ^= 4
    path.write_bytes(whole)
    with pytest.raises(RunError, match=r"best/model\.safetensors: damaged"):
        finish(folder)
    assert not (folder / "final").exists()
    whole[-5] ^= 4
    path.write_bytes(whole)
    assert sorted(file.name for file in finish(folder).iterdir()) == sorted(
        file.name for file in (straight / "final").iterdir()
    )
    if find_spec("matplotlib"):
        assert (folder / "final" / "curve.png").read_bytes()[:4] == b"\x89PNG"


def test_held_out_losses_that_are_no_numbers_leave_no_best_weights(corpus, tmp_path, monkeypatch):
    def nothing(output, labels):
        return {**measured(output, labels), "loss": torch.tensor(float("nan"))}

    monkeypatch.setattr("phonemic_bert.pretraining.trainer.measured", nothing)
    with pytest.raises(RunError, match=r"run/best: is missing, as no loss on the held-out text was a number.*checkpoi"):
        pretrain(settings(optimization__max_steps=6), corpus, tmp_path / "run", Console(quiet=True))
    assert not (tmp_path / "run" / "final").exists()


@FORKS
def test_a_full_disk_names_what_could_not_be_saved(straight, corpus, tmp_path):
    import obstacles  # POSIX only

    least = min(path.stat().st_size for path in straight.rglob("*.safetensors"))
    told = "phonemic_bert.cli", arguments(corpus, tmp_path / "run"), obstacles.Obstacle(bytes=least - 1)
    found = forking.Process(obstacles.run, *told).finished()
    assert found.returncode == 1
    message = " ".join(found.stderr.decode().split())
    assert "Traceback" not in message
    assert re.search(r"cannot save the (checkpoint|best weights).*check whether the disk is full", message), message


def test_a_full_disk_leaves_the_run_usable(straight, corpus, tmp_path, monkeypatch):
    """The disk fills while the second checkpoint is saved; with room again, the run continues to the same end."""
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


def test_a_run_without_a_setting_is_refused(straight, corpus, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(straight, folder)
    record = json.loads((folder / "run.json").read_text("utf-8"))
    assert record["settings"]["model"].pop("syllable_inventory") == "full"
    (folder / "run.json").write_text(json.dumps(record), "utf-8")
    with pytest.raises(RunError, match=r"this run has model\.syllable_inventory = None, not 'full'"):
        pretrain(settings(), corpus, folder, Console(quiet=True))


def test_other_settings_or_texts_are_refused(straight, corpus, tmp_path, vi_lines):
    with pytest.raises(RunError, match=r"this run has optimization\.seed = 0, not 1\. Only \[machine\] may change"):
        pretrain(settings(optimization__seed=1), corpus, straight)
    with pytest.raises(RunError, match="is trained on another corpus"):
        pretrain(settings(), phonemic_corpus(tmp_path / "other", vi_lines, repeat=3), straight)
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(RunError, match="neither an empty folder nor a run"):
        pretrain(settings(), corpus, tmp_path)
    assert pretrain(settings(machine__dataloader_num_workers=1), corpus, straight, Console(quiet=True)) == 0
    with pytest.raises(SettingsError, match=r"model\.lang is zh, but the corpus is vi"):
        pretrain(settings(model__lang="zh"), corpus, tmp_path / "zh")
    with pytest.raises(SettingsError, match=r"batch_size = 8 is not a multiple of 1 processes times .* = 3"):
        pretrain(settings(machine__per_device_train_batch_size=3), corpus, tmp_path / "three")
    with pytest.raises(SettingsError, match=r"machine\.fsdp needs GPUs"):
        pretrain(settings(machine__fsdp=True), corpus, tmp_path / "fsdp")
    with pytest.raises(SettingsError, match='H-MLM masks every chosen syllable; only "mask"'):
        pretrain(settings(masking__replacement="80/10/10"), corpus, tmp_path / "eighty")


def test_a_loss_that_is_no_number_stops_the_run(corpus, tmp_path):
    with pytest.raises(RunError, match=r"step \d+: the loss is (nan|inf); a lower optimization\.learning_rate"):
        pretrain(settings(optimization__learning_rate=1e30), corpus, tmp_path / "run", Console(quiet=True))
