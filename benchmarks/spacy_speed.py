"""Words a second of PhonemicHashEmbed beside HashEmbedCNN, in the config of ``hash``, on each corpus' test part.

    python benchmarks/spacy_speed.py DATA

The pipelines are initialized on the training part and not trained further, which makes their layers no faster. They
take turns, and what counts is the median of the ratios of neighbouring runs: of the processor's time of ``nlp.pipe``,
with one thread, tokenizing included for names; parts of speech are of words that are given.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import click
from spacy.training import Corpus
from spacy.training.initialize import init_nlp

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.spacy_training import TASKS, Setting, config_of, convert, one_pass
from phonemic.files.writing import write_json

MODELS = ("HashEmbedCNN", "PhonemicHashEmbed")


def pairs(name: str, data: Path, count: int) -> list[tuple[float, float]]:
    """The words a second of both models, in turns, after one that does not count."""
    task, pipelines = TASKS[name], {}
    setting = Setting(400, "mini", 1.0, 1.0, 0, -1, version("spacy"), batch=0)
    with tempfile.TemporaryDirectory() as folder:
        convert(task, data, Path(folder), 0)
        for model in MODELS:
            config = config_of(task, model, 0, setting, None, Path(folder))
            config["system"]["gpu_allocator"] = None
            pipelines[model] = init_nlp(config)
        given = task.config == "pos"
        examples = Corpus(Path(folder) / "test.spacy", gold_preproc=given)(pipelines[MODELS[0]])
        references = [example.reference for example in examples]
    turns = [[one_pass(pipelines[model], references, given) for model in MODELS] for _ in range(count + 1)]
    return [(one, other) for one, other in turns[1:]]


@click.command()
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--tasks", default=",".join(TASKS), help="which corpora")
@click.option("--pairs", "count", default=15, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), default=Path("benchmarks/results/spacy_speed.json"))
def main(data: Path, tasks: str, count: int, output: Path) -> None:
    """Measures, prints a table and writes every pair."""
    found = json.loads(output.read_text("utf-8")) if output.exists() else {}
    print("| corpus | HashEmbedCNN | PhonemicHashEmbed | ratio |\n| --- | ---: | ---: | ---: |")
    for name in tasks.split(","):
        measured = pairs(name, data, count)
        one, other = (statistics.median(each) for each in zip(*measured, strict=True))
        ratio = statistics.median(ours / theirs for theirs, ours in measured)
        print(f"| {name} | {one:,.0f} | {other:,.0f} | {ratio:.2f} |", flush=True)
        found[name] = {"spacy": version("spacy"), "pairs": measured}
        write_json(output, found)


if __name__ == "__main__":
    main()
