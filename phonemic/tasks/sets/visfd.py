"""UIT-ViSFD: which aspects of a smartphone does a comment judge, and how?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import AspectExample
from phonemic.tasks.records import Record, table

SENTIMENTS = ("Positive", "Neutral", "Negative")
ASPECTS: dict[str, tuple[str, ...]] = dict.fromkeys(
    "BATTERY CAMERA DESIGN FEATURES GENERAL PERFORMANCE PRICE SCREEN SER&ACC STORAGE".split(), SENTIMENTS
) | {"OTHERS": ()}

_LABEL = re.compile(r"\{([^{}#]+)(?:#([^{}#]+))?\};?\s*")


def parse(paths: Sequence[Path]) -> Iterator[AspectExample]:
    """Columns ``comment`` and ``label``; a label is ``{CAMERA#Positive};{OTHERS};``."""
    for record in table(paths[0], ("comment", "label")):
        yield AspectExample(record.text("comment"), tuple(_aspects(record)))


def _aspects(record: Record) -> Iterator[tuple[str, str | None]]:
    written, at = record.text("label").strip(), 0
    while at < len(written):
        found = _LABEL.match(written, at)
        if found is None:
            raise record.error(f"label {written!r} is not written {{ASPECT#Sentiment}};")
        aspect, sentiment = found[1].strip(), found[2].strip() if found[2] else None
        if aspect not in ASPECTS or (sentiment is None) != (not ASPECTS[aspect]):
            raise record.error(f"{found[0].strip()!r} is not a label of this set: the aspects are {', '.join(ASPECTS)}")
        if sentiment is not None and sentiment not in SENTIMENTS:
            raise record.error(f"{sentiment!r} is not a sentiment of this set: {', '.join(SENTIMENTS)}")
        yield aspect, sentiment
        at = found.end()


DATASET = Dataset(
    name="uit-visfd",
    title="UIT-ViSFD",
    lang="vi",
    kind="aspect-sentiment",
    metric="macro-f1",
    labels=ASPECTS,
    layouts=(layout("{}.csv", train="Train", dev="Dev", test="Test"), layout("{}.csv")),
    folders=("vi/visfd", "vi/uit-visfd", "visfd", "UIT-ViSFD"),
    home="https://github.com/LuongPhan/UIT-ViSFD",
    licence="research",
    parse=parse,
)
