"""One process at a time in a folder, and the next is told who is there."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from phonemic.errors import OutputError
from phonemic.files import locking
from phonemic.files.locking import LOCK, LockedError, locked
from phonemic.files.outputs import check_own

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


def test_waiting(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        holder.stdout.readline()
        held = []

        def hold():
            with locked(tmp_path, wait=True):
                held.append(holder.poll() is not None or holder.stdin.closed)

        waiting = threading.Thread(target=hold)
        waiting.start()
        assert held == []
        holder.stdin.close()
        waiting.join()
    assert held == [True]
    assert os.listdir(tmp_path) == []


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


@pytest.mark.parametrize("content", ["precious", "process", "\0", "{}"])
def test_a_users_own_file_is_no_lock(tmp_path, content):
    (tmp_path / LOCK).write_text(content)
    with pytest.raises(OutputError, match="is needed as a lock, and is another file"), locked(tmp_path):
        pytest.fail("it was taken")
    assert (tmp_path / LOCK).read_text() == content


def test_a_lock_of_another_name_too(tmp_path):
    """Whatever is in it: what is written would be in the other file."""
    (tmp_path / "mine").write_text("process 3 on a machine")
    (tmp_path / LOCK).hardlink_to(tmp_path / "mine")
    with pytest.raises(OutputError, match="is another file"), locked(tmp_path):
        pytest.fail("it was taken")
    assert (tmp_path / "mine").read_text() == "process 3 on a machine"


def test_a_fifo_is_no_lock(tmp_path):
    os.mkfifo(tmp_path / LOCK)
    with pytest.raises((OutputError, OSError), match="lock"), locked(tmp_path):
        pytest.fail("it was taken")


class Msvcrt:
    """Windows' module as far as it is used: a byte is locked until the file is closed, for one open file alone."""

    LK_LOCK, LK_NBLCK = 1, 2

    def __init__(self):
        self.locked = []

    def locking(self, descriptor, mode, count):
        import fcntl

        self.locked.append((os.lseek(descriptor, 0, os.SEEK_CUR), mode, count))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None


@pytest.fixture
def windows(monkeypatch):
    """Windows as far as it matters: msvcrt; no pread, no pwrite, and open files cannot be removed."""
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc, to see what is open")
    fake, unlink = Msvcrt(), os.unlink

    def refusing(path, *arguments, **options):
        state = os.stat(path)
        for name in os.listdir("/proc/self/fd"):
            try:
                same = os.path.samestat(os.fstat(int(name)), state)
            except OSError:
                continue
            if same:
                raise PermissionError(errno.EACCES, "used by another process", path)
        unlink(path, *arguments, **options)

    monkeypatch.setattr(locking, "_WINDOWS", True)
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(os, "unlink", refusing)
    for name in ("pread", "pwrite", "O_NOFOLLOW", "O_CLOEXEC"):
        monkeypatch.delattr(os, name)
    return fake


class TestWindows:
    """With a module that is in for msvcrt: nobody has run this on Windows."""

    def test_one_at_a_time(self, windows, tmp_path):
        with locked(tmp_path):
            with (
                pytest.raises(LockedError, match=rf"process {os.getpid()} on .*is at work in it"),
                locked(tmp_path),
            ):
                pytest.fail("held twice")
            assert (tmp_path / LOCK).exists()
        assert os.listdir(tmp_path) == []
        with locked(tmp_path):
            assert os.listdir(tmp_path) == [LOCK]
        assert {(mode, count) for _, mode, count in windows.locked} == {(Msvcrt.LK_NBLCK, 1)}
        assert all(place > 1_000_000 for place, _, _ in windows.locked)  # who holds it can be read

    def test_waiting(self, windows, tmp_path):
        """As often as it takes: Windows itself gives up after ten seconds."""
        tries = []

        def busy(descriptor, mode, count):
            tries.append(mode)
            if len(tries) < 4:
                raise OSError(errno.EDEADLK, "Resource deadlock avoided")

        windows.locking = busy
        with locked(tmp_path, wait=True):
            assert tries == [Msvcrt.LK_LOCK] * 4

    def test_what_another_has_open_stays(self, windows, tmp_path):
        with open(tmp_path / LOCK, "wb"), locked(tmp_path):
            pass
        assert os.listdir(tmp_path) == [LOCK]
        with locked(tmp_path):
            pass
        assert os.listdir(tmp_path) == []

    def test_other_errors_are_told(self, windows, tmp_path, monkeypatch):
        def broken(*arguments):
            raise OSError(errno.EIO, "a wire was cut")

        monkeypatch.setattr(windows, "locking", broken)
        with pytest.raises(OSError, match="wire"), locked(tmp_path):
            pytest.fail("held")


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
            pretrain(Settings.load("paper-tiny", []), corpus, run)
        assert contents(run) == before
        with pytest.raises(LockedError, match="is at work in it"):
            Sweep([], [], lambda name: TuningSettings.load("small"), [1], run).execute()
        assert contents(run) == before


@pytest.mark.skipif(os.name != "posix", reason="needs links and FIFOs")
@pytest.mark.parametrize(
    "name", ["run/log.jsonl", "run/best", "run/checkpoints", "run/checkpoints/checkpoint-4", "run/pipe"]
)
def test_a_folder_to_work_in_leads_nowhere_else(name, tmp_path, monkeypatch):
    """Else a folder that somebody made could have any file replaced, or any folder."""
    monkeypatch.chdir(tmp_path)
    Path("precious").mkdir()
    Path("precious/file").write_text("precious")
    Path(name).parent.mkdir(parents=True)
    if name.endswith("pipe"):
        os.mkfifo(name)
    else:
        Path(name).symlink_to(tmp_path / "precious")
    with pytest.raises(OutputError, match=rf"{name}: is a link, a device or a FIFO"):
        check_own(Path("run"))
    assert contents("precious") == {"file": b"precious"}
    check_own(Path("precious"))
    check_own(Path("none"))
