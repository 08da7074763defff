"""Obstacles of a program: it is killed at a step, the disk is full from a step on, the folder is read-only.

A step is what changes a file or folder below the working directory: it is opened to write, renamed, linked, removed,
made. Each is seen by an audit hook right before it happens, whatever library does it from Python; a program is run in a
process of its own, because a hook stays.
"""

from __future__ import annotations

import errno
import importlib
import os
import resource
import runpy
import signal
import sys
from dataclasses import dataclass
from typing import Any

#: Python's names of the events; of each the places of its paths, and of the open folders that they are relative to.
_EVENTS = {
    "os.rename": ((0, 1), (2, 3)),
    "os.link": ((0, 1), (2, 3)),
    "os.symlink": ((1,), (2,)),
    "os.remove": ((0,), (1,)),
    "os.mkdir": ((0,), (2,)),
    "os.rmdir": ((0,), (1,)),
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True)
class Obstacle:
    """Counts the steps, and is in the way of some.

    Arguments:
        step: the first that it is in the way of, from 1; 0: of none.
        error: the error that this and all later steps end with, but removing; 0: the process is killed.
        report: a file that gets the number of steps, where the program comes to its end.
        bytes: that a file may have, as with a full disk; None: as many as there are.
    """

    step: int = 0
    error: int = 0
    report: str | None = None
    bytes: int | None = None

    def put(self) -> list[int]:
        """Puts it in the way of this process; the list's one number is the steps so far."""
        here, passed = os.getcwd() + os.sep, [0]

        def hook(event: str, given: tuple[Any, ...]) -> None:
            if not _is_step(event, given, here):
                return
            passed[0] += 1
            if not self.step or passed[0] < self.step:
                return
            if not self.error:
                os.kill(os.getpid(), signal.SIGKILL)
            if event not in ("os.remove", "os.rmdir") or self.error == errno.EROFS:
                raise OSError(self.error, os.strerror(self.error), given[0])

        sys.addaudithook(hook)
        if self.bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.bytes, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        return passed


def _is_step(event: str, given: tuple[Any, ...], here: str) -> bool:
    if event == "open":
        path, _, flags = given
        return isinstance(flags, int) and bool(flags & _WRITES) and _below(path, here)
    paths, folders = _EVENTS.get(event, ((), ()))
    return any(given[at] != -1 for at in folders) or any(_below(given[at], here) for at in paths)


def _below(path: object, here: str) -> bool:
    return isinstance(path, str | bytes | os.PathLike) and os.path.abspath(os.fsdecode(path)).startswith(here)


#: Nothing in the way.
NONE = Obstacle()

#: A folder on a file system that is mounted read-only.
READ_ONLY = Obstacle(step=1, error=errno.EROFS)


def run(module: str, words: list[str], obstacle: Obstacle = NONE) -> None:
    """Runs the ``main`` of a module as a command, and ends the process as it does."""
    main = importlib.import_module(module).main
    sys.argv = [f"python -m {module}", *words]
    passed = obstacle.put()
    try:
        sys.exit(main())
    finally:
        if obstacle.report:
            sys.stdout.flush()
            with open(obstacle.report, "w") as file:
                file.write(str(passed[0]))


def run_module(name: str, words: list[str]) -> None:
    """Does what ``python -m NAME WORDS`` does."""
    sys.argv = [name, *words]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def run_script(path: str, words: list[str]) -> None:
    """Does what ``python PATH WORDS`` does."""
    sys.argv = [path, *words]
    runpy.run_path(path, run_name="__main__")


def names(module: str) -> None:
    """Prints the names of a module's commands, one line per name."""
    sys.stdout.write("".join(f"{name}\n" for name in importlib.import_module(module).cli.list_commands(None)))
