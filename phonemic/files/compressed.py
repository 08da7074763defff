"""The bytes of a file, block by block, decompressed where its name says that it is compressed."""

from __future__ import annotations

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, cast

from phonemic.errors import InputError
from phonemic.files.packages import require
from phonemic.files.writing import naming

#: Bytes of compressed data that are unfolded at a time: a call returns all that they unfold to.
_FED = 1 << 10

#: Bytes read at a time. Of compressed input few, because they may unfold to many thousand times as much.
BLOCK, _COMPRESSED_BLOCK = 1 << 20, 16 << 10

#: The endings of compressed files.
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")

#: Called with the bytes of a file that were read since the last call.
Advance = Callable[[float], object]


def suffix(path: str) -> str:
    """The end of a file's name, in lower case."""
    return Path(path).suffix.lower()


def shown(path: str) -> str:
    """How messages call a file."""
    return "standard input" if path == "-" else path


def standard_input() -> BinaryIO:
    """The bytes of standard input.

    Raises:
        InputError: it is closed.
    """
    if sys.stdin is None:
        raise InputError("standard input is closed: give it something to read, or name a file")
    return sys.stdin.buffer


def blocks(path: str, advance: Advance = lambda size: None) -> Iterator[bytes]:
    """The bytes of a file, decompressed where its name ends in .gz, .bz2, .xz or .zst.

    Raises:
        InputError: damaged or truncated compressed data.
        OSError: the file cannot be opened or read.
        PhonemicError: a package is missing.
    """
    compressed = suffix(path) in COMPRESSIONS
    with naming(shown(path)), nullcontext(standard_input()) if path == "-" else open(path, "rb") as file:
        raw = _raw_blocks(cast(BufferedReader, file), _COMPRESSED_BLOCK if compressed else BLOCK, advance)
        yield from _decompressed(path, raw) if compressed else raw


def _raw_blocks(file: BufferedReader, size: int, advance: Advance) -> Iterator[bytes]:
    # One system call at a time: a signal that comes between two calls of a longer read would wait for the next data.
    while block := file.read1(size):
        advance(len(block))
        yield block


def _decompressed(path: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """All members (frames) of a compressed file.

    The decompressors are used directly because the file objects around them end a truncated .zst, and an empty .gz,
    without an error.
    """
    start, damage = _decompressor(suffix(path))
    member = start()
    try:
        for block in _fed(blocks):
            rest = block
            while rest:
                if member.eof:
                    rest = rest.lstrip(b"\0")  # padding between members, which no member begins with
                    member = start() if rest else member
                if rest:
                    yield from _unfolded(member, rest)
                    rest = member.unused_data
    except damage as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the file could not be read
        raise InputError(f"{path}: damaged {suffix(path)} file ({error})") from error
    if not member.eof:
        raise InputError(f"{path}: truncated {suffix(path)} file (it ends before its end mark)")


def _unfolded(member: Any, data: bytes) -> Iterator[bytes]:
    """Decompressed data, a block at a time where the decompressor can do so (zstandard's cannot)."""
    if isinstance(member, type(zlib.decompressobj())):
        while len(block := member.decompress(data, BLOCK)) == BLOCK or member.unconsumed_tail:
            yield block
            data = member.unconsumed_tail
        yield block
    elif isinstance(member, bz2.BZ2Decompressor | lzma.LZMADecompressor):
        yield member.decompress(data, BLOCK)
        while not (member.needs_input or member.eof):
            yield member.decompress(b"", BLOCK)
    else:
        yield member.decompress(data)


def _fed(blocks: Iterable[bytes]) -> Iterator[bytes]:
    for block in blocks:
        for at in range(0, len(block), _FED):
            yield block[at : at + _FED]


def _decompressor(suffix: str) -> tuple[Callable[[], Any], type[Exception]]:
    """The maker of a decompressor of one member, and the errors that it raises on damaged data."""
    if suffix == ".gz":
        return lambda: zlib.decompressobj(wbits=31), zlib.error
    if suffix == ".bz2":
        return bz2.BZ2Decompressor, OSError
    if suffix == ".xz":
        return lzma.LZMADecompressor, lzma.LZMAError
    zstandard = require("zstandard")
    return zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError
