"""Tokens and tags to a text with spans: CoNLL columns, JSON lists and Parquet lists."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from phonemic.errors import InputError
from phonemic.tasks.examples import Span, TaggedExample, Word
from phonemic.tasks.records import Record, json_lines, lines


def tagged_words(
    words: Sequence[str],
    tags: Sequence[str],
    places: Sequence[str],
    labels: Collection[str] | None,
    joiner: str = "",
    between: str = " ",
) -> TaggedExample:
    """Words with IOB2 tags as a text.

    Arguments:
        words: the file's tokens.
        tags: ``O``, ``B-label`` or ``I-label``, one a word. An ``I-`` that continues none begins one.
        places: file and line of each word, for errors; one for all of them will do.
        labels: the ones that the set knows; None for any.
        joiner: the character that joins the syllables of a word; inside a word it becomes a space.
        between: what is between two words.

    Raises:
        InputError: not as many tags as words, an empty word, no IOB tag, an unknown label.
    """
    text, tokens = _joined(words, tags, places, joiner, between)
    spans: list[Span] = []
    running = ""
    for at, ((start, end), tag) in enumerate(zip(tokens, tags, strict=True)):
        place = places[min(at, len(places) - 1)]
        position, dash, label = tag.partition("-")
        if tag != "O" and (position not in ("B", "I") or not dash):
            raise InputError(f"{place}: {tag!r} is not a tag: O, B-label or I-label")
        _check_label(label, labels, place)
        if label and position == "I" and label == running:
            spans[-1] = Span(spans[-1].start, end, label)
        elif label:
            spans.append(Span(start, end, label))
        running = label
    return TaggedExample(text, tuple(spans), tokens, tuple(tags), place=places[0] if places else "")


def labelled_words(
    words: Sequence[str],
    tags: Sequence[str],
    places: Sequence[str],
    labels: Collection[str] | None,
    joiner: str = "",
    between: str = " ",
) -> TaggedExample:
    """Words, each with a label of its own (a part of speech), as a text; see :func:`tagged_words`."""
    text, tokens = _joined(words, tags, places, joiner, between)
    for at, tag in enumerate(tags):
        _check_label(tag, labels, places[min(at, len(places) - 1)])
    return labelled_text(text, tokens, tags, places[0] if places else "")


def labelled_text(
    text: str, tokens: Sequence[tuple[int, int]], tags: Sequence[str], place: str = "", words: Sequence[Word] = ()
) -> TaggedExample:
    """A text whose tokens each have a label of their own; see :class:`TaggedExample`."""
    spans = tuple(Span(start, end, tag) for (start, end), tag in zip(tokens, tags, strict=True))
    return TaggedExample(text, spans, tuple(tokens), tuple(tags), tuple(words), place)


def _check_label(label: str, labels: Collection[str] | None, place: str) -> None:
    if label and labels is not None and label not in labels:
        raise InputError(f"{place}: {label!r} is not a label of this set: {', '.join(labels)}")


def _joined(
    words: Sequence[str], tags: Sequence[str], places: Sequence[str], joiner: str, between: str
) -> tuple[str, tuple[tuple[int, int], ...]]:
    if len(tags) != len(words):
        raise InputError(f"{places[0]}: {len(words)} words, but {len(tags)} tags")
    return join_words(words, places, joiner, between)


def join_words(
    words: Sequence[str], places: Sequence[str], joiner: str = "", between: str = " "
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The words as a text, and where each is; see :func:`tagged_words`."""
    tokens, written, at = [], [], 0
    for number, word in enumerate(words):
        if not word:
            raise InputError(f"{places[min(number, len(places) - 1)]}: an empty word")
        plain = word[0] + word[1:-1].replace(joiner, " ") + word[-1] if joiner and len(word) > 1 else word
        tokens.append((at, at + len(plain)))
        written.append(plain)
        at += len(plain) + len(between)
    return between.join(written), tuple(tokens)


#: The meaning of a tag's letter in IOB1, IOB2, BIOES, BMES and BILOU: begins a span, continues with one, ends one.
_BEGINS, _GOES_ON, _ENDS = "BSU", "IMEL", "ESUL"
_TAG = re.compile(r"O|[BIESMUL]-.+")


def is_iob(tag: str) -> bool:
    """Is it a tag of IOB1, IOB2, BIOES, BMES or BILOU?"""
    return _TAG.fullmatch(tag) is not None


def iob2(tags: Sequence[str], places: Sequence[str], stray: list[str] | None = None) -> list[str]:
    """Tags of IOB1, IOB2, BIOES, BMES or BILOU as IOB2.

    Arguments:
        tags: of one sentence.
        places: file and line of each, for errors; one for all of them will do.
        stray: takes a line for each E, M or L that continues with a span that has not begun: it begins one. None: that
            is an error.

    Raises:
        InputError: a tag is of none of these; or it is stray, and ``stray`` is None.
    """
    found, running = [], ""
    for at, tag in enumerate(tags):
        place = places[min(at, len(places) - 1)]
        if not is_iob(tag):
            raise InputError(f"{place}: {tag!r} is not a tag: O, or B-, I-, E-, M-, S-, L- or U- and a label")
        letter, _, label = tag.partition("-")
        if label and letter in _GOES_ON and label != running:
            if letter != "I":
                if stray is None:
                    raise InputError(f"{place}: {tag!r} continues with no {label} before it")
                stray.append(f"{place}: {tag!r}")
            found.append(f"B-{label}")  # so IOB1 begins a span
        else:
            found.append(f"{'B' if letter in _BEGINS else 'I'}-{label}" if label else "O")
        running = "" if letter in _ENDS else label
    return found


class StrayTagWarning(UserWarning):
    """Tags of a file go on with spans that have not begun."""


def parse(paths: Sequence[Path], labels: Collection[str], joiner: str = "") -> Iterator[TaggedExample]:
    """Columns ``word tag`` with an empty line after a sentence; in ``.json``, lines of ``words`` and ``tags``."""
    for path in paths:
        for places, words, tags in _json(path) if path.suffix == ".json" else _columns(path):
            yield tagged_words(words, tags, places, labels, joiner)


Sentence = tuple[list[str], list[str], list[str]]  # places, words, tags

_BETWEEN = re.compile("[ \t]+")  # a word may hold a no-break space
_TABS = re.compile(" *\t[ \t]*")  # and, where tabs separate, a space


def _columns(path: Path) -> Iterator[Sentence]:
    for places, rows in sentences(path):
        wrong = next((at for at, columns in enumerate(rows) if len(columns) != 2), None)
        if wrong is not None:
            raise InputError(f"{places[wrong]}: {len(rows[wrong])} columns, not a word and a tag")
        yield places, [word for word, _ in rows], [tag for _, tag in rows]


def sentences(path: Path, comment: str = "", tabs: bool = False) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The lines between empty lines: the place of each, and its columns.

    Arguments:
        path: the file.
        comment: what a line begins with that is left out; empty where no line is.
        tabs: only tabs separate columns, and each does; otherwise runs of tabs and, in a line without any, of spaces.

    Raises:
        InputError: a line is not UTF-8.
    """
    places: list[str] = []
    rows: list[list[str]] = []
    for number, line in lines(path):
        written = line.strip("\r\n" if tabs else " \t\r\n")
        if written and not (comment and written.startswith(comment)):
            places.append(f"{path}:{number}")
            between = _TABS if "\t" in written else _BETWEEN
            rows.append(written.split("\t") if tabs else between.split(written))
        elif rows and not written:
            yield places, rows
            places, rows = [], []
    if rows:
        yield places, rows


def _json(path: Path) -> Iterator[Sentence]:
    for record in json_lines(path):
        yield [record.place], strings(record, "words"), strings(record, "tags")


def strings(record: Record, key: str) -> list[str]:
    """A field that is a list of str."""
    values: list[object] = record.get(key, list)
    found = [value for value in values if isinstance(value, str)]
    if len(found) != len(values):
        raise record.error(f"{key!r} is not a list of str")
    return found
