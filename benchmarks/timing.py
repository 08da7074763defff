"""Measuring: CPU time of single runs, taken in turns, and the processes that are measured from outside."""

from __future__ import annotations

import gc
import select
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

RUNS = 9
WARM_UP = 2
ROOT = Path(__file__).resolve().parents[1]

Contestant = Callable[[], float]


def cpu(action: Callable[[], Any]) -> float:
    """CPU seconds (user and system, all threads) of one call; what it returns is freed afterwards."""
    return _measured(action, time.process_time)


def wall(action: Callable[[], Any]) -> float:
    """Wall-clock seconds of one call."""
    return _measured(action, time.perf_counter)


def _measured(action: Callable[[], Any], clock: Callable[[], float]) -> float:
    gc.collect()
    gc.disable()
    try:
        start = clock()
        result = action()
        seconds = clock() - start
    finally:
        gc.enable()
    del result
    return seconds


def warm(contestant: Contestant) -> Contestant:
    """The second of two runs in a row, when the caches hold the contestant's own tables again and not another's."""

    def second() -> float:
        contestant()
        return contestant()

    return second


def in_turns(contestants: Mapping[str, Contestant], runs: int = RUNS) -> dict[str, list[float]]:
    """Runs all contestants once, then again, ``runs`` times after two rounds that do not count.

    Returns:
        Seconds of each run, by contestant: the runs at one index were taken side by side.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(-WARM_UP, runs):
        for name, contestant in contestants.items():
            taken = contestant()
            if turn >= 0:
                seconds[name].append(taken)
    return seconds


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """The median of the paired ratios."""
    return statistics.median(top / bottom for top, bottom in zip(numerators, denominators, strict=True))


class ProcessError(Exception):
    """A measured process failed or took too long; the message is its own."""


class Process:
    """A process that runs a task for each line that it is given, and answers with one line.

    Arguments:
        command: what to start.
        limit: seconds that it may take for one answer.
        environment: its environment; None is this one's.
    """

    def __init__(self, command: Sequence[str], limit: float = 120, environment: dict[str, str] | None = None) -> None:
        self.limit = limit
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, closed with the process
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, cwd=ROOT, env=environment
        )

    def ask(self, task: str) -> str:
        """The answer to a task.

        Raises:
            ProcessError: the process ended, or did not answer in time.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{task}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; answer() says why
        return self.answer()

    def answer(self) -> str:
        """The next line that the process writes."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], self.limit)[0]:
            self.close()
            raise ProcessError(f"no answer within {self.limit:.0f} s")
        line: str = self._process.stdout.readline().decode()
        if not line:
            self._process.communicate()
            self._errors.seek(0)
            errors = self._errors.read().decode(errors="replace").strip()
            last = errors.splitlines()[-1] if errors else f"ended with status {self._process.returncode}"
            raise ProcessError(last)
        return line.strip()

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
