"""``python -m phonemic.tasks`` writes what the datasets are; with a folder, which of them lie below it."""

import sys

from phonemic.errors import printable
from phonemic.tasks import beyond, listing

if sys.argv[1:]:
    text = listing.present(sys.argv[1])
else:
    text = "\n\n".join(write(names) for names in (None, beyond()) for write in (listing.overview, listing.files))
sys.stdout.write(f"{printable(text) if sys.stdout.isatty() else text}\n")
