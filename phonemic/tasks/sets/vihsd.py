"""ViHSD: is a comment on social media hateful?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TextExample
from phonemic.tasks.records import table

LABELS = {"0": "CLEAN", "1": "OFFENSIVE", "2": "HATE"}


def parse(paths: Sequence[Path]) -> Iterator[TextExample]:
    """Columns ``free_text`` and ``label_id``."""
    for record in table(paths[0], ("free_text", "label_id")):
        yield TextExample(record.text("free_text"), record.labels({"label": ("label_id", LABELS)}))


DATASET = Dataset(
    name="vihsd",
    title="ViHSD",
    lang="vi",
    kind="classification",
    metric="macro-f1",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("{}.csv"), layout("vihsd/{}.csv")),
    folders=("vi/vihsd", "vihsd", "ViHSD"),
    home="https://github.com/sonlam1102/vihsd",
    licence="research",
    parse=parse,
)
