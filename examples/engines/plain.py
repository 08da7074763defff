"""The parts that all scripts of engines share: texts, a tokenizer, and the plain run that results are compared with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from phonemic import Tokenizer

#: A file of lines given on the command line, or the examples' own.
PATH = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "sentences-vi.txt"

TOKENIZER = Tokenizer("vi")


def lines() -> list[str | None]:
    """The texts, and a null among them."""
    return [*PATH.read_text("utf-8").split("\n"), None]


def compare(engine: str, texts: list[str | None], rows: list[list[int] | None]) -> None:
    """Exits with an error where an engine's rows are not those of the plain run, text by text."""
    found: dict[Any, Any] = dict(zip(texts, rows, strict=True))
    for text in lines():
        expected = None if text is None else TOKENIZER.encode(text).ids.tolist()
        if found.get(text, "missing") != expected:
            sys.exit(f"{engine}: {text!r} gave {found.get(text, 'nothing')}, not {expected}")
    sys.stdout.write(f"{engine}: {len(rows)} rows, equal to the plain run\n")
