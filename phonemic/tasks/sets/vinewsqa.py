"""ViNewsQA: questions about health news, answered by a piece of the article."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from phonemic.tasks import squad
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import QuestionExample


def articles_questions_answers(examples: Iterable[QuestionExample]) -> Iterator[str]:
    """Each article once, each question, each answer: 62 thousand texts, as many as the paper's figures make.

    Its 2,754,214 positions at 44.45 a text are 61,962 texts; 22,057 questions and 4,416 articles leave 35,489 answers,
    which is one a question of the training set and several of the others.
    """
    for context, questions in groupby(examples, lambda example: example.context):
        yield context
        for question in questions:
            yield question.question
            yield from (answer.text for answer in question.answers)


DATASET = Dataset(
    name="vinewsqa",
    title="ViNewsQA",
    lang="vi",
    kind="question-answering",
    metric="answer-f1",
    labels={},
    layouts=(layout("{}_ViNewsQA.json"), layout("{}/*.json", train="Train", dev="Dev", test="Test")),
    folders=("vi/vinewsqa", "vinewsqa", "ViNewsQA", "UIT-ViNewsQA"),
    home="https://nlp.uit.edu.vn/datasets",
    licence="research, on request",
    parse=squad.parse,
    texts_of=articles_questions_answers,
)
