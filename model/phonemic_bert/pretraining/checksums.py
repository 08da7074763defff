"""Checksums of a folder's files, so that a damaged one is found before it is learned from."""

from __future__ import annotations

import zlib
from pathlib import Path

from phonemic.files.jsons import checked, read_object
from phonemic.files.writing import write_json
from phonemic_bert.errors import RunError

CHECKSUMS = "checksums.json"

_BLOCK = 8 << 20


def crc(path: Path) -> int:
    """CRC-32 of a file."""
    checksum = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            checksum = zlib.crc32(block, checksum)
    return checksum


def write_checksums(folder: Path) -> None:
    """Notes the checksums of a folder's files in the folder."""
    write_json(folder / CHECKSUMS, {path.name: crc(path) for path in sorted(folder.iterdir()) if path.is_file()})


def check(folder: Path) -> None:
    """Compares the files of a folder with the checksums in it; without any, as of earlier versions, does nothing.

    Raises:
        RunError: a file is damaged or missing; the message names it.
    """
    path = folder / CHECKSUMS
    if not path.exists():
        return
    noted = read_object(path, RunError)
    checked(noted, dict.fromkeys(noted, int), path, RunError)
    for name, checksum in noted.items():
        if Path(name).name != name:
            raise RunError(f"{path}: {name!r} is not the name of a file of this folder")
        file = folder / name
        if not file.is_file():
            raise RunError(f"{file}: damaged (missing)")
        if crc(file) != checksum:
            raise RunError(f"{file}: damaged")
