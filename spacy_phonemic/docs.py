"""Examples of :mod:`phonemic.tasks` as spaCy Docs, and what could not be used of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.parts_of_speech import IDS as UPOS
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from phonemic.errors import InputError
from phonemic.tasks import AspectExample, Example, TaggedExample, TextExample
from phonemic.tasks import Span as Labelled


class Problem(NamedTuple):
    """An example that could not be used: where, as a file and its line or as the number of the example, and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


class Converted(NamedTuple):
    """One Doc an example, and what could not be used."""

    docs: list[Doc]
    problems: list[Problem]


def to_docs(
    examples: Iterable[Example],
    nlp: Language,
    *,
    entities: bool = True,
    labels: Mapping[str, Sequence[str]] | None = None,
) -> Converted:
    """Makes a Doc of each example.

    Tokens are the file's. Where it has none, or a span begins or ends within one, they are those of the pipeline's
    tokenizer. White space between the file's tokens becomes one space. Of entities that overlap the longest is kept.
    Labels become categories: of one target as they are, of several and of aspects as ``target=label``, so that those
    need ``textcat_multilabel``. Examples without a label are left out.

    Arguments:
        examples: of classification, aspect sentiment or sequence labelling.
        nlp: the pipeline.
        entities: the spans of sequence labelling are entities, not a part of speech a word.
        labels: target to all its labels, which become the categories of each Doc; None: those of the examples.

    Raises:
        InputError: an example is of another kind.
    """
    made = _Docs(nlp, labels or {})
    for number, example in enumerate(examples, 1):
        if isinstance(example, TextExample | AspectExample):
            made.add_classified(example, f"example {number}")
        elif not isinstance(example, TaggedExample):
            raise InputError(f"a {type(example).__name__} is not one text with labels, so it cannot become a Doc")
        elif example.spans is None:
            made.unlabelled.append(example.place or f"example {number}")
        elif entities:
            made.add_entities(example, example.spans, example.place or f"example {number}")
        else:
            made.add_parts_of_speech(example, example.place or f"example {number}")
    return made.finished()


class _Docs:
    """The Docs of a file in the making."""

    def __init__(self, nlp: Language, labels: Mapping[str, Sequence[str]]) -> None:
        self.nlp = nlp
        self.docs: list[Doc] = []
        self.problems: list[Problem] = []
        self.unlabelled: list[str] = []
        #: Target to the names of its categories.
        self.categories = {
            target: {_category(target, each) for each in known or [""]} for target, known in labels.items()
        }
        #: The Docs with categories, and of which targets they say something.
        self.classified: list[tuple[Doc, Iterable[str]]] = []

    def add_classified(self, example: TextExample | AspectExample, place: str) -> None:
        """Adds a text with categories."""
        doc = self.nlp.make_doc(example.text)
        if not len(doc):
            self._say(place, "left out: its text is empty")
            return
        if isinstance(example, TextExample):
            named, targets = [*example.labels.items()], tuple(example.labels)
            if not named:
                self.unlabelled.append(place)
                return
        else:  # an aspect that is not named is not there: the text says something of all of them
            named, targets = [(aspect, sentiment or "") for aspect, sentiment in example.aspects], None
        for target, label in named:
            name = _category(target, label)
            self.categories.setdefault(target, set()).add(name)
            doc.cats[name] = 1.0
        self.docs.append(doc)
        self.classified.append((doc, self.categories.keys() if targets is None else targets))

    def add_entities(self, example: TaggedExample, spans: Sequence[Labelled], place: str) -> None:
        """Adds a sentence with entities, of the file's tokens where these have their borders."""
        starts = {start: at for at, (start, _) in enumerate(example.tokens)}
        ends = {end: at + 1 for at, (_, end) in enumerate(example.tokens)}
        found: list[Span] = []
        if example.tokens and all(span.start in starts and span.end in ends for span in spans):
            doc = _of_tokens(self.nlp, example)
            found = [Span(doc, starts[span.start], ends[span.end], span.label) for span in spans]
            own = self.nlp.make_doc(doc.text)
            for each in found:
                if own.char_span(each.start_char, each.end_char) is None:
                    self._say(place, f"the pipeline's tokenizer does not cut at {_name(each)}")
        else:
            doc = self.nlp.make_doc(example.text)
            for span in spans:
                made = doc.char_span(span.start, span.end, label=span.label)
                if made is None:
                    name = f"{span.label} {example.text[span.start : span.end]!r}"
                    self._say(place, f"{name} is left out: the pipeline's tokenizer does not cut at its borders")
                else:
                    found.append(made)
        kept = filter_spans(found)
        for each in found:
            if each not in kept:
                self._say(place, f"{_name(each)} is left out: it overlaps a longer one")
        doc.ents = kept
        if len(doc):
            self.docs.append(doc)
        else:
            self._say(place, "left out: its text is empty")

    def add_parts_of_speech(self, example: TaggedExample, place: str) -> None:
        """Adds a sentence of words with a part of speech each; of a treebank with all that it says."""
        words = example.words
        universal = [word.upos for word in words] if words else [tag if tag in UPOS else "" for tag in example.tags]
        for upos in sorted(set(universal) - UPOS.keys()):
            self._say(place, f"{upos!r} is not a universal part of speech; left empty")
        fields: dict[str, Any] = {"pos": [upos if upos in UPOS else "" for upos in universal]}
        if words:
            texts = [example.text[start:end] for start, end in example.tokens]
            fields["tags"] = [word.xpos or word.upos for word in words]  # spaCy's tagger takes no empty tag
            fields["morphs"] = [word.features for word in words]
            fields["lemmas"] = [word.lemma or text for word, text in zip(words, texts, strict=True)]
        else:
            fields["tags"] = list(example.tags)
        heads = self._heads(example, place) if words else None
        if heads is None:
            fields["sent_starts"] = [at == 0 for at in range(len(example.tokens))]
        else:
            fields["heads"] = heads
            fields["deps"] = ["ROOT" if head == at else words[at].relation for at, head in enumerate(heads)]
        self.docs.append(_of_tokens(self.nlp, example, **fields))

    def finished(self) -> Converted:
        """All Docs, each with the categories that it does not have as well."""
        for doc, targets in self.classified:
            for target in targets:
                doc.cats = dict.fromkeys(sorted(self.categories[target]), 0.0) | doc.cats
        if self.unlabelled:
            reason = f"left out: it has no label; {len(self.unlabelled)} examples have none, this is the first"
            self._say(self.unlabelled[0], reason)
        return Converted(self.docs, self.problems)

    def _heads(self, example: TaggedExample, place: str) -> list[int] | None:
        """The head of each word, its own index for a root; None where that is not a tree."""
        heads = [word.head for word in example.words if word.head is not None]
        if len(heads) < len(example.words):
            at = next(at for at, word in enumerate(example.words) if word.head is None)
            self._say(place, f"the tree is left out: {_word(example, at)} has no head in the sentence")
            return None
        for at in range(len(heads)):
            above = at
            for _ in heads:
                above = heads[above]
            if heads[above] != above:
                self._say(place, f"the tree is left out: above {_word(example, at)} the heads go in a circle")
                return None
        return heads

    def _say(self, place: str, reason: str) -> None:
        self.problems.append(Problem(place, reason))


def _category(target: str, label: str) -> str:
    """The name of a category: of the one target the label, else ``target=label``; of an aspect alone its name."""
    if target == "label":
        return label
    return f"{target}={label}" if label else target


def _of_tokens(nlp: Language, example: TaggedExample, **fields: Any) -> Doc:
    """A Doc of the file's own tokens, a space where white space is between two."""
    words = [example.text[start:end] for start, end in example.tokens]
    spaces = [end < after for (_, end), (after, _) in pairwise(example.tokens)]
    return Doc(nlp.vocab, words=words, spaces=[*spaces, False] if words else [], **fields)


def _word(example: TaggedExample, at: int) -> str:
    start, end = example.tokens[at]
    return f"word {at + 1} ({example.text[start:end]})"


def _name(span: Span) -> str:
    return f"{span.label_} {span.text!r}"
