"""A group of commands that are imported when they are called, and whose errors are one line."""

from __future__ import annotations

import errno
import importlib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from phonemic.errors import PhonemicError, message, printable

#: Exit status of a command that Ctrl-C ended, as shells have it: 128 and the signal's number.
INTERRUPTED = 130


class Group(click.Group):
    """Shows the project's errors and the system's as one line; click itself deals with a broken pipe.

    Arguments:
        package: the package that holds the lazy commands.
        lazy: command to summary. A command is the object of its name in the module of its name (``_`` for ``-``), which
            is imported when the command is called or asked for help; the group's own help shows the summaries.
        modules: command to its module, where it is another.
    """

    def __init__(
        self,
        *args: Any,
        package: str = "",
        lazy: Mapping[str, str] | None = None,
        modules: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.package, self.lazy, self.modules = package, lazy or {}, modules or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, sorted."""
        return sorted({*self.commands, *self.lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now; None if there is none."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        name = cmd_name.replace("-", "_")
        module = self.modules.get(cmd_name, f"{self.package}.{name}")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands and their summaries, importing none."""
        lazy = {name: click.Command(name, short_help=summary) for name, summary in self.lazy.items()}
        click.Group.format_commands(click.Group(commands={**self.commands, **lazy}), ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        try:
            with _told_warnings():
                return super().invoke(ctx)
        except (PhonemicError, OSError, MemoryError) as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            raise click.ClickException(printable(message(error))) from error
        except KeyboardInterrupt:
            from phonemic.terminal import say

            say("interrupted", err=True)
            return ctx.exit(INTERRUPTED)


@contextmanager
def _told_warnings() -> Iterator[None]:
    """Shows the project's own warnings as one line."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *args: Any, **options: Any) -> None:
        if category.__module__.partition(".")[0] not in ("phonemic", "phonemic_bert"):
            before(message, category, *args, **options)
            return
        from phonemic.terminal import say  # not before: a command's help needs no console

        say(f"Warning: {printable(str(message))}", err=True)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before
