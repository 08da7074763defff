"""Places that are easily mistaken: where a listed word of two characters crosses the border of the words around it.

``python -m benchmarks.readings.boundaries FILE [--wrong READER]``: FILE has a text per line with one or more marks,
``拿[着zhe5]手机`` (or, behind the character, ``拿着[zhe5]手机``). Prints the share that the default and the reading in
context have right.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.readings.cpp import Case, normal
from benchmarks.readings.judge import Reader, context_reader, default_reader

_MARK = re.compile(r"\[([^a-z])([a-zü:]+[1-5])\]|(.)(?:\[([a-zü:]+[1-5])\])?")


def cases(path: Path) -> list[Case]:
    """A case for each mark of a file.

    Arguments:
        path: in UTF-8; empty lines and lines that begin with ``#`` are left out.

    Raises:
        ValueError: a line has no mark.
    """
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        parts = _MARK.findall(line)
        text = "".join(char or other for char, _, other, _ in parts)
        readings = [reading or behind for _, reading, _, behind in parts]
        marked = [Case(text, at, normal(reading)) for at, reading in enumerate(readings) if reading]
        if not marked:
            raise ValueError(f"{path}, line {number}: no mark such as [着zhe5]")
        found += marked
    return found


def wrong(judged: Sequence[Case], reader: Reader) -> list[tuple[Case, str]]:
    """The cases that a reader reads otherwise, and how."""
    read = [(case, normal(reader(case.text)[case.at])) for case in judged]
    return [(case, reading) for case, reading in read if reading != case.reading]


def main() -> None:
    """Prints both shares, and the errors of one reader on request."""
    readers = {"default": default_reader, "context": context_reader}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--wrong", choices=readers, help="show what this one reads otherwise")
    arguments = parser.parse_args()
    judged = cases(arguments.file)
    for name, reader in readers.items():
        errors = wrong(judged, reader)
        print(f"{name}: {len(judged) - len(errors)} of {len(judged)}, {1 - len(errors) / len(judged):.2%}")
        for case, reading in errors if arguments.wrong == name else ():
            print(f"  {case.text[: case.at]}[{case.char}{case.reading}]{case.text[case.at + 1 :]} {reading}")


if __name__ == "__main__":
    main()
