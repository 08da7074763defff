"""Several runs in a row: what is finished is skipped, what fails is reported, progress is shown."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from phonemic.errors import printable
from phonemic.files.locking import locked
from phonemic.files.outputs import check_own
from phonemic.terminal import console as new_console
from phonemic_bert.errors import CheckpointError
from phonemic_bert.finetuning.encoders import Encoder, load_encoder, named
from phonemic_bert.finetuning.jobs import Job
from phonemic_bert.finetuning.runs import SCORES_ONLY, Prepared, Run, RunOutputs, runs_of
from phonemic_bert.finetuning.settings import Settings


@dataclass
class SweepResult:
    """The result of a sweep.

    Attributes:
        results: of every run that is finished, those from before among them.
        repeated: how many of them were finished before.
        failures: what failed, and why.
    """

    results: list[dict[str, Any]] = field(default_factory=list)
    repeated: int = 0
    failures: list[str] = field(default_factory=list)


class Sweep:
    """Every job with every encoder, seed and point of the grid.

    Arguments:
        jobs: the tasks.
        encoders: folders or names of checkpoints, or ``NAME=FOLDER`` to call one otherwise.
        settings: the settings for a dataset's name.
        seeds: one run each.
        folder: for the results.
        outputs: what each run is to leave.
        tokenizers: the folder of the baselines' files.
        console: for progress; None is standard error.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        encoders: Sequence[str],
        settings: Callable[[str], Settings],
        seeds: Sequence[int],
        folder: Path,
        outputs: RunOutputs = SCORES_ONLY,
        tokenizers: str | None = None,
        console: Console | None = None,
    ) -> None:
        self.jobs, self.encoders, self.settings, self.seeds = jobs, encoders, settings, seeds
        self.folder, self.outputs, self.tokenizers = folder, outputs, tokenizers
        self.console = console or new_console(stderr=True)
        self.outcome = SweepResult()

    def execute(self) -> SweepResult:
        """Runs what is not finished. A failure ends neither the sweep nor what does not depend on it.

        Raises:
            KeyboardInterrupt: Ctrl-C or SIGTERM; the runs that are finished stay.
            LockedError: another process works in the folder of results.
            OutputError: there are links in it, or in the folder for models.
        """
        transformers.utils.logging.disable_progress_bar()  # of saved models
        with locked(self.folder), _interrupts(), _Bars(self.console) as bars:
            for folder in (self.folder, self.outputs.save):
                if folder is not None:
                    check_own(folder)
            groups = len(self.jobs) * len(self.encoders) * len(self.seeds)
            bars.expect(groups)
            readable = [job for job in self.jobs if self._tried(job.name, partial(getattr, job, "fingerprint"))]
            known: dict[str, Path] = {}
            for where in self.encoders:
                encoder = self._tried(where, partial(self._load, where, known))
                for job in self.jobs:
                    for seed in self.seeds:
                        if encoder is not None and job in readable:
                            self._group(job, encoder, seed, bars)
                        bars.done()
        return self.outcome

    def _load(self, written: str, known: dict[str, Path]) -> Encoder:
        """An encoder, whose name no other one of the sweep has."""
        name, where = named(written)
        encoder = load_encoder(where, self.tokenizers, name)
        other = known.setdefault(encoder.name, encoder.path)
        if other.resolve() != encoder.path.resolve():
            raise CheckpointError(
                f"{encoder.path} and {other} are both called {encoder.name}: give --encoder NAME={encoder.path}"
            )
        return encoder

    def _group(self, job: Job, encoder: Encoder, seed: int, bars: _Bars) -> None:
        """The runs that share an encoder and their data."""
        what = f"{job.name}, {encoder.name}, seed {seed}"
        settings = self.settings(job.dataset.name)
        runs = self._tried(what, lambda: self._unfinished(job, encoder, settings, seed))
        if not runs:
            return
        bars.describe(what)
        prepared = self._tried(what, lambda: Prepared(job, encoder, settings, seed, self.outputs.noise))
        if prepared is None:
            return
        for run in runs:
            point = ", ".join(f"{name} {value:g}" for name, value in _varied(run, settings))
            name = f"{what}, {point}" if point else what
            bars.describe(name)
            result = self._tried(name, partial(run.execute, prepared, bars.advance))
            if result is not None:
                self.outcome.results.append(result)
                self.console.print(Text(_line(name, result)), soft_wrap=True)

    def _unfinished(self, job: Job, encoder: Encoder, settings: Settings, seed: int) -> list[Run]:
        left = []
        for run in runs_of(job, encoder, settings, seed, self.folder, self.outputs):
            result = run.result()
            if result is None:
                left.append(run)
            else:
                self.outcome.results.append(result)
                self.outcome.repeated += 1
        return left

    def _tried(self, what: str, action: Callable[[], Any]) -> Any:
        """The action's result, or None where it failed; memory that it held is free again then."""
        try:
            return action()
        except Exception as error:
            reason = str(error) or type(error).__name__
            known = isinstance(error, (ValueError, OSError, RuntimeError))
            reason = reason if known else f"{type(error).__name__}: {reason}"
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self.outcome.failures.append(printable(f"{what}: {reason}"))
        self.console.print(Text("failed", "red") + Text(f"  {self.outcome.failures[-1]}"), soft_wrap=True)
        return None


def _varied(run: Run, settings: Settings) -> Iterator[tuple[str, float]]:
    """The values of a point that others have otherwise."""
    points = [point.as_dict() for point in settings.points()]
    return ((name, value) for name, value in run.point.as_dict().items() if len({one[name] for one in points}) > 1)


def _line(name: str, result: dict[str, Any]) -> str:
    metric, limit = result["metric"], result["hyperparameters"]["epochs"]
    scores = f"{metric} dev {result['dev'][metric]:.4f}, test {result['test'][metric]:.4f}"
    return f"{printable(name)}: {scores} (epoch {result['epochs']} of {limit}, {result['seconds']:.0f} s)"


class _Bars:
    """A bar for the sweep and one for the run; nothing where there is no terminal."""

    def __init__(self, console: Console) -> None:
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        self.progress = Progress(*columns, console=console, disable=not console.is_terminal)

    def __enter__(self) -> _Bars:
        self.progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.progress.stop()

    def expect(self, groups: int) -> None:
        """Starts the bars."""
        self.whole = self.progress.add_task("seeds of tasks and encoders", total=groups)
        self.run = self.progress.add_task("", total=None)

    def describe(self, name: str) -> None:
        """Names what is being done."""
        self.name = name
        self.progress.reset(self.run, description=printable(name), total=None)

    def advance(self, step: int, steps: int, score: float | None) -> None:
        """Shows the steps of a run."""
        shown = self.name if score is None else f"{self.name}  dev {score:.4f}"
        self.progress.update(self.run, completed=step, total=steps, description=printable(shown))

    def done(self) -> None:
        """One seed of a task and an encoder is done."""
        self.progress.advance(self.whole)


@contextmanager
def _interrupts() -> Iterator[None]:
    """SIGTERM does what Ctrl-C does."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
