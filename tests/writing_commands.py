"""Every command that writes, a line each: what it is called with, what it reads and what it writes.

The tests of outputs, of full disks, of read-only folders, of kills and of two at once go through this table: a new
command is covered by a line here. ``test_interrupted_commands.py`` fails where a command is neither here nor in
:data:`PRINTING`.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import forking
import obstacles

PHONEMIC, BERT, SPACY = "phonemic.cli", "phonemic_bert.cli", "spacy_phonemic.__main__"

#: Commands that only print.
PRINTING = {
    (PHONEMIC, "show"), (PHONEMIC, "vocab"), (BERT, "params"), (BERT, "preset"), (BERT, "grid"),
}  # fmt: skip


@dataclass(frozen=True)
class Writing:
    """A command that writes.

    Attributes:
        name: of the test.
        module: that has its ``main``.
        words: the rest of it; what it reads and writes lies in the working directory.
        reads: the files and folders it needs, of :data:`INPUTS` or made by the command that :data:`MADE_BY` names.
        writes: patterns of the files it makes; what each finds is whole or not there. The first is named by an option
            or argument of its own.
        needs: packages that it cannot do without.
        resumes: whether it goes on with what is there, or repeats it, instead of asking for --force.
        taken: what it says is there already, where that is not the first of ``writes``.
    """

    name: str
    module: str
    words: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    needs: tuple[str, ...] = ()
    resumes: bool = False
    taken: str = ""

    @property
    def missing(self) -> str:
        """A package that it needs and that is not installed; "" where all are."""
        return next((package for package in self.needs if find_spec(package) is None), "")

    @property
    def roots(self) -> set[str]:
        """The files and folders of the working directory that it makes or changes."""
        return {Path(name).parts[0] for name in self.writes}

    def start(
        self, *more: str, obstacle: obstacles.Obstacle = obstacles.NONE, folder: Path | None = None
    ) -> forking.Process:
        """Begins it, in the working directory or another, with further words and with something in its way."""
        return forking.Process(obstacles.run, self.module, [*self.words.split(), *more], obstacle, folder=folder)

    def run(self, *more: str, obstacle: obstacles.Obstacle = obstacles.NONE) -> forking.Finished:
        """Runs it to its end; see :meth:`start`."""
        return self.start(*more, obstacle=obstacle).finished()

    def prepare(self, folder: Path = Path()) -> None:
        """Puts what it reads into a folder."""
        for name in self.reads:
            if name in INPUTS:
                INPUTS[name](folder / name)
            else:
                made(name, folder)


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
    "mood.csv": lambda path: path.write_text("text,label\n" + "quả chuối,good\nđường ngập,bad\n" * 8, "utf-8"),
}

#: What other commands of the table make.
MADE_BY = {"corpus": "prepare", "run": "pretrain", "results": "finetune"}


@cache
def _made(name: str) -> Path:
    """A folder that a command of the table made, once."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = next(one for one in COMMANDS if one.name == MADE_BY[name])
    command.prepare(folder)
    found = command.start(folder=folder).finished()
    assert found.returncode == 0, found.stderr.decode()
    return folder / name


#: A run, and a fine-tuning, as short as they can be.
_SMALL_RUN = {
    "model.hidden_size": 24, "model.attention_heads": 3, "model.intermediate_size": 40, "sequences.length": 48,
    "optimization.steps": 4, "optimization.batch_size": 4, "machine.device_batch_size": 4, "machine.device": "cpu",
    "evaluation.held_out_documents": 8, "evaluation.every": 2, "output.log_every": 1, "output.save_every": 2,
    "output.keep": 1,
}  # fmt: skip
_SMALL_TUNING = {"grid.learning_rate": 1e-3, "grid.epochs": 1, "machine.device": "cpu"}


def made(name: str, folder: Path) -> None:
    """Puts a folder that a command of the table made into another."""
    shutil.copytree(_made(name), folder / name)


def _set(values: dict[str, object]) -> str:
    return " ".join(f"--set {name}={value}" for name, value in values.items())


_MODEL = ("torch", "transformers", "accelerate", "pyarrow", "matplotlib")

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
        "train-baseline",
        PHONEMIC,
        "train-baseline Byte-BPE tokenizers vi.txt --vocab-size 300",
        ("vi.txt",),
        ("tokenizers/byte-bpe/tokenizer.json",),
        ("tokenizers",),
    ),
    Writing(
        "prepare",
        BERT,
        "prepare vi.txt corpus --lang vi --threads 1 --shard-size 2000",
        ("vi.txt",),
        ("corpus/manifest.json",),
        _MODEL,
        resumes=True,
    ),
    Writing(
        "pretrain",
        BERT,
        f"pretrain tiny corpus run --export fp16 {_set(_SMALL_RUN)}",
        ("corpus",),
        ("run/final/model.safetensors", "run/final-fp16/model.safetensors", "corpus/flat-*/ids.bin"),
        (*_MODEL, "tensorboard"),
        resumes=True,
    ),
    Writing(
        "export",
        BERT,
        "export run/final out",
        ("run",),
        ("out/config.json", "out/model.safetensors"),
        _MODEL,
        taken="out",
    ),
    Writing(
        "card",
        BERT,
        "card run/final --licence cc0-1.0 --data Rain.",
        ("run",),
        ("run/final/README.md", "run/final/pretraining.json"),
        _MODEL,
        resumes=True,
    ),
    Writing(
        "finetune",
        BERT,
        "finetune --own classification --train mood.csv --test mood.csv --lang vi --name mood --grid small --seeds 1 "
        f"--encoder tiny=run/final --results results --save models --predictions {_set(_SMALL_TUNING)}",
        ("run", "mood.csv"),
        ("results/*/*/*.json", "results/*/*/*.jsonl", "models/*/*/*/model.safetensors"),
        (*_MODEL, "sklearn", "seqeval"),
        resumes=True,
    ),
    Writing(
        "results",
        BERT,
        "results results --format csv --out out.csv --plot out.svg",
        ("results",),
        ("out.csv", "out.svg"),
        (*_MODEL, "sklearn", "seqeval"),
    ),
    Writing("inspect", BERT, "inspect run/final xôi --html out.html", ("run",), ("out.html",), _MODEL),
    Writing(
        "embeddings",
        BERT,
        "embeddings run/final --method pca --out out.svg --json out.json",
        ("run",),
        ("out.svg", "out.json"),
        (*_MODEL, "sklearn"),
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
