"""Training one model: transformers' Trainer, with a dev score after each epoch and the best weights kept in memory."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers
from torch import Tensor
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainerCallback, TrainingArguments, set_seed
from transformers.trainer_pt_utils import LengthGroupedSampler

from phonemic_bert.configuration import check_shares
from phonemic_bert.errors import RunError
from phonemic_bert.modeling import IGNORE
from phonemic_bert.modeling.kernels import without_cudnn
from phonemic_bert.training_arguments import train_loader, training_arguments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic_bert.finetuning.kinds import Instance, Kind
    from phonemic_bert.finetuning.settings import GridPoint, Settings, Text

#: Scores, the task's metric first.
Scores = dict[str, float]

#: Is called with the steps that are done, how many there are at most, and the last dev score.
Advance = Callable[[int, int, float | None], object]


@dataclass
class Trained:
    """A model with the weights of its best epoch.

    Attributes:
        model: in evaluation mode, on the device.
        dev: the scores of that epoch on the dev set.
        epochs: its number, from 1.
    """

    model: PreTrainedModel
    dev: Scores
    epochs: int


def train(
    kind: Kind,
    point: GridPoint,
    settings: Settings,
    seed: int,
    rows: Sequence[Instance],
    score: Callable[[PreTrainedModel], Scores],
    advance: Advance = lambda step, steps, score: None,
) -> Trained:
    """Fine-tunes a model with a fresh head.

    Arguments:
        kind: of the task; it makes batches and the loss.
        point: of the grid.
        settings: everything else.
        seed: of the head, the order of the rows, and dropout.
        rows: to train on, with labels.
        score: scores a model on the dev set, the metric to choose by first.
        advance: for progress.

    Raises:
        RunError: there is nothing to train on, or the loss is not a number.
        SettingsError: the machine cannot train with these settings.
    """
    if not rows:
        raise RunError("there is no example to train on")
    with tempfile.TemporaryDirectory(prefix="phonemic-finetune-") as folder:  # Trainer wants one, and leaves it empty
        args = _arguments(point, settings, seed, len(rows), folder)
        set_seed(seed)
        dropout = settings.optimization.dropout
        fields = _dropout_fields(kind.encoder.config, dropout) | _form_fields(kind.encoder.config, settings.text)
        if args.use_cpu and args.bf16:  # SDPA takes twice as long and more there; see docs/how-to/pretrain.md.
            fields["attn_implementation"] = "eager"
        model = kind.encoder.model(kind.head, max(len(kind.labels), 1), **fields)
        _prepare(model, kind, dropout)
        trainer = _Trainer(model, args, kind, rows)
        best = _Best(trainer, score, settings.optimization.early_stopping_patience, advance)
        trainer.add_callback(best)
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.remove_callback(transformers.ProgressCallback)
        with without_cudnn():
            trainer.train()
    model.load_state_dict(best.weights)
    return Trained(model.eval(), best.scores, best.epoch)


def predict(
    kind: Kind, model: PreTrainedModel, rows: Sequence[Instance], settings: Settings
) -> list[NDArray[np.float32]]:
    """The model's output for each row, without padding: (labels,), (N, labels), (choices,) or (N, 2).

    Raises:
        RunError: an output is not a number.
    """
    size, bf16 = settings.machine.per_device_eval_batch_size, settings.optimization.bf16
    order = sorted(range(len(rows)), key=lambda at: -rows[at].length)
    found: dict[int, NDArray[np.float32]] = {}
    was_training = model.training
    model.eval()
    with torch.inference_mode(), torch.autocast(model.device.type, torch.bfloat16) if bf16 else nullcontext():
        for start in range(0, len(rows), size):
            numbers = order[start : start + size]
            batch = kind.collate([rows[at] for at in numbers])
            batch.pop("labels", None)
            output = model(**{name: value.to(model.device) for name, value in batch.items()})
            values = kind.outputs(output).float().cpu().numpy()
            if not np.isfinite(values).all():
                raise RunError("the model's outputs are NaN: try a lower learning rate, or bf16 = false")
            for at, value in zip(numbers, values, strict=True):
                found[at] = value[: rows[at].length] if value.ndim == 2 else value
    model.train(was_training)
    return [found[at] for at in range(len(rows))]


class _Trainer(Trainer):
    """Trainer with the kind's loss, and batches of rows of about the same length."""

    def __init__(self, model: PreTrainedModel, args: TrainingArguments, kind: Kind, rows: Sequence[Instance]) -> None:
        super().__init__(model, args, kind.collate, rows)
        self.kind = kind
        self.model_accepts_loss_kwargs = True  # Trainer counts an update's labels, and adds up its losses as they are

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Tensor:
        """The kind's loss, a mean over labels, times the batch's share of those of the update."""
        inputs = dict(inputs)
        labels = inputs.pop("labels")
        share: Tensor = (labels != IGNORE).sum() / num_items_in_batch.clamp(min=1)
        return self.kind.loss(self.kind.outputs(model(**inputs)), labels) * share

    def get_train_dataloader(self) -> Any:
        """Batches of rows of about the same length, drawn by the seed."""
        generator = torch.Generator().manual_seed(self.args.seed)
        rows: Any = self.train_dataset
        size = self.args.train_batch_size * self.args.gradient_accumulation_steps
        lengths = [row.length for row in rows]
        return train_loader(self, LengthGroupedSampler(size, lengths=lengths, generator=generator))


class _Best(TrainerCallback):
    """Scores the model after each epoch, keeps the best weights, and ends a run that gets no better."""

    def __init__(
        self, trainer: _Trainer, score: Callable[[PreTrainedModel], Scores], patience: int, advance: Advance
    ) -> None:
        self.trainer, self.score, self.patience, self.advance = trainer, score, patience, advance
        self.scores: Scores = {}
        self.weights: dict[str, Tensor] = {}
        self.epoch, self.waited = 0, 0
        self.last: float | None = None

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Shows the progress."""
        self.advance(state.global_step, state.max_steps, self.last)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Scores, keeps, stops."""
        model: Any = self.trainer.model
        scores = self.score(model)
        self.last = next(iter(scores.values()))
        if not self.scores or self.last > next(iter(self.scores.values())):
            self.scores, self.epoch, self.waited = scores, round(state.epoch), 0
            self.weights = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
        else:
            self.waited += 1
            control.should_training_stop = self.waited == self.patience


def _dropout_fields(config: PretrainedConfig, dropout: float) -> dict[str, Any]:
    """The configuration's rates of dropout: ModernBERT has no module for one that is 0 when it is made."""
    rates = {name: value for name, value in vars(config).items() if "dropout" in name and name != "form_dropout"}
    return {name: dropout for name, value in rates.items() if type(value) in (int, float)}


def _form_fields(config: PretrainedConfig, text: Text) -> dict[str, Any]:
    """The configuration's shares of dropped and exchanged forms that the settings give; none of a model without forms.

    Raises:
        CheckpointError: together they are more than 1.
    """
    if getattr(config, "forms", "none") == "none":
        return {}
    given = {"form_dropout": text.form_dropout, "form_noise": text.form_noise}
    fields = {name: getattr(config, name) if share == "auto" else share for name, share in given.items()}
    check_shares(**fields)
    return fields


def _prepare(model: PreTrainedModel, kind: Kind, dropout: float) -> None:
    """Sets the dropout of every module, whatever the configuration calls it, and names the labels there."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
        for name, value in vars(module).items():
            if "dropout" in name and isinstance(value, float):
                setattr(module, name, dropout)
    config: Any = model.config
    if kind.labels:
        config.id2label = dict(enumerate(kind.labels))
        config.label2id = {label: at for at, label in config.id2label.items()}


def _arguments(point: GridPoint, settings: Settings, seed: int, rows: int, folder: str) -> TrainingArguments:
    """The settings in transformers' terms."""
    optimization = settings.optimization
    cpu = settings.machine.device == "cpu" or not torch.cuda.is_available()
    at_once = min(settings.machine.per_device_train_batch_size, point.batch_size)
    return training_arguments(
        folder,
        optimization,
        optimization.bf16,
        cpu,
        num_train_epochs=point.epochs,
        per_device_train_batch_size=at_once,
        gradient_accumulation_steps=point.batch_size // at_once,
        learning_rate=point.learning_rate,
        warmup_steps=round(optimization.warmup_ratio * math.ceil(rows / point.batch_size) * point.epochs),
        seed=seed,
    )
