"""Standard streams that write no control character to a terminal; importing it takes next to nothing.

The streams that are terminals get a writer around them, so that text of libraries, warnings and click's own messages
pass through it too; rich's consoles, which need control sequences of their own, write next to it and have all text
written out before (:mod:`phonemic.terminal`). Output into a pipe or a file is left as it is.
"""

from __future__ import annotations

import logging
import sys
from io import TextIOWrapper

from phonemic.errors import printable


def guard_streams() -> None:
    """Has the standard streams write UTF-8, and send no control character to a terminal; each command begins so."""
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
