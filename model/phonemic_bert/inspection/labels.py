"""Labels of words and spans, laid on the positions of a text to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phonemic_bert.inspection.predictions import PredictionRecord


def words_of(record: PredictionRecord) -> list[str]:
    """The words that a list of tags is about; none where the record does not tell them."""
    return [record.text[start:end] for start, end in word_spans(record)]


def word_spans(record: PredictionRecord) -> list[tuple[int, int]]:
    """Start and end of each word that has a tag: as the file says, or what is between white space, if that fits."""
    if record.tokens is not None:
        return record.tokens
    spans, at = [], 0
    for word in record.text.split():
        start = record.text.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    tags = record.gold if record.gold is not None else record.predicted
    return spans if tags is not None and len(spans) == len(tags) else []


def position_labels(
    form: str, value: Any, record: PredictionRecord, spans: Sequence[tuple[int, int]]
) -> list[str] | None:
    """A label for each position of the text: ``B-`` and ``I-`` for spans, a word's tag at its first position.

    Arguments:
        form: of the annotation.
        value: the gold or the predicted one.
        record: what it belongs to.
        spans: start and end of each position.

    Returns:
        "" where a position has no label; None where the annotation is not about pieces of the text.
    """
    if value is None or form not in ("spans", "tags"):
        return None
    if form == "tags":
        pieces = [(start, end, tag) for (start, end), tag in zip(word_spans(record), value, strict=False)]
        if not pieces and value:
            return None
    else:
        pieces = list(value)
    labels = [""] * len(spans)
    for start, end, label in pieces:
        inside = [at for at, (first, last) in enumerate(spans) if first < end and start < last]
        if form == "tags":
            inside = inside[:1]
        for number, at in enumerate(inside):
            mark = "" if form == "tags" else "B-" if number == 0 else "I-"
            labels[at] = f"{labels[at]} {mark}{label}".strip()
    return labels
