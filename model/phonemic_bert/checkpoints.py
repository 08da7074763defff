"""Checkpoints by name: those that installed packages bring along; and loading without transformers' talk.

A package that brings checkpoints declares each as an entry point of the group ``phonemic_bert.checkpoints``: the
checkpoint's name, and the package that holds a folder of that name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from phonemic_bert.errors import CheckpointError

GROUP = "phonemic_bert.checkpoints"

#: How this project's own names begin.
PREFIX = "phonemic-bert-"


def checkpoint_names() -> list[str]:
    """The names of the installed checkpoints."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def checkpoint_path(name: str) -> Path:
    """The folder of an installed checkpoint, for transformers' Auto classes and whatever else takes a folder.

    Arguments:
        name: one of :func:`checkpoint_names`.

    Raises:
        CheckpointError: no installed package brings it, or the package is broken.
    """
    for entry in entry_points(group=GROUP, name=name):
        try:
            folder = files(entry.module) / name
        except ImportError as error:
            raise CheckpointError(f"checkpoint {name!r}: its package {entry.module} cannot be imported") from error
        if not isinstance(folder, Path) or not (folder / "config.json").is_file():
            raise CheckpointError(f"checkpoint {name!r}: its package {entry.module} holds none; reinstall it")
        return folder
    installed = ", ".join(checkpoint_names()) or "none"
    raise CheckpointError(
        f"checkpoint {name!r} is neither a folder nor installed (installed: {installed}): "
        "pip install ./model/checkpoints, in the project's source tree"
    )


def resolve(name_or_path: Any) -> Any:
    """The folder of a checkpoint that is given by an installed name; anything else as it is.

    A folder of that name in the working directory comes first.

    Raises:
        CheckpointError: it is a name of this project's, but not installed.
    """
    if not isinstance(name_or_path, str) or os.path.isdir(name_or_path):
        return name_or_path
    if name_or_path in checkpoint_names() or (name_or_path.startswith(PREFIX) and "/" not in name_or_path):
        return str(checkpoint_path(name_or_path))
    return name_or_path


@contextmanager
def silent_transformers() -> Iterator[None]:
    """Keeps transformers from telling of fresh and unused weights, where they are expected, and of its progress."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
