"""Sequence labelling: spans by labels of positions, or a tag a word; long texts in windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic_bert.finetuning.alignment import LabelSet, labels_of, lost, spans_of, word_labels, word_tags_of
from phonemic_bert.finetuning.kinds.base import Instance, Kind, Window, cross_entropy, pad
from phonemic_bert.finetuning.windows import Windows
from phonemic_bert.modeling import IGNORE

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from phonemic_bert.finetuning.alignment import Label, Offsets

#: How often a label that is only needed where positions do not fit the annotation must be there to be learned.
_MIN_COUNT = 5


class Tagging(Kind):
    """Sequence labelling. A row is a window of the text.

    A set whose metric is ``span-f1`` has spans, which become IOB2 labels of positions and come back in characters. Any
    other has tags of words, which are learned at each word's first position. The head's labels are the training set's.
    Where windows overlap, a position is predicted in the one that holds more of its context.
    """

    head = "tokens"

    def names(self) -> tuple[str, ...]:
        """None before the training set's rows are made."""
        return ()

    @property
    def _spans(self) -> bool:
        return self.dataset.metric == "span-f1"

    def gold(self, example: Any) -> Any:
        """The spans, or the list of tags; None for an example without words where words have tags."""
        if self._spans:
            return example.spans
        return list(example.tags) or None

    def rows(self, examples: Sequence[Any], train: bool = False) -> list[Instance]:
        """A row a window; labels are indices into ``labels`` for each position, (N,)."""
        rows = [
            Instance(inputs, number, None, window)
            for number, inputs, window in self.windows([example.text for example in examples])
        ]
        if train:
            texts = [(own, self._aligned(examples[own[0].example], _offsets(own))) for own in _by_example(rows)]
            self.label_set = LabelSet((labels for _, labels in texts), _MIN_COUNT)
            self.labels = self.label_set.labels
            self._usual = Counter(tag for example in examples for tag in example.tags).most_common(1)
            for own, labels in texts:
                self._label(own, [self.label_set.number(label, IGNORE) for label in labels])
        return rows

    def _aligned(self, example: Any, offsets: list[Offsets]) -> list[Label]:
        """The gold label of each position of a text."""
        if self._spans:
            return labels_of(example.spans, offsets)
        return word_labels(example.tags, example.tokens, offsets)

    def _read(self, example: Any, labels: list[Label], offsets: list[Offsets]) -> Any:
        """The spans or tags of labels of positions, in the form of :meth:`gold`."""
        if self._spans:
            return spans_of(labels, offsets)
        return word_tags_of(labels, example.tokens, offsets, self._usual[0][0])

    def _label(self, rows: list[Instance], numbers: list[int]) -> None:
        cut = _windows(rows).cut(numbers, [row.length for row in rows], IGNORE)
        for row, labels in zip(rows, cut, strict=True):
            row.labels = np.array(labels, np.int32)

    def padded_labels(self, rows: Sequence[Instance]) -> Tensor:
        """Labels (B, N)."""
        return pad([row.labels for row in rows])

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy, the mean over the positions that have a label."""
        return cross_entropy(logits, labels)

    def predicted(
        self, examples: Sequence[Any], rows: Sequence[Instance], outputs: Sequence[NDArray[Any]]
    ) -> list[Any]:
        """The spans, or the tag of each word, that the likeliest labels stand for."""
        found: list[Any] = [() if self._spans else [] for _ in examples]
        best = iter(outputs)
        for own in _by_example(rows):
            example = examples[own[0].example]
            numbers = [next(best).argmax(-1).tolist() for _ in own]
            labels: list[Label] = [self.labels[number] for number in _windows(own).merge(numbers)]
            found[own[0].example] = self._read(example, labels, _offsets(own))
        return found

    def lost(self, examples: Sequence[Any]) -> int:
        """Spans, or tags of words, that do not come back from the labels that were learned."""
        count = 0
        for own in _by_example(self.rows(examples)):
            example, offsets = examples[own[0].example], _offsets(own)
            labels = [self.label_set.simplify(label) for label in self._aligned(example, offsets)]
            if self._spans:
                count += lost(example.spans, labels, offsets)
            else:
                count += sum(map(str.__ne__, example.tags, self._read(example, labels, offsets)))
        return count

    def record(self, example: Any, gold: Any, predicted: Any) -> dict[str, Any]:
        """Spans as [start, end, label], those of words among them."""
        return {
            "text": example.text,
            "gold": self._listed(example, gold),
            "predicted": self._listed(example, predicted),
        }

    def _listed(self, example: Any, found: Any) -> list[list[Any]]:
        if self._spans:
            return [[span.start, span.end, span.label] for span in found]
        return [[*word, tag] for word, tag in zip(example.tokens, found, strict=True)]


def _by_example(rows: Sequence[Instance]) -> Iterator[list[Instance]]:
    """The rows of each text."""
    return (list(own) for _, own in groupby(rows, lambda row: row.example))


def _each(rows: Sequence[Instance]) -> Iterator[Window]:
    return (row.window for row in rows if row.window is not None)


def _windows(rows: Sequence[Instance]) -> Windows:
    each = [(window.first, len(window.offsets), window.start) for window in _each(rows)]
    return Windows(tuple(range(len(rows))), *zip(*each, strict=True))


def _offsets(rows: Sequence[Instance]) -> list[Offsets]:
    """The offsets of all positions of a text, from its windows."""
    found: list[Offsets] = []
    for window in _each(rows):
        found += [(start, end) for start, end in window.offsets[len(found) - window.start :].tolist()]
    return found
