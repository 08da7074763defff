"""The command ``finetune``."""

from __future__ import annotations

import sys
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from phonemic.errors import InputError
from phonemic.files import require
from phonemic.inventory import LANGUAGES
from phonemic.terminal import console
from phonemic_bert.checkpoints import checkpoint_folder
from phonemic_bert.errors import CheckpointError

if TYPE_CHECKING:
    from phonemic.tasks import Dataset

#: Exit status of a sweep that a signal stopped and that can be continued (EX_TEMPFAIL of sysexits.h).
STOPPED = 75

_LIMIT = click.IntRange(1)


@click.command(name="finetune")
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@click.option("--data", type=click.Path(file_okay=False), help="The dataset's folder, or a folder of datasets.")
@click.option(
    "--encoder", "encoders", multiple=True, required=True, help="A checkpoint, or NAME=CHECKPOINT. Repeatable."
)
@click.option(
    "--tokenizers", metavar="FOLDER", help="The folder of the baselines' files. [default: $PHONEMIC_TOKENIZERS]"
)
@click.option(
    "--register",
    multiple=True,
    metavar="FILE.py",
    help="Runs a file that registers a tokenizer of your own. Repeatable.",
)
@click.option(
    "--config", default="base", show_default=True, metavar="NAME_OR_FILE", help="Settings: base, small or a file."
)
@click.option(
    "--set", "overrides", multiple=True, metavar="SECTION.FIELD=VALUE", help="Overrides --config. Repeatable."
)
@click.option("--seeds", default="1,2,3,4", show_default=True, help="One run for each.")
@click.option("--results", required=True, type=click.Path(file_okay=False), help="The folder for results.")
@click.option("--save", type=click.Path(file_okay=False), help="A folder for the fine-tuned models.")
@click.option("--predictions", is_flag=True, help="Write the predictions of the test sets next to the results.")
@click.option("--noise", multiple=True, metavar="NAME[:OPTION=VALUE,...]", help="Also test on noisy text. Repeatable.")
@click.option("--ratios", default="0.075,0.15,0.225,0.3,0.375", show_default=True, help="The ratios of --noise.")
@click.option("--divide", metavar="SPLIT", help="Divide one split into train, dev and test.")
@click.option("--max-train", type=_LIMIT, help="Train on at most this many examples, drawn by seed.")
@click.option("--max-dev", type=_LIMIT, help="Use at most this many dev examples, drawn by seed.")
@click.option("--max-test", type=_LIMIT, help="Test on at most this many examples, the same for every seed.")
@click.option(
    "--custom", metavar="KIND", help="Files of your own: classification, sentence-pair, sequence-labelling ..."
)
@click.option("--train", metavar="FILE", help="With --custom: the training set.")
@click.option("--dev", metavar="FILE", help="With --custom: the dev set. [default: with --test, a tenth of --train]")
@click.option("--test", metavar="FILE", help="With --custom: the test set. [default: with --dev, the same]")
@click.option("--lang", type=click.Choice(LANGUAGES), help="With --custom: the language.")
@click.option("--name", help="With --custom: its name in the results. [default: the folder of --train]")
@click.option(
    "--field", "fields", multiple=True, metavar="NAME=VALUE", help="With --custom: the name of a column. Repeatable."
)
def finetune(tasks: tuple[str, ...], results: str, **options: Any) -> None:
    """Fine-tunes encoders on tasks by the paper's protocol, and writes one file of results per run.

    TASK is a dataset's name (tnews), or one target of a set that has several (uit-vsfc.sentiment). Runs that are
    finished are not repeated: the same command continues what was interrupted. Ctrl-C and SIGTERM exit with status 75.

    Files of your own are named by --custom, --train, --dev, --test and --lang instead of TASK and --data; --field says
    what the columns are called (text=body, label=class), and names a format or metric (file_format=conll).

    A checkpoint over a tokenizer of your own names it, but never the file it is in: --register does.
    """
    from phonemic_bert.finetuning.settings import Settings

    Settings.load(options["config"], options["overrides"])  # what is mistyped is said before anything heavy is imported
    options["ratios"] = _numbers(options["ratios"], float, "--ratios")
    options["seeds"] = _numbers(options["seeds"], int, "--seeds")
    if bool(tasks) == bool(options["custom"]):
        raise click.UsageError("give one TASK or more, or files of your own with --custom")
    beside = [f"--{name}" for name in (*_FILES, "fields") if tasks and options[name]]
    if beside:
        raise click.UsageError(f"{beside[0].removesuffix('s')} is for --custom: a TASK knows its files")
    _needed(options, *(("data",) if tasks else ("train", "lang")))
    _check_encoders(options["encoders"])
    for package in ("sklearn", "seqeval"):
        require(package, "finetune")
    from phonemic import baselines
    from phonemic_bert.finetuning.jobs import Limits, find_jobs, jobs_of

    for file in options["register"]:
        baselines.get(file)

    limits = Limits(options["max_train"], options["max_dev"], options["max_test"])
    try:
        if tasks:
            jobs = find_jobs(tasks, Path(options["data"]), options["divide"], limits)
        else:
            jobs = jobs_of(_custom(options), Path(), None, options["divide"], limits)
    except ValueError as error:
        raise InputError(str(error)) from error
    _sweep(jobs, Path(results), console(stderr=True), options)


def _check_encoders(encoders: tuple[str, ...]) -> None:
    """Says that no encoder is there before anything heavy is imported; a sweep continues as long as one is."""
    missing = []
    for written in encoders:
        try:
            checkpoint_folder(written if Path(written).exists() else written.rpartition("=")[2])
        except CheckpointError as error:
            missing.append(error)
    if len(missing) == len(encoders):
        raise missing[0]


def _needed(options: dict[str, Any], *names: str) -> None:
    missing = [f"--{name}" for name in names if not options[name]]
    if missing:
        raise click.UsageError(f"missing {' and '.join(missing)}")


def _custom(options: dict[str, Any]) -> Dataset:
    """Files of the user's own as a dataset; a value of --field may be a list with commas."""
    from phonemic.tasks import custom

    fields: dict[str, Any] = {}
    known = [name for name in signature(custom.dataset).parameters if name not in ("kind", *_FILES)]
    for written in options["fields"]:
        name, equals, value = written.partition("=")
        if not equals or name not in known:
            raise click.BadParameter(f"{written!r}: a field is NAME=VALUE, and the names are {', '.join(known)}")
        parts = value.split(",") if name in ("label", "choices") and "," in value else value
        fields[name] = _FIELDS.get(name, str)(value) if isinstance(parts, str) else parts
    return custom.dataset(options["custom"], **{name: options[name] for name in _FILES}, **fields)


def _place(value: str) -> int | str:
    return int(value) if value.lstrip("-").isdigit() else value


def _yes(value: str) -> bool:
    if value not in ("true", "false"):
        raise click.BadParameter(f"{value!r} must be true or false")
    return value == "true"


#: The arguments of ``custom.dataset`` that are separate options, and the ones that are not strings.
_FILES = ("lang", "train", "dev", "test", "name")
_FIELDS: dict[str, Any] = {"word": _place, "tag": _place, "quoting": _yes, "strict": _yes}


def _sweep(jobs: Any, results: Path, screen: Any, options: dict[str, Any]) -> None:
    """Runs the sweep; ends the process with its exit status."""
    from phonemic_bert.finetuning.noise import parse
    from phonemic_bert.finetuning.runs import RunOutputs
    from phonemic_bert.finetuning.settings import Settings
    from phonemic_bert.finetuning.sweep import Sweep

    noise = tuple(one for written in options["noise"] for one in parse(written, options["ratios"]))
    settings = {
        job.dataset.name: Settings.load(options["config"], options["overrides"], job.dataset.name) for job in jobs
    }
    outputs = RunOutputs(noise, options["predictions"], Path(options["save"]) if options["save"] else None)
    sweep = Sweep(
        jobs,
        options["encoders"],
        settings.__getitem__,
        options["seeds"],
        results,
        outputs,
        options["tokenizers"],
        screen,
    )
    try:
        outcome = sweep.execute()
    except KeyboardInterrupt:
        done = len(sweep.outcome.results)
        screen.print(f"stopped: {done} runs are finished; run the same command again to go on")
        sys.exit(STOPPED)
    if outcome.repeated:
        screen.print(f"{outcome.repeated} runs were finished before")
    if outcome.failures:
        screen.print(f"{len(outcome.failures)} failed:", *outcome.failures, sep="\n  ", soft_wrap=True)
        sys.exit(1)


def _numbers(written: str, kind: type, option: str) -> list[Any]:
    try:
        numbers = [kind(part) for part in written.split(",")]
    except ValueError as error:
        raise click.BadParameter(f"{written!r} must be numbers separated by commas", param_hint=option) from error
    if len(set(numbers)) != len(numbers):
        raise click.BadParameter(f"{written!r}: a number is given twice", param_hint=option)
    return numbers
