"""The encoder's layers at inference on a CPU: no padding is computed, and no layer's states are copied about.

A state is a row. Texts of one length are next to each other, so that attention needs no mask: it is computed for all
texts of a length at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from phonemic_bert.modeling.products import BLOCK, Product, product

#: Cosines and sines of the rotary positions of rows, (R, 1, 1, D / 2) each; BERT has none.
Angles = tuple[Tensor, Tensor] | None
#: As of :func:`product`.
Make = Callable[..., Product]


class Rows(NamedTuple):
    """The positions of a batch that hold text.

    Attributes:
        places: their places in the flattened batch, texts in the order of their lengths: int64 (R,).
        runs: the texts of each length: the first row, how many texts, and the length.
    """

    places: Tensor
    runs: list[tuple[int, int, int]]


def applies(model: Any, given: Tensor, mask: Tensor | None) -> bool:
    """Whether :func:`layers` computes what the layers of a model would.

    It needs a model in evaluation, no gradients, a CPU, a mask of whole positions, and layers that nobody listens to.

    Arguments:
        model: a PhonemicBertModel.
        given: ids (B, N), or what its embeddings give (B, N, d).
        mask: the attention mask.
    """
    return (
        not (model.training or torch.is_grad_enabled() or torch.compiler.is_compiling())
        and given.device.type == "cpu"
        and given.numel() > 0
        and model.dtype == torch.float32
        and (mask is None or (mask.shape == given.shape[:2] and bool((mask != 0).any(1).all())))
        and getattr(model.config, "position_embedding_type", "absolute") == "absolute"
        and not any(map(_is_heard, model.encoder.modules()))
    )


def _is_heard(module: nn.Module) -> bool:
    """Whether something hooks into a module, other than what transformers leaves there."""
    hooks = [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
    return any(not getattr(hook, "__module__", "").startswith("transformers.utils") for hook in hooks)


def layers(model: Any, embedded: Tensor, mask: Tensor | None) -> Iterator[Tensor]:
    """The states after each layer, (B, N, d), zero at padding. The last are normed where the encoder has a last norm.

    Arguments:
        model: a PhonemicBertModel.
        embedded: what its embeddings give, (B, N, d).
        mask: 0 where there is padding, (B, N); None where there is none.
    """
    rows = rows_of(embedded.shape, mask)
    states, angles = embedded.flatten(0, 1)[rows.places], None
    if is_modern(model.encoder):
        angles = angles_of(angles_until(model.encoder, embedded.shape[1]), rows, embedded.shape[1])
    made = steps(model.encoder, len(states))
    for number, step in enumerate(made, start=1):
        states = step(states, rows, angles)
        last = number == len(made) and is_modern(model.encoder)
        yield padded(model.encoder.final_norm(states) if last else states, rows, embedded.shape)


def rows_of(shape: Sequence[int], mask: Tensor | None) -> Rows:
    """The positions that hold text.

    Arguments:
        shape: of the batch: B, N.
        mask: 0 where there is padding, (B, N); None where there is none.
    """
    texts, width = shape[:2]
    if mask is None:
        return Rows(torch.arange(texts * width), [(0, texts, width)])
    kept = mask != 0
    lengths, order = kept.sum(1).sort(stable=True)
    places = (order[:, None] * width + torch.arange(width))[kept[order]]
    runs, first = [], 0
    for length, count in zip(
        *(found.tolist() for found in lengths.unique_consecutive(return_counts=True)), strict=True
    ):
        runs.append((first, count, length))
        first += count * length
    return Rows(places, runs)


def padded(states: Tensor, rows: Rows, shape: Sequence[int]) -> Tensor:
    """States (R, d) in their places in a batch, (B, N, d); zero at padding.

    Arguments:
        states: of the rows.
        rows: their places.
        shape: of the batch: B, N.
    """
    texts, width = shape[:2]
    made = states.new_zeros(texts * width, states.shape[-1])
    return made.index_copy_(0, rows.places, states).view(texts, width, -1)


def is_modern(encoder: Any) -> bool:
    """Whether an encoder is ModernBERT's."""
    return hasattr(encoder, "layers")


def angles_until(encoder: Any, width: int) -> tuple[Tensor, Tensor]:
    """The cosines and sines of ModernBERT's first positions, (N, D / 2) each.

    Arguments:
        encoder: ModernBERT's; transformers 4 has the angles in every layer.
        width: N.
    """
    positions, like = torch.arange(width)[None], encoder.layers[0].mlp.Wo.weight
    if hasattr(encoder, "rotary_emb"):
        found = encoder.rotary_emb(like, positions, encoder.layers[0].attention_type)
    else:
        found = encoder.layers[0].attn.rotary_emb(like, position_ids=positions)
    cos, sin = (part[0, :, : part.shape[-1] // 2] for part in found)
    return cos, sin


def angles_of(angles: tuple[Tensor, Tensor], rows: Rows, width: int) -> Angles:
    """The angles of rows.

    Arguments:
        angles: of all positions of a text.
        rows: the rows.
        width: N, positions of a text.
    """
    at = rows.places % width
    return angles[0][at, None, None], angles[1][at, None, None]


def steps(encoder: Any, rows: int, make: Make = product) -> list[Any]:
    """Functions of states (R, d), their rows and angles that compute the layers of an encoder.

    Arguments:
        encoder: BERT's or ModernBERT's.
        rows: how many there will be.
        make: makes the products with the weights.
    """
    if is_modern(encoder):
        return [_ModernStep(layer, rows, make) for layer in encoder.layers]
    return [_BertStep(layer, rows, make) for layer in encoder.layer]


class _ModernStep:
    """A layer of ModernBERT."""

    def __init__(self, layer: Any, rows: int, make: Make) -> None:
        attention, mlp = layer.attn, layer.mlp
        inner = mlp.Wo.in_features
        self.norms, self.size = (layer.attn_norm, layer.mlp_norm), attention.head_dim
        self.asked, self.joined = make(attention.Wqkv, rows), make(attention.Wo, rows)
        self.shown = make(mlp.Wi, rows, slice(None, inner), mlp.act)
        self.gate, self.down = make(mlp.Wi, rows, slice(inner, None)), make(mlp.Wo, rows)

    def __call__(self, states: Tensor, rows: Rows, angles: Angles) -> Tensor:
        assert angles is not None
        parts = self.asked(self.norms[0](states)).view(len(states), 3, -1, self.size)
        query, key = _turned(parts[:, :2], *angles).unbind(1)
        states = self.joined.plus(_attended(query, key, parts[:, 2], rows.runs), states)
        return _blocks(self._gated, states, self.norms[1](states))

    def _gated(self, states: Tensor, normed: Tensor) -> Tensor:
        given = self.shown.read(normed)
        return self.down.plus(self.gate.times(given, self.shown(given)), states)


class _BertStep:
    """A layer of BERT."""

    def __init__(self, layer: Any, rows: int, make: Make) -> None:
        attention, joined = layer.attention.self, layer.attention.output
        self.parts = [make(getattr(attention, name), rows) for name in ("query", "key", "value")]
        self.norms, self.size = (joined.LayerNorm, layer.output.LayerNorm), attention.attention_head_size
        self.joined, self.down = make(joined.dense, rows), make(layer.output.dense, rows)
        self.up = make(layer.intermediate.dense, rows, activation=layer.intermediate.intermediate_act_fn)

    def __call__(self, states: Tensor, rows: Rows, angles: Angles) -> Tensor:
        query, key, value = (part(states).view(len(states), -1, self.size) for part in self.parts)
        states = self.norms[0](self.joined.plus(_attended(query, key, value, rows.runs), states))
        made: Tensor = self.norms[1](_blocks(self._wide, states))
        return made

    def _wide(self, states: Tensor) -> Tensor:
        return self.down.plus(self.up(states), states)


def _turned(parts: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Queries and keys (R, 2, H, D) turned by their positions' angles (R, 1, 1, D / 2)."""
    first, second = parts.chunk(2, -1)
    turned = torch.empty_like(parts)
    to_first, to_second = turned.chunk(2, -1)
    torch.mul(first, cos, out=to_first).addcmul_(second, sin, value=-1)
    torch.mul(second, cos, out=to_second).addcmul_(first, sin)
    return turned


def _blocks(function: Callable[..., Tensor], *given: Tensor) -> Tensor:
    """A function of rows, computed block by block."""
    if len(given[0]) <= BLOCK:
        return function(*given)
    return torch.cat([function(*parts) for parts in zip(*(part.split(BLOCK) for part in given), strict=True)])


def _attended(query: Tensor, key: Tensor, value: Tensor, runs: list[tuple[int, int, int]]) -> Tensor:
    """Attend within each text: queries, keys and values (R, H, D) to (R, H * D)."""
    found = torch.empty_like(value)
    for first, texts, length in runs:
        shape = (texts, length, *query.shape[1:])
        part = slice(first, first + texts * length)
        asked, given, held = (each[part].view(shape).transpose(1, 2) for each in (query, key, value))
        attended = functional.scaled_dot_product_attention(asked, given, held)
        found[part].view(shape).copy_(attended.transpose(1, 2))
    return found.flatten(1)
