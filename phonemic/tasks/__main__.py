"""``python -m phonemic.tasks`` writes what the data sets are; with a folder, which of them lie below it."""

import sys

from phonemic.tasks import listing

text = listing.present(sys.argv[1]) if sys.argv[1:] else f"{listing.overview()}\n\n{listing.files()}"
sys.stdout.write(f"{text}\n")
