"""AFQMC: do two questions to Ant Financial's customer service mean the same?"""

from __future__ import annotations

from phonemic.tasks.dataset import DataSet, layout
from phonemic.tasks.pairs import json_pairs
from phonemic.tasks.reading import same

LABELS = same("0", "1")

DATASET = DataSet(
    name="afqmc",
    title="AFQMC",
    lang="zh",
    kind="sentence-pair",
    metric="accuracy",
    labels={"label": tuple(LABELS.values())},
    splits=("train", "dev", "test"),
    layouts=(layout("{}.json"),),
    folders=("zh/afqmc", "afqmc", "afqmc_public"),
    home="https://github.com/CLUEbenchmark/CLUE",
    licence="none stated",
    parse=json_pairs(LABELS),
    intrinsic=("train", "dev"),
    test="dev",
)
