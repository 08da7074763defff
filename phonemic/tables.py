"""The binary table files: named arrays behind a checksum, used in place through a memory map."""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic.errors import TableError

MAGIC = b"phonemic tables\x01"
_HEAD = struct.Struct("<16sI I 64s")  # magic, CRC-32 of all that follows it, number of sections, vocabulary checksum
_SECTION = struct.Struct("<24s 8s Q Q")  # name, dtype, offset, bytes
_ALIGN = 64


def write_tables(path: Path, vocabulary_checksum: str, sections: dict[str, NDArray[Any]]) -> None:
    """Writes named arrays (flattened) to ``path``, beside it first and then renamed."""
    offset = -(-(_HEAD.size + _SECTION.size * len(sections)) // _ALIGN) * _ALIGN
    directory, body = b"", b""
    for name, array in sections.items():
        array = np.ascontiguousarray(array)
        data = array.tobytes()
        dtype = array.dtype.newbyteorder("<").str
        directory += _SECTION.pack(name.encode(), dtype.encode(), offset + len(body), len(data))
        body += data + bytes(-len(data) % _ALIGN)
    rest = struct.pack("<I 64s", len(sections), vocabulary_checksum.encode()) + directory
    rest += bytes(offset - 20 - len(rest)) + body
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(MAGIC + struct.pack("<I", zlib.crc32(rest)) + rest)
    os.replace(partial, path)


def read_tables(path: Path, vocabulary_checksum: str) -> dict[str, NDArray[Any]]:
    """The arrays of a table file, read-only views of its memory map.

    Raises:
        TableError: the file is missing, damaged, or made for another vocabulary.
    """
    try:
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: cannot read the lexicon ({error}); reinstall phonemic") from error
    if len(data) < _HEAD.size or data[:16] != MAGIC:
        raise TableError(f"{path}: not a phonemic table file of this version; reinstall phonemic")
    _, checksum, count, vocabulary = _HEAD.unpack_from(data)
    with memoryview(data) as view, view[20:] as rest:
        if zlib.crc32(rest) != checksum:
            raise TableError(f"{path}: damaged (its checksum does not match its content); reinstall phonemic")
    if vocabulary.decode() != vocabulary_checksum:
        raise TableError(f"{path}: made for another vocabulary; reinstall phonemic")
    sections = {}
    for number in range(count):
        name, dtype, offset, size = _SECTION.unpack_from(data, _HEAD.size + number * _SECTION.size)
        array: NDArray[Any] = np.frombuffer(data, np.uint8, size, offset).view(dtype.rstrip(b"\0").decode())
        sections[name.rstrip(b"\0").decode()] = array
    return sections
