"""Annotated corpora read as spaCy Docs: CoNLL-U, two-column CoNLL, CLUENER's JSON.

Each reader gives the Docs and, line by line, what it could not use or align. An entity is also held against the
pipeline's own tokenizer: where that does not cut at its borders, training could not use it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.parts_of_speech import IDS as UPOS
from spacy.tokens import Doc, DocBin, Span
from spacy.util import filter_spans

from phonemic.files import replacing
from phonemic.files.jsons import loads

_TAG = re.compile(r"O|([BIMESLU])-(.+)")
_NUMBERED = re.compile(r"(.+?)(\d+)", re.DOTALL)


class Problem(NamedTuple):
    """What could not be used: in which file, in which line (the first is 1), and why."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


class Converted(NamedTuple):
    """What a reader gives: one Doc a sentence, and what it could not use."""

    docs: list[Doc]
    problems: list[Problem]


class _Report:
    """The problems of one file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.problems: list[Problem] = []

    def add(self, line: int, reason: str) -> None:
        self.problems.append(Problem(self.path, line, reason))

    def check_borders(self, nlp: Language, doc: Doc, lines: Sequence[int]) -> None:
        """Reports the entities of a Doc at whose borders the pipeline's tokenizer does not cut."""
        own = nlp.make_doc(doc.text)
        for entity in doc.ents:
            if own.char_span(entity.start_char, entity.end_char) is None:
                self.add(lines[entity.start], f"the pipeline's tokenizer does not cut at {_name(entity)}")


def read_conllu(path: str | os.PathLike[str], nlp: Language) -> Converted:
    """Reads a treebank in CoNLL-U: words, UPOS, XPOS, features, lemmas and the tree.

    Words lie as in the ``# text`` comment; without one, as SpaceAfter says; in Chinese without either, one after the
    other. Empty nodes are left out, as they are not in the text.

    Arguments:
        path: the file.
        nlp: the pipeline; its language says how words are joined.

    Raises:
        OSError: the file cannot be read.
    """
    report, docs = _Report(path), []
    sentences = list(_sentences(path))
    spaced = nlp.lang != "zh" or any("SpaceAfter=No" in text for lines in sentences for _, text in lines)
    for lines in sentences:
        comments = dict(text[1:].strip().partition("=")[::2] for _, text in lines if text.startswith("#"))
        rows = [(line, text.split("\t")) for line, text in lines if not text.startswith("#")]
        rows = [(line, row) for line, row in rows if not re.fullmatch(r"\d+\.\d+", row[0])]
        wrong = next(((line, row) for line, row in rows if len(row) != 10 or not row[0].isdigit()), None)
        if wrong or not rows:
            line, row = wrong or (lines[0][0], [])
            why = f"{len(row)} columns, not 10" if len(row) != 10 else f"{row[0]} is a token of several words"
            report.add(line, f"the sentence is left out: {why}")
            continue
        text = next((value for name, value in comments.items() if name.strip() == "text"), None)
        docs.append(_tree(nlp, rows, text, spaced, report))
    return Converted(docs, report.problems)


def read_conll(path: str | os.PathLike[str], nlp: Language, numbered: bool = False) -> Converted:
    """Reads entities in two columns, ``token tag`` or ``token<TAB>tag``, an empty line after each sentence.

    Tags are IOB1, IOB2, BIOES, BMES or BILUO. The tokens are joined by spaces, in Chinese by none.

    Arguments:
        path: the file.
        nlp: the pipeline.
        numbered: the first column is a character and its number in its word (the Weibo corpus).

    Raises:
        OSError: the file cannot be read.
    """
    report, docs = _Report(path), []
    sentences = list(_sentences(path))
    begins = any(re.search(r"\sB-", text) for lines in sentences for _, text in lines)
    for lines in sentences:
        words, tags, numbers = [], [], []
        for line, text in lines:
            word, tag = _columns(text, line, numbered, report)
            if word:
                words.append(word)
                tags.append(tag)
                numbers.append(line)
        if not words:
            continue
        doc = Doc(nlp.vocab, words=words, spaces=[nlp.lang != "zh"] * (len(words) - 1) + [False])
        doc.ents = [Span(doc, *span) for span in _spans(tags, numbers, begins, report)]
        report.check_borders(nlp, doc, numbers)
        docs.append(doc)
    return Converted(docs, report.problems)


def read_cluener(path: str | os.PathLike[str], nlp: Language) -> Converted:
    """Reads CLUENER's JSON lines: ``{"text": ..., "label": {type: {name: [[first, last], ...]}}}``, last inclusive.

    The tokens are those of the pipeline's tokenizer. Of entities that overlap the longest is kept. A line without
    labels (the test set) is left out.

    Arguments:
        path: the file.
        nlp: the pipeline.

    Raises:
        OSError: the file cannot be read.
    """
    report, docs = _Report(path), []
    for line, text in enumerate(Path(path).read_text(encoding="utf-8").split("\n"), 1):
        if not text.strip():
            continue
        try:
            record = loads(text)
            found = [
                (kind, name, int(first), int(last) + 1)
                for kind, names in record["label"].items()
                for name, places in names.items()
                for first, last in places
            ]
            doc = nlp.make_doc(record["text"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            report.add(line, f"left out: no text with labels ({type(error).__name__}: {error})")
            continue
        doc.ents = _entities(doc, found, line, report)
        docs.append(doc)
    return Converted(docs, report.problems)


#: What ``python -m spacy_phonemic convert`` reads.
FORMATS: dict[str, Callable[[str | os.PathLike[str], Language], Converted]] = {
    "conllu": read_conllu,
    "conll": read_conll,
    "weibo": partial(read_conll, numbered=True),
    "cluener": read_cluener,
}


def write(docs: Iterable[Doc], path: str | os.PathLike[str], overwrite: bool = True) -> None:
    """Writes Docs for ``spacy train``: a ``.spacy`` file, beside it first, then renamed."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, overwrite) as file:
        file.write(DocBin(docs=docs).to_bytes())


def _sentences(path: str | os.PathLike[str]) -> Iterator[list[tuple[int, str]]]:
    """The lines of each sentence, with their numbers."""
    lines: list[tuple[int, str]] = []
    for number, text in enumerate(Path(path).read_text(encoding="utf-8").split("\n"), 1):
        if text.strip():
            lines.append((number, text.rstrip("\r")))
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


def _tree(nlp: Language, rows: list[tuple[int, list[str]]], text: str | None, spaced: bool, report: _Report) -> Doc:
    words = [row[1] for _, row in rows]
    spaces = None if text is None else _spaces_in(words, text)
    if spaces is None:
        if text is not None:
            report.add(rows[0][0], "the words are not those of the text comment; they lie as SpaceAfter says")
        spaces = [spaced and "SpaceAfter=No" not in row[9] for _, row in rows[:-1]] + [False]
    for line, row in rows:
        if row[3] not in UPOS:
            report.add(line, f"{row[3]!r} is no universal part of speech; left empty")
    heads = _heads(rows, report)
    fields: dict[str, Any] = {
        "tags": [row[3] if row[4] == "_" else row[4] for _, row in rows],  # spaCy's tagger takes no empty tag
        "pos": [row[3] if row[3] in UPOS else "" for _, row in rows],
        "morphs": ["" if row[5] == "_" else row[5] for _, row in rows],
        "lemmas": [row[1] if row[2] == "_" else row[2] for _, row in rows],
    }
    if heads:
        fields["heads"] = heads
        fields["deps"] = [
            "ROOT" if head == at else row[7] for at, (head, (_, row)) in enumerate(zip(heads, rows, strict=True))
        ]
    else:
        fields["sent_starts"] = [at == 0 for at in range(len(rows))]
    return Doc(nlp.vocab, words=words, spaces=spaces, **fields)


def _spaces_in(words: list[str], text: str) -> list[bool] | None:
    """Whether a space follows each word in the text; None where the text is not these words."""
    at, spaces = 0, []
    text = text.strip()
    for word in words:
        if not text.startswith(word, at):
            return None
        end = at + len(word)
        at = end + len(text[end:]) - len(text[end:].lstrip())
        spaces.append(at > end)
    return spaces if at == len(text) else None


def _heads(rows: list[tuple[int, list[str]]], report: _Report) -> list[int] | None:
    """The head of each word, its own index for the root; None where that is no tree."""
    heads = []
    for at, (line, row) in enumerate(rows):
        head = int(row[6]) - 1 if row[6].isdigit() else -2
        if not -1 <= head < len(rows):
            report.add(line, f"the tree is left out: {row[6]!r} is not the head of a word")
            return None
        heads.append(at if head == -1 else head)
    for at, (line, _) in enumerate(rows):
        above = at
        for _ in rows:
            above = heads[above]
        if heads[above] != above:
            report.add(line, "the tree is left out: the word's heads go in a circle")
            return None
    return heads


def _columns(text: str, line: int, numbered: bool, report: _Report) -> tuple[str, str]:
    """Token and tag of a line; "" for a line that has no token."""
    word, *tags = text.split("\t") if "\t" in text else text.rsplit(maxsplit=1)
    if len(tags) != 1 or not word.strip():
        report.add(line, f"left out: {text!r} is not a token and a tag")
        return "", "O"
    if numbered:
        match = _NUMBERED.fullmatch(word)
        if match is None or len(match[1]) != 1:
            report.add(line, f"{word!r} is not a character and a number; it is read as one token")
        word = match[1] if match else word
    if not _TAG.fullmatch(tags[0]):
        report.add(line, f"{tags[0]!r} is not a tag; it is read as O")
        return word, "O"
    return word, tags[0]


def _spans(tags: list[str], lines: list[int], begins: bool, report: _Report) -> Iterator[tuple[int, int, str]]:
    """Start, end and type of each entity."""
    start, kind = 0, ""
    for at, tag in enumerate([*tags, "O"]):
        position, _, own = tag.partition("-")
        goes_on = bool(kind) and own == kind and position in "IMEL" and (at == start or not _closed(tags[at - 1]))
        if kind and not goes_on:
            yield start, at, kind
            kind = ""
        if own and not goes_on:
            if position in "MEL" or (position == "I" and begins):
                report.add(lines[at], f"{tag} continues no entity; it is read as the beginning of one")
            start, kind = at, own


def _closed(tag: str) -> bool:
    return tag[0] in "ELSU"


def _entities(doc: Doc, found: list[tuple[str, str, int, int]], line: int, report: _Report) -> list[Span]:
    spans = []
    for kind, name, start, end in found:
        if doc.text[start:end] != name:
            report.add(line, f"{kind} {name!r} is left out: characters {start} to {end} are {doc.text[start:end]!r}")
            continue
        span = doc.char_span(start, end, label=kind)
        if span is None:
            report.add(line, f"{kind} {name!r} is left out: the pipeline's tokenizer does not cut at its borders")
        else:
            spans.append(span)
    kept = filter_spans(spans)
    for span in spans:
        if span not in kept:
            report.add(line, f"{_name(span)} is left out: it overlaps a longer one")
    return kept


def _name(span: Span) -> str:
    return f"{span.label_} {span.text!r}"
