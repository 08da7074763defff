"""``python -m phonemic.cli``: the same command."""

from phonemic.cli import main

if __name__ == "__main__":
    main()
