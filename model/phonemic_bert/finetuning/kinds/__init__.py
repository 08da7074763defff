"""A small class for each kind of task: what a row is, the loss, and how outputs become predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phonemic_bert.finetuning.kinds.aspects import Aspects
from phonemic_bert.finetuning.kinds.base import Instance, Kind, Window
from phonemic_bert.finetuning.kinds.choices import Choices
from phonemic_bert.finetuning.kinds.classification import Classification, Coreference, Pairs
from phonemic_bert.finetuning.kinds.questions import Questions
from phonemic_bert.finetuning.kinds.tagging import Tagging

if TYPE_CHECKING:
    from phonemic.tasks import Dataset
    from phonemic_bert.finetuning.encoders import Encoder
    from phonemic_bert.finetuning.settings import Text

__all__ = ["KINDS", "Instance", "Kind", "Window", "make_kind"]

#: By ``Dataset.kind``.
KINDS: dict[str, type[Kind]] = {
    "classification": Classification,
    "aspect-sentiment": Aspects,
    "sentence-pair": Pairs,
    "coreference": Coreference,
    "multiple-choice": Choices,
    "question-answering": Questions,
    "sequence-labelling": Tagging,
}


def make_kind(dataset: Dataset, target: str, encoder: Encoder, text: Text) -> Kind:
    """The kind of a dataset's task, for one target and one encoder."""
    return KINDS[dataset.kind](dataset, target, encoder, text)
