"""Prints the lowest release of each dependency that some extras allow, as requirements for pip.

python tests/lowest.py EXTRA ...
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]


def lowest(requirements: list[str]) -> Iterator[str]:
    """Yield each requirement with its lower bound instead of its range, and those of the extras of this project."""
    for requirement in requirements:
        if extras := re.match(r"phonemic\[([\w,]+)\]", requirement):
            for extra in extras[1].split(","):
                yield from lowest(PROJECT["optional-dependencies"][extra])
        else:
            yield re.sub(r"[>=]=([\d.]+).*", r"==\1", requirement)


if __name__ == "__main__":
    found = {*lowest(PROJECT["dependencies"]), *lowest([f"phonemic[{extra}]" for extra in sys.argv[1:]])}
    sys.stdout.write("\n".join(sorted(found)) + "\n")
