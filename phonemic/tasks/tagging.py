"""Tokens and tags to a text with spans: CoNLL columns, JSON lists and Parquet lists alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from phonemic.errors import InputError
from phonemic.tasks.examples import Span, TaggedExample
from phonemic.tasks.reading import Record, json_lines, lines


def tagged_words(
    words: Sequence[str], tags: Sequence[str], places: Sequence[str], labels: Collection[str], joiner: str = ""
) -> TaggedExample:
    """Words with IOB2 tags as a text, the words separated by spaces.

    Arguments:
        words: the file's tokens.
        tags: ``O``, ``B-label`` or ``I-label``, one a word. An ``I-`` that continues none begins one.
        places: file and line of each word, for errors; one for all of them will do.
        labels: those that the set knows.
        joiner: the character that joins the syllables of a word; inside a word it becomes a space.

    Raises:
        InputError: not as many tags as words, an empty word, no IOB tag, an unknown label.
    """
    if len(tags) != len(words):
        raise InputError(f"{places[0]}: {len(words)} words, but {len(tags)} tags")
    text, tokens = join_words(words, places, joiner)
    spans: list[Span] = []
    running = ""
    for at, ((start, end), tag) in enumerate(zip(tokens, tags, strict=True)):
        place = places[min(at, len(places) - 1)]
        position, dash, label = tag.partition("-")
        if tag != "O" and (position not in ("B", "I") or not dash):
            raise InputError(f"{place}: {tag!r} is no tag: O, B-label or I-label")
        if label and label not in labels:
            raise InputError(f"{place}: {label!r} is no label of this set: {', '.join(labels)}")
        if label and position == "I" and label == running:
            spans[-1] = Span(spans[-1].start, end, label)
        elif label:
            spans.append(Span(start, end, label))
        running = label
    return TaggedExample(text, tuple(spans), tokens, tuple(tags))


def join_words(
    words: Sequence[str], places: Sequence[str], joiner: str = ""
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The words with a space between them, and where each lies; see :func:`tagged_words`."""
    tokens, written, at = [], [], 0
    for number, word in enumerate(words):
        if not word.strip():
            raise InputError(f"{places[min(number, len(places) - 1)]}: an empty word")
        plain = word[0] + word[1:-1].replace(joiner, " ") + word[-1] if joiner and len(word) > 1 else word
        tokens.append((at, at + len(plain)))
        written.append(plain)
        at += len(plain) + 1
    return " ".join(written), tuple(tokens)


def parser(labels: Collection[str], joiner: str = "") -> Callable[[Sequence[Path]], Iterator[TaggedExample]]:
    """A parser of ``.conll`` files (``word tag``, an empty line after a sentence) and of JSON lines (words, tags)."""

    def parse(paths: Sequence[Path]) -> Iterator[TaggedExample]:
        for path in paths:
            for places, words, tags in _json(path) if path.suffix == ".json" else _columns(path):
                yield tagged_words(words, tags, places, labels, joiner)

    return parse


Sentence = tuple[list[str], list[str], list[str]]  # places, words, tags


def _columns(path: Path) -> Iterator[Sentence]:
    places: list[str] = []
    words: list[str] = []
    tags: list[str] = []
    for number, line in lines(path):
        columns = line.split()
        if columns and len(columns) != 2:
            raise InputError(f"{path}:{number}: {len(columns)} columns, not a word and a tag")
        if columns:
            places.append(f"{path}:{number}")
            words.append(columns[0])
            tags.append(columns[1])
        elif words:
            yield places, words, tags
            places, words, tags = [], [], []
    if words:
        yield places, words, tags


def _json(path: Path) -> Iterator[Sentence]:
    for record in json_lines(path):
        yield [record.place], strings(record, "words"), strings(record, "tags")


def strings(record: Record, key: str) -> list[str]:
    """A field that is a list of str."""
    values: list[object] = record.get(key, list)
    found = [value for value in values if isinstance(value, str)]
    if len(found) != len(values):
        raise record.error(f"{key!r} is no list of str")
    return found
