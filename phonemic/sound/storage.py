"""The file of an index: named arrays behind a checksum. It is read into memory once; nothing in it is trusted."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from phonemic.errors import SavedIndexError
from phonemic.files.writing import AnyPath, is_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"phonemic index\0\x03"  # 1: unknown characters were heard; 2: it did not name its tables
_SUM = struct.Struct("<I")  # CRC-32 of all that follows it
_COUNT = struct.Struct("<I")  # of sections
_SECTION = struct.Struct("<16s 8s Q Q")  # name, dtype, offset, bytes
_ALIGN = 64
_HEAD = len(MAGIC) + _SUM.size + _COUNT.size
#: Bytes that are summed up at a time.
_CHUNK = 1 << 20


def write(file: BinaryIO, sections: Mapping[str, NDArray[Any]]) -> None:
    """Writes named arrays of one dimension, whose dtypes are little-endian."""
    checksum = 0
    for piece in _pieces(sections):
        checksum = zlib.crc32(piece, checksum)
    file.write(MAGIC + _SUM.pack(checksum))
    for piece in _pieces(sections):
        file.write(piece)


def _pieces(sections: Mapping[str, NDArray[Any]]) -> Iterator[bytes]:
    """All that is behind the checksum."""
    offset = _up(_HEAD + _SECTION.size * len(sections))
    begin, directory = offset, _COUNT.pack(len(sections))
    for name, array in sections.items():
        directory += _SECTION.pack(name.encode(), array.dtype.str.encode(), offset, array.nbytes)
        offset += _up(array.nbytes)
    yield directory + bytes(begin - _HEAD + _COUNT.size - len(directory))
    for array in sections.values():
        yield array.tobytes()
        yield bytes(_up(array.nbytes) - array.nbytes)


def _up(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def is_index(path: AnyPath) -> bool:
    """Whether a file begins as a saved index does; a pipe, of which nothing is read then, does not.

    Raises:
        OSError: it cannot be read.
    """
    if is_stream(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC) - 1) == MAGIC[:-1]


def whole(path: AnyPath) -> bytes:
    """The content of a file, of this process alone: what is checked stays so, whatever is written to the file.

    Raises:
        SavedIndexError: it is a device or a FIFO, or begins otherwise than an index.
        OSError: it cannot be read.
    """
    if is_stream(path):
        raise SavedIndexError(f"{os.fspath(path)}: is a device or a FIFO; an index is loaded from a file")
    with open(path, "rb") as file:
        if (head := file.read(len(MAGIC))) != MAGIC:
            return head
        file.seek(0)
        return file.read()


def read(data: bytes, dtypes: Mapping[str, str], where: object) -> dict[str, NDArray[Any]]:
    """The arrays of a file, read-only views of ``data``.

    Arguments:
        data: what :func:`write` wrote.
        dtypes: the names that must be there, and their dtypes.
        where: names the file in errors.

    Raises:
        SavedIndexError: it is another file, or damaged.
    """
    if data[: len(MAGIC) - 1] != MAGIC[:-1]:
        raise SavedIndexError(f"{where}: not a saved index of names; Index.save and phonemic search --save write one")
    if data[: len(MAGIC)] != MAGIC:
        raise SavedIndexError(f"{where}: an index of another version of phonemic; build it again from its names")
    view = memoryview(data)
    checksum, begin = 0, len(MAGIC) + _SUM.size
    for at in range(begin, len(view), _CHUNK):
        checksum = zlib.crc32(view[at : at + _CHUNK], checksum)
    if len(view) < _HEAD or _SUM.unpack_from(view, len(MAGIC))[0] != checksum:
        raise SavedIndexError(f"{where}: damaged (its checksum does not match its content); build it again")
    (count,) = _COUNT.unpack_from(view, begin)
    if count > len(dtypes) or _HEAD + count * _SECTION.size > len(view):
        raise SavedIndexError(f"{where}: damaged (its list of arrays does not fit); build it again")
    found = {}
    for number in range(count):
        raw_name, raw_dtype, offset, size = _SECTION.unpack_from(view, _HEAD + number * _SECTION.size)
        name, dtype = (raw.rstrip(b"\0").decode("latin-1") for raw in (raw_name, raw_dtype))
        bounds = offset % _ALIGN == 0 and offset + size <= len(view)
        if dtypes.get(name) != dtype or not bounds or size % np.dtype(dtype).itemsize:
            raise SavedIndexError(f"{where}: damaged (the array {name!r} does not fit); build it again")
        array = np.frombuffer(data, np.dtype(dtype), size // np.dtype(dtype).itemsize, offset)
        found[name] = array.astype(array.dtype.newbyteorder("="), copy=False)
    if missing := dtypes.keys() - found.keys():
        raise SavedIndexError(f"{where}: damaged ({min(missing)} is missing); build it again")
    return found
