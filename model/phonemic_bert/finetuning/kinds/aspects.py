"""Aspect sentiment: for each aspect one of its sentiments, or none, from one pass of the encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from phonemic_bert.finetuning.kinds.base import Instance, Kind, cross_entropy

#: The label of an aspect that the text does not mention, and of one that is mentioned and has no sentiments.
NONE, MENTIONED = "none", "mentioned"


class Aspects(Kind):
    """Aspect sentiment: a softmax an aspect, over ``none`` and its sentiments, side by side in one head."""

    head = "classification"

    def names(self) -> tuple[str, ...]:
        """``ASPECT#sentiment``, the aspects one behind the other."""
        self._values = {
            aspect: (None, *(sentiments or (MENTIONED,))) for aspect, sentiments in self.dataset.labels.items()
        }
        return tuple(f"{aspect}#{value or NONE}" for aspect, values in self._values.items() for value in values)

    def gold(self, example: Any) -> tuple[tuple[str, str | None], ...]:
        """Pairs of aspect and sentiment."""
        pairs: tuple[tuple[str, str | None], ...] = example.aspects
        return pairs

    def rows(self, examples: Sequence[Any], train: bool = False) -> list[Instance]:
        """A row an example; labels are indices into each aspect's values, (aspects,).

        An aspect that has several sentiments in one example is trained on the first.
        """
        if not examples:
            return []
        encoded = self.encode([example.text for example in examples])
        return [
            Instance(encoded.row(at), at, self._indices(example) if train else None)
            for at, example in enumerate(examples)
        ]

    def _indices(self, example: Any) -> list[int]:
        given: dict[str, str] = {}
        for aspect, sentiment in example.aspects:
            given.setdefault(aspect, sentiment or MENTIONED)
        return [values.index(given.get(aspect)) for aspect, values in self._values.items()]

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The mean of the aspects' cross-entropies."""
        parts = logits.split([len(values) for values in self._values.values()], dim=-1)
        losses = [cross_entropy(part, label) for part, label in zip(parts, labels.unbind(-1), strict=True)]
        return torch.stack(losses).mean()

    def predicted(self, examples: Sequence[Any], rows: Sequence[Instance], outputs: Sequence[Any]) -> list[Any]:
        """The pairs whose aspect's likeliest value is not ``none``."""
        ends = np.cumsum([len(values) for values in self._values.values()])[:-1]
        return [
            tuple(
                (aspect, None if value == MENTIONED else value)
                for (aspect, values), part in zip(self._values.items(), np.split(output, ends), strict=True)
                if (value := values[int(part.argmax())]) is not None
            )
            for output in outputs
        ]
