"""Sentence pairs in JSON lines, as CLUE, OCNLI and ViNLI publish them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.examples import PairExample
from phonemic.tasks.records import Values, json_lines

#: The label of an NLI set where the annotators did not agree.
NO_GOLD = "-"


def parse(paths: Sequence[Path], values: Values, key: str = "label") -> Iterator[PairExample]:
    """Lines ``{"sentence1": ..., "sentence2": ..., key: ...}``."""
    for path in paths:
        for record in json_lines(path):
            agreed = record.fields.get(key) != NO_GOLD
            label = record.label(key, values) if agreed else None
            yield PairExample(record.text("sentence1"), record.text("sentence2"), label)
