"""Parts that the commands share: options, input with progress, output."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Unpack

import click
import numpy as np

from phonemic.cli.progress import Advance, progress
from phonemic.errors import PhonemicError, printable
from phonemic.files import MAX_LINE, kind_of, read_texts, replacing
from phonemic.files.compressed import shown
from phonemic.files.encodings import ENCODINGS
from phonemic.files.outputs import claim
from phonemic.inventory import LANGUAGES, NATIVE
from phonemic.options import OptionArguments, option_defaults, option_metadata, option_names
from phonemic.terminal import console, json_text, say, standard_output
from phonemic.tokenizer import Tokenizer
from phonemic.writing.dialects import DIALECTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "LanguageCheck",
    "check_column",
    "claim",
    "column_option",
    "dialect_option",
    "encoding_option",
    "errors_option",
    "files_of",
    "force_option",
    "input_options",
    "input_texts",
    "json_option",
    "language_option",
    "make_tokenizer",
    "max_line_option",
    "output_file",
    "output_option",
    "print_figures",
    "print_json",
    "print_table",
    "printable",
    "reading_options",
    "say",
    "size",
    "tokenizer_option",
    "tokenizer_options",
]

Command = Callable[..., None]

_WIDE = 240

# --- options


def language_option(required: bool = True, description: str = "The language.") -> Callable[[Command], Command]:
    """``--lang``."""
    return click.option("--lang", type=click.Choice(LANGUAGES), required=required, help=description)


def tokenizer_option(name: str, description: str | None = None) -> Callable[[Command], Command]:
    """One option of a Tokenizer.

    Arguments:
        name: a field of :class:`phonemic.TokenizerOptions`.
        description: the help text, if it is not the option's own.
    """
    metadata, default = option_metadata(name), option_defaults()[name]
    shape: dict[str, Any] = {"metavar": metadata.get("metavar"), "default": default}
    if isinstance(default, bool):
        shape = {"is_flag": True}
    elif shape["metavar"] == "FILE":
        shape["type"] = click.Path(path_type=Path)
    elif "choices" in metadata:
        shape = {"type": click.Choice(metadata["choices"]), "default": default, "show_default": True}
    return click.option(f"--{name.replace('_', '-')}", help=description or metadata["help"], **shape)


def tokenizer_options(command: Command) -> Command:
    """Adds the options of a Tokenizer and passes the command ``tokenizer``."""
    return _with_options(command, option_names())


def reading_options(command: Command) -> Command:
    """As :func:`tokenizer_options`, for a command that writes no ids: all but ``--form``."""
    return _with_options(command, [name for name in option_names() if name != "form"])


def _with_options(command: Command, names: Sequence[str]) -> Command:
    @wraps(command)
    def with_tokenizer(*args: Any, lang: str, **options: Any) -> None:
        own = {name: options.pop(name) for name in names}
        command(*args, tokenizer=make_tokenizer(lang, **own), **options)

    added: Command = with_tokenizer
    for name in reversed(names):
        added = tokenizer_option(name)(added)
    return language_option()(added)


def dialect_option(
    description: str = "Write Vietnamese IPA as it is spoken there, not as it is spelled.",
) -> Callable[[Command], Command]:
    """``--dialect``."""
    return click.option("--dialect", type=click.Choice(DIALECTS), help=description)


def make_tokenizer(lang: str, **options: Unpack[OptionArguments]) -> Tokenizer:
    """The tokenizer of a command's options.

    Raises:
        click.UsageError: an option does not fit.
        PhonemicError: a phrase is wrong.
    """
    try:
        return Tokenizer(lang, **options)
    except PhonemicError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from error


errors_option = click.option(
    "--errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    show_default=True,
    help="Stop at invalid text, or replace invalid characters by U+FFFD.",
)

encoding_option = click.option(
    "--encoding",
    type=click.Choice([*ENCODINGS], case_sensitive=False),
    default="utf-8",
    show_default=True,
    help="The encoding of text files; UTF-16 is also recognized by its byte order mark.",
)


def size(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """Bytes, as a number or as 64M or 1G."""
    found = re.fullmatch(r"(\d+)([kmg]?)b?", value.lower())
    if not found or not int(found[1]):
        raise click.BadParameter(f"{value!r} is not a size: give bytes, or 64M, 1G")
    return int(found[1]) * {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[found[2]]


max_line_option = click.option(
    "--max-line",
    callback=size,
    default=f"{MAX_LINE >> 20}M",
    show_default=True,
    help="Refuse lines or rows longer than this.",
)


column_option = click.option(
    "--column",
    default="text",
    show_default=True,
    help="The column of a Parquet file, or the field of JSON lines, that holds the text.",
)


def input_options(required: bool = True, threads: bool = True) -> Callable[[Command], Command]:
    """Adds IN... and how to read it."""
    options = [
        click.argument("inputs", metavar="IN...", nargs=-1, required=required),
        column_option,
        errors_option,
        encoding_option,
        max_line_option,
    ]
    if threads:
        number = click.IntRange(1)
        options += [click.option("--threads", type=number, default=1, show_default=True, help="Threads that tokenize.")]

    def add(command: Command) -> Command:
        @wraps(command)
        def checked(*args: Any, inputs: tuple[str, ...], column: str, **others: Any) -> None:
            check_column(inputs, column)
            command(*args, inputs=inputs, column=column, **others)

        added: Command = checked
        for option in reversed(options):
            added = option(added)
        return added

    return add


def check_column(inputs: Sequence[str], column: str) -> None:
    """Refuses ``--column`` where there are no columns, as in CSV: whole lines would be read."""
    given = click.get_current_context().get_parameter_source("column") is click.core.ParameterSource.COMMANDLINE
    plain = [path for path in inputs if kind_of(path)[0] == "text"]
    if given and plain:
        raise click.UsageError(
            f"--column {column}: {shown(plain[0])} is read as plain text, one text per line; columns are those of "
            ".parquet, and fields those of .jsonl"
        )


def output_option(description: str = "Write to a file instead of standard output.") -> Callable[[Command], Command]:
    """``-o``; None and ``-`` are standard output."""
    return click.option("-o", "--output", metavar="FILE", callback=_unless_standard, help=description)


def _unless_standard(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return None if value == "-" else value


json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON instead of a table.")


force_option = click.option("--force", is_flag=True, help="Replace an existing output.")


# --- input, output


def files_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command that takes a text, where all of them are files, or "-"; else nothing.

    Arguments:
        words: what was typed.
    """
    return words if words and all(word == "-" or os.path.isfile(word) for word in words) else ()


@contextmanager
def input_texts(
    inputs: Sequence[str], column: str, errors: str, max_line: int = MAX_LINE, encoding: str = "utf-8"
) -> Iterator[Iterator[list[str | None]]]:
    """The texts of all inputs in lists, with progress on stderr."""
    total = 0 if "-" in inputs else sum(os.stat(path).st_size for path in inputs)

    def chunks(advance: Advance) -> Iterator[list[str | None]]:
        read: list[float] = []
        for path in inputs:
            for texts in read_texts(path, column, errors, read.append, max_line=max_line, encoding=encoding):
                yield texts
                advance("read", sum(read), total)  # only now are they encoded
                read.clear()

    with progress() as advance:
        yield chunks(advance)


#: Positions of a text from which on its language can be told, and the share of syllables below which it is another's.
_ENOUGH, _FOREIGN = 10, 0.05


class LanguageCheck:
    """Counts the syllables among positions, and says so where hardly one is of the language that was named."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.positions = self.native = 0

    def add(self, kinds: NDArray[np.uint8]) -> None:
        """Counts the kinds of some positions, uint8 (N,)."""
        self.positions += len(kinds)
        self.native += int(np.count_nonzero(kinds == NATIVE))

    def warn(self) -> None:
        """Writes a line to standard error where the language is in doubt."""
        if self.positions >= _ENOUGH and self.native < _FOREIGN * self.positions:
            share = self.native / self.positions
            name = {"vi": "Vietnamese", "zh": "Mandarin"}[self.lang]
            say(f"only {share:.1%} of {self.positions:,} positions are {name} syllables: is the text {name}?", err=True)


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table on standard output."""
    from rich.table import Table

    table = Table(*columns)
    for row in rows:
        cells = map(str, row)
        table.add_row(*(printable(cell, keep="") for cell in cells))
    console().print(table)


def print_figures(title: str, heading: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table of figures, whose first column may wrap; where standard output is not a terminal, as wide as it is."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=printable(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(heading[0], overflow="fold")
    body = list(rows)
    for column, name in enumerate(heading[1:], start=1):
        words = [*name.split(), *(row[column] for row in body)]
        table.add_column(name, justify="right", min_width=max(map(len, words)))
    for row in body:
        table.add_row(*map(printable, row))
    console(wide=_WIDE).print(table)


def print_json(value: object) -> None:
    """JSON on standard output."""
    say(json_text(value))


@contextmanager
def output_file(path: str | None, force: bool = True) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when it is complete."""
    if path is not None:
        with replacing(path, overwrite=force) as file:
            yield file
    else:
        with standard_output() as stdout:
            yield stdout
