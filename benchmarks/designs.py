"""Learns the designs of designs.toml on the same text, one after the other, and compares what they know.

    python benchmarks/designs.py DATA WORK [--only "modern*"] [--on vi]

DATA is the folder of the raw text and the treebanks, WORK keeps corpora and runs: what is finished is not repeated, and
what was stopped continues. Every design sees the same steps of the same text, once a seed; what it knows is measured on
held-out text, in bits and accuracy of the masked syllable, with the same positions masked. A design that is ``after``
another begins with its weights, and has its steps and seconds too. The figures go to benchmarks/results/designs.json,
next to those of other runs (``--again`` measures these anew). Several of these commands may run at a time, each on its
corpora.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import tomllib
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import numpy as np
import torch

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.held_out import Scorer, documents, mean_scores
from phonemic import Tokenizer
from phonemic.corpus import open_corpus
from phonemic.inventory import NATIVE
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.tokenization.positions import SPECIAL_IDS

HERE = Path(__file__).parent
TABLE = tomllib.loads((HERE / "designs.toml").read_text("utf-8"))
FIGURES = HERE / "results" / "designs.json"
#: The corpus by syllables that says which positions of a language's held-out text are masked, and its counterpart.
PAIRS = {"zh": ("zh", "zh-character"), "vi": ("vi", "vi")}


def slug(name: str, seed: int) -> str:
    """A run's folder."""
    numbered = name if seed == 0 else f"{name}, seed {seed}"
    return "-".join("".join(char if char.isalnum() else " " for char in numbered.lower()).split())


def prepare(table: dict[str, Any], name: str, data: Path, work: Path) -> Path:
    """The prepared corpus of a table, made where it is not there.

    A corpus that states ``vocab_size`` has a tokenizer that is trained on its texts; others are among the data.
    """
    corpus, folder = table["corpora"][name], work / "corpora" / name
    options = ["--lang", corpus["lang"], *corpus.get("options", ())]
    texts = [str(data / text) for text in corpus["texts"]]
    if "tokenizer" in corpus:
        trained = "vocab_size" in corpus
        tokenizers = work / "tokenizers" / name if trained else data / "tokenizers"
        if trained and not any(path.is_file() for path in tokenizers.rglob("*")):
            size = ["--vocab-size", str(corpus["vocab_size"])]
            _run(["phonemic", "train-baseline", corpus["tokenizer"], str(tokenizers), *texts, *size])
        options += ["--tokenizer", f"{corpus['tokenizer']}={tokenizers}"]
    _run(["phonemic", "prepare", *texts, str(folder), *options])
    return folder


def learn(table: dict[str, Any], name: str, on: str, seed: int, work: Path, cores: int) -> Path:
    """Runs a design of a table to its end, and adds up the CPU time that it takes; the run's folder."""
    folder = work / "runs" / on / slug(name, seed)
    if (folder / "final").exists():
        return folder
    design = table["designs"][name]
    sets = [*table["settings"]["overrides"], *design["set"], f"optimization.seed={seed}"]
    if "after" in design:
        sets.append(f"model.init_checkpoint={learn(table, design['after'], on, seed, work, cores) / 'final'}")
    merged = dict(one.split("=", 1) for one in sets)
    options = [part for field, value in merged.items() for part in ("--set", f"{field}={value}")]
    clock, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        made = ["pretrain", table["settings"]["preset"], str(work / "corpora" / on), str(folder)]
        _run(["phonemic_bert", *made, *options], cores)
    finally:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        path = folder / "seconds.json"
        earlier = json.loads(path.read_text()) if path.exists() else {"processor": 0, "wall": 0}
        seconds = {
            "processor": earlier["processor"] + spent,
            "wall": earlier["wall"] + time.monotonic() - clock,
        }
        if folder.exists():
            path.write_text(json.dumps(seconds))
    return folder


def _run(arguments: list[str], cores: int = 1) -> None:
    command = [sys.executable, "-m", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": str(cores), "HF_HUB_OFFLINE": "1"}
    subprocess.run(command, env=environment, check=True)


def measure(name: str, on: str, seed: int, work: Path, data: Path) -> dict[str, Any]:
    """A finished run's figures, kept next to it."""
    folder = work / "runs" / on / slug(name, seed)
    path = folder / "figures.json"
    if path.exists():
        figures: dict[str, Any] = json.loads(path.read_text())
        return figures
    lang = TABLE["corpora"][on]["lang"]
    corpora = [FlatCorpus(open_corpus(work / "corpora" / one), verify=False) for one in PAIRS[lang]]
    length = json.loads((folder / "run.json").read_text())["settings"]["sequences"]["max_seq_length"]
    held_out = documents(corpora[0], corpora[1], 1000, length)
    first, second, masks = (list(side) for side in zip(*held_out, strict=True))
    own = on == PAIRS[lang][0]
    scorer = Scorer(folder / "final", corpora[not own], data / "tokenizers")
    rows = first if own else second
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text("utf-8").splitlines()]
    evaluations = [row for row in log if "eval_loss" in row]
    after = TABLE["designs"][name].get("after")
    before = measure(after, on, seed, work, data) if after else None
    seconds = json.loads((folder / "seconds.json").read_text())
    figures = {
        "design": name,
        "corpus": on,
        "seed": seed,
        "parameters": scorer.model.num_parameters(),
        "steps": evaluations[-1]["step"] + (before["steps"] if before else 0),
        "seconds": {kind: spent + (before["seconds"][kind] if before else 0) for kind, spent in seconds.items()},
        "bits_per_character": evaluations[-1]["eval_bits_per_character"],
        **mean_scores(scorer, rows, masks),
        "curve": [[row["step"], row["eval_loss"]] for row in evaluations],
    }
    if own:
        figures["treebank"] = mean_scores(scorer, *treebank(lang, data, length))["right"]
    path.write_text(json.dumps(figures, indent=1) + "\n")
    return figures


def treebank(lang: str, data: Path, length: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Sentences of a treebank as input ids, and one syllable of each to mask, drawn by number: (N,) each."""
    texts = [
        line.removeprefix("# text =").strip()
        for name in TABLE["treebanks"][lang]
        for line in (data / name).read_text("utf-8").splitlines()
        if line.startswith("# text =")
    ]
    tokenizer, rows, masks = Tokenizer(lang), [], []
    for number, text in enumerate(texts):
        encoded = tokenizer.encode(text)
        ids, native = encoded.ids[: length - 2], np.flatnonzero((encoded.kinds == NATIVE)[: length - 2])
        if len(native) < 5:
            continue
        rows.append(torch.tensor([SPECIAL_IDS["[CLS]"], *ids.tolist(), SPECIAL_IDS["[SEP]"]]))
        at = np.random.default_rng(number).choice(native) + 1
        masks.append(torch.arange(len(rows[-1])) == int(at))
        if len(rows) == TABLE["treebanks"]["sentences"]:
            break
    return rows, masks


def table(figures: list[dict[str, Any]]) -> str:
    """The figures as Markdown: a row for each design on a corpus, the mean of its seeds."""
    lines = [
        "| learned on | design | parameters | CPU s | bits per syllable | each seed | among existing | right | "
        "treebank |",
        "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for (on, name), of_design in groupby(figures, lambda one: (one["corpus"], one["design"])):
        seeds = list(of_design)

        def mean(key: str, seeds: list[dict[str, Any]] = seeds) -> float:
            return fmean(one[key] for one in seeds)

        cells = [
            on,
            name,
            f"{mean('parameters') / 1e6:.2f}M",
            f"{fmean(one['seconds']['processor'] for one in seeds):.0f}",
            f"{mean('bits'):.2f}",
            ", ".join(f"{one['bits']:.2f}" for one in seeds),
            f"{mean('existing'):.2f}" if "existing" in seeds[0] else "",
            f"{mean('right'):.1%}",
            f"{mean('treebank'):.1%}" if "treebank" in seeds[0] else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


Run = tuple[str, str, int]


def write(measured: dict[Run, dict[str, Any]], every: list[Run]) -> dict[Run, dict[str, Any]]:
    """Adds figures to those of the file, which another process may have written to, in the table's order."""
    known = {**read(), **measured}
    FIGURES.write_text(json.dumps([known[one] for one in every if one in known], indent=1) + "\n", "utf-8")
    return known


def read() -> dict[Run, dict[str, Any]]:
    """The figures of the file, by design, corpus and seed."""
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else []
    return {(one["design"], one["corpus"], one["seed"]): one for one in figures}


@click.command(help=__doc__)
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("work", type=click.Path(path_type=Path))
@click.option("--only", default="*", help="Designs whose name fits the pattern.")
@click.option("--on", "corpus", type=click.Choice(list(TABLE["corpora"])), help="Only what is learned on this corpus.")
@click.option("--cores", default=1, show_default=True, help="Threads of each run.")
@click.option("--again", is_flag=True, help="Also the runs whose figures are there.")
@click.option("--finished", is_flag=True, help="Learn nothing more: only the runs that have finished.")
def main(data: Path, work: Path, only: str, corpus: str | None, cores: int, again: bool, finished: bool) -> None:
    """Learns, measures and writes."""
    data, work = data.resolve(), work.resolve()
    designs, seeds = TABLE["designs"], TABLE["settings"]["seeds"]
    every = [
        (name, on, seed) for on in TABLE["corpora"] for name in designs if on in designs[name]["on"] for seed in seeds
    ]
    chosen = [one for one in every if fnmatch(one[0], only) and corpus in (None, one[1])]
    if not chosen:
        raise click.UsageError(f"no design is called {only!r}: there are {', '.join(designs)}")
    known = read()
    missing = [one for one in chosen if again or one not in known]
    if finished:
        missing = [one for one in missing if (work / "runs" / one[1] / slug(one[0], one[2]) / "final").exists()]
    for name in dict.fromkeys(one for _, on, _ in missing for one in (on, *PAIRS[TABLE["corpora"][on]["lang"]])):
        prepare(TABLE, name, data, work)
    for name, on, seed in sorted(missing, key=lambda run: seeds.index(run[2])):
        learn(TABLE, name, on, seed, work, cores)
        known = write({(name, on, seed): measure(name, on, seed, work, data)}, every)
    print(table([known[one] for one in chosen if one in known]))


if __name__ == "__main__":
    main()
