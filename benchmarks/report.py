"""Write the tables and pictures of README.md and docs/ from ``benchmarks/results``.

    python benchmarks/report.py [--check] [--pictures]

A table is between ``<!-- table: NAME -->`` and ``<!-- end of table -->``, and ``benchmarks/tables`` has a function of
that name. ``--check`` writes nothing, and fails where a page differs from the results.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tables import TABLES, register

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r"<!-- table: ([^>]+?) -->\n.*?<!-- end of table -->", re.DOTALL)


def pages() -> Iterator[Path]:
    """Yield the README and the pages of the site."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def filled(text: str) -> str:
    """Return a page with its tables made anew; of equal footers only the last is kept.

    Raises:
        KeyError: A mark names no table.
    """
    made = [TABLES[name]() for name in MARKED.findall(text)]
    for at, table in enumerate(made):
        body, _, footer = table.rpartition("\n\n")
        if footer.startswith("*") and any(later.endswith(footer) for later in made[at + 1 :]):
            made[at] = body
    left = iter(made)
    return MARKED.sub(lambda mark: f"<!-- table: {mark[1]} -->\n\n{next(left)}\n\n<!-- end of table -->", text)


def main() -> None:
    """Write or check the pages."""
    register()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page differs")
    parser.add_argument("--pictures", action="store_true", help="draw the pictures of the results, too (matplotlib)")
    given = parser.parse_args()
    check = given.check
    differing = []
    for page in pages():
        text = page.read_text("utf-8")
        if (made := filled(text)) != text:
            differing.append(page.relative_to(ROOT).as_posix())
            if not check:
                page.write_text(made, "utf-8")
    print("\n".join(differing))
    if given.pictures:
        from benchmarks.tables import pictures

        pictures.draw(ROOT / "docs" / "images")
    if check and differing:
        raise SystemExit("differ from benchmarks/results: run python benchmarks/report.py")


if __name__ == "__main__":
    main()
