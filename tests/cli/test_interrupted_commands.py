"""Every command that writes, on a full disk, in a read-only folder, killed at each step, and two at once.

The commands are those of ``writing_commands.py``.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from writing_commands import COMMANDS, environment

pytestmark = [
    pytest.mark.usefixtures("in_tmp_path"),
    pytest.mark.skipif(os.name != "posix", reason="limits and signals of POSIX"),
]
ONCE = [command for command in COMMANDS if not command.resumes]
every_command = pytest.mark.parametrize("command", COMMANDS, ids=[command.name for command in COMMANDS])

#: What a step is: what changes a folder, or puts a file on the disk.
STEPS = ("fsync", "replace", "rename", "link", "unlink", "mkdir", "rmdir")

KILLED = f"""
import os, signal
left = [int(os.environ["KILL_AT"])]
def counting(call):
    def counted(*a, **k):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*a, **k)
    return counted
for name in {STEPS!r}:
    setattr(os, name, counting(getattr(os, name)))
"""

#: Refuses new files and folders here, as a file system does that is mounted so; what writes another way is seen by its files.
READ_ONLY = """
import os
here = os.getcwd()
def refusing(call, may):
    def refused(path, *a, **k):
        if may(a) or not os.path.abspath(path).startswith(here):
            return call(path, *a, **k)
        raise OSError(30, "Read-only file system", path)
    return refused
os.open = refusing(os.open, lambda a: not (a and a[0] & os.O_CREAT))
os.mkdir = refusing(os.mkdir, lambda a: False)
"""


@pytest.fixture
def ready(command):
    for package in command.needs:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
    command.prepare()
    for name in command.writes:
        if not command.resumes:
            Path(name).parent.mkdir(exist_ok=True)
    return command


def contents():
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def outputs(command):
    """What it made, without what tells of the time."""
    roots = {Path(name).parts[0] for name in command.writes}
    return {name: data for name, data in contents().items() if Path(name).parts[0] in roots}


def forced(command):
    return () if command.resumes else ("--force",)


@every_command
def test_a_full_disk(ready):
    before = contents()
    found = ready.run(before="import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))")
    assert found.returncode == 1, found.stderr
    assert b"Traceback" not in found.stderr
    assert b"File too large" in found.stderr
    left = {name: data for name, data in contents().items() if not name.startswith("corpus/")}
    assert left == before
    assert ready.run().returncode == 0


@every_command
def test_a_read_only_folder(ready):
    before = contents()
    found = ready.run(before=f"exec({READ_ONLY!r})")
    assert found.returncode == 1, found.stderr
    assert b"Traceback" not in found.stderr
    assert b"Read-only file system" in found.stderr
    assert contents() == before


@pytest.mark.parametrize("command", ONCE, ids=[command.name for command in ONCE])
def test_killed_at_each_step(ready):
    """Each output is then the old one or the whole new one, and the next run makes what an undisturbed one makes.

    What goes on where it was stopped has many more steps: ``corpus/killed_worker.py`` and ``model/test_pretraining_run``
    kill those.
    """
    done = ready.run()
    assert done.returncode == 0, done.stderr
    whole = outputs(ready)
    assert whole
    old = b"the old one"
    for root in {Path(name).parts[0] for name in ready.writes}:
        shutil.rmtree(root) if Path(root).is_dir() else Path(root).unlink()
    for name in ready.writes:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(old)
    killed = 0
    while True:
        found = ready.run("--force", before=f"exec({KILLED!r})", KILL_AT=str(killed + 1))
        if found.returncode == 0:
            break
        assert found.returncode == -signal.SIGKILL, found.stderr
        killed += 1
        for name in ready.writes:
            assert Path(name).read_bytes() in (old, whole[name])
    assert killed >= 2
    made = {name: data for name, data in outputs(ready).items() if not name.endswith(".partial")}
    assert made == whole


@every_command
def test_two_at_once(ready):
    alone = ready.run()
    assert alone.returncode == 0, alone.stderr
    whole = outputs(ready)
    for root in {Path(name).parts[0] for name in ready.writes}:
        shutil.rmtree(root) if Path(root).is_dir() else Path(root).unlink()
    if not ready.resumes:
        for name in ready.writes:
            Path(name).parent.mkdir(exist_ok=True)
    both = [
        subprocess.Popen(
            ready.arguments(*forced(ready)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()
        )
        for _ in range(2)
    ]
    told = [process.communicate()[1].decode() for process in both]
    codes = [process.returncode for process in both]
    assert 0 in codes, told
    for code, message in zip(codes, told, strict=True):
        assert code == 0 or "is at work in it" in message, message
    assert outputs(ready) == whole
