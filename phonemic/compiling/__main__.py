"""``python -m phonemic.compiling``: the table files."""

from phonemic.compiling.tables import main

main()
