"""Words a second of the encoders for spaCy, each in its own ready config, on each corpus' test part.

    python benchmarks/spacy_speed.py DATA
    python benchmarks/spacy_speed.py DATA --models HashEmbedCNN,PhonemicHashEmbed --output results.json

PhonemicBERT is the checkpoint of ``--checkpoint-vi`` and ``--checkpoint-zh``. The pipelines are initialized on the
training part and not trained further, which makes their layers no faster. They take turns, and what counts is the
median of the ratios to the first in each turn: of the CPU time of ``nlp.pipe``, with one thread, tokenizing
included for names; parts of speech are of words that are given.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import click
import torch
from spacy.training import Corpus
from spacy.training.initialize import init_nlp

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.spacy_training import TASKS, Setting, config_of, convert, one_pass, without_int8
from phonemic.files.writing import write_json
from phonemic_bert.checkpoints import resolve

#: The ending of the name of a model whose products are not in 8 bits.
IN_FLOAT32 = " in float32"
BERT = "PhonemicBERT from a checkpoint"
MODELS = ("HashEmbedCNN", "PhonemicHashEmbed", BERT, BERT + IN_FLOAT32, "both from a checkpoint")


def measure(name: str, models: tuple[str, ...], data: Path, checkpoint: str, count: int) -> list[list[float]]:
    """The words a second of the models, in turns, after one that does not count."""
    task, pipelines = TASKS[name], {}
    setting = Setting(400, "mini-sound", 1.0, 1.0, 0, -1, version("spacy"), batch=0)
    with tempfile.TemporaryDirectory() as folder:
        convert(task, data, Path(folder), 0)
        for model in models:
            pretrained = checkpoint if "from a checkpoint" in model else None
            config = config_of(task, model.removesuffix(IN_FLOAT32), 0, setting, pretrained, Path(folder))
            config["system"]["gpu_allocator"] = None
            pipelines[model] = init_nlp(config)
            if model.endswith(IN_FLOAT32):
                without_int8(pipelines[model])
        given = task.config == "pos"
        examples = Corpus(Path(folder) / "test.spacy", gold_preproc=given)(pipelines[models[0]])
        references = [example.reference for example in examples]
    return [[one_pass(pipelines[model], references, given) for model in models] for _ in range(count + 1)][1:]


@click.command()
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--tasks", default=",".join(TASKS), help="which corpora")
@click.option("--models", default=",".join(MODELS), help="which models")
@click.option(
    "--checkpoint-vi", default="phonemic-bert-mini-vi", show_default=True, help="a folder or an installed name"
)
@click.option("--checkpoint-zh", default="phonemic-bert-mini-zh", show_default=True, help="likewise")
@click.option("--turns", default=9, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), default=Path("benchmarks/results/spacy_speed.json"))
def main(data: Path, tasks: str, models: str, checkpoint_vi: str, checkpoint_zh: str, turns: int, output: Path) -> None:
    """Measures, prints a table and writes every turn."""
    torch.set_num_threads(1)
    named = tuple(models.split(","))
    checkpoints = {"vi": resolve(checkpoint_vi), "zh": resolve(checkpoint_zh)}
    found = json.loads(output.read_text("utf-8")) if output.exists() else {}
    print(f"| corpus | {' | '.join(named)} |\n| --- |{' ---: |' * len(named)}")
    for name in tasks.split(","):
        measured = measure(name, named, data, checkpoints[TASKS[name].lang], turns)
        words = [statistics.median(each) for each in zip(*measured, strict=True)]
        ratios = [statistics.median(turn[at] / turn[0] for turn in measured) for at in range(len(named))]
        cells = [f"{count:,.0f} ({ratio:.2f})" for count, ratio in zip(words, ratios, strict=True)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
        found[name] = {"spacy": version("spacy"), "models": named, "turns": measured}
        write_json(output, found)


if __name__ == "__main__":
    main()
