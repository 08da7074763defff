"""Every command that writes, one line per command: what it is called with, what it reads and what it writes.

The tests of outputs, of full disks, of read-only folders, of kills and of two at once go through this table: a new
command is covered by a line here. ``test_interrupted_commands.py`` fails where a command is neither here nor in
:data:`PRINTING`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import forking
import obstacles
from made import BERT, PHONEMIC, RECIPES, SPACY, put

#: Commands that only print, and what they are called with.
PRINTING = {
    (PHONEMIC, "show"): "bé ăn --lang vi",
    (PHONEMIC, "vocab"): "--lang vi --json",
    (BERT, "summary"): "--preset paper-tiny",
    (BERT, "init-config"): "pretrain paper-tiny",
}


@dataclass(frozen=True)
class Writing:
    """A command that writes.

    Attributes:
        name: of the test.
        module: that has its ``main``.
        words: the rest of it; what it reads and writes is in the working directory.
        reads: the files and folders it needs; see ``made.py``.
        writes: patterns of the files it makes; what each finds is whole or not there. The first is named by an option
            or argument of its own.
        needs: packages that it cannot do without.
        resumes: whether it continues with what is there, or repeats it, instead of asking for --force.
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
            put(name, folder)


_MODEL = ("torch", "transformers", "accelerate", "pyarrow", "matplotlib")

COMMANDS = [
    Writing("encode", PHONEMIC, "encode vi.txt out.parquet --lang vi", ("vi.txt",), ("out.parquet",), ("pyarrow",)),
    Writing("decode", PHONEMIC, "decode ids.parquet -o out.txt", ("ids.parquet",), ("out.txt",), ("pyarrow",)),
    Writing("transcribe", PHONEMIC, "transcribe giếng nước trong làng --lang vi -o read.txt", (), ("read.txt",)),
    Writing("search", PHONEMIC, "search words.txt hoa --lang vi --save names.index", ("words.txt",), ("names.index",)),
    Writing(
        "homophones",
        PHONEMIC,
        "homophones words.txt --lang vi --format json -o same.jsonl",
        ("words.txt",),
        ("same.jsonl",),
    ),
    Writing("rhymes", PHONEMIC, "rhymes words.txt --lang vi -o rhymes.txt", ("words.txt",), ("rhymes.txt",)),
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
        RECIPES["tokenizers"].words,
        ("vi.txt",),
        ("tokenizers/byte-bpe/tokenizer.json",),
        ("tokenizers",),
    ),
    Writing(
        "prepare",
        PHONEMIC,
        RECIPES["corpus"].words,
        ("vi.txt",),
        ("corpus/manifest.json",),
        ("pyarrow", "matplotlib"),
        resumes=True,
    ),
    Writing(
        "pretrain",
        BERT,
        RECIPES["run"].words,
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
        "model-card",
        BERT,
        "model-card run/final --licence cc0-1.0 --data Rain.",
        ("run",),
        ("run/final/README.md", "run/final/pretraining.json"),
        _MODEL,
        resumes=True,
    ),
    Writing(
        "finetune",
        BERT,
        RECIPES["results"].words,
        ("run", "mood.csv"),
        ("results/*/*/*.json", "results/*/*/*.jsonl", "models/*/*/*/model.safetensors"),
        (*_MODEL, "sklearn", "seqeval"),
        resumes=True,
    ),
    Writing(
        "report",
        BERT,
        "report results --format csv --out out.csv --plot out.svg",
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
    Writing("ngrams", BERT, "ngrams vi.txt out.ngrams --lang vi", ("vi.txt",), ("out.ngrams",), _MODEL),
    Writing(
        "restore",
        BERT,
        "restore nuoc trong lang toi di hoc ve nha --lang vi --checkpoint vi.ngrams -o out.txt",
        ("vi.ngrams",),
        ("out.txt",),
        _MODEL,
    ),
    Writing(
        "train-restorer",
        BERT,
        "train-restorer marks.txt restorer --ngrams vi.ngrams --model joint-run/final --max-steps 3 --batch-tokens 200 "
        "--held-out-documents 20 --save-steps 1",
        ("marks.txt", "vi.ngrams", "joint-run"),
        ("restorer/ngrams.zip", "restorer/network/model.safetensors", "restorer/network/phonemic.json"),
        _MODEL,
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
