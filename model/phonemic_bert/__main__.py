"""``python -m phonemic_bert``: the ``phonemic-bert`` command."""

from phonemic_bert.cli import main

if __name__ == "__main__":
    main()
