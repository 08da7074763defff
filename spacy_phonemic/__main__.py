"""``python -m spacy_phonemic config``: prints a ready training config."""

from __future__ import annotations

import argparse
import sys

from phonemic.inventory import LANGUAGES
from spacy_phonemic.configs import TASKS, config_text


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m spacy_phonemic")
    commands = parser.add_subparsers(required=True)
    config = commands.add_parser("config", help="print a training config: ... config ner --lang zh > config.cfg")
    config.add_argument("task", choices=TASKS)
    config.add_argument("--lang", choices=LANGUAGES, default="vi")
    config.set_defaults(run=lambda given: sys.stdout.write(config_text(given.task, given.lang)))
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
