"""Fixtures: tokenizers, and the real data that PHONEMIC_DATA points to."""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from phonemic import Tokenizer

settings.register_profile("phonemic", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("phonemic")


def pytest_collection_finish() -> None:
    """Spare the collector of garbage what was imported: each full collection would take more than half a second."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Leave out what only a failing machine would show: a process that is killed loses nothing that it wrote."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda descriptor: None)
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the files of a slow folder, the last by name, to the front: processes that share the files end together."""
    items.sort(key=lambda item: item.path.parent.name != "with_spacy")


@pytest.fixture(scope="session")
def vi() -> Tokenizer:
    return Tokenizer("vi")


@pytest.fixture(scope="session")
def zh() -> Tokenizer:
    return Tokenizer("zh")


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """The path of a file below PHONEMIC_DATA; skips where the variable or the file is missing."""

    def find(name: str) -> Path:
        root = os.environ.get("PHONEMIC_DATA")
        if not root:
            pytest.skip(f"needs {name}: set PHONEMIC_DATA to the folder of the real data")
        path = Path(root) / name
        if not path.exists():
            pytest.skip(f"needs {path}, which is not there")
        return path

    return find


@pytest.fixture
def in_tmp_path(tmp_path, monkeypatch):
    """The test's own folder is the working directory."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def small_chunks(monkeypatch):
    """Texts are read in chunks of a few bytes, so that a small file has many."""
    from phonemic.files import cells, compressed, parquet, texts

    monkeypatch.setattr("phonemic.cli.common.read_texts", functools.partial(texts.read_texts, chunk=16))
    monkeypatch.setattr(compressed, "BLOCK", 7)
    monkeypatch.setattr(compressed, "_COMPRESSED_BLOCK", 7)
    monkeypatch.setattr(parquet, "_ROWS", 2)
    monkeypatch.setattr(cells, "ROWS", 2)


@pytest.fixture
def empty_figures(monkeypatch):
    """The report of a corpus has an empty figure, which takes a fraction of the time."""
    if find_spec("matplotlib") is not None:
        from matplotlib.figure import Figure

        monkeypatch.setattr("phonemic.corpus.report._draw", lambda *_: Figure(figsize=(1, 1)))


@pytest.fixture
def nltk_folder(tmp_path, monkeypatch):
    """A folder that NLTK may read: since 3.10 its corpus readers refuse any other."""
    import nltk

    monkeypatch.setattr("nltk.data.path", [*nltk.data.path, str(tmp_path)])
    return tmp_path
