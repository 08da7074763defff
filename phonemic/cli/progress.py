"""Progress on standard error: bars on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console

from phonemic.terminal import console

#: Called with the phase, how much of it was done since, and how much it is in all, 0 where that is not known.
Advance = Callable[[str, float, float], None]

#: Seconds between two lines.
EVERY = 30.0


@contextmanager
def progress(unit: str = "MB", at_once: bool = False) -> Iterator[Advance]:
    """Shows each phase with its rate and remaining time.

    Arguments:
        unit: ``"MB"``, where bytes are told, or the name of what is counted.
        at_once: a phase that begins is a line; else only what takes long is told off a terminal.
    """
    stderr = console(stderr=True)
    if not stderr.is_terminal:
        yield lines_of_progress(stderr, unit, at_once)
        return
    with _bars(stderr, unit) as advance:
        yield advance


@contextmanager
def _bars(stderr: Console, unit: str) -> Iterator[Advance]:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    phase, bar = TextColumn("{task.description}", markup=False), BarColumn()
    counted = (MofNCompleteColumn(), TextColumn(unit), TimeElapsedColumn())
    columns = (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()) if unit == "MB" else counted
    with Progress(phase, bar, *columns, console=stderr) as bars:
        tasks = {}

        def advance(phase: str, done: float, total: float) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(phase, total=total or None)
            bars.advance(tasks[phase], done)

        yield advance


def lines_of_progress(stderr: Console, unit: str = "MB", at_once: bool = True, every: float = EVERY) -> Advance:
    """Progress as lines, for a log.

    Arguments:
        stderr: where they are printed.
        unit: see :func:`progress`.
        at_once: one when a phase begins, and not only each ``every`` seconds.
        every: seconds between two lines.
    """
    scale = 1e6 if unit == "MB" else 1
    begun: dict[str, float] = {}
    so_far: dict[str, float] = {}
    latest = 0.0

    def advance(phase: str, done: float, total: float) -> None:
        nonlocal latest
        now = time.monotonic()
        first = phase not in begun
        if first and not at_once:
            latest = now
        begun.setdefault(phase, now)
        so_far[phase] = so_far.get(phase, 0.0) + done
        if (not first or not at_once) and now - latest < every:
            return
        latest, seconds = now, now - begun[phase]
        of_all = f" of {total / scale:,.0f}" if total else ""
        line = f"{phase}: {so_far[phase] / scale:,.0f}{of_all} {unit}"
        if not first and seconds and so_far[phase]:
            rate = so_far[phase] / seconds / scale
            line += f", {rate:,.1f} {unit}/s" if unit == "MB" else f", {rate:,.0f} a second"
            if total:
                left = max(total - so_far[phase], 0.0) * seconds / so_far[phase]
                line += f", {timedelta(seconds=round(left))} left"
        stderr.print(line, highlight=False, soft_wrap=True)

    return advance
