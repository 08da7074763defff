"""``python -m phonemic``: the ``phonemic`` command."""

from phonemic.cli import main

if __name__ == "__main__":
    main()
