"""The scores of all syllables at some positions, and the sum of their exponentials, in few passes over the memory."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

#: Scores that are multiplied at a time, and scores that are summed at a time: the latter stay in a CPU's cache.
_PRODUCTS, _SUMS = 1 << 23, {"cpu": 1 << 18}


class SyllableScores(NamedTuple):
    """What the scores of T x P syllables are made of: turned @ vectors.T + pairs + tones.

    Attributes:
        turned: the state of each position times C of each tone, (M, T, d).
        vectors: A times B of each pair of an onset and a rime, (P, d).
        pairs: what the heads of onset and rime say of each pair, float32 (M, P).
        tones: what the head of the tone says, float32 (M, T).
    """

    turned: Tensor
    vectors: Tensor
    pairs: Tensor
    tones: Tensor

    def all(self) -> Tensor:
        """All scores, tone by tone, at least float32 (M, T * P)."""
        products = functional.linear(self.turned, self.vectors).to(self.pairs.dtype)
        return (products + self.pairs[:, None] + self.tones[..., None]).flatten(1)

    def normalized(self, at: Tensor) -> tuple[Tensor, Tensor]:
        """The logarithm of the sum of the exponentials of all scores, and the score of one syllable.

        Arguments:
            at: which syllable, int64 (M,).

        Returns:
            Both at least float32 (M,).
        """
        if torch.compiler.is_compiling() or torch.compiler.is_exporting():
            scores = self.all()
            return scores.logsumexp(-1), scores.gather(-1, at[:, None])[:, 0]
        turned, vectors = self.turned, self.vectors
        if torch.is_autocast_enabled(turned.device.type):
            dtype = torch.get_autocast_dtype(turned.device.type)
            turned, vectors = turned.to(dtype), vectors.to(dtype)
        sums, picked = _SumsByTone.apply(turned, vectors, self.pairs, at)
        tone = at // len(vectors)
        return (sums + self.tones).logsumexp(-1), picked + self.tones.gather(-1, tone[:, None])[:, 0]


class _SumsByTone(torch.autograd.Function):
    """Of turned @ vectors.T + pairs, (M, T, P): log-sum-exp over the pairs, (M, T), and one entry of each row, (M,).

    The exponentials are kept for the backward pass in the precision of ``vectors``, as the gradient of a matrix product
    would be.
    """

    @staticmethod
    def forward(ctx: Any, turned: Tensor, vectors: Tensor, pairs: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        rows, tones, width = len(turned), turned.shape[1], len(vectors)
        sums, picked = pairs.new_empty(rows, tones), pairs.new_empty(rows)
        kept = vectors.new_empty((rows, tones, width) if any(ctx.needs_input_grad) else (0, tones, width))
        totals = torch.empty_like(sums)
        limit = _SUMS.get(turned.device.type, _PRODUCTS)
        for piece in _pieces(range(rows), tones * width, _PRODUCTS):
            products = (turned[piece].flatten(0, 1) @ vectors.T).view(-1, tones, width)
            for here in _pieces(range(piece.start, piece.stop), tones * width, limit):
                scores = products[here.start - piece.start : here.stop - piece.start].to(pairs.dtype, copy=True)
                scores += pairs[here, None]
                picked[here] = scores.flatten(1).gather(1, at[here, None])[:, 0]
                highest = scores.amax(-1, keepdim=True)
                totals[here] = scores.sub_(highest).exp_().sum(-1)
                sums[here] = totals[here].log() + highest[..., 0]
                if len(kept):
                    kept[here] = scores
        ctx.save_for_backward(turned, vectors, at, kept, totals)
        return sums, picked

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator,unused-ignore]
    def backward(ctx: Any, of_sums: Tensor, of_picked: Tensor) -> tuple[Tensor | None, ...]:
        turned, vectors, at, kept, totals = ctx.saved_tensors
        gradient = kept * (of_sums / totals).to(kept.dtype)[..., None]
        gradient.flatten(1).scatter_add_(1, at[:, None], of_picked[:, None].to(kept.dtype))
        flat = gradient.flatten(0, 1)
        of_pairs = gradient.sum(1, dtype=of_sums.dtype)
        return (flat @ vectors).view_as(turned), flat.T @ turned.flatten(0, 1), of_pairs, None


def _pieces(rows: range, width: int, limit: int) -> list[slice]:
    """Rows in pieces of at most ``limit`` entries, but at least a row."""
    step = max(limit // width, 1)
    edges = [*range(rows.start, rows.stop, step), rows.stop]
    return [slice(start, stop) for start, stop in pairwise(edges)]
