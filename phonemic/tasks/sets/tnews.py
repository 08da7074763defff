"""TNEWS: titles of news on Toutiao, 15 categories. Its keywords are not read: the paper leaves them out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TextExample
from phonemic.tasks.records import json_lines, same

LABELS = same(*"100 101 102 103 104 106 107 108 109 110 112 113 114 115 116".split())


def parse(paths: Sequence[Path]) -> Iterator[TextExample]:
    """Lines ``{"sentence": ..., "label": "102", ...}``."""
    for record in json_lines(paths[0]):
        yield TextExample(record.text("sentence"), record.labels({"label": ("label", LABELS)}))


DATASET = Dataset(
    name="tnews",
    title="TNEWS",
    lang="zh",
    kind="classification",
    metric="accuracy",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("{}.json"),),
    folders=("zh/tnews", "tnews", "tnews_public"),
    home="https://github.com/CLUEbenchmark/CLUE",
    parse=parse,
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
)
