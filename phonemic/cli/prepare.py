"""``phonemic prepare``: from raw text to a corpus of ids."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import click

from phonemic.cli.common import (
    column_option,
    encoding_option,
    errors_option,
    max_line_option,
    printable,
    say,
    size,
    tokenizer_options,
)
from phonemic.cli.progress import progress
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
    help="Write a baseline's ids of the same lines instead.",
)
@column_option
@click.option(
    "--min-native",
    type=click.FloatRange(0, 1),
    default=0.7,
    show_default=True,
    help="Keep lines with at least this share of native units.",
)
@click.option("--exact-duplicates", "exact", is_flag=True, help="Drop lines that occurred before, word for word.")
@click.option(
    "--near-duplicates",
    "near",
    type=click.FloatRange(0.1, 1),
    metavar="SIMILARITY",
    help="Drop lines that are at least this similar to an earlier one (approximate Jaccard similarity; 0.8 is usual).",
)
@click.option(
    "--shard-size", callback=size, default="256M", show_default=True, help="The size of the text of one shard."
)
@errors_option
@encoding_option
@max_line_option
@click.option("--keep-going", is_flag=True, help="Skip damaged input, and report it at the end.")
@click.option(
    "--engine",
    type=click.Choice(["threads", "ray"]),
    default="threads",
    show_default=True,
    help="Tokenize in the threads of this machine, or on a Ray cluster.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default=True,
    help="Threads that tokenize, with --engine threads; one more reads.",
)
@click.option("--address", help="The address of the Ray cluster. [default: the one Ray finds, else this machine]")
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

    A run that was stopped continues when it is called again; OUT comes out the same.
    """
    from phonemic.corpus import Options, Ray, Threads
    from phonemic.corpus import prepare as run

    if address is not None and engine != "ray":
        raise click.UsageError("--address is for --engine ray")
    # A termination is an ordinary end: what is unfinished is removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    chosen = Options(tokenizer, shard_bytes=shard_size, **options)
    place = Ray(address) if engine == "ray" else Threads(threads)
    with progress(at_once=True) as advance:
        manifest = run(inputs, out, chosen, place, advance)
    totals = manifest["totals"]
    lines, read = (totals[f"{name}_kept"] + sum(totals[f"{name}_dropped"].values()) for name in ("lines", "bytes"))
    say(
        f"{out}: {totals['lines_kept']:,} of {lines:,} lines, {totals['bytes_kept']:,} of {read:,} bytes, "
        f"{totals['positions']:,} positions in {totals['shards']} shards; see report.md"
    )
    for source in manifest["sources"]:
        for message in source.get("damaged", ()):
            say(f"passed over from there on: {printable(message)}", err=True)
