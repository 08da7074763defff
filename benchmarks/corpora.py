"""Vietnamese texts that are none of the paper's datasets, for the intrinsic tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from phonemic.files import read_texts

Lines = Iterator[str]


class Corpus(NamedTuple):
    """Texts below the folder of all data.

    Attributes:
        title: what tables call it.
        lang: "vi" or "zh".
        pattern: its files.
        texts: the texts that the lines of a file hold.
    """

    title: str
    lang: str
    pattern: str
    texts: Callable[[Lines], Lines]

    def files(self, root: Path) -> list[Path]:
        """The files that are there."""
        return sorted(root.glob(self.pattern))

    def read(self, root: Path) -> Lines:
        """All texts, one file after the other."""
        for file in self.files(root):
            yield from self.texts(line or "" for lines in read_texts(str(file)) for line in lines)


def entries(lines: Lines) -> Lines:
    """One text a line."""
    return (line for line in lines if line.strip())


def sentences(lines: Lines) -> Lines:
    """The sentences of a CoNLL-U file, as they were written."""
    mark = "# text = "
    return (line.removeprefix(mark) for line in lines if line.startswith(mark))


def tagged(lines: Lines) -> Lines:
    """The sentences of a file of ``TOKEN TAG`` lines, tokens joined by spaces."""
    for full, some in groupby(lines, key=lambda line: bool(line.strip())):
        if full:
            yield " ".join(line.split()[0] for line in some)


CORPORA = (
    Corpus("Dictionary", "vi", "vi/syllables/luong-sorted.txt", entries),
    Corpus("UD VTB", "vi", "vi/ud_vtb/*.conllu", sentences),
    Corpus("VietBioNER", "vi", "vi/vietbioner/**/*.txt", tagged),
)
