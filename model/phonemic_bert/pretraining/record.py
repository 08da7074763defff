"""The records of a run: ``run.json`` and the log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from phonemic import __version__
from phonemic.corpus import Corpus
from phonemic.files.jsons import checked, damaged, loads, read_object
from phonemic.files.locking import LOCK
from phonemic.files.writing import SUFFIX
from phonemic_bert.errors import RunError
from phonemic_bert.pretraining.distillation import describe
from phonemic_bert.pretraining.flat import fingerprint
from phonemic_bert.pretraining.given import identify_weights
from phonemic_bert.pretraining.settings import Settings

FORMAT = "phonemic pretraining run 1"
RECORD, LOG = "run.json", "log.jsonl"

#: Settings that say where files lie, which may be elsewhere when a run is continued.
_PLACES = {("model", "init_checkpoint"), ("distillation", "teacher"), ("distillation", "corpus")}

#: Fields that are copied from the corpus's manifest.
_OF_CORPUS = ("tokenizer", "sources", "options", "totals")


def make_record(settings: Settings, corpus: Corpus) -> dict[str, Any]:
    """The settings, what the corpus says of itself, which checkpoints the run is given, and the versions."""
    versions = {"phonemic": __version__, "torch": torch.__version__, "transformers": transformers.__version__}
    given = {"teacher": describe(settings), "weights": identify_weights(settings)}
    return {
        "format": FORMAT,
        "settings": settings.as_dict(),
        "corpus": {"manifest": fingerprint(corpus), **{name: corpus.manifest.get(name) for name in _OF_CORPUS}},
        **{name: value for name, value in given.items() if value},
        "versions": {**versions, "python": sys.version.split()[0], "numpy": np.__version__},
    }


def read_record(folder: Path) -> dict[str, Any]:
    """The content of ``run.json`` in a run's folder.

    Raises:
        RunError: it is not the folder of a run.
    """
    path = folder / RECORD
    try:
        record = read_object(path, RunError)
    except FileNotFoundError as error:
        raise RunError(f"{folder}: there is no {RECORD} in it, so it is not a pretraining run") from error
    if record.get("format") != FORMAT:
        raise RunError(f"{path}: damaged, or of another version (its format is {record.get('format')!r})")
    checked(record, {"settings": dict, "corpus": dict, "versions": dict}, path, RunError)
    checked(record["settings"], dict.fromkeys(record["settings"], dict), f"{path}, settings", RunError)
    checked(record["corpus"], {"manifest": str, "tokenizer": dict}, f"{path}, corpus", RunError)
    return record


def check_folder(folder: Path, record: dict[str, Any]) -> None:
    """Refuses a folder that is not a run, or a run with other settings or another corpus.

    Raises:
        RunError: it is one of these; the message says what differs.
    """
    if not (folder / RECORD).exists():
        if folder.exists() and (not folder.is_dir() or any(not _passed_over(path.name) for path in folder.iterdir())):
            raise RunError(f"{folder}: this is neither an empty folder nor a run; choose another")
        return
    earlier = read_record(folder)
    if earlier["corpus"]["manifest"] != record["corpus"]["manifest"]:
        raise RunError(f"{folder}: this run is trained on another corpus; choose another folder, or that corpus")
    if earlier.get("teacher") != record.get("teacher"):
        raise RunError(
            f"{folder}: this run has {'another' if earlier.get('teacher') else 'no'} teacher; give the same in "
            "[distillation], or choose another folder for another run"
        )
    if earlier.get("weights") != record.get("weights"):
        began = "others" if earlier.get("weights") else "fresh ones"
        raise RunError(
            f"{folder}: this run did not begin with the weights of model.init_checkpoint but with {began}; give "
            "the same, or choose another folder for another run"
        )
    for section, values in record["settings"].items():
        for name, value in values.items():
            was = earlier["settings"].get(section, {}).get(name)
            if section != "machine" and (section, name) not in _PLACES and was != value:
                raise RunError(
                    f"{folder}: this run has {section}.{name} = {was!r}, not {value!r}. Only [machine] may change when "
                    "a run is continued; choose another folder for another run"
                )


def _passed_over(name: str) -> bool:
    """Whether it is what a process leaves that is at work, or was killed, before it wrote the record."""
    return name == LOCK or (name.startswith(RECORD) and name.endswith(SUFFIX))


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log; a last line that was cut off is left out.

    Raises:
        RunError: another line is damaged; the message names it.
    """
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    rows = []
    for number, line in enumerate(lines, 1):
        with damaged(f"{path}, line {number}", RunError):
            rows.append(checked(loads(line), {"step": int, "seconds": int | float}, path, RunError))
    return rows
