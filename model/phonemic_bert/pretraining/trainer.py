"""transformers' Trainer where it is exact, and what takes the place of the rest.

Kept: the loop, accumulation, optimizer and schedule, precision, DDP and FSDP, the contents of checkpoints, the random
states, and skipping what was seen when a run is continued. Replaced: shuffling (the dataset is the whole run in its
order, so that there is one epoch for Trainer), how checkpoints come to their place, evaluation (a mean over positions,
not over batches), and the logged training loss, whose running sum survives an interruption.
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import torch
import transformers
from accelerate.utils import broadcast_object_list
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.utils.data import SequentialSampler
from transformers import PreTrainedModel, Trainer, TrainingArguments

from phonemic.errors import PhonemicError
from phonemic.files.jsons import loads
from phonemic.files.writing import remove, replacing_folder
from phonemic_bert.errors import RunError
from phonemic_bert.pretraining.checksums import check, write_checksums
from phonemic_bert.pretraining.compiled import uncompiled
from phonemic_bert.pretraining.distillation import Teacher
from phonemic_bert.pretraining.models import measured
from phonemic_bert.pretraining.sequences import MaskedSequences, collate
from phonemic_bert.training_arguments import train_loader

#: transformers' major version: 4 and 5 take some things differently.
MAJOR = int(transformers.__version__.partition(".")[0])


def separate(inputs: dict[str, Any], pad: int, apart: bool = True, attention: str = "sdpa") -> dict[str, Any]:
    """Replaces ``documents`` (B, N) of a batch by what tells the model which positions attend to which.

    Arguments:
        inputs: ``input_ids`` and ``documents``, (B, N) each, and whatever else the model takes.
        pad: the id of [PAD].
        apart: positions attend to their own document only; otherwise to all but padding.
        attention: what computes it. Flash attention takes no mask, but where the documents of the whole batch begin and
            end, padding being one more of each row; transformers has it, of one row only, by restarting position ids.
    """
    inputs = dict(inputs)
    documents = inputs.pop("documents")
    if not apart:
        inputs["attention_mask"] = (inputs["input_ids"] != pad).long()
    elif "flash" in attention:
        first = torch.ones_like(documents, dtype=torch.bool)
        first[:, 1:] = documents[:, 1:] != documents[:, :-1]
        ends = torch.tensor([documents.numel()], device=documents.device)
        bounds = torch.cat([first.flatten().nonzero()[:, 0], ends]).int()
        longest = int(bounds.diff().max())
        inputs |= {"cu_seq_lens_q": bounds, "cu_seq_lens_k": bounds, "max_length_q": longest, "max_length_k": longest}
    else:
        mask = documents[:, :, None] == documents[:, None, :]
        # transformers 4 takes a mask of three dimensions, transformers 5 one of four as it is: SDPA a mask of truth
        # values, eager attention what is added to the scores.
        if MAJOR >= 5:
            mask = mask[:, None]
            if attention == "eager":
                mask = torch.zeros(mask.shape, device=mask.device).masked_fill_(~mask, torch.finfo(torch.float32).min)
        inputs["attention_mask"] = mask
    return inputs


class PretrainingTrainer(Trainer):
    """Trains on :class:`MaskedSequences`.

    Arguments:
        model: predicts what is masked.
        args: for transformers; ``output_dir`` is the folder of checkpoints.
        train: the sequences of the whole run.
        held_out: the sequences to evaluate, or None.
        characters: code points of the held-out documents, without white space.
        positions: their positions.
        separate_documents: positions attend to their own document only.
        best: the folder for the weights of the best evaluation.
        keep: checkpoints that are kept.
        teacher: whose expectations are learned next to the labels, or None.
        kwargs: for Trainer (``callbacks``, ``processing_class``).
    """

    def __init__(
        self,
        model: PreTrainedModel,
        args: TrainingArguments,
        train: MaskedSequences,
        held_out: MaskedSequences | None,
        characters: int,
        positions: int,
        separate_documents: bool,
        best: Path,
        keep: int,
        teacher: Teacher | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, args, collate, train, **kwargs)
        self.symbols = train.symbols
        self.held_out, self.characters, self.positions = held_out, characters, positions
        self.separate_documents, self.best, self.keep = separate_documents, best, keep
        self.teacher = None if teacher is None else teacher.to(self.args.device)
        self.attention = str(model.config._attn_implementation)
        #: Sum of the losses of the steps since the last line of the log, on the device, and their number.
        self.loss_sum: Tensor | float = 0.0
        self.loss_steps = 0
        self.staging: Path | None = None

    # --- data

    def get_train_dataloader(self) -> Any:
        """The sequences in their order; worker processes leave signals to the training process."""
        return train_loader(self, SequentialSampler(self.train_dataset), _leave_signals)  # type: ignore[arg-type]

    def _attending(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return separate(inputs, self.symbols.pad, self.separate_documents, self.attention)

    # --- the loss

    def compute_loss(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Trainer's loss, of documents kept apart; it is also added up for the log."""
        inputs = self._attending(inputs)
        if self.teacher is not None:
            teacher_ids = inputs.pop("teacher_ids")
            if weight := self.teacher.weight_at(self.state.global_step / self.state.max_steps):
                with self.accelerator.autocast():
                    inputs["soft_targets"] = self.teacher.expect(teacher_ids, inputs, weight)
        loss: Any = super().compute_loss(model, inputs, *args, **kwargs)
        self.loss_sum = self.loss_sum + loss.detach()
        return loss

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Trainer's log, with the mean loss of the steps since the last line, over all processes."""
        if "loss" in logs:
            total = self._gathered_losses()
            logs["loss"] = math.fsum(total) / len(total) / max(self.loss_steps, 1)
            self.loss_sum, self.loss_steps = 0.0, 0
        super().log(logs, *args, **kwargs)

    def _gathered_losses(self) -> list[float]:
        """``loss_sum`` of each process.

        Raises:
            RunError: one is not a number; neither the log nor a checkpoint takes it.
        """
        own = torch.as_tensor(self.loss_sum, dtype=torch.float32, device=self.args.device).reshape(1)
        losses: list[float] = self.accelerator.gather(own).tolist()
        if not math.isfinite(total := sum(losses)):
            raise RunError(
                f"step {self.state.global_step:,}: the loss is {total}; a lower optimization.learning_rate or a longer "
                "optimization.warmup_ratio may help"
            )
        return losses

    # --- evaluation

    @torch.no_grad()
    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Losses and accuracies of each component over the masked held-out positions, and bits per character."""
        with uncompiled():
            metrics = self._metrics() if self.held_out is not None else {}
        if metrics and metrics["eval_loss"] < (math.inf if self.state.best_metric is None else self.state.best_metric):
            self.state.best_metric = metrics["eval_loss"]
            self.state.best_global_step = self.state.global_step
            self.save_best()
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _metrics(self) -> dict[str, float]:
        model: Any = self.model
        was_training = model.training
        model.eval()
        sums: dict[str, float] = {}
        for batch in self._held_out_batches():
            inputs = self._attending({name: value.to(self.args.device) for name, value in batch.items()})
            for name, value in measured(model(**inputs), inputs["labels"]).items():
                _add(sums, name, value)
        model.train(was_training)
        names = list(sums)
        totals = torch.tensor([sums[name] for name in names], dtype=torch.float64, device=self.args.device)
        values = dict(zip(names, self.accelerator.reduce(totals, "sum").tolist(), strict=True))
        count = values.pop("count")
        metrics = {f"eval_{name}": value / count for name, value in values.items()}
        per_character = self.positions / max(self.characters, 1)
        metrics["eval_bits_per_character"] = metrics["eval_loss"] / math.log(2) * per_character
        return {**metrics, "eval_predicted": int(count)}

    def _held_out_batches(self) -> Iterator[dict[str, Tensor]]:
        """This process's part of the held-out sequences; all processes have as many batches, which FSDP needs."""
        data = self.held_out
        assert data is not None
        size, rank, world = self.args.per_device_eval_batch_size, self.args.process_index, self.args.world_size
        own = range(rank, len(data), world)
        for start in range(0, -(-len(data) // world), size):
            numbers = own[start : start + size]
            batch = collate([data[number] for number in numbers or [0]])
            if not numbers:
                batch["labels"].fill_(-100)
            yield batch

    # --- saving

    def save_best(self) -> None:
        """The weights as a folder that loads, written next to the earlier one and put in its place."""
        with self._saving(self.best, f"the best weights, of step {self.state.global_step:,},") as partial:
            self.save_model(str(partial))
            if self.args.should_save:
                (partial / "step").write_text(str(self.state.global_step))
                write_checksums(partial)

    def _get_output_dir(self, trial: Any) -> str:
        return str(self.staging or self.args.output_dir)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Trainer's checkpoint, written into a folder next to its place and then renamed."""
        folder = Path(str(self.args.output_dir))
        name = f"checkpoint-{self.state.global_step}"
        losses = self._gathered_losses()
        kept: Any = self.state.stateful_callbacks  # what Trainer writes into its state as it is
        kept["losses"] = {"sums": losses, "steps": self.loss_steps}
        with self._saving(folder / name, f"the checkpoint of step {self.state.global_step:,}") as partial:
            self.staging = partial
            try:
                super()._save_checkpoint(model, trial)
            finally:
                self.staging = None
            self.accelerator.wait_for_everyone()
            if self.args.should_save:
                for path in (partial / name).iterdir():
                    os.rename(path, partial / path.name)
                (partial / name).rmdir()
                write_checksums(partial)
        if self.args.should_save:
            for _, old in checkpoints(folder)[: -self.keep]:
                remove(old)
        self.accelerator.wait_for_everyone()

    @contextmanager
    def _saving(self, place: Path, what: str) -> Iterator[Path]:
        """A folder to fill, the same for all processes of the run, which the first of them then puts in its place.

        Raises:
            RunError: it could not be written; the message says what is still there.
        """
        try:
            with replacing_folder(place, overwrite=True) if self.args.should_save else nullcontext() as partial:
                [shared] = broadcast_object_list([str(partial)])
                yield Path(shared)
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RunError(
                f"{place.parent}: cannot save {what} ({reason}). The earlier checkpoints are intact: "
                "check whether the disk is full, then run the same command again to continue"
            ) from error

    def continue_losses(self) -> None:
        """Takes the running sum of the loss from the checkpoint that the run is continued from."""
        kept: Any = self.state.stateful_callbacks
        if saved := kept.get("losses"):
            sums, world = saved["sums"], self.args.world_size
            # With another number of processes than before, the first takes the sum of all.
            own = sums if len(sums) == world else [math.fsum(sums) * world / len(sums)] + [0.0] * (world - 1)
            self.loss_sum, self.loss_steps = own[self.args.process_index], saved["steps"]


def _leave_signals(worker: int) -> None:
    """A signal to the whole process group must not end the workers while the last step still needs them."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def _add(sums: dict[str, float], name: str, value: Tensor) -> None:
    sums[name] = sums.get(name, 0.0) + float(value)


def checkpoint_damage(checkpoint: Path) -> str:
    """The damage of a checkpoint; "" where all files can be opened."""
    for path in sorted(checkpoint.iterdir()):
        try:
            if path.suffix == ".json":
                loads(path.read_bytes())
            elif path.suffix == ".safetensors":
                with safe_open(path, "pt") as file:
                    file.keys()
            elif path.suffix in (".pt", ".pth", ".bin") and not is_zipfile(path):
                raise ValueError("not a torch file, or truncated")
        except (ValueError, OSError, RecursionError, SafetensorError) as error:
            return f"{path}: {error}"
    try:
        check(checkpoint)
    except (PhonemicError, OSError) as error:
        return str(error)
    return "" if (checkpoint / "trainer_state.json").exists() else f"{checkpoint}: no trainer_state.json in it"


def checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """The whole checkpoints in a folder with their steps, oldest first."""
    found = [(path.name.removeprefix("checkpoint-"), path) for path in folder.glob("checkpoint-*")]
    return sorted((int(step), path) for step, path in found if step.isdigit())
