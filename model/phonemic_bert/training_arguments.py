"""Arguments of transformers' Trainer that pretraining and fine-tuning share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from torch.utils.data import DataLoader, Sampler
from transformers import Trainer, TrainingArguments

from phonemic_bert.errors import SettingsError
from phonemic_bert.sections import AdamW


def training_arguments(folder: str, optimization: AdamW, bf16: bool, cpu: bool, **given: Any) -> TrainingArguments:
    """AdamW with linear decay; the Trainer itself shows, evaluates and saves nothing.

    Arguments:
        folder: what Trainer may write into.
        optimization: the section of that name.
        bf16: whether to compute in bfloat16.
        cpu: whether to leave GPUs alone.
        given: further fields of TrainingArguments.

    Raises:
        SettingsError: this machine cannot train with these settings.
    """
    # transformers 4 leaves it as the last run of this process had it, and accelerate computes by it.
    os.environ["ACCELERATE_MIXED_PRECISION"] = "bf16" if bf16 else "no"
    try:
        args = TrainingArguments(
            folder,
            optim="adamw_torch_fused",
            weight_decay=optimization.weight_decay,
            adam_beta1=optimization.adam_beta1,
            adam_beta2=optimization.adam_beta2,
            adam_epsilon=optimization.adam_epsilon,
            max_grad_norm=optimization.max_grad_norm,
            bf16=bf16,
            use_cpu=cpu,
            dataloader_pin_memory=not cpu,
            remove_unused_columns=False,
            logging_nan_inf_filter=False,
            logging_strategy="no",
            eval_strategy="no",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            **{"lr_scheduler_type": "linear", **given},
        )
        args._n_gpu = min(args.n_gpu, 1)  # several would multiply the batch size
        return args
    except ValueError as error:
        raise SettingsError(f"this machine cannot train with these settings: {error}") from error


def train_loader(trainer: Trainer, sampler: Sampler[int], worker_init: Callable[[int], None] | None = None) -> Any:
    """The loader of a Trainer's training set, as Trainer makes it, but in an order of our own.

    Arguments:
        trainer: its arguments, collator and accelerator are taken.
        sampler: the order.
        worker_init: is called in each worker process with its number.
    """
    args, data = trainer.args, trainer.train_dataset
    assert data is not None
    # Python 3.14 would begin workers without the signal handlers of this process: a signal could end one as it starts.
    fork = bool(args.dataloader_num_workers) and sys.platform == "linux"
    loader: DataLoader[Any] = DataLoader(
        data,  # type: ignore[arg-type,unused-ignore]
        args.train_batch_size,
        sampler=sampler,
        num_workers=args.dataloader_num_workers,
        collate_fn=trainer.data_collator,
        pin_memory=args.dataloader_pin_memory,
        drop_last=args.dataloader_drop_last,
        worker_init_fn=worker_init,
        prefetch_factor=args.dataloader_prefetch_factor,
        persistent_workers=args.dataloader_persistent_workers,
        multiprocessing_context="fork" if fork else None,
    )
    return trainer.accelerator.prepare(loader)
