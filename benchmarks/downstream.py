"""Fine-tune models of one size on the tasks that the data at hand allow, for docs/results/language-models.md.

    python benchmarks/downstream.py DATA --zh PHONEMIC --zh CHARACTER --zh SUBCHAR-PINYIN --vi PHONEMIC --vi BYTE-BPE \
        --tokenizers FOLDER --results FOLDER [--brief] [--keep [NAME]]

DATA is the folder with ``zh/tnews``, ``vi/vihos`` and the others; an encoder is a checkpoint's folder or name, or
``NAME=FOLDER``, and the first of a language is what the others are compared with. Runs that are finished are not
repeated; each leaves its predictions for ``phonemic-bert inspect``. The first two seeds train with each rate of
downstream.toml's grid, the others with the one that then has the best mean score on the task's development sets; with
``--brief`` only the first seed does, and there are fewer tests. ``--keep`` writes all digits to
benchmarks/results/downstream.csv, or a file of that name next to it, from which benchmarks/report.py makes the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import click
from rich.console import Console

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.downstream_errors import error_tables
from phonemic.errors import InputError
from phonemic_bert.finetuning import tabulation
from phonemic_bert.finetuning.encoders import load_encoder, named
from phonemic_bert.finetuning.jobs import Job, Limits, find_jobs
from phonemic_bert.finetuning.noise import parse
from phonemic_bert.finetuning.results import Results, read
from phonemic_bert.finetuning.runs import RunOutputs
from phonemic_bert.finetuning.settings import Settings
from phonemic_bert.finetuning.sweep import Sweep, SweepResult

HERE = Path(__file__).parent
SETTINGS = HERE / "downstream.toml"
FIGURES = HERE / "results"
RATIOS = (0.075, 0.15, 0.225, 0.3, 0.375)
BRIEF_RATIOS = (0.15, 0.3)
#: How many seeds try every rate.
CHOOSING, BRIEF_CHOOSING = 2, 1
#: Characters that people use, and all that there are: of the latter a tokenizer may know few.
HOMOPHONES = ("homophones:pool=gb2312-1", "homophones")
#: Lost and wrong marks keep lengths, which tags need; not in ViHOS, though, where some letters are decomposed.
MARKS = ("missing-diacritics", "wrong-tone")


@dataclass(frozen=True)
class Task:
    """A task, how many examples a CPU has time for, the noise that it is tested with, and how many kinds in brief.

    Sets of which only the dev set is at hand are divided. A task that does not tell such small models apart (each gives
    the most frequent label, guesses, or finds next to nothing) is run only where ``--only`` names it.
    """

    name: str
    train: int
    test: int
    divide: str | None = None
    noise: tuple[str, ...] = ()
    brief: int = 1
    dev: int = 500
    tells: bool = True

    def jobs(self, data: Path, quick: bool) -> list[Job]:
        """Its targets."""
        limits = Limits(64, 32, 32) if quick else Limits(self.train, self.dev, self.test)
        return find_jobs([self.name], data, self.divide, limits)


TASKS = {
    "zh": (
        Task("tnews", 6000, 2000, divide="dev", noise=HOMOPHONES),
        Task("ocnli", 4000, 2000, noise=HOMOPHONES),
        Task("afqmc", 4000, 1000, divide="dev", tells=False),
        Task("cluewsc", 2000, 1000, tells=False),
        Task("c3", 500, 250, noise=HOMOPHONES, dev=100, tells=False),
        Task("cmrc", 300, 300, divide="dev", dev=100, tells=False),
        Task("cluener", 4000, 1343, noise=HOMOPHONES),
        Task("weibo-ner", 2000, 1000, noise=HOMOPHONES),
    ),
    "vi": (
        Task("uit-vsfc", 4000, 3166, noise=(*MARKS, "typing"), brief=2),
        Task("vihos", 4000, 2000),
        Task("vietbioner", 1000, 1000, noise=MARKS, brief=2),
        Task("ud-vtb-pos", 1400, 1000, noise=MARKS, brief=2),
    ),
}


@dataclass(frozen=True)
class Plan:
    """The settings that the sweeps of all tasks share."""

    data: Path
    folder: Path
    seeds: Sequence[int]
    tokenizers: str | None
    training_noise: float | None
    overrides: Sequence[str]
    brief: bool
    quick: bool
    console: Console

    def run(self, task: Task, encoders: Sequence[str]) -> list[str]:
        """Runs what is not finished of a task; what failed."""
        overrides = [*self.overrides, *(["grid.num_train_epochs=1"] if self.quick else [])]
        if self.training_noise is not None:
            if not task.noise:
                return []
            overrides += [f"text.training_noise={task.noise[0]}", f"text.training_noise_ratio={self.training_noise}"]
        kinds, ratios = (task.noise[: task.brief], BRIEF_RATIOS) if self.brief else (task.noise, RATIOS)
        noise = tuple(one for written in kinds for one in parse(written, ratios))
        try:
            jobs = task.jobs(self.data, self.quick)
        except InputError as error:
            return [str(error)]
        outputs = RunOutputs(noise, predictions=True)

        def sweep(encoders: Sequence[str], seeds: Sequence[int], *more: str) -> SweepResult:
            def settings(name: str) -> Settings:
                return Settings.load(str(SETTINGS), [*overrides, *more], name)

            return Sweep(jobs, encoders, settings, seeds, self.folder, outputs, self.tokenizers, self.console).execute()

        choosing = BRIEF_CHOOSING if self.brief else CHOOSING
        first, later = sweep(encoders, self.seeds[:choosing]), self.seeds[choosing:]
        failures = list(first.failures)
        for encoder in encoders if later else ():
            try:
                name = _called(encoder, self.tokenizers)
            except (ValueError, OSError):
                continue  # what is wrong with it, the first sweep has said
            if own := [result for result in first.results if result["encoder"] == name]:
                failures += sweep([encoder], later, f"grid.learning_rate={best_rate(own)}").failures
        return failures


def best_rate(results: Sequence[dict[str, Any]]) -> float:
    """The learning rate with the best mean score on the development sets."""
    scores: dict[float, list[float]] = {}
    for result in results:
        scores.setdefault(result["hyperparameters"]["learning_rate"], []).append(result["dev"][result["metric"]])
    return max(scores, key=lambda rate: mean(scores[rate]))


@click.command()
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--zh", multiple=True, metavar="ENCODER", help="An encoder for Mandarin. Repeatable.")
@click.option("--vi", multiple=True, metavar="ENCODER", help="An encoder for Vietnamese. Repeatable.")
@click.option("--tokenizers", metavar="FOLDER", help="The files of the baselines' tokenizers.")
@click.option("--results", "folder", required=True, type=click.Path(file_okay=False, path_type=Path))
@click.option("--seeds", default=4, show_default=True, help="How many seeds.")
@click.option("--only", multiple=True, metavar="TASK", help="Only these tasks. Repeatable.")
@click.option(
    "--training-noise", type=float, metavar="RATIO", help="Train with a task's first noise: rows next to the others."
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Of downstream.toml. Repeatable.")
@click.option("--brief", is_flag=True, help="Rates by the first seed; the first kinds of noise, at 15 and 30 %.")
@click.option("--quick", is_flag=True, help="A few examples and one epoch: whether it runs.")
@click.option(
    "--keep",
    metavar="NAME",
    is_flag=False,
    flag_value="downstream.csv",
    help="Write the figures that the pages show: results/downstream.csv, or a file of that name.",
)
def main(
    data: Path,
    folder: Path,
    tokenizers: str | None,
    seeds: int,
    only: tuple[str, ...],
    training_noise: float | None,
    overrides: tuple[str, ...],
    brief: bool,
    quick: bool,
    keep: str | None,
    **langs: Any,
) -> None:
    """Fine-tunes, evaluates, and writes the tables."""
    names = [task.name for tasks in TASKS.values() for task in tasks]
    if unknown := set(only) - set(names):
        raise click.BadParameter(f"{min(unknown)!r}: choose from {', '.join(names)}", param_hint="--only")
    console = Console(stderr=True)
    plan = Plan(data, folder, range(1, seeds + 1), tokenizers, training_noise, overrides, brief, quick, console)
    failures: list[str] = []
    for lang, tasks in TASKS.items():
        for task in tasks:
            if langs[lang] and (task.name in only if only else task.tells):
                failures += plan.run(task, langs[lang])
    if failures:
        raise SystemExit("\n".join(failures))
    found = read(folder)
    for problem in found.problems:
        console.print(problem, markup=False, soft_wrap=True)
    references = {lang: _called(langs[lang][0], tokenizers) for lang in TASKS if langs[lang]}
    made = [table for lang, name in references.items() for table in _tables(found, lang, name)]
    tabulation.show(made, Console())
    print(f"\n{conditions(found)}")
    if keep:
        (FIGURES / keep).write_text(f"{tabulation.comma_separated_tables(made)}\n", encoding="utf-8")


def _called(written: str, tokenizers: str | None) -> str:
    name, where = named(written)
    return load_encoder(where, tokenizers, name).name


def _tables(found: Results, lang: str, reference: str) -> Iterator[tabulation.Table]:
    """Scores, differences from the reference, robustness and errors, of one language."""
    cells = {(column, row): point for (column, row), point in found.cells.items() if column[0] == lang}
    results = Results(cells, ())
    yield from tabulation.score_tables(results)
    for row in results.rows(lang):
        if row.partition(" [")[0] == reference:  # in brackets: the settings in which its runs differ
            yield from tabulation.difference_tables(results, row)
    yield from tabulation.robustness_tables(results)
    yield from error_tables(results)


def conditions(found: Results) -> str:
    """The runs in one sentence: how many, with which versions, and when."""
    seeds = sorted({len(point.runs) for point in found.cells.values()})
    runs = sorted((run for point in found.cells.values() for run in point.runs), key=lambda run: str(run["date"]))
    commits = dict.fromkeys(str(run["git"])[:7] for run in runs)
    devices = dict.fromkeys(str(run["device"]) for run in runs)
    libraries = dict.fromkeys(name for run in runs for name in run["versions"])
    versions = (
        f"{name} {' and '.join(dict.fromkeys(run['versions'].get(name, '') for run in runs))}" for name in libraries
    )
    hours = sum(run["seconds"] for run in runs) / 3600
    return (
        f"{len(runs)} runs, {' or '.join(map(str, seeds))} seeds per cell, "
        f"{hours:.1f} hours of training and evaluation on {' and '.join(devices)}, last on {runs[-1]['date'][:10]}, "
        f"at commit{'s' * (len(commits) > 1)} {', '.join(commits)}. {', '.join(versions)}."
    )


if __name__ == "__main__":
    main()
