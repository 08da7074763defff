"""The binary table files: named arrays behind a checksum, used in place through a memory map."""

from __future__ import annotations

import mmap
import struct
import warnings
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic.errors import OtherTablesWarning, SavedTokenizerError, TableError
from phonemic.inventory import vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic.options import TokenizerOptions

MAGIC = b"phonemic tables\x03"
_HEAD = struct.Struct("<16s I I 8s")  # magic, CRC-32 of all that follows it, number of sections, vocabulary checksum
_SECTION = struct.Struct("<24s 8s Q Q")  # name, dtype, offset, bytes
_ALIGN = 64

#: Tables on which a text's ids may depend.
NAMES = ("vi", "zh", "zh-context", "zh-speech", "vi-forms", "zh-forms")
#: Digits of a short digest.
SHORT = 8


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


def digests(options: TokenizerOptions) -> dict[str, str]:
    """The digests of the tables that a text's ids depend on, for what is saved with ids of them or made of these.

    Arguments:
        options: those of the tokenizer that reads the text.
    """
    names = [options.lang]
    if options.readings == "context":
        names.append("zh-context")
    if options.sandhi or options.erhua:
        names.append("zh-speech")
    if options.form:
        names.append(f"{options.lang}-forms")
    return {name: tables_digest(name) for name in names}


def short_digests(options: TokenizerOptions) -> dict[str, str]:
    """The first digits of :func:`digests`, for what names them with every text."""
    return {name: digest[:SHORT] for name, digest in digests(options).items()}


def warn_of_other_tables(saved: object, options: TokenizerOptions | None, where: object) -> None:
    """Warns where the tables by which texts were read are not the ones that are installed: ids mean the same, but some
    texts are read otherwise. What names none is from before they were named.

    Arguments:
        saved: the digests that are named, as :func:`digests` or :func:`short_digests` gave them; None: none.
        options: those of the tokenizer; None where only the named tables are to be compared.
        where: names what was saved.

    Raises:
        SavedTokenizerError: ``saved`` is not that.
    """
    if saved is None:
        return
    if not isinstance(saved, dict) or not all(isinstance(each, str) for each in saved.values()):
        raise SavedTokenizerError(f"{where}: damaged (its tables are not named by their digests)")
    now = digests(options) if options else {name: tables_digest(name) for name in NAMES if name in saved}
    if other := sorted(name for name in {*now, *saved} if not _is_same(now.get(name), saved.get(name))):
        warnings.warn(
            f"{where}: was saved with other tables ({', '.join(other)}), so some texts are read otherwise than then; "
            "use the phonemic version that wrote it where ids must be the same, or save it again",
            OtherTablesWarning,
            stacklevel=3,
        )


def _is_same(now: str | None, saved: str | None) -> bool:
    return now is not None and saved is not None and len(saved) >= SHORT and now.startswith(saved)


def tables_path(name: str) -> Path:
    """The table file of a language or of one of its parts: ``"zh-context"``, ``"zh-readings"``, ``"vi-forms"``..."""
    return Path(__file__).parent / f"tables-{name}.bin"
