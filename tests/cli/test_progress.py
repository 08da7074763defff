"""Progress on standard error where there is no terminal: a line now and then, and none for what is quickly done."""

from io import StringIO

import pytest

pytest.importorskip("click", reason="needs the cli extra")

from cli_helpers import run
from rich.console import Console

from phonemic.cli import progress


def told(monkeypatch, steps, **options):
    """The lines for (seconds since the last step, phase, done since, total)."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    out = StringIO()
    advance = progress.lines_of_progress(Console(file=out), every=30, **options)
    for seconds, phase, done, total in steps:
        now[0] += seconds
        advance(phase, done, total)
    return out.getvalue().splitlines()


def test_bytes(monkeypatch):
    steps = [(0, "comparing", 0, 20e6), (10, "comparing", 1e6, 20e6), (30, "comparing", 3e6, 20e6),
             (5, "tokenizing", 2e6, 20e6)]  # fmt: skip
    assert told(monkeypatch, steps) == [
        "comparing: 0 of 20 MB",
        "comparing: 4 of 20 MB, 0.1 MB/s, 0:02:40 left",
        "tokenizing: 2 of 20 MB",
    ]


def test_what_is_quickly_done_says_nothing(monkeypatch):
    steps = [(0, "read", 1e6, 4e6), (29, "read", 1e6, 4e6), (2, "read", 1e6, 4e6), (10, "read", 1e6, 4e6)]
    assert told(monkeypatch, steps, at_once=False) == ["read: 3 of 4 MB, 0.1 MB/s, 0:00:10 left"]


def test_counts_without_a_total(monkeypatch):
    steps = [(0, "TNEWS", 10, 0), (40, "TNEWS", 70, 0)]
    assert told(monkeypatch, steps, unit="texts", at_once=False) == ["TNEWS: 80 texts, 2 a second"]


def test_a_long_command_tells(tmp_path, monkeypatch, small_chunks):
    """Each look at the clock is half a minute on."""
    (tmp_path / "a.txt").write_text("giếng nước\n" * 5, encoding="utf-8")
    clock = iter(range(0, 100_000, 31))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    assert run("stats", tmp_path / "a.txt", "--lang", "vi").stderr.startswith("read: 0 of 0 MB")
