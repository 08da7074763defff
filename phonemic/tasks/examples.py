"""Examples, a class for each kind of task. Offsets are half-open and count characters of the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text, ``text[start:end]``, and its label."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class TextExample:
    """Single-text classification: a text, and the label of each target; no labels where the file gives none."""

    text: str
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a tokenizer reads."""
        return (self.text,)


@dataclass(frozen=True, slots=True)
class AspectExample:
    """Aspect sentiment.

    Attributes:
        text: the text.
        aspects: (aspect, sentiment) in the file's order; the sentiment is None where the file gives none.
    """

    text: str
    aspects: tuple[tuple[str, str | None], ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a tokenizer reads."""
        return (self.text,)


@dataclass(frozen=True, slots=True)
class PairExample:
    """Two texts and a label.

    Attributes:
        text_a: the first text (a premise, a question).
        text_b: the second text (a hypothesis, another question).
        label: None in an unlabelled test set, and where the annotators did not agree (``-``).
    """

    text_a: str
    text_b: str
    label: str | None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a tokenizer reads: each member is its own text."""
        return self.text_a, self.text_b


@dataclass(frozen=True, slots=True)
class CoreferenceExample:
    """Coreference: whether a noun phrase and a pronoun mean the same.

    Attributes:
        text: the text.
        candidate: the noun phrase in it.
        pronoun: the pronoun in it.
        label: ``"true"`` or ``"false"``; None in an unlabelled test set.
    """

    text: str
    candidate: Span
    pronoun: Span
    label: str | None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a tokenizer reads."""
        return (self.text,)


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """Multiple choice.

    Attributes:
        context: the passage.
        question: what is asked about it.
        choices: the answers to choose from.
        answer: the index of the right choice; None in an unlabelled test set.
    """

    context: str
    question: str
    choices: tuple[str, ...]
    answer: int | None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a tokenizer reads."""
        return self.context, self.question, *self.choices


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question.

    Attributes:
        text: the answer.
        start: where it begins in the context; None where the context does not hold it literally.
    """

    text: str
    start: int | None

    @property
    def end(self) -> int | None:
        """Where it ends: ``context[start:end] == text``."""
        return None if self.start is None else self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class QuestionExample:
    """Extractive question answering.

    Attributes:
        id: the question's name in the file.
        context: the passage that holds the answer.
        question: what is asked.
        answers: every accepted answer; none in an unlabelled test set.
    """

    id: str
    context: str
    question: str
    answers: tuple[Answer, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a tokenizer reads."""
        return self.context, self.question


@dataclass(frozen=True, slots=True)
class Word:
    """The annotation of a word in a treebank; empty where there is none.

    Attributes:
        lemma: its lemma.
        upos: its universal part of speech.
        xpos: its part of speech in the treebank's own set.
        features: its morphology, ``Case=Nom|Number=Sing``.
        head: the index of its head in the sentence, its own for a root; None where the file names no word.
        relation: to its head.
    """

    lemma: str
    upos: str
    xpos: str
    features: str
    head: int | None
    relation: str


@dataclass(frozen=True, slots=True)
class TaggedExample:
    """Sequence labelling.

    Attributes:
        text: the sentence.
        spans: the gold annotation; None where the file gives none (an unlabelled test set).
        tokens: start and end of each of the file's tokens; empty where the file has characters only (CLUENER).
        tags: the file's tag of each token, as it is there (``B-LOCATION``, ``O``, ``Nn``).
        words: what a treebank says of each token; empty where the file is none.
        place: the file and the line where the sentence begins, for messages; two examples may be equal without it.
    """

    text: str
    spans: tuple[Span, ...] | None
    tokens: tuple[tuple[int, int], ...] = ()
    tags: tuple[str, ...] = ()
    words: tuple[Word, ...] = ()
    place: str = field(default="", compare=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a tokenizer reads."""
        return (self.text,)


Example = (
    TextExample | AspectExample | PairExample | CoreferenceExample | ChoiceExample | QuestionExample | TaggedExample
)
