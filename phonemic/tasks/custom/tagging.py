"""Sequence labelling in users' own files: CoNLL columns, JSON lines, CoNLL-U, DocBin."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from phonemic.errors import InputError
from phonemic.tasks import conllu, docbin, tagging
from phonemic.tasks.custom.formats import Fields, format_of
from phonemic.tasks.examples import Span, TaggedExample
from phonemic.tasks.records import Record, json_lines

#: The places of the words (or of the entry), the words, their tags.
Sentence = tuple[list[str], list[str], list[str]]


def has_entities(path: Path, named: str | None, fields: Fields) -> bool:
    """Whether the tags of the training file are of entities (IOB tags, or spans), not a label a word.

    A few tags that are damaged do not make one of the other: reading then says which they are.

    Arguments:
        path: the training file.
        named: its format; None for what the suffix says.
        fields: where what is.
    """
    form = format_of(path, "sequence-labelling", named)
    if form == "conllu":
        return False
    if form == "docbin":
        return fields.tag in (-1, "ents")
    entities = labels = 0
    for entry in _entries(path, form, fields):
        if isinstance(entry, Record):
            return True
        known = sum(map(tagging.is_iob, entry[2]))
        entities += known - entry[2].count("O")
        labels += len(entry[2]) - known
    return not labels or entities > labels


def examples(
    path: Path, form: str, fields: Fields, entities: bool, labels: Sequence[str] | None
) -> Iterator[TaggedExample]:
    """The sentences of a file.

    Arguments:
        path: the file.
        form: its format.
        fields: where what is.
        entities: whether its tags are of entities.
        labels: the ones that may occur; None for any.

    Raises:
        InputError: the file is not as described.
        StrayTagWarning: tags go on with spans that have not begun; a warning at the end of the file.
    """
    if form == "conllu":
        column = "upos" if fields.tag == -1 else str(fields.tag)
        if column not in conllu.COLUMNS or entities:
            raise InputError(f"{path}: CoNLL-U holds parts of speech: tag is upos or xpos, the metric macro-f1")
        yield from conllu.parse([path], labels, column, bool(fields.between))
    elif form == "docbin":
        what = ("ents" if entities else "pos") if fields.tag == -1 else str(fields.tag)
        if (what == "ents") != entities:
            raise InputError(f"{path}: the metric of ents is span-f1, that of pos and tag macro-f1, not of {what!r}")
        yield from docbin.tagged(path, what, labels)
    else:
        stray: list[str] = []
        for entry in _entries(path, form, fields):
            yield _example(entry, fields, entities, labels, None if fields.strict else stray)
        if stray:
            warnings.warn(
                f"{len(stray)} tags go on with a span that has not begun, and each begins one instead: "
                f"{', '.join(stray[:3])}{', ...' if len(stray) > 3 else ''}; strict refuses them",
                tagging.StrayTagWarning,
                stacklevel=2,
            )


def _entries(path: Path, form: str, fields: Fields) -> Iterator[Sentence | Record]:
    """Each sentence's words and tags; or its record, where that holds a text and spans."""
    if form == "jsonl":
        word, tag = fields.word if fields.word != 0 else "words", fields.tag if fields.tag != -1 else "tags"
        for record in json_lines(path):
            if word in record.fields:
                yield [record.place], tagging.strings(record, str(word)), tagging.strings(record, str(tag))
            else:
                yield record
    else:
        yield from _columns(path, fields)


def _columns(path: Path, fields: Fields) -> Iterator[Sentence]:
    if not isinstance(fields.word, int) or not isinstance(fields.tag, int):
        raise InputError(
            f"{path}: word and tag are numbers of columns here, from 0, not {fields.word!r}, {fields.tag!r}"
        )
    width = 0
    for places, rows in tagging.sentences(path, fields.comment):
        if rows[0][0] == "-DOCSTART-":
            continue
        for place, row in zip(places, rows, strict=True):
            width = width or len(row)
            if len(row) != width:
                raise InputError(
                    f"{place}: {len(row)} columns, but the lines before have {width}; if it is a comment, give comment="
                )
            if len(row) < 2 or not all(-width <= column < width for column in (fields.word, fields.tag)):
                raise InputError(f"{place}: {width} columns; word is column {fields.word}, tag column {fields.tag}")
        yield places, [row[fields.word] for row in rows], [row[fields.tag] for row in rows]


def _example(
    entry: Sentence | Record,
    fields: Fields,
    entities: bool,
    labels: Sequence[str] | None,
    stray: list[str] | None,
) -> TaggedExample:
    if isinstance(entry, Record):
        return _annotated(entry, fields, labels)
    places, words, tags = entry
    if not entities:
        return tagging.labelled_words(words, tags, places, labels, fields.joiner, fields.between)
    plain = tagging.iob2(tags, places, stray)
    return tagging.tagged_words(words, plain, places, labels, fields.joiner, fields.between)


def _annotated(record: Record, fields: Fields, labels: Sequence[str] | None) -> TaggedExample:
    """A text and its spans."""
    text = record.text(fields.text)
    found = [_span(record, span, len(text), labels) for span in record.get(str(fields.label), list)]
    spans = tuple(sorted(found, key=lambda span: span.start))
    for one, other in pairwise(spans):
        if other.start < one.end:
            raise record.error(f"{one} and {other} overlap; spans may touch, not overlap")
    return TaggedExample(text, spans, place=record.place)


def _span(record: Record, written: Any, length: int, labels: Sequence[str] | None) -> Span:
    match written:
        case [int(start), int(end), str(label)] | {"start": int(start), "end": int(end), "label": str(label)}:
            if not 0 <= start < end <= length:
                raise record.error(f"a span from {start} to {end}, but the text has {length} characters")
            if labels is not None and label not in labels:
                raise record.error(f"{label!r} is not a label of this set: {', '.join(labels)}")
            return Span(start, end, label)
    raise record.error(f"{written!r} is not a span: [start, end, label], or an object with these fields")
