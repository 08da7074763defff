"""Words per CPU second of `nlp.pipe` with PhonemicBERT, with padding as transformers computes it and without.

    python benchmarks/inference_speed.py DATA

Both take turns in one process with one thread: names in VietBioNER and Weibo, in the ready config of the encoder
``bert``, tokenizing included. The padded side groups windows by length, as training does.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import click
import torch
from spacy.training import Corpus
from spacy.training.initialize import init_nlp

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.spacy_training import TASKS, Setting, config_of, convert, one_pass
from phonemic.files.writing import write_json
from phonemic_bert.checkpoints import resolve
from phonemic_bert.modeling import models
from spacy_phonemic import network


@contextmanager
def padded() -> Iterator[None]:
    """Has models compute their layers as transformers does."""
    with (
        patch.object(models, "applies", lambda *given: False),
        patch.object(network, "_CALL_WITHOUT_GRADIENTS", network._CALL),
    ):
        yield


def measure(name: str, data: Path, checkpoint: str, turns: int, limit: int) -> list[tuple[float, float]]:
    """Words per CPU second with padding and without, in turns after one that does not count."""
    setting = Setting(400, "mini", 1.0, 1.0, limit, -1, version("spacy"), batch=0)
    with TemporaryDirectory() as folder:
        convert(TASKS[name], data, Path(folder), limit)
        config = config_of(TASKS[name], "PhonemicBERT from a checkpoint", 0, setting, checkpoint, Path(folder))
        config["system"]["gpu_allocator"] = None
        nlp = init_nlp(config)
        references = [example.reference for example in Corpus(Path(folder) / "test.spacy")(nlp)]
    found = []
    for _ in range(turns + 1):
        with padded():
            before = one_pass(nlp, references, given=False)
        found.append((before, one_pass(nlp, references, given=False)))
    return found[1:]


@click.command()
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--checkpoint-vi", default="phonemic-bert-mini-vi", help="a folder or an installed name")
@click.option("--checkpoint-zh", default="phonemic-bert-mini-zh", help="likewise")
@click.option("--turns", default=5, show_default=True)
@click.option("--limit", default=0, help="this many sentences of each part, the first; 0: all")
@click.option("--output", type=click.Path(path_type=Path), default=Path("benchmarks/results/inference_speed.json"))
def main(data: Path, checkpoint_vi: str, checkpoint_zh: str, turns: int, limit: int, output: Path) -> None:
    """Measures, prints a table and writes every turn."""
    torch.set_num_threads(1)
    found = {}
    print("| corpus | padded | without padding | ratio |\n| --- | ---: | ---: | ---: |")
    for name, checkpoint in (("vietbioner", checkpoint_vi), ("weibo", checkpoint_zh)):
        measured = measure(name, data, resolve(checkpoint), turns, limit)
        before, after = (statistics.median(side) for side in zip(*measured, strict=True))
        ratio = statistics.median(one / other for other, one in measured)
        print(f"| {name} | {before:,.0f} | {after:,.0f} | {ratio:.2f} |", flush=True)
        found[name] = {
            "torch": torch.__version__,
            "capability": torch.backends.cpu.get_cpu_capability(),
            "turns": measured,
        }
        write_json(output, found)


if __name__ == "__main__":
    main()
