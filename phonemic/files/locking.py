"""One process at a time in a folder."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from phonemic.errors import PhonemicError

#: The file that is locked. Nothing else of a folder has this name; folders are looked through without it.
LOCK = ".lock"


class LockedError(PhonemicError):
    """Another process works in the folder."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds a folder, which is made if it is missing, until the end; a process that dies lets go of it.

    Raises:
        LockedError: another process holds it; the message says which.
        OSError: the folder cannot be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK
    descriptor = _acquired(folder, path)
    try:
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        holder = f"process {os.getpid()} on {socket.gethostname()}, since {begun}: {' '.join(sys.argv)}"
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode("utf-8", "replace")[:_HOLDER], 0)
        yield
    finally:
        path.unlink(missing_ok=True)  # while it is held, so that nobody holds a file without a name unawares
        os.close(descriptor)


#: Bytes that are kept of who holds a folder.
_HOLDER = 1000


def _acquired(folder: Path, path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    while True:
        descriptor = os.open(path, flags, 0o666)
        try:
            if not _lock(descriptor):
                holder = os.pread(descriptor, _HOLDER, 0).decode("utf-8", "replace") or "another process"
                raise LockedError(f"{folder}: {holder} is at work in it; wait for it, end it, or take another folder")
            if _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its holder removed it just now: the next one there is another


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _lock(descriptor: int) -> bool:
    """False where another has locked it. A file system without locks is taken for one that nobody else works on."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise
    return True
