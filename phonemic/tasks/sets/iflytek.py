"""IFLYTEK: descriptions of mobile apps, 119 categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TextExample
from phonemic.tasks.records import json_lines, same

LABELS = same(*map(str, range(119)))


def parse(paths: Sequence[Path]) -> Iterator[TextExample]:
    """Lines ``{"label": "11", "label_des": ..., "sentence": ...}``."""
    for record in json_lines(paths[0]):
        yield TextExample(record.text("sentence"), record.labels({"label": ("label", LABELS)}))


DATASET = Dataset(
    name="iflytek",
    title="IFLYTEK",
    lang="zh",
    kind="classification",
    metric="accuracy",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("{}.json"),),
    folders=("zh/iflytek", "iflytek", "iflytek_public"),
    home="https://github.com/CLUEbenchmark/CLUE",
    parse=parse,
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
)
