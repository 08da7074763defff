"""``python -m phonemic.tasks``: a description of the datasets, or a list of the ones in a folder."""

import argparse
import sys

from phonemic.errors import printable
from phonemic.tasks import beyond, listing


def main(arguments: list[str] | None = None) -> None:
    """Writes the tables of the datasets, or with a folder one line per dataset: where it is, and its splits.

    Arguments:
        arguments: the words of the command line; None: the process's own.
    """
    parser = argparse.ArgumentParser(
        prog="python -m phonemic.tasks",
        description="Describe the datasets in Markdown tables: tasks, metrics, licences, names of files.",
    )
    parser.add_argument(
        "folder", nargs="?", metavar="FOLDER", help="List the datasets and splits that are below this folder instead."
    )
    folder = parser.parse_args(arguments).folder
    if folder is None:
        text = "\n\n".join(write(names) for names in (None, beyond()) for write in (listing.overview, listing.files))
    else:
        text = listing.present(folder)
    sys.stdout.write(f"{printable(text) if sys.stdout.isatty() else text}\n")


if __name__ == "__main__":
    main()
