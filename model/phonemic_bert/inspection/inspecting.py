"""Puts together what is shown: texts with all that a model and a file say about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from phonemic_bert.finetuning.alignment import word_tags_of
from phonemic_bert.inspection.confusions import is_correct
from phonemic_bert.inspection.examples import AnnotatedText, Example, read
from phonemic_bert.inspection.labels import position_labels, word_spans
from phonemic_bert.inspection.loading import Inspected
from phonemic_bert.inspection.masking import mask_each
from phonemic_bert.inspection.nearest import NearestSyllables
from phonemic_bert.inspection.predicting import classify, tag, tagged_spans
from phonemic_bert.inspection.predictions import PredictionRecord
from phonemic_bert.modeling import (
    PhonemicBertForMaskedLM,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
)
from phonemic_bert.tokenization import PhonemicBertTokenizer


def predict(
    inspected: Inspected, records: Iterable[PredictionRecord], form: str | None
) -> tuple[list[PredictionRecord], str | None]:
    """Fills in what a fine-tuned model predicts, for records that come without a prediction.

    Arguments:
        inspected: with the head of a classifier or a tagger; any other changes nothing.
        records: the texts.
        form: of their annotation; None where they have none.

    Returns:
        The records, and the form of their annotation now.
    """
    model, tokenizer, made = inspected.model, inspected.tokenizer, []
    for given in records:
        record = given
        if record.predicted is None and isinstance(model, PhonemicBertForSequenceClassification):
            if form in (None, "label"):
                form = "label"
                best = next(iter(classify(model, tokenizer, record.text, record.text_b)))
                record = replace(record, predicted=best)
        elif record.predicted is None and isinstance(model, PhonemicBertForTokenClassification):
            annotated = read(tokenizer, record.text)
            places = _places(annotated)
            labels = tag(model, tokenizer, record.text)
            if form in (None, "spans"):
                spans = tagged_spans(model, labels, places)
                form = "spans" if spans is not None else form
                record = replace(record, predicted=spans)
            elif form == "tags" and (words := word_spans(record)):
                record = replace(record, predicted=word_tags_of(labels, words, places, missing=""))
        made.append(record)
    return made, form


def examples(
    records: Iterable[PredictionRecord],
    form: str | None,
    tokenizer: PhonemicBertTokenizer,
    inspected: Inspected | None = None,
    top_k: int = 5,
) -> Iterator[Example]:
    """Reads records and asks the model about each of their positions.

    Arguments:
        records: what to show.
        form: of their annotation.
        tokenizer: reads them.
        inspected: the model; None shows syllables and labels only.
        top_k: how many syllables are shown at a position; 0 leaves the model's out.
    """
    nearest = NearestSyllables(inspected.encoder) if inspected and top_k else None
    for record in records:
        readings = [read(tokenizer, record.text)]
        if record.text_b is not None:
            readings.append(read(tokenizer, record.text_b))
        for annotated in readings:
            if nearest is not None:
                annotated.nearest = nearest.of([one.packed for one in annotated.positions], top_k)
            if inspected and top_k and isinstance(inspected.model, PhonemicBertForMaskedLM):
                annotated.masked = mask_each(inspected.model, tokenizer, annotated.text, top_k)
        first = readings[0]
        if form is not None:
            first.gold = position_labels(form, record.gold, record, _places(first))
            first.predicted = position_labels(form, record.predicted, record, _places(first))
        elif inspected and isinstance(inspected.model, PhonemicBertForTokenClassification):
            first.predicted = tag(inspected.model, tokenizer, record.text)
        probabilities = None
        if inspected and isinstance(inspected.model, PhonemicBertForSequenceClassification):
            probabilities = classify(inspected.model, tokenizer, record.text, record.text_b)
        yield Example(
            record.line,
            tuple(readings),
            record.gold,
            record.predicted,
            probabilities,
            is_correct(form, record),
            dict(record.notes),
        )


def _places(annotated: AnnotatedText) -> list[tuple[int, int]]:
    return [(one.syllable.start, one.syllable.end) for one in annotated.positions]
