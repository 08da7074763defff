"""Consoles and text for a terminal: control characters in the text of others are written out, whoever prints it.

What goes into a pipe or a file is left as it is; :mod:`phonemic.streams` has the streams themselves.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TextIO, cast

import click
from rich.console import Console
from rich.segment import Segment

from phonemic.errors import OutputError, printable, shows
from phonemic.files.writing import naming


class _Console(Console):
    """A console whose text holds no control characters."""

    def render_str(self, text: str, **options: Any) -> Any:
        """A text before it is laid out."""
        return super().render_str(printable(text), **options)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Pieces of text, and control sequences of the console's own."""
        for one in super().render(renderable, options):
            yield one if one.control else Segment(printable(one.text), one.style)


def console(stderr: bool = False, file: Any = None, wide: int | None = None) -> Console:
    """A console for text that is taken as it is, without markup.

    Arguments:
        stderr: for standard error.
        file: to write to instead of a standard stream.
        wide: the width where it is not a terminal; None leaves it to rich.

    Raises:
        OutputError: standard output is closed.
    """
    if file is None:
        file = sys.stderr if stderr else _open_output()
        while (proxied := getattr(file, "rich_proxied_file", None)) is not None:
            file = proxied
    made = _Console(stderr=stderr, file=file, markup=False, emoji=False, highlight=False)
    if wide is not None and not made.is_terminal:
        made.width = wide
    return made


def say(text: str, err: bool = False, end: str = "\n") -> None:
    """Writes text to standard output or error: as it is, but for control characters where that is a terminal.

    Raises:
        OutputError: standard output is closed; to a closed standard error nothing is written.
    """
    stream = sys.stderr if err else _open_output()
    if stream is not None:
        click.echo((printable(text) if stream.isatty() else text) + end, nl=False, err=err)


def json_text(value: object, indent: int | None = 2) -> str:
    r"""JSON over several lines, or None for one; what would be written out is, as JSON does it (``\u001b``)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return "".join(char if shows(char) else json.dumps(char)[1:-1] for char in text)


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Standard output for UTF-8.

    Raises:
        OutputError: it is closed.
        OSError: it cannot be written to, such as a full disk; the error says so.
    """
    stream = _open_output()
    with naming("standard output"):
        file = cast(BinaryIO, _Decoding()) if stream.isatty() else stream.buffer
        yield file
        file.flush()


def _open_output() -> TextIO:
    if sys.stdout is None:
        raise OutputError("standard output is closed: give it somewhere to go, or name a file")
    return sys.stdout


class _Decoding:
    """A stream of bytes to a terminal."""

    def write(self, data: bytes) -> int:
        """Writes UTF-8."""
        say(data.decode("utf-8", "backslashreplace"), end="")
        return len(data)

    def flush(self) -> None:
        """Writes what is held."""
        sys.stdout.flush()
