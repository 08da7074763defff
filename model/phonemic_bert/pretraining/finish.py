"""The folder that a finished run leaves: a checkpoint that loads by itself, and the same in half precision."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForMaskedLM

from phonemic.files.jsons import damaged
from phonemic.files.outputs import claim_folder
from phonemic.files.writing import replacing_folder, write_json
from phonemic_bert.checkpoints import is_installed
from phonemic_bert.errors import RunError
from phonemic_bert.origin import ORIGIN, read_origin
from phonemic_bert.pretraining.card import source_name, write_card
from phonemic_bert.pretraining.checksums import CHECKSUMS, check
from phonemic_bert.pretraining.record import LOG, read_log, read_record
from phonemic_bert.tokenization.positions import PLAIN_SPECIALS
from phonemic_bert.untrusted import check_folder, loading

#: Files that Trainer and this package keep next to the weights, and that loading does not need.
_LEFT_OUT = ("training_args.bin", "step", CHECKSUMS)


def finish(folder: Path) -> Path:
    """Makes ``final`` of ``best``: written next to its place, then renamed.

    Arguments:
        folder: of a run whose last step is done.

    Returns:
        The folder ``final``.

    Raises:
        RunError: there is no ``best``, or a file of it is damaged.
    """
    record, best = read_record(folder), folder / "best"
    if not best.is_dir():
        raise RunError(
            f"{best}: is missing, as no loss on the held-out text was a number; the last weights are in "
            f"{folder / 'checkpoints'}"
        )
    check(best)
    with replacing_folder(folder / "final") as partial:
        shutil.copytree(best, partial, ignore=shutil.ignore_patterns(*_LEFT_OUT), dirs_exist_ok=True)
        tokenizer = record["corpus"]["tokenizer"]
        with damaged(folder, RunError):
            origin = {**_public(record), "step": int((best / "step").read_text()), "log": read_log(folder / LOG)}
        if tokenizer["name"] != "phonemic":
            # Input ids are the tokenizer's own plus this many, after the special symbols.
            origin["input_ids"] = {"special": dict(zip(PLAIN_SPECIALS, range(len(PLAIN_SPECIALS)), strict=True))}
            origin["input_ids"]["shift"] = len(PLAIN_SPECIALS)
        write_json(partial / ORIGIN, origin)
        with damaged(folder, RunError):
            write_card(partial, origin)
    return folder / "final"


def _public(record: dict[str, Any]) -> dict[str, Any]:
    """The record without the folders that its files lay in: a checkpoint is passed on."""
    settings, corpus = dict(record["settings"]), dict(record["corpus"])
    settings["machine"] = settings["machine"] | {"cache_dir": ""}
    if not is_installed(settings["model"]["init_checkpoint"]):
        settings["model"] = settings["model"] | {"init_checkpoint": ""}
    if "distillation" in settings:
        settings["distillation"] = settings["distillation"] | {"teacher": "", "corpus": ""}
    corpus["sources"] = [source | {"path": source_name(source)} for source in corpus.get("sources") or ()]
    return record | {"settings": settings, "corpus": corpus}


def export(
    checkpoint: Path, out: Path, dtype: str = "float16", shard_size: int = 15_000_000, overwrite: bool = False
) -> None:
    """Writes a checkpoint with smaller weights, in safetensors files of limited size.

    It loads as float32 again: half precision is how it is kept, not how it is computed.

    Arguments:
        checkpoint: ``final`` of a run.
        out: the folder to make.
        dtype: ``"float16"``, ``"bfloat16"`` or ``"float32"``.
        shard_size: bytes that a file of weights has at most.
        overwrite: whether a folder that is there is replaced.

    Raises:
        OutputError: ``out`` is there, and is not to be replaced, or is the checkpoint.
        RunError: it is not a checkpoint, or one tensor is larger than a file may be.
    """
    origin = read_origin(checkpoint)
    claim_folder(out, overwrite, checkpoint)
    check_folder(checkpoint)
    with loading(checkpoint):
        model = AutoModelForMaskedLM.from_pretrained(checkpoint, use_safetensors=True, trust_remote_code=False)
        model = model.to(getattr(torch, dtype))
    for name, tensor in model.state_dict().items():
        if tensor.nbytes > shard_size:
            raise RunError(
                f"{name} alone has {tensor.nbytes:,} bytes, more than a file may have ({shard_size:,}): give "
                "phonemic-bert export a larger --shard-mb, or --dtype float16 if it is not that"
            )
    others = [path for path in checkpoint.iterdir() if path.is_file() and ".safetensors" not in path.name]
    for path in others:
        if not path.resolve().is_relative_to(checkpoint.resolve()):
            raise RunError(f"{path}: is a link to {path.resolve()}, which would be copied; put a copy there first")
    with replacing_folder(out, overwrite) as partial, loading(checkpoint), damaged(checkpoint / ORIGIN, RunError):
        # Room for the header of each file.
        model.save_pretrained(partial, max_shard_size=shard_size - min(shard_size // 10, 100_000))
        for path in others:
            if not (partial / path.name).exists():
                shutil.copy(path, partial / path.name)
        config = json.loads((partial / "config.json").read_text("utf-8"))
        config |= {name: "float32" for name in ("dtype", "torch_dtype") if name in config}
        write_json(partial / "config.json", config)
        write_json(partial / ORIGIN, {**origin, "stored_as": dtype})
        write_card(partial, {**origin, "stored_as": dtype})
