"""When to log, evaluate, save and stop; the log as JSON lines; the progress bar."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text
from transformers import TrainerCallback

from phonemic.files.writing import write_text
from phonemic_bert.pretraining.flat import Advance
from phonemic_bert.pretraining.record import read_log
from phonemic_bert.pretraining.settings import Settings
from phonemic_bert.pretraining.trainer import PretrainingTrainer


class StopSignal:
    """Notes SIGTERM and Ctrl-C while it is entered; a second one does what it does elsewhere."""

    def __init__(self) -> None:
        self.received: int | None = None

    def __enter__(self) -> StopSignal:
        self._before = {number: signal.signal(number, self._note) for number in (signal.SIGTERM, signal.SIGINT)}
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.received = number
        signal.signal(number, self._before[signal.Signals(number)])

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


class StepControl(TrainerCallback):
    """Decides after each step what is done: by the settings, at the last step, and upon a signal."""

    def __init__(self, trainer: PretrainingTrainer, settings: Settings, sequences: int, stop: StopSignal) -> None:
        self.trainer, self.settings, self.stop = trainer, settings, stop
        self.epochs_per_step = settings.optimization.batch_size / sequences
        self.stopped = self.begun = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Goes on with the running sum of the loss."""
        self.trainer.continue_losses()

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Notes that all is loaded."""
        self.begun = True

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Sets the flags that Trainer acts on."""
        self.trainer.loss_steps += 1
        state.epoch = state.global_step * self.epochs_per_step
        last = state.global_step >= state.max_steps
        evaluation, output = self.settings.evaluation, self.settings.output
        control.should_log = last or state.global_step % output.logging_steps == 0
        control.should_evaluate = self.trainer.held_out is not None and (
            last or state.global_step % evaluation.eval_steps == 0
        )
        control.should_save = last or state.global_step % output.save_steps == 0
        if not last and self._asked_to_stop():
            self.stopped = control.should_save = control.should_training_stop = True

    def _asked_to_stop(self) -> bool:
        """Whether any process was told to stop, so that all stop after the same step."""
        asked = self.stop.received is not None
        if self.trainer.args.world_size == 1:
            return asked
        flag = torch.tensor(float(asked), device=self.trainer.args.device)
        return bool(self.trainer.accelerator.reduce(flag, "sum").item())


class JsonLog(TrainerCallback):
    """Writes each line of the log as one JSON object; upon continuing, lines after the checkpoint are taken back.

    A line has the step, the epoch, ``seconds`` of training so far, and either ``loss`` (mean of the steps since the
    last such line), ``grad_norm``, ``learning_rate`` and ``positions_per_second``, or the figures of an evaluation.
    """

    def __init__(self, path: Path, positions_per_step: int) -> None:
        self.path, self.positions_per_step = path, positions_per_step
        self.started, self.before = 0.0, 0.0
        self.last: tuple[int, float] = (0, 0.0)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Keeps the lines up to the checkpoint."""
        kept = [row for row in read_log(self.path) if row["step"] <= state.global_step]
        if state.is_world_process_zero:
            write_text(self.path, "".join(json.dumps(row) + "\n" for row in kept))
        self.before = kept[-1]["seconds"] if kept else 0.0
        self.started = time.monotonic()
        self.last = (state.global_step, self.started)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Appends a line."""
        if not state.is_world_process_zero or not logs or not {"loss", "eval_loss"} & logs.keys():
            return
        now = time.monotonic()
        row = {"step": state.global_step, **logs, "seconds": round(self.before + now - self.started, 3)}
        if "loss" in logs:
            steps, seconds = state.global_step - self.last[0], now - self.last[1]
            row["positions_per_second"] = round(steps * self.positions_per_step / max(seconds, 1e-9))
            self.last = (state.global_step, now)
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        except OSError as error:
            error.filename = error.filename or str(self.path)
            raise


class _Rate(ProgressColumn):
    """Steps a second."""

    def render(self, task: Any) -> Text:
        """``12.3 steps/s``."""
        return Text(f"{task.speed:.3g} steps/s" if task.speed else "")


@contextmanager
def unfolding(console: Console) -> Iterator[Advance]:
    """A bar for the unfolding of a corpus, shown once there is something to unfold."""
    columns = (TextColumn("unfolding"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        tasks: list[TaskID] = []

        def advance(done: int, total: int) -> None:
            if not tasks:
                tasks.append(progress.add_task("", total=total))
            progress.advance(tasks[0], done)

        yield advance


class ProgressBar(TrainerCallback):
    """A bar with rate, remaining time and the last figures; where there is no terminal, a line for each of the log."""

    def __init__(self, console: Console) -> None:
        self.console = console
        columns = (BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn(), TextColumn("{task.description}"))
        self.progress = Progress(*columns, console=console, disable=not console.is_terminal, speed_estimate_period=120)
        self.shown: dict[str, str] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Starts the bar at the step that the run is continued from."""
        if state.is_world_process_zero:
            self.task = self.progress.add_task("", total=state.max_steps, completed=state.global_step)
            self.progress.start()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """One step on."""
        if state.is_world_process_zero:
            self.progress.update(self.task, completed=state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Shows the figures."""
        names = {"loss": "loss", "eval_loss": "held-out", "eval_bits_per_character": "bits per character"}
        new = {shown: f"{logs[name]:.4f}" for name, shown in names.items() if logs and name in logs}
        if not state.is_world_process_zero or not new:
            return
        self.shown |= new
        self.progress.update(self.task, description="  ".join(f"{name} {value}" for name, value in self.shown.items()))
        if not self.console.is_terminal:
            figures = "  ".join(f"{name} {value}" for name, value in new.items())
            self.console.print(f"step {state.global_step:,} of {state.max_steps:,}  {figures}")

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Ends the bar."""
        self.progress.stop()
