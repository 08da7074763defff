"""Files and folders that tests begin with: written here, or made by commands, each once."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import forking
import obstacles

PHONEMIC, BERT, SPACY = "phonemic.cli", "phonemic_bert.cli", "spacy_phonemic.__main__"

TEXT = "Sáng nay bé ăn xôi.\nMưa 30 phút, đường ngập\nquả chuối\n" * 40


def _encoded(path: Path) -> None:
    from phonemic import Tokenizer
    from phonemic.files import ids_writer

    with ids_writer(str(path), Tokenizer("vi")) as write:
        write(TEXT.splitlines())


def _counted(path: Path) -> None:
    from phonemic_bert.restoration.counting import vietnamese_model

    vietnamese_model(TEXT.splitlines, 2, 0.0).save(path)


WRITTEN = {
    "vi.txt": lambda path: path.write_text(TEXT, "utf-8"),
    "marks.txt": lambda path: path.write_text("Cô ấy cố gắng.\nCó cô giáo.\nTôi tới đây.\n" * 40, "utf-8"),
    "words.txt": lambda path: path.write_text("hoa\nqua\nnhà\nHoa\nkĩ\nkỹ\n", "utf-8"),
    "ids.parquet": _encoded,
    "vi.ngrams": _counted,
    "vi.conllu": lambda path: path.write_text(
        "".join(f"{at}\t{word}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n" for at, word in enumerate(("Mưa", "to"), 1)) + "\n",
        "utf-8",
    ),
    "mood.csv": lambda path: path.write_text("text,label\n" + "quả chuối,good\nđường ngập,bad\n" * 8, "utf-8"),
}

#: A run, and a fine-tuning, as short as they can be.
_SETTINGS = {
    "run": {
        "model.hidden_size": 24, "model.num_attention_heads": 3, "model.intermediate_size": 40, "sequences.max_seq_length": 48,
        "optimization.max_steps": 4, "optimization.batch_size": 4, "machine.per_device_train_batch_size": 4, "machine.device": "cpu",
        "evaluation.held_out_documents": 8, "evaluation.eval_steps": 2, "output.logging_steps": 1, "output.save_steps": 2,
        "output.save_total_limit": 1,
    },
    "tuning": {"grid.learning_rate": 1e-3, "grid.num_train_epochs": 1, "machine.device": "cpu"},
}  # fmt: skip


def setting(of: str) -> str:
    """Options that set them."""
    return " ".join(f"--set {name}={value}" for name, value in _SETTINGS[of].items())


class Recipe(NamedTuple):
    """How a folder is made: the words of a command, what it reads, and the step that it is killed at."""

    module: str
    words: str
    reads: tuple[str, ...]
    step: int = 0


_PREPARE = "--lang vi --threads 1 --shard-size 2000"

RECIPES = {
    "corpus": Recipe(PHONEMIC, f"prepare vi.txt corpus {_PREPARE}", ("vi.txt",)),
    "unfinished": Recipe(PHONEMIC, f"prepare vi.txt unfinished --exact-duplicates {_PREPARE}", ("vi.txt",), step=24),
    "run": Recipe(BERT, f"pretrain paper-tiny corpus run --export fp16 {setting('run')}", ("corpus",)),
    "joint-run": Recipe(
        BERT, f"pretrain paper-tiny corpus joint-run --set model.head=joint {setting('run')}", ("corpus",)
    ),
    "results": Recipe(
        BERT,
        "finetune --custom classification --train mood.csv --test mood.csv --lang vi --name mood --config small --seeds 1 "
        f"--encoder tiny=run/final --results results --save models --predictions {setting('tuning')}",
        ("run", "mood.csv"),
    ),
    "tokenizers": Recipe(PHONEMIC, "train-baseline Byte-BPE tokenizers vi.txt --vocab-size 300", ("vi.txt",)),
    "plain-corpus": Recipe(
        PHONEMIC, f"prepare vi.txt plain-corpus --tokenizer Byte-BPE=tokenizers {_PREPARE}", ("vi.txt", "tokenizers")
    ),
    "plain-run": Recipe(BERT, f"pretrain paper-tiny plain-corpus plain-run {setting('run')}", ("plain-corpus",)),
}


@cache
def _made(name: str) -> Path:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    recipe = RECIPES[name]
    for read in recipe.reads:
        put(read, folder)
    call = recipe.module, recipe.words.split(), obstacles.Obstacle(recipe.step)
    found = forking.Process(obstacles.run, *call, folder=folder).finished()
    assert found.returncode == (-9 if recipe.step else 0), found.stderr.decode()
    return folder / name


def put(name: str, folder: Path = Path()) -> None:
    """Puts a file or folder of a name into a folder."""
    if name in WRITTEN:
        WRITTEN[name](folder / name)
    else:
        shutil.copytree(_made(name), folder / name)


def whole(*names: str) -> Path:
    """A folder that holds these, for processes to copy from."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in names:
        put(name, folder)
    return folder
