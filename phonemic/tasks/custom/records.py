"""Rows of a table and lines of JSON of users' own: each as the example of its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from phonemic.tasks import squad, tagging
from phonemic.tasks.custom.formats import Fields, Labels
from phonemic.tasks.examples import Answer, ChoiceExample, Example, PairExample, QuestionExample, TextExample
from phonemic.tasks.records import Record, json_lines, table


def examples(path: Path, form: str, kind: str, fields: Fields, labels: Labels | None) -> Iterator[Example]:
    """The examples of a file of rows or of JSON lines.

    Arguments:
        path: the file.
        form: its format.
        kind: of the dataset.
        fields: where what is.
        labels: the ones that may occur; None for any.

    Raises:
        InputError: the file is not as described.
    """
    example = _EXAMPLES[kind]
    for record in _records(path, form, kind, fields):
        yield example(record, fields, labels)


def _records(path: Path, form: str, kind: str, fields: Fields) -> Iterator[Record]:
    if form == "jsonl":
        return json_lines(path)
    columns = {
        "classification": (fields.text, *_several(fields.label)),
        "sentence-pair": (fields.text, fields.text_b, *_several(fields.label)),
        "multiple-choice": (fields.context, fields.question, *_several(fields.choices), fields.answer),
        "question-answering": (fields.context, fields.question, fields.answer),
    }[kind]
    return table(path, columns, "\t" if form == "tsv" else ",", fields.quoting, workbook=form == "xlsx")


def _several(columns: str | Sequence[str]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _text(record: Record, fields: Fields, labels: Labels | None) -> TextExample:
    if isinstance(fields.label, str):
        return TextExample(record.text(fields.text), {"label": _label(record, fields.label, "label", labels)})
    targets = {column: _label(record, column, column, labels) for column in fields.label}
    return TextExample(record.text(fields.text), targets)


def _pair(record: Record, fields: Fields, labels: Labels | None) -> PairExample:
    (column,) = _several(fields.label)
    return PairExample(record.text(fields.text), record.text(fields.text_b), _label(record, column, "label", labels))


def _label(record: Record, column: str, target: str, labels: Labels | None) -> str:
    """A label that is there and, where labels are given, one of them."""
    if column not in record.fields:
        record.get(column, str)  # says which there are
    value = record.fields[column]
    if value is None or (isinstance(value, str) and not value.strip()):
        raise record.error(f"{column!r} is empty: every example needs a label; leave out those without")
    if not isinstance(value, str | int):
        raise record.error(f"{column!r} is {type(value).__name__}, not a label (text or a whole number)")
    label = str(value).lower() if isinstance(value, bool) else str(value).strip()
    if labels is not None and label not in labels[target]:
        raise record.error(f"{column} {label!r} is not a label of the training file: {', '.join(labels[target])}")
    return label


def _choice(record: Record, fields: Fields, labels: Labels | None) -> ChoiceExample:
    if isinstance(fields.choices, str) and not isinstance(record.fields.get(fields.choices), str):
        choices = tagging.strings(record, fields.choices)
    else:
        choices = [record.text(column) for column in _several(fields.choices)]
    if len(choices) < 2 or len(set(choices)) < len(choices):
        raise record.error("needs two choices or more, all different: a list, or several columns (choices=)")
    answer = record.fields.get(fields.answer)
    if answer in choices:
        at = choices.index(answer)
    elif str(answer).strip().isdecimal() and int(str(answer)) < len(choices):
        at = int(str(answer))
    else:
        raise record.error(f"{fields.answer} {answer!r} is not a choice, nor an index from 0 to {len(choices) - 1}")
    return ChoiceExample(record.text(fields.context), record.text(fields.question), tuple(choices), at)


def _question(record: Record, fields: Fields, labels: Labels | None) -> QuestionExample:
    context = record.text(fields.context)
    name = str(record.fields.get("id", record.place.rpartition(":")[2]))
    written = record.fields.get(fields.answer)
    accepted = () if written == "[]" else _answers(record, written)  # a cell of a table cannot be a list
    answers = tuple(Answer(text, squad.place_of(text, start, context)) for text, start in accepted)
    return QuestionExample(name, context, record.text(fields.question), answers)


def _answers(record: Record, value: Any) -> Iterator[tuple[str, int]]:
    """Each accepted answer, and where the file says that it begins; -1 where it does not."""
    match value:
        case str(text):
            if not text.strip():
                raise record.error("the answer is empty; leave the question out, or write [] if it has none")
            yield text, -1
        case {"text": list(texts), "answer_start": list(starts)} if len(texts) == len(starts):
            for text, start in zip(texts, starts, strict=True):
                yield from _answers(record, {"text": text, "answer_start": start})
        case {"text": str(text)}:
            yield text, Record(record.place, value).get("answer_start", int, -1)
        case list(entries):
            for entry in entries:
                yield from _answers(record, entry)
        case _:
            raise record.error(f"the answer is {type(value).__name__}; it may be a text, a list of texts or SQuAD's")


_EXAMPLES: dict[str, Callable[[Record, Fields, Labels | None], Example]] = {
    "classification": _text,
    "sentence-pair": _pair,
    "multiple-choice": _choice,
    "question-answering": _question,
}
