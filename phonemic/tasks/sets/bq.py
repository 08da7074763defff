"""BQ: do two questions to a bank's customer service mean the same?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks import pairs
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import PairExample
from phonemic.tasks.records import Record, csv_rows, same

LABELS = same("0", "1")


def parse(paths: Sequence[Path]) -> Iterator[PairExample]:
    """Lines ``{"sentence1": ..., "sentence2": ..., "gold_label": "0"}``, or three columns with or without a header."""
    if paths[0].suffix == ".json":
        yield from pairs.parse(paths, LABELS, "gold_label")
        return
    for at, (place, row) in enumerate(csv_rows(paths[0], "\t", quoting=False)):
        record = Record(place, dict(zip(("first", "second", "label"), row, strict=False)))
        if len(row) != 3:
            raise record.error(f"{len(row)} columns, not two sentences and a label")
        if at > 0 or row[2].strip().lower() != "label":
            yield PairExample(row[0], row[1], record.label("label", LABELS))


DATASET = Dataset(
    name="bq",
    title="BQ",
    lang="zh",
    kind="sentence-pair",
    metric="accuracy",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("BQ_{}.json"), layout("{}.tsv")),
    folders=("zh/bq", "bq", "bq_corpus"),
    home="http://icrc.hitsz.edu.cn/info/1037/1162.htm",
    licence="research, on application",
    parse=parse,
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
)
