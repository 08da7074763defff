"""CLUEWSC: does the pronoun mean this noun phrase? (CLUEWSC2020)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import CoreferenceExample, Span
from phonemic.tasks.records import Record, json_lines, same

LABELS = same("true", "false")


def parse(paths: Sequence[Path]) -> Iterator[CoreferenceExample]:
    """Lines ``{"text": ..., "target": {"span1_index": 6, "span1_text": ..., "span2_index": ...}, "label": "true"}``."""
    for record in json_lines(paths[0]):
        text = record.text("text")
        candidate, pronoun = _span(record, text, "span1"), _span(record, text, "span2")
        yield CoreferenceExample(text, candidate, pronoun, record.label("label", LABELS))


def _span(record: Record, text: str, name: str) -> Span:
    target = Record(record.place, record.get("target", dict))
    written, start = target.text(f"{name}_text"), target.get(f"{name}_index", int)
    if start < 0 or not written or not text.startswith(written, start):
        raise record.error(f"{name} {written!r} does not stand at character {start}")
    return Span(start, start + len(written), name)


DATASET = Dataset(
    name="cluewsc",
    title="CLUEWSC",
    lang="zh",
    kind="coreference",
    metric="accuracy",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("{}.json"),),
    folders=("zh/cluewsc2020", "zh/cluewsc", "cluewsc2020", "cluewsc2020_public", "cluewsc"),
    home="https://github.com/CLUEbenchmark/CLUE",
    parse=parse,
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
)
