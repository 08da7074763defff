"""AFQMC: do two questions to Ant Financial's customer service mean the same?"""

from __future__ import annotations

from functools import partial

from phonemic.tasks import pairs
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.records import same

LABELS = same("0", "1")

DATASET = Dataset(
    name="afqmc",
    title="AFQMC",
    lang="zh",
    kind="sentence-pair",
    metric="accuracy",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("{}.json"),),
    folders=("zh/afqmc", "afqmc", "afqmc_public"),
    home="https://github.com/CLUEbenchmark/CLUE",
    parse=partial(pairs.parse, values=LABELS),
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
)
