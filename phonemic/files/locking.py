"""One process at a time in a folder."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from phonemic.errors import OutputError, PhonemicError

#: The file that is locked; folders are looked through without it.
LOCK = ".phonemic-lock"

#: How its content begins.
_OURS = b"process "


class LockedError(PhonemicError):
    """Another process works in the folder."""


@contextmanager
def locked(folder: Path, wait: bool = False) -> Iterator[None]:
    """Holds a folder, which is made if it is missing, until the end; a process that dies lets go of it.

    Arguments:
        folder: the folder.
        wait: whether to wait while another process holds it.

    Raises:
        LockedError: another process holds it; the message says which.
        OutputError: something of the lock's name is there that is not one.
        OSError: the folder cannot be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK
    descriptor = _acquired(folder, path, wait)
    try:
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        holder = f"{_OURS.decode()}{os.getpid()} on {socket.gethostname()}, since {begun}: {' '.join(sys.argv)}"
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, holder.encode("utf-8", "replace")[:_HOLDER])
        yield
    finally:
        _release(descriptor, path)


#: Bytes that are kept of who holds a folder.
_HOLDER = 1000

_WINDOWS = os.name == "nt"

#: The byte that is locked on Windows, where nobody else may read what is locked: far behind who holds the folder.
_BYTE = 1 << 30


def _release(descriptor: int, path: Path) -> None:
    if not _WINDOWS:
        path.unlink(missing_ok=True)  # while it is held, so that nobody holds a file without a name unawares
    os.close(descriptor)
    if _WINDOWS:  # where no file is removed that somebody has open
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _acquired(folder: Path, path: Path, wait: bool) -> int:
    flags = os.O_RDWR | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    while True:
        descriptor = os.open(path, flags, 0o666)
        try:
            if not _lock(descriptor, wait):
                holder = os.read(descriptor, _HOLDER).decode("utf-8", "replace") or "another process"
                raise LockedError(f"{folder}: {holder} is at work in it; wait for it, end it, or take another folder")
            if _is_at(descriptor, path):
                _check_ours(descriptor, path)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its holder removed it just now: the next one there is another


def _check_ours(descriptor: int, path: Path) -> None:
    """Refuses a file that is not a lock, or that has another name, too: it is written over, and removed in the end."""
    state = os.fstat(descriptor)
    alone = stat.S_ISREG(state.st_mode) and state.st_nlink == 1
    if not alone or not (os.read(descriptor, _HOLDER) or _OURS).startswith(_OURS):
        raise OutputError(f"{path}: is needed as a lock, and is another file; move it away, or take another folder")


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _lock(descriptor: int, wait: bool) -> bool:
    """False where another has locked it. A file system without locks is taken for one that nobody else works on."""
    if _WINDOWS:
        return _lock_byte(descriptor, wait)
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise
    return True


def _lock_byte(descriptor: int, wait: bool) -> bool:
    """The same on Windows; the system lets go of the byte when the file is closed, or the process ends."""
    import msvcrt

    os.lseek(descriptor, _BYTE, os.SEEK_SET)
    try:
        while True:
            try:
                # LK_LOCK tries once a second, ten times.
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EDEADLK):
                    raise
                if not wait:
                    return False
            else:
                return True
    finally:
        os.lseek(descriptor, 0, os.SEEK_SET)
