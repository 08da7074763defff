"""VSMEC: the emotion of a comment on Facebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TextExample
from phonemic.tasks.records import same, table

LABELS = same("Enjoyment", "Sadness", "Fear", "Anger", "Disgust", "Surprise", "Other")


def parse(paths: Sequence[Path]) -> Iterator[TextExample]:
    """Columns ``Emotion`` and ``Sentence`` of a workbook, or of its export as CSV."""
    for record in table(paths[0], ("Emotion", "Sentence")):
        yield TextExample(record.text("Sentence"), record.labels({"label": ("Emotion", LABELS)}))


DATASET = Dataset(
    name="vsmec",
    title="VSMEC",
    lang="vi",
    kind="classification",
    metric="macro-f1",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("{}_nor_811.xlsx", dev="valid"), layout("{}_nor_811.csv", dev="valid")),
    folders=("vi/vsmec", "vsmec", "UIT-VSMEC"),
    home="https://nlp.uit.edu.vn/datasets",
    licence="research, on request",
    parse=parse,
)
