"""ViNLI: natural language inference over news."""

from __future__ import annotations

from functools import partial

from phonemic.tasks import pairs
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.records import same

LABELS = same("entailment", "neutral", "contradiction", "other")

DATASET = Dataset(
    name="vinli",
    title="ViNLI",
    lang="vi",
    kind="sentence-pair",
    metric="macro-f1",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("UIT_ViNLI_1.0_{}.jsonl"),),
    folders=("vi/vinli", "vinli", "ViNLI"),
    home="https://nlp.uit.edu.vn/datasets",
    licence="research, on request",
    parse=partial(pairs.parse, values=LABELS, key="gold_label"),
    note="Pairs on which the annotators did not agree have no label.",
)
