"""Kinds of files by their names."""

from __future__ import annotations

from pathlib import Path

from phonemic.errors import InputError
from phonemic.files.compressed import COMPRESSIONS

JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")


def kind_of(path: str) -> tuple[str, str]:
    """The format of a file by its name, "text", "json" or "parquet", and how it is compressed (".gz" ..., or "").

    Raises:
        InputError: it is Parquet that is compressed once more.
    """
    name = Path(path)
    compression = name.suffix.lower() if name.suffix.lower() in COMPRESSIONS else ""
    suffix = (Path(name.stem) if compression else name).suffix.lower()
    if suffix in PARQUET and compression:
        raise InputError(f"{path}: Parquet is compressed internally; decompress the file first")
    return "parquet" if suffix in PARQUET else "json" if suffix in JSON_LINES else "text", compression
