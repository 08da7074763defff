"""The file of predictions that ``phonemic-bert finetune --predictions`` writes: a JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from phonemic.errors import InputError
from phonemic.files import read_lines
from phonemic.files.jsons import is_blank, loads

#: The types of a prediction: one label (or the number of a choice); labelled spans; a tag per word; aspects, each with
#: its sentiment; the text of an answer, of which several may be right.
FORMS = ("label", "spans", "tags", "aspects", "answer")

_NOTES = ("question", "choices")


@dataclass(frozen=True)
class PredictionRecord:
    """One line of the file.

    Attributes:
        line: its number, from 1.
        text: the text.
        text_b: the second text of a pair.
        gold: in its form: str; a list of (start, end, label), of tags, of (aspect, sentiment) or of accepted answers.
            None where there is none.
        predicted: likewise; of an answer a str.
        tokens: start and end of each word that a tag is about; None where the file does not say.
        notes: the question and the choices, where there are any.
    """

    line: int
    text: str
    text_b: str | None = None
    gold: Any = None
    predicted: Any = None
    tokens: list[tuple[int, int]] | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def has_both(self) -> bool:
        """Whether it is annotated on both sides, so that they can be compared."""
        return self.gold is not None and self.predicted is not None


def read_predictions(path: str) -> tuple[list[PredictionRecord], str | None]:
    """Reads a whole file.

    Arguments:
        path: ``{"text": ..., "gold": ..., "predicted": ...}`` a line; ``text_b``, ``tokens``, ``question`` and
            ``choices`` where the task has them; "-" for standard input. Blank lines are passed over.

    Returns:
        Its records, and which of FORMS their annotation has; None where there is none at all.

    Raises:
        InputError: a line is damaged, or of another form than the first that has both; the message names it.
        OSError: the file cannot be read.
    """
    name = "standard input" if path == "-" else path
    records: list[PredictionRecord] = []
    forms: list[tuple[PredictionRecord, str]] = []
    for line, text in _lines(path):
        try:
            record, found = _record(line, text)
        except ValueError as error:
            raise InputError(f"{name}, line {line}: {error}") from error
        records.append(record)
        if found is not None:
            forms.append((record, found))
    if not forms:
        return records, None
    first, form = next((one for one in forms if one[0].has_both), forms[0])
    for record, found in forms:
        if found != form and not (form == "answer" and _is_half_an_answer(record, found)):
            told = f"annotated with {_PHRASES[found]}, but line {first.line} with {_PHRASES[form]}"
            raise InputError(f"{name}, line {record.line}: {told}")
    return records, form


def _is_half_an_answer(record: PredictionRecord, found: str) -> bool:
    """Whether one side alone, of which the form cannot be told, may be of an answer."""
    return not record.has_both and found == ("tags" if record.predicted is None else "label")


_PHRASES = {
    "label": "one label", "spans": "spans", "tags": "a list of tags", "aspects": "pairs of aspect and sentiment",
    "answer": "the text of an answer",
}  # fmt: skip


def _lines(path: str) -> Iterator[tuple[int, str]]:
    number = 0
    for lines in read_lines(path):
        for line in lines:
            number += 1
            if not is_blank(line):
                yield number, line


def _record(line: int, text: str) -> tuple[PredictionRecord, str | None]:
    try:
        row = loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise ValueError(f"a JSON object is expected, not {_short(row)}")
    for name, optional in (("text", False), ("text_b", True)):
        if not (isinstance(row.get(name), str) or (optional and row.get(name) is None)):
            raise ValueError(f"{name!r} is not a string" if name in row else f"no {name!r} in it")
    tokens = row.get("tokens")
    if tokens is not None:
        tokens = [_span(one, row["text"]) for one in _list("tokens", tokens)]
    gold, predicted = (_plain(row.get(name)) for name in ("gold", "predicted"))
    forms = [_form(value) for value in (gold, predicted) if value not in (None, [])]
    form = _common(forms, gold, predicted)
    if form in ("spans", "aspects", "tags"):
        gold, predicted = (_listed(form, value, row["text"]) for value in (gold, predicted))
    if form == "tags":
        lengths = {len(value) for value in (gold, predicted, tokens) if value is not None}
        if len(lengths) > 1:
            raise ValueError(f"gold, predicted and tokens are of different lengths: {sorted(lengths)}")
    notes = {name: row[name] for name in _NOTES if row.get(name) is not None}
    return PredictionRecord(line, row["text"], row.get("text_b"), gold, predicted, tokens, notes), form


def _plain(value: Any) -> Any:
    """The number of a choice, and a truth value, as a label."""
    return json.dumps(value) if isinstance(value, int | float) else value


def _form(value: Any) -> str:
    if isinstance(value, str):
        return "label"
    if isinstance(value, list):
        if all(isinstance(one, str) for one in value):
            return "tags"
        if all(isinstance(one, list) and len(one) == 3 for one in value):
            return "spans"
        if all(isinstance(one, list) and len(one) == 2 for one in value):
            return "aspects"
    raise ValueError(f"{_short(value)} is not a label, nor a list of tags, spans or aspects")


def _common(forms: list[str], gold: Any, predicted: Any) -> str | None:
    if isinstance(gold, list) and isinstance(predicted, str) and set(forms) <= {"tags", "label"}:
        return "answer"
    if len(set(forms)) > 1 or (isinstance(gold, list) != isinstance(predicted, list) and None not in (gold, predicted)):
        raise ValueError(f"gold ({_short(gold)}) and predicted ({_short(predicted)}) are of different forms")
    return forms[0] if forms else None


def _listed(form: str, value: Any, text: str) -> Any:
    if value is None or form == "tags":
        return value
    if form == "spans":
        return [(*_span(one[:2], text), _label(one[2])) for one in value]
    return [(_label(aspect), None if sentiment is None else _label(sentiment)) for aspect, sentiment in value]


def _span(value: Any, text: str) -> tuple[int, int]:
    if not (isinstance(value, list) and len(value) == 2 and all(type(one) is int for one in value)):
        raise ValueError(f"{_short(value)} is not a start and an end")
    if not 0 <= value[0] < value[1] <= len(text):
        raise ValueError(f"span {value} is empty or outside the text of {len(text)} characters")
    return value[0], value[1]


def _label(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"label {_short(value)} is not a string")
    return value


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name!r} is not a list")
    return value


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"
