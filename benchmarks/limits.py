"""The least-work programs in ``limits/``: compiled here, fed with the project's own tables, and run by name."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from benchmarks.limit_tables import mandarin_tables, vietnamese_tables
from benchmarks.timing import Contestant, Process

SOURCES = Path(__file__).parent / "limits"
FLAGS = ["-O3", "-march=native"]


class LimitRun(NamedTuple):
    """The result of one run of a limit; the last two are of the positions that are syllables."""

    seconds: float
    positions: int
    syllables: int
    id_sum: int


def compiler() -> str | None:
    """The C compiler, or None."""
    return shutil.which("cc")


class Limits:
    """The limits of one language on one text.

    Arguments:
        lang: ``"vi"`` (E, F, copy) or ``"zh"`` (all-ucs2, all-utf8, pruned-ucs2, pruned-utf8, copy).
        text: the text as a file.
        folder: where programs and tables are kept.
    """

    def __init__(self, lang: str, text: Path, folder: Path) -> None:
        if lang == "vi":
            tables = [folder / "letters.tsv", folder / "runs.tsv"]
            vietnamese_tables(text.read_text(encoding="utf-8"), *tables)
        else:
            tables = [folder / "characters.tsv", folder / "phrases.tsv"]
            mandarin_tables(*tables)
        program = _compiled("vietnamese" if lang == "vi" else "mandarin", folder)
        self._limits = Process([str(program), str(text), *map(str, tables)])
        self._copy = Process([str(_compiled("copy", folder)), str(text)])

    def run(self, name: str) -> LimitRun:
        """Runs one limit once."""
        answer = (self._copy if name == "copy" else self._limits).ask(name).split()
        return LimitRun(float(answer[0]), *map(int, answer[1:]))

    def contestant(self, name: str) -> Contestant:
        """One limit as something that is measured."""
        return lambda: self.run(name).seconds

    def close(self) -> None:
        """Ends the programs."""
        self._limits.close()
        self._copy.close()

    def __enter__(self) -> Limits:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _compiled(name: str, folder: Path) -> Path:
    program = folder / name
    command = [compiler() or "cc", *FLAGS, str(SOURCES / f"{name}.c"), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    return program
