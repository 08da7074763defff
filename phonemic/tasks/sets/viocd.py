"""ViOCD: is a review in a web shop a complaint?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TextExample
from phonemic.tasks.records import entries, json_document, same, table

LABELS = {"0": "non-complaint", "1": "complaint"} | same("non-complaint", "complaint")


def parse(paths: Sequence[Path]) -> Iterator[TextExample]:
    """Columns ``review`` and ``label``; or a JSON list, or object of objects, with these fields."""
    if paths[0].suffix == ".json":
        document = json_document(paths[0])
        records = entries(paths[0], list(document.values()) if isinstance(document, dict) else document)
    else:
        records = table(paths[0], ("review", "label"))
    for record in records:
        yield TextExample(record.text("review"), record.labels({"label": ("label", LABELS)}))


DATASET = Dataset(
    name="viocd",
    title="ViOCD",
    lang="vi",
    kind="classification",
    metric="macro-f1",
    labels={"label": ("non-complaint", "complaint")},
    layouts=(layout("{}.csv", dev="val"), layout("{}.csv"), layout("{}.json")),
    folders=("vi/viocd", "viocd", "ViOCD", "UIT-ViOCD"),
    home="https://huggingface.co/datasets/tarudesu/ViOCD",
    parse=parse,
)
