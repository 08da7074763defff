"""``phonemic prepare``: from raw text to a corpus of ids. ``phonemic-bert prepare`` is the same command."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from phonemic.cli.common import errors_option, max_line_option, printable, say, size, tokenizer_options
from phonemic.terminal import console
from phonemic.tokenizer import Tokenizer


def _baseline(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, str] | None:
    if value is None:
        return None
    name, equals, folder = value.partition("=")
    if not (name and equals and folder):
        raise click.BadParameter(f"{value!r} must be NAME=FOLDER, as in Character=tokenizers")
    return name, folder


@click.command()
@click.argument("inputs", metavar="IN...", nargs=-1, required=True)
@click.argument("out", metavar="OUT")
@tokenizer_options
@click.option(
    "--tokenizer",
    "baseline",
    metavar="NAME=FOLDER",
    callback=_baseline,
    help="A baseline's ids instead, of the same lines.",
)
@click.option("--column", default="text", show_default=True, help="The column of Parquet, the field of JSON lines.")
@click.option(
    "--min-native",
    type=click.FloatRange(0, 1),
    default=0.7,
    show_default=True,
    help="Keep lines with this share of native units.",
)
@click.option("--exact-duplicates", "exact", is_flag=True, help="Drop lines that occurred before, word for word.")
@click.option(
    "--near-duplicates",
    "near",
    type=click.FloatRange(0.1, 1),
    metavar="SIMILARITY",
    help="Drop lines similar to an earlier one: approximate Jaccard similarity of runs of syllables; 0.8 is usual.",
)
@click.option("--shard-size", callback=size, default="256M", show_default=True, help="Text read for one shard.")
@errors_option
@max_line_option
@click.option("--keep-going", is_flag=True, help="Pass over what is damaged, and say so at the end.")
@click.option("--engine", type=click.Choice(["threads", "ray"]), default="threads", show_default=True)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default=True,
    help="Threads that tokenize, with --engine threads; one more reads, and often sets the pace.",
)
@click.option("--address", help="The Ray cluster.  [default: the one Ray finds, else this machine]")
def prepare(
    *,
    inputs: tuple[str, ...],
    out: str,
    tokenizer: Tokenizer,
    shard_size: int,
    engine: str,
    threads: int,
    address: str | None,
    **options: Any,
) -> None:
    """Turns text into a corpus of ids for pretraining, in the folder OUT.

    IN is plain text, JSON lines (.jsonl, .ndjson, .json), both also as .gz, .bz2, .xz or .zst, or Parquet; a folder of
    them, or a glob. Each line is one document.

    Stopped at any moment and called again, it goes on; OUT comes out the same.
    """
    from phonemic.corpus import Options, Ray, Threads
    from phonemic.corpus import prepare as run

    # A termination is an ordinary end: what is unfinished is removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    chosen = Options(tokenizer, shard_bytes=shard_size, **options)
    place = Ray(address) if engine == "ray" else Threads(threads)
    with _progress() as progress:
        manifest = run(inputs, out, chosen, place, progress)
    totals = manifest["totals"]
    lines, read = (totals[f"{name}_kept"] + sum(totals[f"{name}_dropped"].values()) for name in ("lines", "bytes"))
    say(
        f"{out}: {totals['lines_kept']:,} of {lines:,} lines, {totals['bytes_kept']:,} of {read:,} bytes, "
        f"{totals['positions']:,} positions in {totals['shards']} shards; see report.md"
    )
    for source in manifest["sources"]:
        for message in source.get("damaged", ()):
            say(f"passed over from there on: {printable(message)}", err=True)


@contextmanager
def _progress() -> Iterator[Any]:
    """Shows each phase with its rate and remaining time: a bar, or now and then a line where stderr is a file."""
    stderr = console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    if not stderr.is_terminal:
        yield lines_of_progress(stderr)
        return
    with Progress(*columns, TimeRemainingColumn(), console=stderr) as bars:
        tasks: dict[str, Any] = {}

        def advance(phase: str, read: float, total: float) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(phase, total=total)
            bars.advance(tasks[phase], read)

        yield advance


def lines_of_progress(console: Console, every: float = 30.0) -> Callable[[str, float, float], None]:
    """Progress as lines, for a log: one when a phase begins, and one each ``every`` seconds."""
    begun: dict[str, float] = {}
    done: dict[str, float] = {}
    latest = 0.0

    def advance(phase: str, read: float, total: float) -> None:
        nonlocal latest
        now = time.monotonic()
        first = phase not in begun
        begun.setdefault(phase, now)
        done[phase] = done.get(phase, 0.0) + read
        if not first and now - latest < every:
            return
        latest, seconds = now, now - begun[phase]
        line = f"{phase}: {done[phase] / 1e6:,.0f} of {total / 1e6:,.0f} MB"
        if not first and seconds and done[phase]:
            left = max(total - done[phase], 0.0) * seconds / done[phase]
            line += f", {done[phase] / seconds / 1e6:,.1f} MB/s, {timedelta(seconds=round(left))} left"
        console.print(line, highlight=False, soft_wrap=True)

    return advance
