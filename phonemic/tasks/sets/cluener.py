"""CLUENER: named entities in news, 10 types, annotated by characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import Span, TaggedExample
from phonemic.tasks.records import Record, json_lines

LABELS = tuple("address book company game government movie name organization position scene".split())


def parse(paths: Sequence[Path]) -> Iterator[TaggedExample]:
    """Lines ``{"text": ..., "label": {"name": {"叶老桂": [[9, 11]]}}}``, the last character included."""
    for record in json_lines(paths[0]):
        text = record.text("text")
        labelled = "label" in record.fields
        spans = tuple(sorted(_spans(record, text), key=_place)) if labelled else None
        yield TaggedExample(text, spans, place=record.place)


def _spans(record: Record, text: str) -> Iterator[Span]:
    for label, mentions in record.get("label", dict).items():
        if label not in LABELS:
            raise record.error(f"{label!r} is not a label of this set: {', '.join(LABELS)}")
        found = Record(record.place, {label: mentions}).get(label, dict)
        for mention in found:
            for place in Record(record.place, found).get(mention, list):
                yield _span(record, text, label, mention, place)


def _span(record: Record, text: str, label: str, mention: str, place: Any) -> Span:
    match place:
        case [int(first), int(last)] if (
            type(first) is type(last) is int and 0 <= first <= last and text[first : last + 1] == mention
        ):
            return Span(first, last + 1, label)
    raise record.error(f"{label} {mention!r} does not stand at characters {place}")


def _place(span: Span) -> tuple[int, int]:
    return span.start, span.end


DATASET = Dataset(
    name="cluener",
    title="CLUENER",
    lang="zh",
    kind="sequence-labelling",
    metric="span-f1",
    labels={"label": LABELS},
    layouts=(layout("{}.json"),),
    folders=("zh/cluener", "cluener", "cluener_public"),
    home="https://github.com/CLUEbenchmark/CLUENER2020",
    parse=parse,
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
)
