"""A run small enough for a test, and how runs are compared."""

import json
import os
import signal
import time
from pathlib import Path

import forking
import pytest
import torch
from safetensors.torch import load_file
from transformers import __version__

from phonemic_bert.pretraining.settings import Settings

#: Warnings of torch and transformers in a run on a CPU.
EXPECTED_WARNINGS = pytest.mark.filterwarnings(
    # transformers 4 restores torch's generators through a call that torch deprecates
    "ignore:.*torch.*:FutureWarning",
    "ignore:.*pin_memory.*:UserWarning",
)

FORKS = pytest.mark.skipif(not forking.AVAILABLE, reason="forks")

#: A model and a run small enough for a test, with dropout, whose random states a run must carry on.
SMALL = {
    "model.hidden_size": 24,
    "model.num_attention_heads": 3,
    "model.intermediate_size": 40,
    "model.hidden_dropout_prob": 0.1,
    "model.attention_probs_dropout_prob": 0.1,
    "sequences.max_seq_length": 48,
    "optimization.max_steps": 24,
    "optimization.batch_size": 8,
    "machine.per_device_train_batch_size": 4,
    "evaluation.held_out_documents": 20,
    "evaluation.eval_steps": 5,
    "output.logging_steps": 3,
    "output.save_steps": 8,
    "output.tensorboard": False,
    "machine.device": "cpu",
}


def overrides(**more):
    values = {**SMALL, **{name.replace("__", "."): value for name, value in more.items()}}
    return [f"{name}={json.dumps(value)}" for name, value in values.items()]


def settings(**more):
    return Settings.load("paper-tiny", overrides(**more))


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


def assert_alike(one, other, rel):
    """Logs of two runs; with transformers 4, whose operations come in another order, norms of gradients round more."""
    norms = [[row.pop("grad_norm", 0) for row in rows] for rows in (one, other)]
    assert norms[0] == pytest.approx(norms[1], rel=20 * rel if __version__.startswith("4.") else rel)
    for first, second in zip(one, other, strict=True):
        assert first == pytest.approx(second, rel=rel)


def arguments(corpus, folder, *options, **more):
    """The command ``phonemic-bert pretrain`` after its name."""
    sets = [part for value in overrides(**more) for part in ("--set", value)]
    return ["pretrain", "paper-tiny", str(corpus), str(folder), *sets, *options]


def started(corpus, folder, *options, extra=None, **more):
    """The same command in a process that is forked."""
    return forking.Process(run, arguments(corpus, folder, *options, **more), extra=extra)


def run(words):
    """Be the command ``phonemic-bert``."""
    import obstacles  # POSIX only

    obstacles.run("phonemic_bert.cli", words)


def run_as_session(words):
    """The same, as the first of a process group of its own."""
    os.setsid()
    run(words)


def run_until_saved_twice(words):
    """The same, killed while the state of the optimizer is saved for the second time."""
    saved, save = 0, torch.save

    def killing(value, path, *args, **kwargs):
        nonlocal saved
        saved += "optimizer" in str(path)
        if saved == 2:
            Path(path).write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
        save(value, path, *args, **kwargs)

    torch.save = killing
    run(words)


def wait_for_lines(folder, count, running):
    """Until the log of a running process has so many lines."""
    path = folder / "log.jsonl"
    while not path.exists() or path.read_text().count("\n") < count:
        assert running()
        time.sleep(0.002)
