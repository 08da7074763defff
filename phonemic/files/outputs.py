"""The outputs that a command may write to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from phonemic.errors import OutputError
from phonemic.files.writing import AnyPath, is_stream


def claim(outputs: Iterable[AnyPath | None], force: bool, inputs: Iterable[str] = ()) -> None:
    """Refuses outputs before any work is done; every command that writes files asks here.

    Arguments:
        outputs: paths; None is standard output. Devices and FIFOs are always taken.
        force: files that are there may be replaced.
        inputs: what is read; it is never written to, even so.

    Raises:
        OutputError: an output is there, is an input too, is named twice, or is "-".
    """
    seen: dict[str, AnyPath] = {}
    read = {key: path for path in inputs for key in _keys(path)}
    for path in outputs:
        if path is None or is_stream(path):
            continue
        if os.fspath(path) == "-":
            raise OutputError("-: this is written to a file; name one")
        real = os.path.realpath(path)
        if common := read.keys() & set(_keys(path)):
            raise OutputError(f"{path}: is also read, as {read[common.pop()]}; name another output")
        if real in seen:
            raise OutputError(f"{path}: two outputs have this name; name them apart")
        seen[real] = path
        if os.path.isdir(real):
            raise OutputError(f"{path}: is a folder; name a file")
        if not force and os.path.lexists(path):  # a link that leads nowhere, too
            raise OutputError(f"{path}: already exists; give --force to replace it, or another name")


def claim_folder(path: AnyPath, force: bool, read: AnyPath | None = None) -> None:
    """As :func:`claim`, of one folder that a command makes.

    Arguments:
        path: the folder; an empty one is taken.
        force: one that is there, with all in it, may be replaced.
        read: a folder that is read; it is not written to, and nothing that holds it, even so.

    Raises:
        OutputError: the folder is there, or holds what is read.
    """
    real = Path(path).resolve()
    if read is not None and Path(read).resolve().is_relative_to(real):
        raise OutputError(f"{path}: is also read, as {read}; name another output")
    if os.path.lexists(path) and not (force and real.is_dir()) and not (real.is_dir() and not any(real.iterdir())):
        raise OutputError(f"{path}: already exists; give --force to replace it, or another name")


def check_own(folder: Path) -> None:
    """Refuses a folder to work in that holds links, devices or FIFOs: what is written would come to lie elsewhere.

    Raises:
        OutputError: it does; the message names one.
    """
    for root, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(root, name)
            if os.path.islink(path) or is_stream(path):
                raise OutputError(
                    f"{path}: is a link, a device or a FIFO, so that others' files might be written to; remove it"
                )


def _keys(path: AnyPath) -> list[object]:
    """The identity of a file under any name: where links lead, and the file's number."""
    try:
        state = os.stat(path)
    except OSError:
        return [os.path.realpath(path)]
    return [os.path.realpath(path), (state.st_dev, state.st_ino)]
