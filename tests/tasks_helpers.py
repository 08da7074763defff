"""Helpers of the tests of the datasets."""

from pathlib import Path
from typing import Any

import pytest

from phonemic import InputError, tasks


def read(name: str, folder: Path, split: str = "train") -> list[Any]:
    return list(tasks.get(name).read(folder, split))


def texts(name: str, folder: Path) -> list[str]:
    return list(tasks.get(name).texts(folder))


def fails(name: str, folder: Path, message: str, split: str = "train") -> None:
    with pytest.raises(InputError, match=message):
        read(name, folder, split)
