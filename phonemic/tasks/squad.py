"""Questions in SQuAD's JSON: ``data``, ``paragraphs``, ``qas``, ``answers``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.errors import InputError
from phonemic.tasks.examples import Answer, QuestionExample
from phonemic.tasks.records import Record, entries, json_document


def parse(paths: Sequence[Path]) -> Iterator[QuestionExample]:
    """The questions of the files. A file is a whole set (``data``) or one article (``paragraphs``)."""
    for path in paths:
        document = json_document(path)
        if not isinstance(document, dict):
            raise InputError(f"{path}: is not a JSON object with 'data'")
        articles = [document] if "paragraphs" in document else document.get("data")
        for article in entries(path, articles, "article"):
            yield from _questions(path, article)


def _questions(path: Path, article: Record) -> Iterator[QuestionExample]:
    for paragraph in article.get("paragraphs", list):
        if not isinstance(paragraph, dict):
            raise article.error("a paragraph is not a JSON object")
        passage = Record(article.place, paragraph)
        context = passage.text("context")
        for number, asked in enumerate(passage.get("qas", list)):
            if not isinstance(asked, dict):
                raise passage.error(f"question {number} is not a JSON object")
            name = str(asked.get("id", number))
            question = Record(f"{article.place}, question {name}", asked)
            answers = tuple(_answer(question, answer, context) for answer in question.get("answers", list, []))
            yield QuestionExample(name, context, question.text("question"), answers)


def _answer(question: Record, answer: object, context: str) -> Answer:
    if not isinstance(answer, dict):
        raise question.error("an answer is not a JSON object")
    found = Record(question.place, answer)
    text = found.text("text")
    return Answer(text, place_of(text, found.get("answer_start", int, -1), context))


def place_of(text: str, start: int, context: str) -> int | None:
    """Where an answer begins: where the file says, else the nearest place that holds it, else None."""
    if start >= 0 and context.startswith(text, start):
        return start
    places = []
    at = context.find(text) if text else -1
    while at >= 0:
        places.append(at)
        at = context.find(text, at + 1)
    return min(places, key=lambda place: abs(place - start), default=None)
