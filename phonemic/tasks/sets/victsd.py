"""ViCTSD: is a comment on the news constructive, is it toxic?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TextExample
from phonemic.tasks.records import table

CONSTRUCTIVENESS = {"0": "non-constructive", "1": "constructive"}
TOXICITY = {"0": "non-toxic", "1": "toxic"}
TARGETS = {"constructiveness": ("Constructiveness", CONSTRUCTIVENESS), "toxicity": ("Toxicity", TOXICITY)}


def parse(paths: Sequence[Path]) -> Iterator[TextExample]:
    """Columns ``Comment``, ``Constructiveness`` and ``Toxicity``."""
    for record in table(paths[0], ("Comment", "Constructiveness", "Toxicity")):
        yield TextExample(record.text("Comment"), record.labels(TARGETS))


DATASET = Dataset(
    name="victsd",
    title="ViCTSD",
    lang="vi",
    kind="classification",
    metric="macro-f1",
    labels={target: tuple(values.values()) for target, (_, values) in TARGETS.items()},
    layouts=(
        layout("ViCTSD_{}.csv", dev="valid"),
        layout("UIT-ViCTSD_{}.csv", dev="valid"),
        layout("{}.csv", dev="valid"),
    ),
    folders=("vi/victsd", "victsd", "ViCTSD", "UIT-ViCTSD"),
    home="https://github.com/tarudesu/ViCTSD",
    parse=parse,
)
