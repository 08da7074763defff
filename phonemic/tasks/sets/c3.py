"""C3: multiple-choice questions about a dialogue (d) or a text (m), from exams of Chinese as a foreign language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from phonemic.errors import InputError
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import ChoiceExample
from phonemic.tasks.records import Record, json_document
from phonemic.tasks.tagging import strings


def parse(paths: Sequence[Path]) -> Iterator[ChoiceExample]:
    """Lists ``[[turns], [{"question": ..., "choice": [...], "answer": ...}], id]``; the turns make the context."""
    for path in paths:
        document = json_document(path)
        if not isinstance(document, list):
            raise InputError(f"{path}: is not a JSON list")
        for at, entry in enumerate(document):
            yield from _questions(f"{path}: entry {at}", entry)


def _questions(place: str, entry: Any) -> Iterator[ChoiceExample]:
    match entry:
        case [list(turns), list(questions), *_] if all(isinstance(turn, str) for turn in turns):
            context = "\n".join(turns)
        case _:
            raise InputError(f"{place}: no list of turns and of questions")
    for question in questions:
        if not isinstance(question, dict):
            raise InputError(f"{place}: a question is not a JSON object")
        record = Record(place, question)
        choices, answer = tuple(strings(record, "choice")), question.get("answer")
        if answer and answer not in choices:
            raise record.error(f"the answer {answer!r} is not one of the choices {', '.join(choices)}")
        yield ChoiceExample(context, record.text("question"), choices, choices.index(answer) if answer else None)


def questions_and_choices(examples: Iterable[ChoiceExample]) -> Iterator[str]:
    """Each question and each choice is a text; the context is none: the paper's average length is 6.41 characters."""
    for example in examples:
        yield example.question
        yield from example.choices


DATASET = Dataset(
    name="c3",
    title="C3",
    lang="zh",
    kind="multiple-choice",
    metric="accuracy",
    labels={},
    layouts=(layout("c3-d-{}.json", "c3-m-{}.json"), layout("d-{}.json", "m-{}.json")),
    folders=("zh/c3", "c3", "c3_public"),
    home="https://github.com/nlpdata/c3",
    licence="non-commercial research",
    parse=parse,
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
    texts_of=questions_and_choices,
)
