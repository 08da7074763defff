"""A pretraining run: its folder, how it starts, continues and ends.

The folder holds ``run.json`` (settings and corpus), ``log.jsonl``, ``tensorboard/``, ``checkpoints/checkpoint-STEP/``
(Trainer's), ``best/`` (the weights of the best evaluation) and, when all is done, ``final/``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from rich.console import Console
from transformers import PreTrainedModel, TrainingArguments, set_seed

from phonemic.corpus import Corpus, open_corpus
from phonemic.errors import PhonemicError
from phonemic.files.locking import locked
from phonemic.files.outputs import check_own
from phonemic.files.writing import clear_unfinished, write_json
from phonemic.terminal import console as new_console
from phonemic_bert.errors import CheckpointError, RunError, SettingsError
from phonemic_bert.modeling import IGNORE
from phonemic_bert.modeling.kernels import without_cudnn
from phonemic_bert.pretraining.callbacks import JsonLog, ProgressBar, StepControl, StopSignal, unfolding
from phonemic_bert.pretraining.compiled import compile_encoder, compile_training
from phonemic_bert.pretraining.distillation import make_teacher
from phonemic_bert.pretraining.finish import finish
from phonemic_bert.pretraining.fitting import Computer, fit
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.pretraining.given import begin
from phonemic_bert.pretraining.models import make_model
from phonemic_bert.pretraining.record import LOG, RECORD, check_folder, make_record, read_record
from phonemic_bert.pretraining.sequences import MaskedSequences, pack
from phonemic_bert.pretraining.settings import Optimization, Settings
from phonemic_bert.pretraining.trainer import MAJOR, PretrainingTrainer, checkpoint_damage, checkpoints
from phonemic_bert.tokenization import PhonemicBertTokenizer
from phonemic_bert.training_arguments import training_arguments

#: The class of a backbone's layers, each of which FSDP shards by itself.
_LAYERS = {"bert": "BertLayer", "modernbert": "ModernBertEncoderLayer"}

#: Exit status of a run that a signal stopped and that can be continued (EX_TEMPFAIL of sysexits.h).
STOPPED = 75


def pretrain(settings: Settings, corpus: str | Path, folder: str | Path, console: Console | None = None) -> int:
    """Runs, or continues, a pretraining run.

    Arguments:
        settings: what to do.
        corpus: what ``phonemic prepare`` wrote.
        folder: the run's folder. One that holds an interrupted run is continued from its newest checkpoint.
        console: for progress; None is standard error.

    Returns:
        0 when the run is complete, 75 when SIGTERM or Ctrl-C stopped it after a checkpoint was saved.

    Raises:
        SettingsError: the settings do not fit the corpus, the machine, or the run in the folder.
        CorpusError: the corpus is damaged or was tokenized by another version.
        RunError: something cannot be saved, every checkpoint is damaged, or the loss is not a number.
        LockedError: another process works in the folder.
        OutputError: there are links in it.
    """
    folder, opened = Path(folder), open_corpus(corpus)
    console = console or new_console(stderr=True)
    earlier = read_record(folder)["settings"] if (folder / RECORD).exists() else None
    settings = fit(settings, Computer.here(settings.machine.device), earlier)
    record = make_record(settings, opened)
    check_folder(folder, record)
    if (folder / "final").exists():
        console.print(f"{folder}: this run is complete; {folder / 'final'} is the model")
        return 0
    # Of several processes of one run the first holds the folder.
    with locked(folder) if os.environ.get("RANK", "0") == "0" else nullcontext():
        check_own(folder)
        check_folder(folder, record)
        return _run(settings, opened, folder, record, console)


def _run(settings: Settings, opened: Corpus, folder: Path, record: dict[str, Any], console: Console) -> int:
    """Runs, or continues, the run of a folder that this process holds."""
    transformers.utils.logging.disable_progress_bar()
    args = _arguments(settings, folder)
    with args.main_process_first(local=False, desc="unfolding the corpus"), unfolding(console) as advance:
        verify = settings.machine.verify_checksums and args.should_save
        flat = FlatCorpus(opened, settings.machine.cache_dir or None, verify, advance)
    train, held_out, held_out_documents = split(flat, settings)
    if args.should_save and len(held_out_documents) < (asked := settings.evaluation.held_out_documents):
        held = f"{len(held_out_documents):,} of {len(flat):,} documents are held out"
        console.print(f"{held}, not {asked:,}: at most half", soft_wrap=True)
    set_seed(settings.optimization.seed)
    model = _model(settings, flat)
    begin(model, settings, flat)
    teacher = make_teacher(settings, flat, model.config)
    train.teacher = None if teacher is None else teacher.ids
    if args.should_save:  # only now: what is refused leaves no run behind
        write_json(folder / RECORD, record)
        for part in (folder, folder / "checkpoints"):
            clear_unfinished(part)
    if settings.machine.gradient_checkpointing:
        enable = getattr(model, "activation_checkpointing_enable", model.gradient_checkpointing_enable)  # 5.x; 4.x
        enable({"use_reentrant": False})
    if settings.machine.torch_compile:
        compile_training(model)
        if teacher is not None:
            compile_encoder(teacher.model)

    tokenizer = None
    if flat.symbols.phonemic:
        options = flat.symbols.make_tokenizer().options.to_json()
        tokenizer = PhonemicBertTokenizer(**options, model_max_length=settings.sequences.max_seq_length)
    trainer = PretrainingTrainer(
        model,
        args,
        train,
        held_out,
        characters=int(flat.characters[held_out_documents].sum()),
        positions=0 if held_out is None else len(held_out.ids),
        separate_documents=settings.sequences.separate_documents,
        best=folder / "best",
        keep=settings.output.save_total_limit,
        teacher=teacher,
        processing_class=tokenizer,
    )
    start = _newest(folder / "checkpoints", console)
    with StopSignal() as stop:
        control = StepControl(trainer, settings, len(train.packed), stop)
        per_step = settings.optimization.batch_size * settings.sequences.max_seq_length
        for callback in (control, JsonLog(folder / LOG, per_step), ProgressBar(console)):
            trainer.add_callback(callback)
        if settings.output.tensorboard and args.should_save:
            trainer.add_callback(_tensorboard(folder / "tensorboard", start[0] if start else 0))
        trainer.remove_callback(transformers.PrinterCallback)
        continued = _continued(start[1] if start else None, control)
        with _raised_once(), continued, _within_memory(settings), without_cudnn():
            trainer.train(resume_from_checkpoint=str(start[1]) if start else None)
    if control.stopped:
        console.print(f"{folder}: stopped and saved after step {trainer.state.global_step:,}; run it again to go on")
        return STOPPED
    if held_out is None:
        trainer.save_best()
    if args.should_save:
        finish(folder)
        console.print(f"{folder / 'final'}: the model of step {(folder / 'best' / 'step').read_text()}")
    trainer.accelerator.wait_for_everyone()
    return 0


@contextmanager
def _continued(checkpoint: Path | None, control: StepControl) -> Iterator[None]:
    """Makes one error of whatever comes of a checkpoint before its first step: its checksums show damage, not forgery.

    Raises:
        RunError: the run cannot be continued from it.
    """
    try:
        yield
    except (PhonemicError, OSError, MemoryError):
        raise
    except Exception as error:
        if checkpoint is None or control.begun:
            raise
        said = " ".join(str(error).split())[:300]
        raise RunError(
            f"{checkpoint}: the run cannot be continued from it ({type(error).__name__}: {said}); remove it, and "
            "the run continues from the one before it"
        ) from error


@contextmanager
def _within_memory(settings: Settings) -> Iterator[None]:
    """Says what to change where a step takes more memory than there is.

    Raises:
        RunError: it does.
    """
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
            raise
        batch, length = settings.machine.per_device_train_batch_size, settings.sequences.max_seq_length
        lower = "machine.per_device_train_batch_size, or " if batch != 1 else ""
        raise RunError(
            f"{batch} x {length:,} positions do not fit into memory: lower {lower}sequences.max_seq_length"
        ) from error


@contextmanager
def _raised_once() -> Iterator[None]:
    """Lets no thread print a traceback of an OSError: that of TensorBoard also raises it in this thread."""
    before = threading.excepthook

    def hook(args: Any) -> None:
        if not isinstance(args.exc_value, OSError):
            before(args)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before


def _newest(folder: Path, console: Console) -> tuple[int, Path] | None:
    """The newest sound checkpoint and its step; None where the run has none yet.

    Raises:
        RunError: all are damaged.
    """
    found = checkpoints(folder)
    for step, path in reversed(found):
        if not (wrong := checkpoint_damage(path)):
            return step, path
        console.print(f"{wrong}: damaged, so the checkpoint before it is taken", soft_wrap=True)
    if found:
        raise RunError(f"{folder}: every checkpoint is damaged; remove the run's folder to start again")
    return None


def split(
    corpus: FlatCorpus, settings: Settings
) -> tuple[MaskedSequences, MaskedSequences | None, np.ndarray[Any, Any]]:
    """The sequences to learn from, those held out, and the numbers of the documents that are held out.

    Raises:
        SettingsError: nothing is left to learn from, or nothing that is held out is masked.
    """
    length, held = settings.sequences.max_seq_length, corpus.held_out(settings.evaluation.held_out_documents)
    options: dict[str, Any] = {
        "symbols": corpus.symbols,
        "length": length,
        "probability": settings.masking.mlm_probability,
        "replacement": settings.masking.replacement,
        "seed": settings.optimization.seed,
        "restart_positions": settings.sequences.separate_documents,
    }
    packed = pack(corpus.offsets, length, held, corpus.ids if corpus.symbols.form else None)
    if not len(packed):
        raise SettingsError(f"{corpus.folder}: no text is left to train on; its documents are empty or held out")
    count = settings.optimization.max_steps * settings.optimization.batch_size
    train = MaskedSequences(corpus.ids, corpus.offsets, packed, count=count, **options)
    parts = [corpus.ids[corpus.offsets[number] : corpus.offsets[number + 1]] for number in held]
    if not sum(map(len, parts)):
        return train, None, held
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    # Evaluation always masks all to [MASK], with the same seed, so that runs can be compared.
    options |= {"seed": 0, "replacement": "mask"}
    ids = np.concatenate(parts)
    cut = pack(offsets, length, ids=ids if corpus.symbols.form else None)
    held_out = MaskedSequences(ids, offsets, cut, count=None, **options)
    if not any(bool((held_out[number]["labels"] != IGNORE).any()) for number in range(len(held_out))):
        raise SettingsError(
            "no position of the held-out documents is masked: raise evaluation.held_out_documents, or set it to 0"
        )
    return train, held_out, held


def _arguments(settings: Settings, folder: Path) -> TrainingArguments:
    """The settings in transformers' terms."""
    optimization, machine = settings.optimization, settings.machine
    cpu = machine.device == "cpu" or not torch.cuda.is_available()
    world = int(os.environ.get("WORLD_SIZE", "1"))
    at_once = min(int(machine.per_device_train_batch_size), max(optimization.batch_size // world, 1))
    if optimization.batch_size % (at_once * world):
        raise SettingsError(
            f"optimization.batch_size = {optimization.batch_size} is not a multiple of {world} processes times "
            f"machine.per_device_train_batch_size = {at_once}"
        )
    sharded: dict[str, Any] = {}
    if machine.fsdp:
        if cpu:
            raise SettingsError("machine.fsdp needs GPUs: accelerate does not shard on the CPU")
        layers = [_LAYERS[settings.model.backbone]]
        wrapped = {"transformer_layer_cls_to_wrap": layers, "state_dict_type": "FULL_STATE_DICT"}
        sharded = {"fsdp": True if MAJOR >= 5 else "full_shard auto_wrap", "fsdp_config": wrapped}
    return training_arguments(
        str(folder / "checkpoints"),
        optimization,
        bool(optimization.bf16),
        cpu,
        max_steps=optimization.max_steps,
        per_device_train_batch_size=at_once,
        per_device_eval_batch_size=settings.evaluation.per_device_eval_batch_size,
        gradient_accumulation_steps=optimization.batch_size // (at_once * world),
        learning_rate=optimization.learning_rate,
        **_schedule(optimization),
        seed=optimization.seed,
        dataloader_num_workers=machine.dataloader_num_workers,
        average_tokens_across_devices=True,
        ddp_find_unused_parameters=False,
        **sharded,
    )


def _schedule(optimization: Optimization) -> dict[str, Any]:
    """A rise, a flat stretch, and a linear fall to 0 in the last steps; without the flat stretch, Trainer's default."""
    steps = optimization.max_steps
    rising, falling = round(optimization.warmup_ratio * steps), round(optimization.decay_ratio * steps)
    if rising + falling >= steps:
        return {"warmup_steps": rising}
    options = {"num_decay_steps": falling, "warmup_type": "linear", "decay_type": "linear"}
    return {"warmup_steps": rising, "lr_scheduler_type": "warmup_stable_decay", "lr_scheduler_kwargs": options}


def _model(settings: Settings, corpus: FlatCorpus) -> PreTrainedModel:
    if MAJOR < 5 and "flash" in settings.sequences.attn_implementation:
        raise SettingsError(
            f"sequences.attn_implementation = {settings.sequences.attn_implementation!r} needs transformers 5"
        )
    try:
        return make_model(settings, corpus.symbols)
    except SettingsError:
        raise
    except CheckpointError as error:
        raise SettingsError(f"section [model]: {error}") from error
    except (ImportError, ValueError) as error:
        raise SettingsError(
            f"sequences.attn_implementation = {settings.sequences.attn_implementation!r}: {error}"
        ) from error


def _tensorboard(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
        from transformers.integrations.integration_utils import TensorBoardCallback
    except ImportError as error:
        raise SettingsError(
            'output.tensorboard needs tensorboard: pip install "phonemic[pretrain]", or set it to false'
        ) from error
    return TensorBoardCallback(SummaryWriter(str(folder), purge_step=step + 1))
