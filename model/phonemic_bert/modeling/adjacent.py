"""Embeddings from adjacent positions: vectors of bigrams, and a convolution."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from phonemic_bert.shapes import BIGRAM_SIZE

#: Of the hash of two ids: a prime, a factor for each, one for both. Sums of products stay below 2^63; the rows of a
#: checkpoint stand for what these make of a bigram.
_PRIME, _FACTORS = (1 << 31) - 1, (0x5BD1E995, 0x1B873593, 0x2C1B3C6D)


class Bigrams(nn.Module):
    """A vector for each two adjacent positions, from a hashed table; a position gets those of the two it is in.

    A syllable of Mandarin is written in many ways and two in a row in few, so that a bigram tells homophones apart.
    The table begins at zero.

    Arguments:
        rows: of the table; bigrams that share a row share a vector.
        size: d, of what comes out.
    """

    def __init__(self, rows: int, size: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(rows, BIGRAM_SIZE))
        self.projection = nn.Linear(2 * BIGRAM_SIZE, size, bias=False)

    def reset_parameters(self) -> None:
        """Draws first weights."""
        nn.init.zeros_(self.table)
        nn.init.normal_(self.projection.weight, std=1 / math.sqrt(BIGRAM_SIZE))

    def rows(self, input_ids: Tensor) -> Tensor:
        """The table's row of each id with the next, of the last with the first: (B, N) to int64 (B, N).

        Arguments:
            input_ids: each from 0 to below 2^31.
        """
        ids = input_ids.long()
        mixed = (ids * _FACTORS[0] + ids.roll(-1, 1) * _FACTORS[1]) % _PRIME
        mixed = (mixed ^ mixed >> 15) * _FACTORS[2] % _PRIME
        return (mixed ^ mixed >> 12) % self.table.shape[0]

    def forward(self, input_ids: Tensor, special: Tensor) -> Tensor:
        """Ids (B, N) to what their bigrams add, (B, N, d).

        Arguments:
            input_ids: of the positions, each from 0 to below 2^31.
            special: (B, N): which of them are special symbols, or say too little, so that their bigrams add nothing:
                what is masked is in none, and none goes from one document to the next.
        """
        length = input_ids.shape[1]
        last = torch.arange(length, device=input_ids.device) == length - 1
        begun = nn.functional.embedding(self.rows(input_ids), self.table)
        begun = begun * ~(special | special.roll(-1, 1) | last)[..., None]
        added: Tensor = self.projection(torch.cat((begun.roll(1, 1), begun), dim=-1))
        return added


class ResidualConvolution(nn.Module):
    """A residual convolution over a position and its neighbours of the same document.

    Arguments:
        width: the odd number of positions that are seen.
        size: d, of a position's state.
        first: the id that a document begins with, [CLS].
        padding: the id of [PAD].
    """

    def __init__(self, width: int, size: int, first: int, padding: int) -> None:
        super().__init__()
        self.reach, self.first, self.padding = width // 2, first, padding
        self.mix = nn.Linear(width * size, size)

    def forward(self, states: Tensor, input_ids: Tensor | None) -> Tensor:
        """States (B, N, d) to the same with what their neighbours add.

        Arguments:
            states: of the positions.
            input_ids: (B, N): a document begins at [CLS], and padding is not a neighbour. None is one document a row.
        """
        length = states.shape[1]
        padded = nn.functional.pad(states, (0, 0, self.reach, self.reach))
        if input_ids is not None:
            documents = torch.where(input_ids == self.padding, -1, (input_ids == self.first).cumsum(1))
            around = nn.functional.pad(documents, (self.reach, self.reach), value=-2)
        seen = []
        for shift in range(2 * self.reach + 1):
            part = padded[:, shift : shift + length]
            if input_ids is not None:
                part = part * (around[:, shift : shift + length] == documents)[..., None].to(part.dtype)
            seen.append(part)
        mixed: Tensor = states + self.mix(torch.cat(seen, dim=-1))
        return mixed
