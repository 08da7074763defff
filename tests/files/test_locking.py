"""One process at a time in a folder, and the next is told who is there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from phonemic.files.locking import LOCK, LockedError, locked

pytest.importorskip("fcntl", reason="locks are those of POSIX")

HOLD = "import sys; from pathlib import Path; from phonemic.files.locking import locked\n"
HOLD += "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"


def test_it_says_who(tmp_path):
    folder = tmp_path / "a/run"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(LockedError, match=rf"run: process {holder.pid} on .*, since 2.*Z?: -c .*is at work in it"),
            locked(folder),
        ):
            pytest.fail("held twice")
        holder.stdin.close()
        assert holder.wait() == 0
    with locked(folder):
        assert os.listdir(folder) == [LOCK]
    assert os.listdir(folder) == []


def test_a_killed_process_lets_go(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        holder.stdout.readline()
        holder.kill()
    assert (tmp_path / LOCK).exists()
    with locked(tmp_path):
        pass


def test_within_one_process_too(tmp_path):
    with locked(tmp_path):
        with pytest.raises(LockedError, match=str(os.getpid())), locked(tmp_path):
            pytest.fail("held twice")
        assert (tmp_path / LOCK).exists()


def test_an_error_lets_go(tmp_path):
    with pytest.raises(ValueError, match="no"), locked(tmp_path):
        raise ValueError("no")
    assert os.listdir(tmp_path) == []


def test_no_planted_link_is_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / LOCK).symlink_to(victim)
    with pytest.raises(OSError, match="lock"), locked(tmp_path / "run"):
        pytest.fail("the link was followed")
    assert victim.read_text() == "precious"


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_prepare(tmp_path):
    pytest.importorskip("pyarrow", reason="needs the corpus extra")
    pytest.importorskip("matplotlib", reason="needs the corpus extra")
    from phonemic import Tokenizer
    from phonemic.corpus import Options, Threads, prepare

    (tmp_path / "in.txt").write_text("Sáng nay bé ăn xôi.\n", "utf-8")
    arguments = [str(tmp_path / "in.txt")], tmp_path / "out", Options(Tokenizer("vi")), Threads(1)
    with locked(tmp_path / "out"):
        before = contents(tmp_path / "out")
        with pytest.raises(LockedError, match="is at work in it"):
            prepare(*arguments)
        assert contents(tmp_path / "out") == before
    assert prepare(*arguments)["totals"]["rows"] == 1
    assert LOCK not in os.listdir(tmp_path / "out")


def test_pretrain_and_finetune(tmp_path):
    for package in ("torch", "transformers", "accelerate", "sklearn", "seqeval", "pyarrow"):
        pytest.importorskip(package, reason="needs the model's extras")
    sys.path.insert(0, str(Path(__file__).parents[1] / "model"))
    try:
        from corpora import write_corpus
    finally:
        sys.path.pop(0)
    from phonemic import Tokenizer
    from phonemic.corpus.options import describe
    from phonemic_bert.finetuning.settings import Settings as TuningSettings
    from phonemic_bert.finetuning.sweep import Sweep
    from phonemic_bert.pretraining.run import pretrain
    from phonemic_bert.pretraining.settings import Settings

    vi = Tokenizer("vi")
    corpus = write_corpus(tmp_path / "corpus", [vi.encode("bé ăn xôi").ids.tolist()], [7], describe(vi))
    run = tmp_path / "run"
    with locked(run):
        before = contents(run)
        with pytest.raises(LockedError, match="is at work in it"):
            pretrain(Settings.load("tiny", []), corpus, run)
        assert contents(run) == before
        with pytest.raises(LockedError, match="is at work in it"):
            Sweep([], [], lambda name: TuningSettings.load("small"), [1], run).execute()
        assert contents(run) == before
