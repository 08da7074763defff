"""NIIVTB: the part of speech of every word of a treebank of newspaper text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TaggedExample
from phonemic.tasks.records import Record, lines
from phonemic.tasks.tagging import labelled_words

LABELS = tuple(
    "Sv Nc Ncs Nu Nun Nw Num Nq Nr Nt Nn Ve Vc D VA VN NA Vcp Vv An Aa Pd Pp R Cs Cp ON ID E M FW X PU "
    "LBRK RBRK".split()
)

_LEAF = re.compile(r"\(([^\s()]+) (\S+?)\)(?=[\s()]|$)")
_EMPTY = re.compile(r"\*(?:[A-Z0]\*)?(?:-\d+)?")
_UNMERGED = "_SYLLABLE_WORD"


def parse(paths: Sequence[Path]) -> Iterator[TaggedExample]:
    """A bracketed tree a line: ``((S (NP-SBJ (Nn-H sinh_viên)) (VP (Vv-H học)) (PU .)))``."""
    for path in paths:
        for number, line in lines(path):
            if line.strip():
                yield _sentence(Record(f"{path}:{number}", {}), line)


def _sentence(record: Record, line: str) -> TaggedExample:
    """The words of a tree, without traces and without the functions after a tag (``Nn-H``)."""
    rest = _LEAF.sub("", line)
    leaves = [(tag.partition("-")[0], word) for tag, word in _LEAF.findall(line)]
    words = [(tag, word) for tag, word in leaves if tag == "PU" or not _EMPTY.fullmatch(word)]
    if not words or rest.count("(") != rest.count(")"):
        raise record.error("damaged, no bracketed tree")
    if any(word.endswith(_UNMERGED) for _, word in words):
        raise record.error(
            "holds numbers of syllables instead of words: merge it with the raw text, see the set's page"
        )
    return labelled_words([word for _, word in words], [tag for tag, _ in words], [record.place], LABELS, "_")


DATASET = Dataset(
    name="niivtb-pos",
    title="NIIVTB POS",
    lang="vi",
    kind="sequence-labelling",
    metric="macro-f1",
    labels={"label": LABELS},
    layouts=(
        layout(
            "treebank/NIIVTB-1-Finished/{}/*/*.prd",
            "treebank/NIIVTB-2-Finished/{}/*/*.prd",
            train="Train",
            dev="Dev",
            test="Test",
        ),
        layout("NIIVTB-1-Finished/{}/*/*.prd", "NIIVTB-2-Finished/{}/*/*.prd", train="Train", dev="Dev", test="Test"),
        layout("{}/*/*.prd", train="Train", dev="Dev", test="Test"),
    ),
    folders=("vi/niivtb", "niivtb", "NIIVTB"),
    home="https://github.com/mynlp/niivtb",
    licence="CC BY-NC-SA 2.0; the newspaper text is its owners'",
    parse=parse,
    note="The release has no words: get the raw texts, and its scripts/merge.py writes the -Finished folders.",
)
