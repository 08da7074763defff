"""Every command that writes, a line each: what it is called with, what it reads and what it writes.

The tests of outputs, of full disks, of read-only folders, of kills and of two at once go through this table: a new
command is covered by a line here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import phonemic

ROOT = Path(phonemic.__file__).parents[1]

PHONEMIC = (sys.executable, "-m", "phonemic.cli")
SPACY = (sys.executable, "-m", "spacy_phonemic")


@dataclass(frozen=True)
class Writing:
    """A command that writes.

    Attributes:
        name: of the test.
        program: how the command begins.
        words: the rest of it; what it reads and writes lies in the working directory.
        reads: the files it needs, of :data:`INPUTS`.
        writes: the files, or folders, it makes; the first is named by an option or argument of its own.
        needs: packages that it cannot do without.
        resumes: whether it goes on with what is there, or repeats it, instead of asking for --force.
    """

    name: str
    program: tuple[str, ...]
    words: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    needs: tuple[str, ...] = ()
    resumes: bool = False

    def arguments(self, *more: str) -> list[str]:
        return [*self.program, *self.words.split(), *more]

    def run(self, *more: str, before: str = "", **extra: str) -> subprocess.CompletedProcess[bytes]:
        """Runs it here.

        Arguments:
            more: further words.
            before: Python that the process runs first.
            extra: variables of its environment.
        """
        command = self.arguments(*more)
        if before:
            module, words = command[2], command[3:]
            code = f"import runpy, sys; sys.argv[1:] = {words!r}; {before}; runpy.run_module({module!r}, run_name='__main__')"
            command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, env=environment(**extra), check=False)

    def prepare(self) -> None:
        """Makes what it reads, in the working directory."""
        for name in self.reads:
            INPUTS[name](Path(name))


def environment(**extra: str) -> dict[str, str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "model")])
    return os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "MPLCONFIGDIR": tempfile.gettempdir()} | extra


TEXT = "Sáng nay bé ăn xôi.\nMưa 30 phút, đường ngập\nquả chuối\n" * 40


def _encoded(path: Path) -> None:
    from phonemic import Tokenizer
    from phonemic.files import ids_writer

    with ids_writer(str(path), Tokenizer("vi")) as write:
        write(TEXT.splitlines())


INPUTS = {
    "vi.txt": lambda path: path.write_text(TEXT, "utf-8"),
    "ids.parquet": _encoded,
    "vi.conllu": lambda path: path.write_text(
        "".join(f"{at}\t{word}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n" for at, word in enumerate(("Mưa", "to"), 1)) + "\n",
        "utf-8",
    ),
}

COMMANDS = [
    Writing("encode", PHONEMIC, "encode vi.txt out.parquet --lang vi", ("vi.txt",), ("out.parquet",), ("pyarrow",)),
    Writing("decode", PHONEMIC, "decode ids.parquet -o out.txt", ("ids.parquet",), ("out.txt",), ("pyarrow",)),
    Writing(
        "noise", PHONEMIC, "noise vi.txt --lang vi --kind typing --ratio 0.5 -o out.txt", ("vi.txt",), ("out.txt",)
    ),
    Writing(
        "noise-parquet",
        PHONEMIC,
        "noise vi.txt --lang vi --kind typing --ratio 0.5 -o out.parquet --changes log.jsonl",
        ("vi.txt",),
        ("out.parquet", "log.jsonl"),
        ("pyarrow",),
    ),
    Writing(
        "stats-plots",
        PHONEMIC,
        "stats vi.txt --lang vi --plots plots",
        ("vi.txt",),
        ("plots/intrinsic-alpha-vi.svg",),
        ("matplotlib",),
    ),
    Writing(
        "prepare",
        PHONEMIC,
        "prepare vi.txt corpus --lang vi --threads 1 --shard-size 2000",
        ("vi.txt",),
        ("corpus/manifest.json",),
        ("pyarrow", "matplotlib"),
        resumes=True,
    ),
    Writing("spacy-config", SPACY, "config ner --output out.cfg", (), ("out.cfg",), ("spacy",)),
    Writing(
        "spacy-convert",
        SPACY,
        "convert conllu vi.conllu out.spacy --lang vi",
        ("vi.conllu",),
        ("out.spacy",),
        ("spacy",),
    ),
]
