"""What reaches a terminal: control characters in the text of others are written out, whoever prints it.

The standard streams that are terminals get a writer around them, so that text of libraries, warnings and click's own
messages pass through it too; rich's consoles, which need control sequences of their own, write beside it and have all
text written out before. What goes into a pipe or a file is left as it is.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import Any, BinaryIO, cast

import click
from rich.console import Console
from rich.segment import Segment

from phonemic.errors import printable, shows


def guard_streams() -> None:
    """Has the standard streams write UTF-8, and no control character to a terminal; each command begins so."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper) and not isinstance(stream, _Written):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
            if stream.isatty():
                guarded = _Written(stream)
                setattr(sys, name, guarded)
                _log_to(guarded, {stream, getattr(sys, f"__{name}__")})


class _Written(TextIOWrapper):
    """A terminal to which control characters are written out."""

    def __init__(self, stream: TextIOWrapper) -> None:
        super().__init__(stream.buffer, "utf-8", "backslashreplace", line_buffering=True, write_through=True)
        #: Where rich's consoles write to.
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Writes a text."""
        super().write(printable(text))
        return len(text)


def _log_to(guarded: TextIOWrapper, streams: set[object]) -> None:
    """Has the handlers of loggers that were made before write to the guarded stream instead."""
    named = logging.root.manager.loggerDict.values()
    for logger in [logging.root, *(one for one in named if isinstance(one, logging.Logger))]:
        for handler in logger.handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream in streams:
                handler.setStream(guarded)


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
        wide: the width where it is no terminal; None leaves it to rich.
    """
    if file is None:
        file = sys.stderr if stderr else sys.stdout
        while (proxied := getattr(file, "rich_proxied_file", None)) is not None:
            file = proxied
    made = _Console(stderr=stderr, file=file, markup=False, emoji=False, highlight=False)
    if wide is not None and not made.is_terminal:
        made.width = wide
    return made


def say(text: str, err: bool = False, end: str = "\n") -> None:
    """Writes text to standard output or error: as it is, but for control characters where that is a terminal."""
    stream = sys.stderr if err else sys.stdout
    click.echo((printable(text) if stream.isatty() else text) + end, nl=False, err=err)


def json_text(value: object) -> str:
    r"""JSON over several lines; what would be written out is, as JSON does it (``\u001b``)."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return "".join(char if shows(char) else json.dumps(char)[1:-1] for char in text)


def standard_output() -> BinaryIO:
    """Standard output for UTF-8."""
    return cast(BinaryIO, _Decoding()) if sys.stdout.isatty() else sys.stdout.buffer


class _Decoding:
    """What takes bytes for a terminal."""

    def write(self, data: bytes) -> int:
        """Writes UTF-8."""
        say(data.decode("utf-8", "backslashreplace"), end="")
        return len(data)

    def flush(self) -> None:
        """Writes what is held."""
        sys.stdout.flush()
