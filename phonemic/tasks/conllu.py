"""CoNLL-U, the format of Universal Dependencies: a word a line, in ten columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from phonemic.errors import InputError
from phonemic.tasks.examples import TaggedExample, Word
from phonemic.tasks.tagging import labelled_text, sentences

#: The columns that hold a part of speech.
COLUMNS = {"upos": 3, "xpos": 4}
#: The universal parts of speech.
UPOS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())  # noqa: SIM905

_NUMBERED = re.compile(r"[0-9]+")
_TEXT = re.compile(r"#\s*text\s*=(.*)")


def parse(
    paths: Sequence[Path], labels: Collection[str] | None = UPOS, column: str = "upos", spaced: bool = True
) -> Iterator[TaggedExample]:
    """The words of each sentence, their part of speech, and all that the treebank says of them.

    Words lie as in the ``# text`` comment. Where there is none, or it does not hold these words, they lie as SpaceAfter
    says. Empty nodes are left out, as they are not in the text. A word may hold spaces, as in Vietnamese.

    Arguments:
        paths: the files.
        labels: the ones that the set knows; None for any.
        column: ``"upos"`` or ``"xpos"``.
        spaced: a space is between words where neither the comment nor SpaceAfter says otherwise.

    Raises:
        InputError: not ten columns, a token of several words, a label that is missing or unknown.
    """
    for path in paths:
        for places, rows in sentences(path, tabs=True):
            yield from _sentence(places, rows, labels, COLUMNS[column], spaced)


def _sentence(
    places: list[str], rows: list[list[str]], labels: Collection[str] | None, column: int, spaced: bool
) -> Iterator[TaggedExample]:
    comments = [_TEXT.match("\t".join(row)) for row in rows if row[0].startswith("#")]
    text = next((found[1].strip() for found in comments if found), None)
    words, spaces, kept = [], [], []
    for place, row in zip(places, rows, strict=True):
        if row[0].startswith("#") or re.fullmatch(r"\d+\.\d+", row[0]):
            continue
        if len(row) != 10 or not _NUMBERED.fullmatch(row[0]):
            why = f"{len(row)} columns, not 10" if len(row) != 10 else f"{row[0]} is not a word's number"
            raise InputError(f"{place}: {why}")
        if labels is not None and row[column] not in labels:
            raise InputError(f"{place}: {row[column]!r} is not a label of this set: {', '.join(labels)}")
        if row[column] == "_" or not row[1]:
            raise InputError(f"{place}: the word or its part of speech is missing")
        words.append(row[1])
        spaces.append(" " if spaced and "SpaceAfter=No" not in row[9].split("|") else "")
        kept.append(row)
    if words:
        found = None if text is None else _places_in(words, text)
        if found is None:
            spaced_words = [word + space for word, space in zip(words, spaces, strict=True)]
            text = "".join(spaced_words).rstrip(" ")
            starts = accumulate(map(len, spaced_words), initial=0)
            found = [(start, start + len(word)) for start, word in zip(starts, words, strict=False)]
        tags = [row[column] for row in kept]
        yield labelled_text(text or "", found, tags, places[0], list(_analyses(kept)))


def _analyses(rows: list[list[str]]) -> Iterator[Word]:
    index = {row[0]: at for at, row in enumerate(rows)}
    for at, row in enumerate(rows):
        lemma, upos, xpos, features, head, relation = ("" if value == "_" else value for value in row[2:8])
        lemma = "_" if row[1] == row[2] == "_" else lemma  # a word of the text, the underscore
        yield Word(lemma, upos, xpos, features, at if head == "0" else index.get(head), relation)


def _places_in(words: list[str], text: str) -> list[tuple[int, int]] | None:
    """Where the words lie in a text of nothing but them and whitespace; None where it is another text."""
    places, end = [], 0
    for word in words:
        start = end
        while text[start : start + 1].isspace():
            start += 1
        end = start + len(word)
        if text[start:end] != word:
            return None
        places.append((start, end))
    return places if end == len(text) else None
