"""Calls functions in processes that are forked from one which has imported everything: each starts in milliseconds.

``Process(function, *arguments)`` begins such a call, in the working directory; what it writes is kept. The forking
process itself runs nothing but imports, so that it has no thread that a fork would lose.
"""

from __future__ import annotations

import gc
import importlib
import io
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import phonemic

ROOT = Path(phonemic.__file__).parents[1]

#: The modules that commands import when they are run, and the package that each cannot do without.
IMPORTED = {
    "pytest": "pytest",
    "pyarrow.parquet": "pyarrow",
    "matplotlib.figure": "matplotlib",
    "matplotlib.backends.backend_agg": "matplotlib",
    "matplotlib.backends.backend_svg": "matplotlib",
    "phonemic.cli": "click",
    "phonemic.corpus": "pyarrow",
    "spacy_phonemic.convert": "spacy",
    "spacy.cli": "spacy",
    "phonemic_bert.cli": "click",
    "phonemic_bert.parameters": "torch",
    "spacy_phonemic.network": "torch",
    "phonemic_bert.pretraining.run": "accelerate",
    "phonemic_bert.finetuning.sweep": "seqeval",
    "phonemic_bert.inspection.page": "torch",
    "sklearn.manifold": "sklearn",
    "sklearn.metrics": "sklearn",
}

AVAILABLE = "forkserver" in multiprocessing.get_all_start_methods()


def environment(**extra: str) -> dict[str, str]:
    """For a process of its own: this source, one thread, no network."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "model"), str(Path(__file__).parent)])
    fixed = {"OMP_NUM_THREADS": "1", "MPLCONFIGDIR": tempfile.gettempdir(), "HF_HUB_OFFLINE": "1"}
    return os.environ | {"PYTHONPATH": paths} | fixed | extra


@cache
def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["forking"])
    before = dict(os.environ)
    os.environ |= environment(IMPORT_ALL="1")
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ |= before
    return context


@dataclass(frozen=True)
class Finished:
    """A process that has ended; a signal's number is negative."""

    returncode: int
    stdout: bytes
    stderr: bytes


class Process:
    """A call of a function, in a process of its own.

    Arguments:
        function: of a module, so that it can be found again there.
        arguments: what can be pickled.
        folder: where it begins; None is the working directory.
        stdin: what it reads.
        terminal: whether it writes to a terminal, 1,000 columns wide; all is in ``stdout`` then.
        extra: what its environment has beyond :func:`environment`.
        parent: whether it may begin processes of its own; it must come to its end then, whatever the test does.
    """

    def __init__(
        self,
        function: Callable[..., object],
        *arguments: object,
        folder: Path | None = None,
        stdin: bytes = b"",
        terminal: bool = False,
        extra: dict[str, str] | None = None,
        parent: bool = False,
    ) -> None:
        self._terminal = os.openpty() if terminal else ()
        name = os.ttyname(self._terminal[1]) if terminal else ""
        read, write = zip(*(_context().Pipe(duplex=False) for _ in range(2)), strict=True)
        given = (function, arguments, str(folder or Path.cwd()), write, stdin, name, extra or {})
        self._process = _context().Process(target=_call, args=given, daemon=not parent)
        self._process.start()
        self.pid: int = self._process.pid
        for end in write:
            end.close()
        self._readers = ThreadPoolExecutor(3)
        self._written = [self._readers.submit(_all_of, end) for end in read]
        self._shown = self._readers.submit(_all_shown, self._terminal[0]) if terminal else None

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return bool(self._process.is_alive())

    def finished(self) -> Finished:
        """Waits for the end."""
        self._process.join()
        code = self._process.exitcode
        self._process.close()
        out, err = (written.result() for written in self._written)
        if self._shown is not None:
            os.close(self._terminal[1])
            out = self._shown.result()
            os.close(self._terminal[0])
        self._readers.shutdown()
        return Finished(code, out, err)


def _all_of(end: Any) -> bytes:
    with end, open(end.fileno(), "rb", closefd=False) as file:
        return file.read()


def _all_shown(terminal: int) -> bytes:
    shown = bytearray()
    while True:
        try:
            shown += os.read(terminal, 1 << 16)
        except OSError:  # nobody can write to it any more
            return bytes(shown)


def _call(
    function: Callable[..., object],
    arguments: tuple[object, ...],
    folder: str,
    written: tuple[Any, ...],
    stdin: bytes,
    terminal: str,
    extra: dict[str, str],
) -> None:
    os.environ.pop("IMPORT_ALL", None)
    os.environ |= extra
    os.chdir(folder)
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        os.dup2(file.fileno(), 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115, till the end
    for name, end in zip(("stdout", "stderr"), written, strict=True):
        number = getattr(sys, f"__{name}__").fileno()
        os.dup2(end.fileno(), number)
        end.close()
        if terminal:
            os.environ |= {"TERM": "xterm", "COLUMNS": "1000"}
            descriptor = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
            os.dup2(descriptor, number)
            os.close(descriptor)
        setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115, till the end
    function(*arguments)


def _fill_caches() -> None:
    """Compute once matplotlib's fonts and transformers' patterns of weight names."""
    if "matplotlib.figure" in sys.modules:
        figure = sys.modules["matplotlib.figure"].Figure()
        figure.subplots().set_title("AĂaăớ")
        for kind in ("svg", "png"):
            figure.savefig(io.BytesIO(), format=kind)
    conversions = sys.modules.get("transformers.conversion_mapping")
    if conversions is not None:
        conversions.get_checkpoint_conversion_mapping("bert")


if os.environ.get("IMPORT_ALL"):  # the forking process does this once
    for _module, _package in IMPORTED.items():
        if find_spec(_package) is not None:
            importlib.import_module(_module)
    _fill_caches()
    gc.collect()
    gc.freeze()
    sys.dont_write_bytecode = True
