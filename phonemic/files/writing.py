"""Writing files and folders: next to their place under a name of their own, and renamed when all is on the disk.

Whatever stops a program (an error, a signal, a full disk, a loss of power), what stood at the path before is there
still, or the whole of the new. This is the only way in which the project writes a file that lasts.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO

AnyPath = str | os.PathLike[str]

#: How the names of unfinished files and folders end, and those of folders that a new one takes the place of.
SUFFIX, OLD = ".partial", ".old"

#: The bytes that an unfinished name keeps of the final one: a file's name has at most 255 bytes.
_KEPT = 32


@contextmanager
def naming(path: AnyPath) -> Iterator[None]:
    """Puts the file's name into an OSError that has none (a disk is full, a read fails)."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or os.fspath(path)
        raise


@contextmanager
def _called(path: AnyPath) -> Iterator[None]:
    """Makes an OSError name the file or folder that is to be, and not the unfinished one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error


def _beside(path: Path, suffix: str = SUFFIX) -> Path:
    return path.with_name(f"{path.name[:_KEPT]}.{os.urandom(6).hex()}{suffix}")


class Unfinished:
    """A file that is to be written next to its place; :meth:`finish` puts it there, :meth:`discard` removes it.

    :meth:`open` makes it, so that whoever is to discard it has it before a signal may come. Its name is new and nobody
    else's: it is made exclusively, so that no link that is there is followed. Its mode is that of the file that it
    replaces, or what the umask leaves.

    Arguments:
        path: the place. A link is followed.
        overwrite: whether a file that is there is replaced.

    Attributes:
        file: to write to, once it is open.
    """

    file: BinaryIO

    def __init__(self, path: AnyPath, overwrite: bool = True) -> None:
        self.path, self.overwrite = path, overwrite
        self._target = Path(os.path.realpath(path))
        self._partial, self._is_own = _beside(self._target), True

    def open(self) -> BinaryIO:
        """Makes the file, and gives it to write to.

        Raises:
            FileExistsError: the file is there, and is not to be replaced.
            OSError: the folder is missing or not writable, or the place is a folder.
        """
        path, overwrite = self.path, self.overwrite
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        with _called(path):
            if self._target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not overwrite and os.path.lexists(path):  # a link that leads nowhere, too
                raise _taken()
            try:
                descriptor = os.open(self._partial, flags, 0o666)
            except FileExistsError:
                self._is_own = False
                raise
        self.file = os.fdopen(descriptor, "wb")
        with suppress(OSError):  # there is none yet, or it is another's and of no concern
            _alike(self._partial, self._target.stat())
        return self.file

    def finish(self) -> None:
        """Puts the file in its place: on the disk first, then under its name.

        Raises:
            FileExistsError: another made the file meanwhile, and it is not to be replaced.
            OSError: the disk is full.
        """
        with _called(self.path):
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            _rename(self._partial, self._target, self.overwrite)
            to_disk(self._target.parent)

    def discard(self) -> None:
        """Removes the file, if it is not in its place."""
        with suppress(OSError, AttributeError):  # the buffer finds no room either; it was not opened
            self.file.close()
        if self._is_own:
            with suppress(OSError):
                self._partial.unlink()


def _taken() -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _alike(path: Path, old: os.stat_result) -> None:
    """Gives a new file the owner, where that is allowed, and the mode of an old one."""
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(path, old.st_uid, old.st_gid)
    path.chmod(stat.S_IMODE(old.st_mode) & 0o777)


def _rename(partial: Path, target: Path, overwrite: bool) -> None:
    if not overwrite:
        try:
            os.link(partial, target)  # fails where the name is taken, which a renaming does not
        except FileExistsError:
            raise
        except (OSError, AttributeError):  # a file system without links
            if target.exists():
                raise _taken() from None
        else:
            partial.unlink()
            return
    os.replace(partial, target)


def is_stream(path: AnyPath) -> bool:
    """Whether a path is a device, a FIFO or a socket: it is written to, and never replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def replacing(path: AnyPath, overwrite: bool = True) -> Iterator[BinaryIO]:
    """A file to write; it is at ``path`` when all is written, and not at all upon failure. See :class:`Unfinished`.

    A device or a FIFO is opened and written to.

    Arguments:
        path: the place. A link is followed.
        overwrite: whether a file that is there is replaced.

    Raises:
        FileExistsError: the file is there, and is not to be replaced.
        OSError: it cannot be written; the error names ``path``.
    """
    if is_stream(path):
        with naming(path), open(path, "wb") as stream:
            yield stream
        return
    unfinished = Unfinished(path, overwrite)
    try:
        file = unfinished.open()
        with naming(path):
            yield file
        unfinished.finish()
    except BaseException:
        unfinished.discard()
        raise


@contextmanager
def replacing_text(path: AnyPath, overwrite: bool = True) -> Iterator[TextIO]:
    """As :func:`replacing`, for UTF-8 text; line ends are written as they are."""
    with replacing(path, overwrite) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            yield text
            text.flush()
        finally:
            with suppress(OSError):  # it has been raised already
                text.detach()


def write_text(path: AnyPath, text: str, overwrite: bool = True) -> None:
    r"""Writes a whole file of UTF-8 by :func:`replacing`; half of a surrogate pair, as in a name, as ``\udc80``."""
    with replacing(path, overwrite) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def write_json(path: AnyPath, value: Any, indent: int = 2) -> None:
    """Writes a whole file of JSON by :func:`replacing`."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=indent) + "\n")


@contextmanager
def replacing_folder(path: AnyPath, overwrite: bool = False) -> Iterator[Path]:
    """A folder to fill; it is at ``path``, on the disk, when all is written, and not at all upon failure.

    Its files get the mode that the umask leaves, whatever a library made them with.

    Arguments:
        path: the place. Folders above it are made.
        overwrite: whether a folder that is there is replaced; otherwise it may be an empty one only.

    Raises:
        FileExistsError: there is something, and it is not to be replaced.
        OSError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    partial = _beside(target)
    with _called(path):
        if not overwrite and os.path.islink(path) and not target.exists():
            raise _taken()
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
    try:
        with naming(path):
            yield partial
        mode = partial.stat().st_mode & 0o666
        for inner in partial.rglob("*"):
            if inner.is_file() and not inner.is_symlink():
                inner.chmod(mode)
        tree_to_disk(partial)
        try:
            with _called(path):
                _put_folder(partial, target, overwrite)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.ENOTDIR):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path)) from error
            raise
        to_disk(target.parent)
    finally:
        with suppress(OSError):
            remove(partial)


def _put_folder(partial: Path, target: Path, overwrite: bool) -> None:
    """Gives a folder its name. Linux swaps it with an older one; elsewhere there is none of the name for a moment."""
    if not (overwrite and target.exists()):
        os.rename(partial, target)
    elif not _swapped(partial, target):
        old = _beside(target, OLD)
        os.rename(target, old)
        try:
            os.rename(partial, target)
        except OSError:
            os.rename(old, target)
            raise
        with suppress(OSError):
            remove(old)


def _swapped(one: Path, other: Path) -> bool:
    """Whether the system exchanged two names, in one step."""
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):  # an old C library
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def new_folder(path: Path) -> None:
    """Makes a folder of a fixed name anew, for one process alone: what is there is removed, and no link followed.

    Raises:
        OSError: it cannot be removed or made.
    """
    remove(path)
    path.mkdir()


def remove(path: Path) -> None:
    """Removes a file, a link (and not what it points to), or a folder with all in it, if it is there.

    Raises:
        OSError: it cannot be removed.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def clear_unfinished(folder: Path) -> None:
    """Removes what a killed program left in a folder that nobody else writes to: unfinished files and folders.

    A folder whose place was about to be taken gets its name again, if nothing has it.
    """
    for path in folder.glob(f"*{SUFFIX}"):
        remove(path)
    for path in folder.glob(f"*.{'[0-9a-f]' * 12}{OLD}"):
        target = path.with_name(path.name[: -len(OLD) - 13])
        if target.exists():
            remove(path)
        else:
            os.rename(path, target)


def tree_to_disk(folder: Path) -> None:
    """:func:`to_disk` for a folder and all that is below it."""
    for root, _, names in os.walk(folder, topdown=False):
        for name in names:
            to_disk(Path(root, name))
        to_disk(Path(root))


def to_disk(path: Path) -> None:
    """Waits until a file, or a folder's list of names, is on the disk, where the system and the file system can do it.

    Raises:
        OSError: the disk is full or broken.
    """
    if os.name == "nt" or path.is_symlink():
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # a folder that may be written to and not read
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
