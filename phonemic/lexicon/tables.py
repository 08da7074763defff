"""The binary table files: named arrays behind a checksum, used in place through a memory map."""

from __future__ import annotations

import mmap
import struct
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic.errors import TableError
from phonemic.inventory import vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"phonemic tables\x03"
_HEAD = struct.Struct("<16s I I 8s")  # magic, CRC-32 of all that follows it, number of sections, vocabulary checksum
_SECTION = struct.Struct("<24s 8s Q Q")  # name, dtype, offset, bytes
_ALIGN = 64


def write_tables(path: Path, vocabulary_checksum: str, sections: dict[str, NDArray[Any]]) -> None:
    """Writes named arrays (flattened) to ``path``, next to it first and then renamed."""
    offset = -(-(_HEAD.size + _SECTION.size * len(sections)) // _ALIGN) * _ALIGN
    directory, body = b"", b""
    for name, array in sections.items():
        data = array.tobytes()
        dtype = array.dtype.newbyteorder("<").str
        directory += _SECTION.pack(name.encode(), dtype.encode(), offset + len(body), len(data))
        body += data + bytes(-len(data) % _ALIGN)
    rest = struct.pack("<I 8s", len(sections), vocabulary_checksum.encode()) + directory
    rest += bytes(offset - len(MAGIC) - 4 - len(rest)) + body
    from phonemic.files.writing import replacing

    with replacing(path) as file:
        file.write(MAGIC + struct.pack("<I", zlib.crc32(rest)) + rest)


def read_tables(path: Path, vocabulary_checksum: str) -> dict[str, NDArray[Any]]:
    """The arrays of a table file, read-only views of its memory map.

    Raises:
        TableError: the file is missing, damaged, or made for another vocabulary.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD.size)
            # Summed from a buffer and not from the map, whose untouched pages then cost no memory.
            file.seek(len(MAGIC) + 4)
            checksum = 0
            while chunk := file.read(1 << 16):
                checksum = zlib.crc32(chunk, checksum)
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: cannot read the lexicon ({error}); reinstall phonemic") from error
    if len(head) < _HEAD.size or head[: len(MAGIC)] != MAGIC:
        raise TableError(f"{path}: not a phonemic table file of this version; reinstall phonemic")
    _, expected, count, made_for = _HEAD.unpack(head)
    if checksum != expected:
        raise TableError(f"{path}: damaged (its checksum does not match its content); reinstall phonemic")
    if made_for.decode() != vocabulary_checksum:
        raise TableError(f"{path}: made for another vocabulary; reinstall phonemic")
    sections = {}
    for number in range(count):
        name, dtype, offset, size = _SECTION.unpack_from(data, _HEAD.size + number * _SECTION.size)
        array: NDArray[Any] = np.frombuffer(data, np.uint8, size, offset).view(dtype.rstrip(b"\0").decode())
        sections[name.rstrip(b"\0").decode()] = array
    return sections


@cache
def tables_of(lang: str) -> dict[str, NDArray[Any]]:
    """The tables of a language, read once.

    Raises:
        TableError: the file is missing, damaged, or made for another vocabulary.
    """
    return read_tables(tables_path(lang), vocabulary(lang).checksum)


@cache
def context_tables() -> dict[str, NDArray[Any]]:
    """The tables of Mandarin with those of readings in context, read once.

    Raises:
        TableError: a file is missing, damaged, or made for another vocabulary.
    """
    return tables_of("zh") | read_tables(tables_path("zh-context"), vocabulary("zh").checksum)


@cache
def speech_tables() -> dict[str, NDArray[Any]]:
    """The tables that Mandarin as it is spoken needs besides the others, read once.

    Raises:
        TableError: the file is missing, damaged, or made for another vocabulary.
    """
    return read_tables(tables_path("zh-speech"), vocabulary("zh").checksum)


@cache
def form_tables(lang: str) -> dict[str, NDArray[Any]]:
    """The tables of a language's written forms, read once.

    Raises:
        TableError: the file is missing, damaged, or made for another vocabulary.
    """
    return read_tables(tables_path(f"{lang}-forms"), vocabulary(lang).checksum)


@cache
def tables_digest(name: str) -> str:
    """SHA-256 of a table file, see :func:`tables_path`."""
    import hashlib

    return hashlib.sha256(tables_path(name).read_bytes()).hexdigest()


def tables_path(name: str) -> Path:
    """The table file of a language or of one of its parts: ``"zh-context"``, ``"zh-readings"``, ``"vi-forms"``..."""
    return Path(__file__).parent / f"tables-{name}.bin"
