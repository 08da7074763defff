"""OCNLI: natural language inference, written in Chinese from the start."""

from __future__ import annotations

from functools import partial

from phonemic.tasks import pairs
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.records import same

LABELS = same("entailment", "neutral", "contradiction")

DATASET = Dataset(
    name="ocnli",
    title="OCNLI",
    lang="zh",
    kind="sentence-pair",
    metric="accuracy",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("{}.json", train="train.50k"), layout("{}.json"), layout("{}.json", train="train.10k")),
    folders=("zh/ocnli", "ocnli", "ocnli_public", "OCNLI"),
    home="https://github.com/CLUEbenchmark/OCNLI",
    licence="CC BY-NC 2.0",
    parse=partial(pairs.parse, values=LABELS),
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
    note="Pairs on which the annotators did not agree have no label.",
)
