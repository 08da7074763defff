"""The encoder's layers at inference on a CPU: no padding is computed, and no layer's states are copied about.

A state is a row. Texts of one length are next to each other, so that attention needs no mask: it is computed for all
texts of a length at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from phonemic_bert.modeling.products import BLOCK, product


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
    rows = _rows(embedded, mask)
    states = embedded.flatten(0, 1)[rows.places]
    encoder = model.encoder
    computed = (
        _modern(encoder, states, rows, embedded.shape[1])
        if hasattr(encoder, "layers")
        else _bert(encoder, states, rows)
    )
    for state in computed:
        padded = torch.zeros_like(embedded).flatten(0, 1)
        yield padded.index_copy_(0, rows.places, state).view_as(embedded)


def _rows(embedded: Tensor, mask: Tensor | None) -> Rows:
    texts, width = embedded.shape[:2]
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


def _modern(encoder: Any, states: Tensor, rows: Rows, width: int) -> Iterator[Tensor]:
    """ModernBERT's layers."""
    cos, sin = _angles(encoder, states, torch.arange(width)[None])
    cos, sin = (part[0, rows.places % width, None, None, : part.shape[-1] // 2] for part in (cos, sin))
    last, count = len(encoder.layers) - 1, len(states)
    for number, layer in enumerate(encoder.layers):
        attention, mlp = layer.attn, layer.mlp
        parts = product(attention.Wqkv, count)(layer.attn_norm(states)).view(count, 3, -1, attention.head_dim)
        query, key = _turned(parts[:, :2], cos, sin).unbind(1)
        states = product(attention.Wo, count).plus(_attended(query, key, parts[:, 2], rows.runs), states)
        states = _blocks(_gated(mlp, count), states, layer.mlp_norm(states))
        yield states if number < last else encoder.final_norm(states)


def _angles(encoder: Any, states: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    """The cosines and sines of rotary positions, (1, N, D) each; transformers 4 has them in every layer."""
    found: tuple[Tensor, Tensor]
    if hasattr(encoder, "rotary_emb"):
        found = encoder.rotary_emb(states, positions, encoder.layers[0].attention_type)
    else:
        found = encoder.layers[0].attn.rotary_emb(states, position_ids=positions)
    return found


def _turned(parts: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Queries and keys (R, 2, H, D) turned by their positions' angles (R, 1, 1, D / 2)."""
    first, second = parts.chunk(2, -1)
    return torch.cat(((first * cos).addcmul_(second, sin, value=-1), (second * cos).addcmul_(first, sin)), dim=-1)


def _gated(mlp: Any, rows: int) -> Any:
    """The function of states and normed states that a gated MLP adds up to, for blocks of rows."""
    inner = mlp.Wo.in_features
    shown, gate = product(mlp.Wi, rows, slice(None, inner), mlp.act), product(mlp.Wi, rows, slice(inner, None))
    down = product(mlp.Wo, rows)
    return lambda states, normed: down.plus(gate.times(normed, shown(normed)), states)


def _bert(encoder: Any, states: Tensor, rows: Rows) -> Iterator[Tensor]:
    """BERT's layers."""
    count = len(states)
    for layer in encoder.layer:
        attention, joined = layer.attention.self, layer.attention.output
        parts = [getattr(attention, name) for name in ("query", "key", "value")]
        size = attention.attention_head_size
        query, key, value = (product(part, count)(states).view(count, -1, size) for part in parts)
        states = joined.LayerNorm(product(joined.dense, count).plus(_attended(query, key, value, rows.runs), states))
        up = product(layer.intermediate.dense, count, activation=layer.intermediate.intermediate_act_fn)
        down, norm = product(layer.output.dense, count), layer.output.LayerNorm
        states = _blocks(lambda states, normed, up=up, down=down: down.plus(up(normed), states), states, states)
        states = norm(states)
        yield states


def _blocks(function: Any, *given: Tensor) -> Tensor:
    """A function of rows, computed block by block."""
    return torch.cat([function(*parts) for parts in zip(*(part.split(BLOCK) for part in given), strict=True)])


def _attended(query: Tensor, key: Tensor, value: Tensor, runs: list[tuple[int, int, int]]) -> Tensor:
    """Attend within each text: queries, keys and values (R, H, D) to (R, H * D)."""
    found = []
    for first, texts, length in runs:
        shape = (texts, length, *query.shape[1:])
        part = slice(first, first + texts * length)
        asked, given, held = (each[part].view(shape).transpose(1, 2) for each in (query, key, value))
        attended = functional.scaled_dot_product_attention(asked, given, held)
        found.append(attended.transpose(1, 2).reshape(texts * length, -1))
    return torch.cat(found)
