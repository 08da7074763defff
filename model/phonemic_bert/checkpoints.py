"""Checkpoints by name: the ones that installed packages bring along; and loading without transformers' talk.

A package that brings checkpoints declares each as an entry point of the group ``phonemic_bert.checkpoints``: the
checkpoint's name, and the package that holds a folder of that name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from phonemic_bert.errors import CheckpointError, NoFolderError

GROUP = "phonemic_bert.checkpoints"

#: How this project's own names begin.
PREFIX = "phonemic-bert-"


def checkpoint_names() -> list[str]:
    """The names of the installed checkpoints."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def is_installed(name: object) -> bool:
    """Whether it is the name of an installed checkpoint; packages are searched only for what can be one."""
    return isinstance(name, str) and not {"/", os.sep} & set(name) and name in checkpoint_names()


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
    near = _nearest(name)
    raise CheckpointError(
        f"checkpoint {name!r} is neither a folder nor installed "
        f"(installed: {installed}{f'; did you mean {near!r}?' if near else ''}): "
        "pip install ./model/checkpoints, in the project's source tree"
    )


#: The folders of a run that hold a checkpoint.
OF_RUN = ("final", "best")


def checkpoint_folder(where: str | os.PathLike[str]) -> Path:
    """The folder of a checkpoint, before anything that takes seconds to import is needed.

    Arguments:
        where: a folder, or an installed checkpoint's name.

    Raises:
        CheckpointError: there is no such folder or name, or no configuration in it.
    """
    path = Path(where)
    if not path.is_dir():
        if path.exists():
            raise CheckpointError(f"{path}: a checkpoint is a folder, not a file")
        path = checkpoint_path(os.fspath(where))
    if not (path / "config.json").is_file():
        inner = next((part for part in OF_RUN if (path / part / "config.json").is_file()), None)
        hint = f"; did you mean {path / inner}?" if inner else ""
        raise CheckpointError(f"{path}: no config.json in it, so it holds no checkpoint{hint}")
    return path


def resolve(name_or_path: Any) -> Any:
    """The folder of a checkpoint that is given by an installed name, or from ``~``; anything else as it is.

    A folder of that name in the working directory comes first.

    Raises:
        CheckpointError: it is a name of this project's, or nearly one that is installed, but not installed itself.
        NoFolderError: it is a path, absolute or from ``.``, ``..`` or ``~``, where nothing is.
    """
    if not isinstance(name_or_path, str | os.PathLike) or os.path.isdir(name_or_path):
        return name_or_path
    given = os.fspath(name_or_path)
    if os.path.isabs(given) or given.startswith(("./", "../", "~")):
        found = os.path.expanduser(given)
        if not os.path.exists(found):
            raise NoFolderError(f"there is no folder {given}")
        return found
    if isinstance(name_or_path, str) and "/" not in given and _is_meant(given):
        return str(checkpoint_path(given))
    return name_or_path


def keep_name(loaded: Any, given: Any, folder: Any) -> Any:
    """An object that was loaded by the name of an installed checkpoint, and has it in the place of the folder's path.

    An adapter, say, records it, and a name is the same on every machine.

    Arguments:
        loaded: a model, a configuration or a tokenizer, or a tuple that begins with it.
        given: what it was requested by.
        folder: what :func:`resolve` made of that.
    """
    if folder == given or not is_installed(given):
        return loaded
    first = loaded[0] if isinstance(loaded, tuple) else loaded
    for part in first.modules() if hasattr(first, "modules") else [first]:
        bearers: list[Any] = [part, getattr(part, "config", None)]
        for bearer in bearers:
            if getattr(bearer, "name_or_path", None) in (folder, ""):
                bearer.name_or_path = given
    return loaded


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _is_meant(name: str) -> bool:
    """Whether a name is that of an installed checkpoint, or would be if it were spelled better, or is one of ours."""
    letters, names = _letters(name), checkpoint_names()
    # one word alone, as of "phonemic-bert-vi", ends other models' names as well
    tails = [_letters(one[len(PREFIX) :]) for one in names if one.startswith(PREFIX) and "-" in one[len(PREFIX) :]]
    return (
        name in names
        or letters.startswith(_letters(PREFIX))
        or letters in map(_letters, names)
        or letters.endswith(tuple(tails))
    )


def _nearest(name: str) -> str | None:
    """The installed name that one which is not resembles most, if any does."""
    names = {_letters(one): one for one in checkpoint_names()}
    found = get_close_matches(_letters(name), names, n=1, cutoff=0.5) if "/" not in name else []
    return names[found[0]] if found else None


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
