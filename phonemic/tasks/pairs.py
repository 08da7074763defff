"""Sentence pairs in JSON lines, as CLUE, OCNLI and ViNLI publish them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from phonemic.tasks.examples import PairExample
from phonemic.tasks.reading import Values, json_lines

#: What an NLI set writes where the annotators did not agree.
NO_GOLD = "-"


def json_pairs(values: Values, key: str = "label") -> Callable[[Sequence[Path]], Iterator[PairExample]]:
    """A parser of ``{"sentence1": ..., "sentence2": ..., key: ...}``, one a line."""

    def parse(paths: Sequence[Path]) -> Iterator[PairExample]:
        for path in paths:
            for record in json_lines(path):
                agreed = record.fields.get(key) != NO_GOLD
                label = record.label(key, values) if agreed else None
                yield PairExample(record.text("sentence1"), record.text("sentence2"), label)

    return parse
