"""An encoder whose weights no longer change, for texts that come one by one on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from phonemic.inventory import CLS
from phonemic_bert.modeling.adjacent import ResidualConvolution
from phonemic_bert.modeling.products import BLOCK, FEW, has_int8, int8_product, kept_product
from phonemic_bert.modeling.unpadded import Make, Rows, angles_of, angles_until, is_modern, padded, rows_of, steps


class PreparedEncoder:
    """Computes the last states of a PhonemicBertModel, and what depends on its weights alone only once.

    That is the layout of the weights, the angles of positions, and the vector of each id, when it first comes. For a
    sentence by itself that is a third of the time. The weights are there twice then, or, where batches come too, three
    times. Several threads may call it at once.

    Arguments:
        model: the model, in evaluation, float32, on a CPU. It must not be changed afterwards.
        int8: compute products in 8 bits, see :class:`phonemic_bert.modeling.products.Eight`: texts that come together
            take some two thirds of the time, and states differ by a few percent from those in float32. Where the
            processor or torch cannot, they are in float32.

    Raises:
        ValueError: the model is in training, elsewhere, or in half precision.
    """

    def __init__(self, model: Any, int8: bool = False) -> None:
        if model.training or model.dtype != torch.float32 or model.device.type != "cpu":
            raise ValueError("only a model in evaluation, in float32 and on a CPU can be prepared")
        self.model, self.int8 = model, int8 and has_int8()
        self.vectors = ComposedOnce(model.embeddings)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the model."""
        return type(self), (self.model, self.int8)

    def __call__(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """The last states, (B, N, d), zero at padding.

        Arguments:
            input_ids: packed ids, int64 (B, N).
            attention_mask: 0 where there is padding, (B, N); None where there is none.

        Raises:
            ValueError: an id is not a position, or a text is longer than ``max_position_embeddings``.
        """
        return self.layers(input_ids, attention_mask, (self.model.config.num_hidden_layers,))[0]

    @torch.inference_mode()
    def layers(self, input_ids: Tensor, attention_mask: Tensor | None, chosen: Sequence[int]) -> list[Tensor]:
        """The same of several layers, a tensor (B, N, d) for each.

        Arguments:
            input_ids: packed ids, int64 (B, N).
            attention_mask: 0 where there is padding, (B, N); None where there is none.
            chosen: the layers: 0 is the embeddings, ``num_hidden_layers`` the last layer.

        Raises:
            ValueError: as above.
        """
        model, width = self.model, input_ids.shape[1]
        if width > model.config.max_position_embeddings:
            raise ValueError(f"a text of {width} positions is longer than {model.config.max_position_embeddings}")
        rows = rows_of(input_ids.shape, attention_mask)
        states = self._embedded(input_ids, input_ids.flatten()[rows.places][None], rows)
        modern = is_modern(model.encoder)
        angles = angles_of(self._angles, rows, width) if modern else None
        steps = self._few if len(states) < FEW and not self.int8 else self._many
        made = {0: states}
        for number, step in enumerate(steps, start=1):
            states = step(states, rows, angles)
            if number in chosen:
                last = number == len(steps) and modern
                made[number] = model.encoder.final_norm(states) if last else states
        return [padded(made[number], rows, input_ids.shape) for number in chosen]

    def _embedded(self, input_ids: Tensor, packed: Tensor, rows: Rows) -> Tensor:
        """The embeddings (R, d) of ids (B, N), which are (1, R) without padding."""
        embeddings = self.model.embeddings
        if not is_modern(self.model.encoder) or not _begin_texts(packed, rows):  # these look at columns, or at padding
            composed = embeddings.with_bigrams(self.vectors(input_ids), input_ids)
            made: Tensor = embeddings(input_ids, inputs_embeds=composed).flatten(0, 1)[rows.places]
            return made
        normed: Tensor = embeddings.norm(embeddings.with_bigrams(self.vectors(packed), packed))[0]
        return normed if embeddings.neighbours is None else self._neighbours(normed, packed[0])

    @cached_property
    def _few(self) -> list[Any]:
        return steps(self.model.encoder, FEW - 1, kept_product)

    @cached_property
    def _many(self) -> list[Any]:
        return steps(self.model.encoder, BLOCK, int8_product if self.int8 else kept_product)

    @cached_property
    def _neighbours(self) -> Neighbours:
        return Neighbours(self.model.embeddings.neighbours, BLOCK, int8_product if self.int8 else kept_product)

    @cached_property
    def _angles(self) -> tuple[Tensor, Tensor]:
        return angles_until(self.model.encoder, self.model.config.max_position_embeddings)


def _begin_texts(packed: Tensor, rows: Rows) -> bool:
    """Whether every text begins with [CLS], so that they can be told apart without padding."""
    firsts = [first + length * text for first, texts, length in rows.runs for text in range(texts)]
    return bool((packed[0, firsts] & 255 == CLS).all())


class Neighbours:
    """A residual convolution of texts in a row, see :class:`phonemic_bert.modeling.adjacent.ResidualConvolution`.

    Each row is multiplied with the weights of all places at once, and what comes is moved to these.

    Arguments:
        convolution: of a model whose weights no longer change.
        rows: how many there will be.
        make: makes the product.
    """

    def __init__(self, convolution: ResidualConvolution, rows: int, make: Make) -> None:
        self.reach, self.first, self.bias = convolution.reach, convolution.first, convolution.mix.bias
        weights = convolution.mix.weight.unflatten(1, (2 * self.reach + 1, -1)).transpose(0, 1)
        linear = nn.Linear(weights.shape[2], weights.shape[0] * weights.shape[1], bias=False)
        linear.weight = nn.Parameter(weights.flatten(0, 1).contiguous(), requires_grad=False)
        self.product = make(linear, rows)

    def __call__(self, states: Tensor, ids: Tensor) -> Tensor:
        """States (R, d) with what their neighbours in the same text add.

        Arguments:
            states: of the positions, texts one after another, each beginning with [CLS].
            ids: packed, (R,).
        """
        texts, parts = (ids == self.first).cumsum(0), self.product(states).view(len(states), -1, states.shape[1])
        mixed = states + self.bias
        for place, shift in enumerate(range(-self.reach, self.reach + 1)):
            to, given = slice(max(-shift, 0), len(ids) - max(shift, 0)), slice(max(shift, 0), len(ids) - max(-shift, 0))
            mixed[to].addcmul_(parts[given, place], (texts[to] == texts[given])[:, None].to(states.dtype))
        return mixed


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
        """Compose the missing ids; return False if they do not fit into the table."""
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
