"""The paper's 23 data sets: one registry of what each is, and readers of the files as their authors publish them."""

from phonemic.tasks.dataset import DataSet, Folds, Layout
from phonemic.tasks.examples import (
    Answer,
    AspectExample,
    ChoiceExample,
    CoreferenceExample,
    Example,
    PairExample,
    QuestionExample,
    Span,
    TaggedExample,
    TextExample,
)
from phonemic.tasks.registry import get, names, register

__all__ = [
    "Answer",
    "AspectExample",
    "ChoiceExample",
    "CoreferenceExample",
    "DataSet",
    "Example",
    "Folds",
    "Layout",
    "PairExample",
    "QuestionExample",
    "Span",
    "TaggedExample",
    "TextExample",
    "get",
    "names",
    "register",
]
