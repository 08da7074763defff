"""The ``phonemic`` command."""

from __future__ import annotations

import errno
import json
import math
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from io import TextIOWrapper
from typing import Any, BinaryIO

try:
    import click
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn
    from rich.table import Table
except ImportError as missing:
    raise SystemExit(f'phonemic: the command needs {missing.name}: pip install "phonemic[cli]"') from missing

from phonemic.errors import InputError, PhonemicError
from phonemic.files import ids_language, ids_writer, read_ids, read_texts, replacing
from phonemic.inventory import LANGUAGES, vocabulary
from phonemic.metrics import Statistics
from phonemic.noise_command import noise
from phonemic.tokenizer import Tokenizer
from phonemic.version import __version__

Command = Callable[..., None]


class _Group(click.Group):
    """Shows the project's errors and the system's as one line; click itself deals with a broken pipe."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (PhonemicError, OSError) as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            raise click.ClickException(_message(error)) from error


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="phonemic")
def cli() -> None:
    """Vietnamese and Chinese text, syllable by syllable, as an onset, a rime and a tone."""


# --- shared options


def language_option(required: bool = True) -> Callable[[Command], Command]:
    """``--lang``."""
    return click.option("--lang", type=click.Choice(LANGUAGES), required=required, help="The language.")


def tokenizer_options(command: Command) -> Command:
    """Adds the options of a Tokenizer and passes the command ``tokenizer``."""

    @language_option()
    @click.option("--strict", is_flag=True, help="Reject syllables that Vietnamese orthography does not allow.")
    @click.option("--word-joiner", metavar="CHAR", help='What joins the syllables of a word, "_" in sinh_viên.')
    @click.option("--phrases", metavar="FILE", help="Your own Mandarin readings, a line PHRASE<TAB>PINYIN each.")
    @wraps(command)
    def with_tokenizer(
        *args: Any, lang: str, strict: bool, word_joiner: str | None, phrases: str | None, **options: Any
    ) -> None:
        try:
            tokenizer = Tokenizer(lang, strict, word_joiner, phrases)
        except PhonemicError:
            raise
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        command(*args, tokenizer=tokenizer, **options)

    return with_tokenizer


errors_option = click.option(
    "--errors", type=click.Choice(["strict", "replace"]), default="strict", help="Stop at invalid UTF-8, or replace it."
)


def input_options(command: Command) -> Command:
    """Adds IN... and how to read it."""
    options = [
        click.argument("inputs", metavar="IN...", nargs=-1, required=True),
        click.option("--column", default="text", show_default=True, help="The column of a Parquet file to read."),
        click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Threads that encode."),
        errors_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON.")


# --- input, output


@contextmanager
def _texts(inputs: Sequence[str], column: str, errors: str) -> Iterator[Iterator[list[str | None]]]:
    """The texts of all inputs in lists, under a progress bar on stderr where that is a terminal."""
    sizes = [0 if path == "-" else os.stat(path).st_size for path in inputs]
    console = Console(stderr=True)
    columns = BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    progress = Progress(*columns, console=console)
    task = progress.add_task("", total=None if "-" in inputs else sum(sizes) or None)

    def chunks() -> Iterator[list[str | None]]:
        read: list[float] = []
        for path in inputs:
            for texts in read_texts(path, column, errors, read.append):
                yield texts
                progress.advance(task, sum(read))  # only now are they encoded
                read.clear()

    with progress if console.is_terminal else nullcontext():
        yield chunks()


def _print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    table = Table(*columns)
    for row in rows:
        cells = map(str, row)
        table.add_row(*(cell if cell.isprintable() else repr(cell)[1:-1] for cell in cells))
    Console(markup=False, emoji=False, highlight=False).print(table)


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


@contextmanager
def _output(path: str | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when it is complete."""
    if path is not None:
        with replacing(path) as file:
            yield file
    else:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()


def _parquet_name(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not value.lower().endswith(".parquet"):
        raise click.BadParameter(f"{value!r} must end in .parquet (the last file named is the output)")
    return value


def _order(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 <= value < math.inf:
        raise click.BadParameter(f"{value} is not a finite number of at least 0")
    return value


# --- commands


@cli.command()
@click.argument("text", nargs=-1, required=True)
@tokenizer_options
@errors_option
def show(text: tuple[str, ...], tokenizer: Tokenizer, errors: str) -> None:
    """Shows the positions of TEXT, or of standard input for "-"."""
    joined = " ".join(text)
    if text == ("-",):
        joined = "\n".join(line or "" for lines in read_texts("-", errors=errors) for line in lines)
    encoding = tokenizer.encode(joined)
    rows = zip(encoding.syllables, encoding.components.tolist(), strict=True)
    _print_table(
        ("text", "onset", "rime", "tone", "IPA", "ids"),
        ((*syllable[:5], "/".join(map(str, ids))) for syllable, ids in rows),
    )


@cli.command()
@input_options
@click.argument("out", metavar="OUT.parquet", callback=_parquet_name)
@tokenizer_options
@click.option("--spans", is_flag=True, help="Also write the positions' spans: start and end in turn.")
@click.option("--text", "keep_text", is_flag=True, help="Also write the texts.")
def encode(
    *,
    inputs: tuple[str, ...],
    out: str,
    column: str,
    errors: str,
    threads: int,
    tokenizer: Tokenizer,
    spans: bool,
    keep_text: bool,
) -> None:
    """Encodes texts to packed ids in a Parquet file.

    IN is plain text, one text a line, also as .gz, .xz or .zst; or Parquet; or "-" for standard input.
    """
    with _texts(inputs, column, errors) as chunks, ids_writer(out, tokenizer, threads, spans, keep_text) as write:
        for texts in chunks:
            write(texts)


@cli.command()
@click.argument("path", metavar="IN.parquet")
@language_option(required=False)
@click.option("--to", type=click.Choice(["spelling", "pinyin", "ipa"]), help="[default: spelling or pinyin]")
@click.option("--style", type=click.Choice(["new", "old"]), default="new", help="Vietnamese tone marks: hoà or hòa.")
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
def decode(path: str, lang: str | None, to: str | None, style: str, output: str | None) -> None:
    """Writes the ids of a Parquet file as text.

    One line a row; a null is an empty line.
    """
    tokenizer = Tokenizer(ids_language(path, lang))
    if to == {"vi": "pinyin", "zh": "spelling"}[tokenizer.lang]:
        raise click.UsageError(f"--to {to} is not for {tokenizer.lang}")
    with _output(output) as file:
        for row, ids in enumerate(read_ids(path), start=1):
            try:
                line = tokenizer.decode(ids or [], to, style)
            except ValueError as error:
                raise InputError(f"{path}, row {row}: {error}") from error
            file.write(line.encode() + b"\n")


@cli.command()
@language_option()
@json_option
def vocab(lang: str, as_json: bool) -> None:
    """Lists the vocabulary: ids, symbols and what they stand for."""
    symbols = vocabulary(lang)
    rows = [(number, symbol, sorted(symbols.roles(number))) for number, symbol in enumerate(symbols)]
    if as_json:
        _print_json([dict(zip(("id", "symbol", "roles"), row, strict=True)) for row in rows])
    else:
        _print_table(("id", "symbol", "roles"), ((number, symbol, ", ".join(roles)) for number, symbol, roles in rows))


@cli.command()
@input_options
@tokenizer_options
@click.option("--alpha", default=2.5, show_default=True, callback=_order, help="Order of the Rényi entropy.")
@json_option
def stats(
    *,
    inputs: tuple[str, ...],
    column: str,
    errors: str,
    threads: int,
    tokenizer: Tokenizer,
    alpha: float,
    as_json: bool,
) -> None:
    """Measures texts: fertility, lengths, Rényi efficiency and coverage. Nulls of a Parquet column are passed over."""
    statistics = Statistics(tokenizer)
    with _texts(inputs, column, errors) as chunks:
        for texts in chunks:
            statistics.update([text for text in texts if text is not None], threads)
    measures = statistics.summary(alpha)
    if as_json:
        _print_json({name: None if math.isnan(value) else value for name, value in measures.items()})
    else:
        shown = [f"{value:,}" if isinstance(value, int) else f"{value:.4f}" for value in measures.values()]
        rows = zip((name.replace("_", " ") for name in measures), shown, strict=True)
        _print_table(("measure", "value"), rows)


cli.add_command(noise)


def main() -> None:
    """Runs the command, which writes UTF-8 everywhere; a termination signal leaves nothing half-written either."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    cli(prog_name="phonemic")


if __name__ == "__main__":
    main()
