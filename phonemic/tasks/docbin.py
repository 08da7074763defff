"""spaCy's DocBin (``.spacy``): entities, parts of speech and categories. spaCy is imported when one is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from phonemic.errors import InputError
from phonemic.files import require
from phonemic.files.writing import is_stream
from phonemic.tasks.examples import Span, TaggedExample, TextExample
from phonemic.tasks.tagging import labelled_text


def tagged(path: Path, what: str, labels: Sequence[str] | None) -> Iterator[TaggedExample]:
    """The Docs of a file as sequence labelling.

    Arguments:
        path: the file.
        what: ``"ents"`` for the entities; ``"pos"`` or ``"tag"`` for that attribute of every word.
        labels: the ones that may occur; None for any.

    Raises:
        InputError: the file is damaged; a word has no part of speech; a label may not occur.
        PhonemicError: spaCy is not installed.
    """
    if what not in ("ents", "pos", "tag"):
        raise InputError(f"{path}: tag is ents, pos or tag in a DocBin, not {what!r}")
    for place, doc in _docs(path):
        if what == "ents":
            spans = [Span(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]
            words = [token for token in doc if not token.is_space]
            tags = [f"{word.ent_iob_}-{word.ent_type_}" if word.ent_type_ else "O" for word in words]
            tokens = tuple((word.idx, word.idx + len(word)) for word in words)
            example = TaggedExample(doc.text, tuple(spans), tokens, tuple(tags), place=place)
        else:
            example = _parts_of_speech(place, doc, what)
        found = [span.label for span in example.spans or ()]
        unknown = next((label for label in found if labels is not None and label not in labels), None)
        if unknown is not None:
            raise InputError(f"{place}: {unknown!r} is not a label of the training file: {', '.join(labels or ())}")
        yield example


def _parts_of_speech(place: str, doc: Any, what: str) -> TaggedExample:
    words = [token for token in doc if not token.is_space]
    tags = [token.pos_ if what == "pos" else token.tag_ for token in words]
    if "" in tags:
        raise InputError(f"{place}: word {words[tags.index('')].text!r} has no {what}")
    return labelled_text(doc.text, [(word.idx, word.idx + len(word)) for word in words], tags, place)


def classes(path: Path, labels: Sequence[str] | None) -> Iterator[TextExample]:
    """The Docs of a file as single-text classification: ``doc.cats``, one of which is set.

    Arguments:
        path: the file.
        labels: the ones that may occur; None for any.

    Raises:
        InputError: the file is damaged; not one category of a Doc is set; a label may not occur.
        PhonemicError: spaCy is not installed.
    """
    for place, doc in _docs(path):
        chosen = [label for label, value in doc.cats.items() if value >= 0.5]
        if len(chosen) != 1:
            raise InputError(f"{place}: {len(chosen)} of its categories are set; each Doc needs one, at 0.5 or more")
        if labels is not None and chosen[0] not in labels:
            raise InputError(f"{place}: {chosen[0]!r} is not a label of the training file: {', '.join(labels)}")
        yield TextExample(doc.text, {"label": chosen[0]})


def _docs(path: Path) -> Iterator[tuple[str, Any]]:
    vocab = require("spacy.vocab", "spacy").Vocab()
    if is_stream(path):
        raise InputError(f"{path}: is a device or a FIFO, not a file of Docs")
    data = path.read_bytes()
    try:
        docs = list(require("spacy.tokens", "spacy").DocBin().from_bytes(data).get_docs(vocab))
    except Exception as error:  # a damaged file may fail in zlib, in msgpack or in spaCy itself
        raise InputError(f"{path}: damaged, no DocBin ({error})") from error
    for number, doc in enumerate(docs):
        yield f"{path}: Doc {number}", doc
