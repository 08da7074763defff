"""ViNLI: natural language inference over news."""

from __future__ import annotations

from phonemic.tasks.dataset import DataSet, layout
from phonemic.tasks.pairs import json_pairs
from phonemic.tasks.reading import same

LABELS = same("entailment", "neutral", "contradiction", "other")

DATASET = DataSet(
    name="vinli",
    title="ViNLI",
    lang="vi",
    kind="sentence-pair",
    metric="macro-f1",
    labels={"label": tuple(LABELS.values())},
    splits=("train", "dev", "test"),
    layouts=(layout("UIT_ViNLI_1.0_{}.jsonl"),),
    folders=("vi/vinli", "vinli", "ViNLI"),
    home="https://nlp.uit.edu.vn/datasets",
    licence="research, on request",
    parse=json_pairs(LABELS, "gold_label"),
    intrinsic=("train", "dev", "test"),
    test="test",
    dev="dev",
    note="Pairs on which the annotators did not agree have no label.",
)
