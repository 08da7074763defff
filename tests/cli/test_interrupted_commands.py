"""Every command that writes, on a full disk, in a read-only folder, killed at its steps, and two at once.

The commands are those of ``writing_commands.py``.
"""

import contextlib
import errno
import importlib.util
import random
import re
import signal
import tempfile
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("resource", reason="limits and signals of POSIX")

import forking
import obstacles
from made import BERT, PHONEMIC, SPACY
from obstacles import READ_ONLY, Obstacle
from writing_commands import COMMANDS, PRINTING

pytestmark = [
    pytest.mark.usefixtures("in_tmp_path"),
    pytest.mark.skipif(not forking.AVAILABLE, reason="forks"),
]
every_command = pytest.mark.parametrize("command", COMMANDS, ids=[command.name for command in COMMANDS])

#: Steps of a command that are tried at most; of more, some are drawn.
TRIED = 3

#: Parts of a log that depend on the time or the process.
CLOCK = re.compile(rb'"(seconds|positions_per_second|date)": [^,}\n]+')
VOLATILE = re.compile(
    r"/tensorboard/|/checkpoints/|-lock$|/training_args\.bin|/optimizer\.pt|/checksums\.json|\.partial|\.old(/|$)"
)


@pytest.fixture
def ready(command, in_tmp_path):
    if command.missing:
        pytest.skip(f"needs {command.missing}")
    command.prepare()
    return command


def contents():
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def outputs(command):
    """All that it made, without what tells of the time."""
    return {
        name: CLOCK.sub(b"", data)
        for name, data in contents().items()
        if Path(name).parts[0] in command.roots and not VOLATILE.search(name)
    }


def written(command):
    """The files that are whole or not there."""
    found = [path for pattern in command.writes for path in Path().glob(pattern) if not VOLATILE.search(str(path))]
    return {str(path): CLOCK.sub(b"", path.read_bytes()) for path in found}


def forced(command):
    return () if command.resumes else ("--force",)


@cache
def undisturbed(command):
    """The files that the command makes, the ones which are whole or not there, and its steps."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        command.prepare()
        done = command.run(obstacle=Obstacle(report="steps"))
        assert done.returncode == 0, done.stderr.decode()
        return outputs(command), written(command), int(Path("steps").read_text())


@pytest.fixture
def replacing(ready):
    """The command where it replaces what was there."""
    _, files, _ = undisturbed(ready)
    assert files
    for name in () if ready.resumes else files:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"the old one")
    return ready


def some(command, steps):
    """The first step, the last, and some between."""
    if steps <= TRIED:
        return range(1, steps + 1)
    return sorted({1, steps, *random.Random(command.name).sample(range(2, steps), TRIED - 2)})


@every_command
def test_a_full_disk(ready):
    before = contents()
    found = ready.run(obstacle=Obstacle(bytes=16))
    assert found.returncode == 1, found.stderr
    assert b"Traceback" not in found.stderr
    assert b"File too large" in found.stderr
    left = {name: data for name, data in contents().items() if Path(name).parts[0] not in ready.roots}
    assert left == {name: data for name, data in before.items() if Path(name).parts[0] not in ready.roots}
    assert not written(ready) or ready.name == "model-card"
    done = ready.run()
    assert done.returncode == 0, done.stderr


@every_command
def test_a_read_only_folder(ready):
    before = contents()
    found = ready.run(obstacle=READ_ONLY)
    assert found.returncode == 1, found.stderr
    assert b"Traceback" not in found.stderr
    assert b"Read-only file system" in found.stderr
    assert contents() == before


@every_command
def test_killed_at_its_steps(replacing):
    """Each output is then the old one or the whole new one, and the next run makes what an undisturbed one makes."""
    whole, files, steps = undisturbed(replacing)
    old = written(replacing)
    assert steps >= 2
    for step in some(replacing, steps):
        found = replacing.run(*forced(replacing), obstacle=Obstacle(step))
        assert found.returncode in (-signal.SIGKILL, 0), found.stderr.decode()
        assert found.returncode or step > 1
        left = written(replacing)
        for name, data in files.items():
            assert left.get(name) in (old.get(name), data), name
    done = replacing.run(*forced(replacing))
    assert done.returncode == 0, done.stderr.decode()
    assert outputs(replacing) == whole


@every_command
def test_a_disk_that_fills_at_its_steps(replacing):
    """An error says so; each output is the old one or the whole new one, and nothing unfinished stays."""
    whole, files, steps = undisturbed(replacing)
    old = written(replacing)
    for step in some(replacing, steps)[1::2]:
        found = replacing.run(*forced(replacing), obstacle=Obstacle(step, errno.ENOSPC))
        told = found.stderr.decode()
        assert "Traceback" not in told
        assert found.returncode == 0 or (found.returncode == 1 and "No space left on device" in told), (step, told)
        left = written(replacing)
        for name, data in files.items():
            assert left.get(name) in (old.get(name), data), name
        assert not [name for name in contents() if ".partial" in name], step
    done = replacing.run(*forced(replacing))
    assert done.returncode == 0, done.stderr.decode()
    assert outputs(replacing) == whole


@every_command
def test_two_at_once(replacing):
    both = [replacing.start(*forced(replacing)) for _ in range(2)]
    found = [process.finished() for process in both]
    assert 0 in [one.returncode for one in found], found
    for one in found:
        assert one.returncode == 0 or b"is at work in it" in one.stderr, one.stderr.decode()
    assert outputs(replacing) == undisturbed(replacing)[0]


def test_every_command_is_in_the_table():
    """A command that is new is named here, as one that writes or as one that only prints."""
    table = {(command.module, command.words.split()[0]) for command in COMMANDS} | set(PRINTING)
    for module in (PHONEMIC, BERT):
        if module == BERT and importlib.util.find_spec("torch") is None:
            pytest.skip("needs the model extra")
        found = forking.Process(obstacles.names, module).finished()
        assert set(found.stdout.decode().split()) == {name for where, name in table if where == module}, found.stderr


def test_every_command_of_spacy_is_in_the_table():
    pytest.importorskip("spacy", reason="needs the spacy extra")
    found = forking.Process(obstacles.run, SPACY, ["--help"]).finished()
    names = re.search(r"\{(.*?)\}", found.stdout.decode())[1].split(",")
    table = {command.words.split()[0] for command in COMMANDS if command.module == SPACY}
    assert set(names) == table | {"check"}, found.stderr  # which only prints: tests/encoder/test_encoder_features.py


@pytest.mark.parametrize(("module", "name"), sorted(PRINTING))
def test_what_only_prints_writes_nothing(module, name):
    """In a folder that is read-only."""
    if module == BERT and importlib.util.find_spec("torch") is None:
        pytest.skip("needs the model extra")
    done = forking.Process(obstacles.run, module, [name, *PRINTING[module, name].split()], READ_ONLY).finished()
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert contents() == {}
