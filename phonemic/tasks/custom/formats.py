"""The formats of users' own files, and where in them what is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from phonemic.errors import InputError

#: Target to the labels that may occur.
Labels = Mapping[str, tuple[str, ...]]

#: The formats, and the suffixes that say them.
FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv",),
    "xlsx": (".xlsx",),
    "jsonl": (".jsonl", ".jsonlines", ".ndjson"),
    "squad": (".json",),
    "conll": (".conll", ".bio", ".iob", ".iob2", ".bioes", ".bmes", ".txt"),
    "conllu": (".conllu",),
    "docbin": (".spacy",),
}
#: Which formats hold which kind.
_RECORDS = ("csv", "tsv", "xlsx", "jsonl")
_KINDS = {
    "classification": (*_RECORDS, "docbin"),
    "sentence-pair": _RECORDS,
    "multiple-choice": _RECORDS,
    "question-answering": (*_RECORDS, "squad"),
    "sequence-labelling": ("jsonl", "conll", "conllu", "docbin"),
}


@dataclass(frozen=True)
class Fields:
    """Where in an entry what is, see :func:`phonemic.tasks.custom.dataset`; ``between`` is between words."""

    text: str = "text"
    text_b: str = "text_b"
    label: str | Sequence[str] = "label"
    context: str = "context"
    question: str = "question"
    choices: str | Sequence[str] = "choices"
    answer: str = "answer"
    word: int | str = 0
    tag: int | str = -1
    joiner: str = ""
    comment: str = ""
    quoting: bool = True
    between: str = " "
    strict: bool = False


def format_of(path: Path, kind: str, named: str | None) -> str:
    """The format of a file.

    Raises:
        InputError: its suffix says none, or the format holds no such examples.
    """
    found = named or next((name for name, suffixes in FORMATS.items() if path.suffix.lower() in suffixes), None)
    if found is None:
        raise InputError(f"{path}: its suffix says no format; give file_format=, one of {', '.join(_KINDS[kind])}")
    if found not in _KINDS[kind]:
        raise InputError(f"{path}: {found} holds no {kind}; the formats that do are {', '.join(_KINDS[kind])}")
    return found
