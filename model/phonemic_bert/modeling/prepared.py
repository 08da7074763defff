"""An encoder whose weights no longer change, for texts that come one by one on a CPU."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from phonemic.inventory import CLS, PAD
from phonemic_bert.modeling.products import BLOCK, FEW, kept_product
from phonemic_bert.modeling.unpadded import angles_of, angles_until, is_modern, padded, rows_of, steps


class PreparedEncoder:
    """Computes the last states of a PhonemicBertModel, and what depends on its weights alone only once.

    That is the layout of the weights, the angles of positions, and the vector of each id, when it first comes. For a
    sentence by itself that is a third of the time. The weights are there twice then, or, where batches come too, three
    times. Several threads may call it at once.

    Arguments:
        model: the model, in evaluation, float32, on a CPU. It must not be changed afterwards.

    Raises:
        ValueError: the model is in training, elsewhere, or in half precision.
    """

    def __init__(self, model: Any) -> None:
        if model.training or model.dtype != torch.float32 or model.device.type != "cpu":
            raise ValueError("only a model in evaluation, in float32 and on a CPU can be prepared")
        self.model = model
        self.vectors = ComposedOnce(model.embeddings)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the model."""
        return type(self), (self.model,)

    @torch.inference_mode()
    def __call__(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """The last states, (B, N, d), zero at padding.

        Arguments:
            input_ids: packed ids, int64 (B, N).
            attention_mask: 0 where there is padding, (B, N); None where there is none.

        Raises:
            ValueError: an id is not a position, or a text is longer than ``max_position_embeddings``.
        """
        model, width = self.model, input_ids.shape[1]
        if width > model.config.max_position_embeddings:
            raise ValueError(f"a text of {width} positions is longer than {model.config.max_position_embeddings}")
        embeddings, encoder = model.embeddings, model.encoder
        composed = embeddings.with_bigrams(self.vectors(input_ids), input_ids)
        embedded = embeddings(
            None if attention_mask is None and _is_text(input_ids) else input_ids, inputs_embeds=composed
        )
        rows = rows_of(embedded, attention_mask)
        states = embedded.flatten(0, 1)[rows.places]
        angles = angles_of(self._angles, rows, width) if is_modern(encoder) else None
        for step in self._few if len(states) < FEW else self._many:
            states = step(states, rows, angles)
        return padded(encoder.final_norm(states) if is_modern(encoder) else states, rows, embedded)

    @cached_property
    def _few(self) -> list[Any]:
        return steps(self.model.encoder, FEW - 1, kept_product)

    @cached_property
    def _many(self) -> list[Any]:
        return steps(self.model.encoder, BLOCK, kept_product)

    @cached_property
    def _angles(self) -> tuple[Tensor, Tensor]:
        return angles_until(self.model.encoder, self.model.config.max_position_embeddings)


def _is_text(input_ids: Tensor) -> bool:
    """Whether ids (B, N) are one text alone, so that every position is a neighbour of the next."""
    symbols = (input_ids & 255).flatten().tolist()
    return symbols[0] == CLS and symbols.count(CLS) == 1 and PAD not in symbols


class ComposedOnce:
    """Vectors of ids, each composed when it first comes.

    Arguments:
        embeddings: of a model whose weights no longer change.
        room: ids that are kept at most; when one more comes, all are forgotten.
    """

    def __init__(self, embeddings: Any, room: int = 8192) -> None:
        self.embeddings, self.room = embeddings, room
        self.places: dict[int, int] = {}
        self.table = torch.empty(room, embeddings.word_embeddings.embedding_dim)
        self._lock = Lock()

    def __call__(self, input_ids: Tensor) -> Tensor:
        """The result of ``embeddings.compose``: packed ids (B, N) to (B, N, d).

        Arguments:
            input_ids: packed ids, int64.

        Raises:
            ValueError: an id is not a position.
        """
        ids = input_ids.flatten().tolist()
        with self._lock:
            if not self._has(ids):
                return self.embeddings.compose(input_ids)  # type: ignore[no-any-return]
            places = torch.tensor([self.places[one] for one in ids])
            return functional.embedding(places.view(input_ids.shape), self.table)

    def _has(self, ids: list[int]) -> bool:
        """Compose what is missing; return False where there is no room for it."""
        new = [one for one in dict.fromkeys(ids) if one not in self.places]
        if len(self.places) + len(new) > self.room:
            self.places.clear()
            new = list(dict.fromkeys(ids))
        if len(new) > self.room:
            return False
        if new:
            first = len(self.places)
            self.table[first : first + len(new)] = self.embeddings.compose(torch.tensor([new]))[0]
            self.places.update((one, first + at) for at, one in enumerate(new))
        return True
