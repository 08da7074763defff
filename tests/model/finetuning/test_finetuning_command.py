"""``phonemic-bert finetune`` and ``init-config``: what they run, what they refuse, and what a signal leaves."""

import os
import re
import signal
import time

import pytest

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("sklearn", reason="needs the finetune extra")
pytest.importorskip("seqeval", reason="needs the finetune extra")

import forking
from click.testing import CliRunner
from synthetic import SIZES, classification, files, made, results_in

from phonemic_bert.cli import cli


def feedback(folder):
    """Files as UIT-VSFC's, below a root of many sets."""
    for split in SIZES:
        examples = made(split, classification)
        where = folder / "vi" / "vsfc" / split
        where.mkdir(parents=True)
        (where / "sents.txt").write_text("".join(f"{one.text}\n" for one in examples), "utf-8")
        numbers = ["2" if one.labels["label"] == "tốt" else "0" for one in examples]
        for name in ("sentiments", "topics"):
            (where / f"{name}.txt").write_text("".join(f"{one}\n" for one in numbers))
    return folder


def arguments(root, encoder, results, *more, epochs=1):
    sets = ["grid.learning_rate=3e-3", f"grid.num_train_epochs={epochs}", "grid.batch_size=16", "machine.device=cpu"]
    options = ["--data", root, "--encoder", encoder, "--config", "small", "--results", results]
    return ["finetune", *map(str, [*options, *(part for one in sets for part in ("--set", one)), *more])]


def test_the_command(checkpoint, tmp_path):
    root, results = feedback(tmp_path / "data"), tmp_path / "results"
    given = arguments(root, checkpoint(), results, "uit-vsfc", "--seeds", "1,2", "--max-train", 64, "--max-test", 30)
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 0, done.output
    assert {path.split("/")[0] for path in files(results)} == {"uit-vsfc.sentiment", "uit-vsfc.topic"}
    assert (
        len(
            re.findall(r"^uit-vsfc\.(sentiment|topic), tiny-vi, seed [12]: macro-f1 dev 0\.", done.output, re.MULTILINE)
        )
        == 4
    )
    again = CliRunner().invoke(cli, given)
    assert again.exit_code == 0
    assert "4 runs were finished before" in again.output
    failed = CliRunner().invoke(cli, [*given, "--encoder", str(tmp_path / "none")])
    assert failed.exit_code == 1
    assert "1 failed:" in failed.output
    assert "4 runs were finished before" in failed.output


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["tnwes"], "no dataset is called 'tnwes': did you mean tnews"),
        (["uit-vsfc.mood"], "UIT-VSFC has no target 'mood': choose one of sentiment, topic"),
        (["tnews"], "no folder zh/tnews or tnews or"),
        (["uit-vsfc", "--seeds", "1,x"], "must be numbers separated by commas"),
        (["uit-vsfc", "--seeds", "1,1"], "a number is given twice"),
        (["uit-vsfc", "--noise", "homophone"], "unknown noise 'homophone': choose one of homophones"),
        (["uit-vsfc", "--noise", "homophones:pool"], "written name=value"),
        (["uit-vsfc", "--noise", "homophones:pool=x"], "noise homophones: unknown pool 'x'"),
        (["uit-vsfc", "--noise", "i-y", "--ratios", "7.5"], "between 0 and 1, not 7.5"),
        (["uit-vsfc", "--set", "grid.num_train_epochs=0"], "grid.num_train_epochs = 0: this must be at least 1"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(more, message, checkpoint, tmp_path):
    done = CliRunner().invoke(cli, arguments(feedback(tmp_path / "data"), checkpoint(), tmp_path / "results", *more))
    assert message in done.output
    assert done.exit_code
    assert not (tmp_path / "results").exists()


@pytest.mark.skipif(not forking.AVAILABLE, reason="forks")
def test_a_signal_leaves_nothing_half_written(checkpoint, tmp_path):
    root, results = feedback(tmp_path / "data"), tmp_path / "results"
    given = arguments(
        root,
        checkpoint(),
        results,
        "uit-vsfc.sentiment",
        "--seeds",
        ",".join(map(str, range(1, 60))),
        "--predictions",
        "--save",
        tmp_path / "models",
    )
    import obstacles  # POSIX only

    process = forking.Process(obstacles.run, "phonemic_bert.cli", [*map(str, given)])
    while not any(path.endswith(".json") for path in (files(results) if results.exists() else [])):
        assert process.running
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGTERM)
    done = process.finished()
    told = done.stderr.decode()
    assert done.returncode == 75, told
    assert "run the same command again to go on" in told
    assert "Traceback" not in told
    left = files(results)
    assert not [path for path in [*left, *files(tmp_path / "models")] if "partial" in path]
    for path in results_in(results):
        assert path.replace(".json", ".predictions.jsonl") in left
    assert 1 <= len(results_in(results)) < 59


def test_grids_are_written_out():
    from phonemic_bert.finetuning.settings import grid_text

    assert CliRunner().invoke(cli, ["init-config", "finetune", "small"]).output == grid_text("small")


def test_files_of_ones_own(checkpoint, tmp_path):
    for split in SIZES:
        rows = "".join(f"{one.text},{one.labels['label']}\n" for one in made(split, classification))
        (tmp_path / f"{split}.csv").write_text(f"body,mood\n{rows}", "utf-8")
    names = [part for split in SIZES for part in (f"--{split}", tmp_path / f"{split}.csv")]
    own = [
        "--custom",
        "classification",
        "--lang",
        "vi",
        "--name",
        "mine",
        "--field",
        "text=body",
        "--field",
        "label=mood",
    ]
    given = arguments(tmp_path, checkpoint(), tmp_path / "results", *own, *names, "--seeds", "1", epochs=4)
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 0, done.output
    [result] = results_in(tmp_path / "results").values()
    assert (result["task"], result["target"]) == ("mine", "label")
    assert result["examples"] == SIZES
    assert result["test"]["macro-f1"] > 0.9
    elsewhere = CliRunner().invoke(cli, [*given, "--name", "a/../b"])
    assert "'a/../b' is not a name" in elsewhere.output
    wrong = CliRunner().invoke(cli, [*given, "--field", "txt=body"])
    assert wrong.exit_code == 2
    assert "the names are metric, file_format, text" in wrong.output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "give one TASK or more, or files of your own with --custom"),
        (["tnews", "--custom", "classification"], "give one TASK or more, or files of your own with --custom"),
        (["tnews"], "missing --data"),
        (["--custom", "classification"], "missing --train and --lang"),
        (["tnews", "--data", "x", "--train", "own.csv"], "--train is for --custom: a TASK knows its files"),
        (["tnews", "--data", "x", "--field", "text=body"], "--field is for --custom"),
    ],
)
def test_either_tasks_or_files(given, message):
    done = CliRunner().invoke(cli, ["finetune", *given, "--encoder", "x", "--results", "y"])
    assert done.exit_code == 2
    assert message in done.output
