"""The paper's 23 datasets and a few beyond.

One registry of what each is, and readers of the files as their authors publish them. :mod:`phonemic.tasks.custom` reads
users' own files.
"""

from phonemic.tasks.dataset import Dataset, Folds, Layout, layout
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
    Word,
)
from phonemic.tasks.registry import beyond, get, names, register

__all__ = [
    "Answer",
    "AspectExample",
    "ChoiceExample",
    "CoreferenceExample",
    "Dataset",
    "Example",
    "Folds",
    "Layout",
    "PairExample",
    "QuestionExample",
    "Span",
    "TaggedExample",
    "TextExample",
    "Word",
    "beyond",
    "get",
    "layout",
    "names",
    "register",
]
