"""From an onset, a rime and a tone to one vector: the paper's projection, and what may be added to it."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from phonemic.inventory import CLS, EMPTY_ID, FORM_SHIFT, PAD, SPECIALS, TRIPLE, UNKNOWN_ID
from phonemic_bert.configuration import COMPONENTS, PhonemicBertConfig
from phonemic_bert.modeling.adjacent import Bigrams, ResidualConvolution
from phonemic_bert.modeling.forms import FormEmbedding
from phonemic_bert.modeling.lists import TripleList


def components(packed: Tensor) -> Tensor:
    """Onset, rime and tone ids of packed ids, whatever their forms: (...) to (..., 3), of the same dtype."""
    return torch.stack((packed & 255, packed >> 8 & 255, packed >> 16 & 255), dim=-1)


def pack(parts: Tensor) -> Tensor:
    """Packed ids of onset, rime and tone ids: (..., 3) to (...), of the same dtype."""
    onset, rime, tone = parts.unbind(-1)
    return onset | rime << 8 | tone << 16


def check_positions(ids: Tensor, symbols: int) -> None:
    """Checks that packed ids are positions that a tokenizer of the vocabulary could give; nothing is read from a GPU.

    Arguments:
        ids: packed, of any shape.
        symbols: V, entries of the vocabulary.

    Raises:
        TypeError: they are not whole numbers.
        ValueError: a component is not in the vocabulary, an id is negative, a special symbol is combined with others,
            or one other than [UNK] has a form.
    """
    if ids.is_floating_point():
        raise TypeError(f"input_ids are whole numbers, not {ids.dtype}; composed embeddings go to inputs_embeds")
    if ids.device.type != "cpu" or torch.compiler.is_compiling() or not ids.numel():
        return
    parts = components(ids)
    low, high = min(int(parts.min()), int(ids.min())), int(parts.max())
    if not 0 <= low <= high < symbols:
        raise ValueError(
            f"input_ids hold components from {low} to {high}, but the vocabulary has {symbols}: were the ids made by "
            "the tokenizer of another language?"
        )
    lowest = parts.amin(-1)
    mixed = (lowest < EMPTY_ID) & (ids != lowest * 0x010101) & (ids & TRIPLE != UNKNOWN_ID)
    if mixed.any():
        one = ids[mixed][0]
        raise ValueError(
            f"input_ids hold {int(one)}, components {tuple(components(one).tolist())}, which is not a position: "
            f"{', '.join(SPECIALS[:EMPTY_ID])} stand alone. Ids drawn at random, as transformers' collator does for "
            "10 % of what it masks, mean nothing here: use HolisticCollator, or mask_replace_prob=1 and "
            "random_replace_prob=0"
        )


class Product(nn.Module):
    """A vector for each triple without a table of triples: M(A[onset] * B[rime] * C[tone]), elementwise.

    A sum of three vectors cannot hold what is particular to one syllable; a product of three can.

    The tables begin as small as all other weights, so that an optimizer that takes steps of a fixed size, as Adam does,
    changes them as fast; their entries are divided by that size when they are multiplied.

    Arguments:
        config: ``initializer_range`` is the standard deviation of the tables' first entries and of what comes out.
    """

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__()
        self.size = config.initializer_range
        self.tables = nn.Parameter(torch.empty(len(COMPONENTS), config.vocab_size, config.hidden_size))
        self.projection = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def reset_parameters(self) -> None:
        """Draws first weights."""
        nn.init.normal_(self.tables, std=self.size)
        nn.init.normal_(self.projection.weight, std=self.size / math.sqrt(self.projection.in_features))

    def forward(self, parts: Tensor) -> Tensor:
        """Component ids (..., 3) to vectors (..., d)."""
        # Not table[ids]: its gradient is summed up by several threads of a CPU in whatever order they come.
        rows = (functional.embedding(ids, table) for table, ids in zip(self.tables, parts.unbind(-1), strict=True))
        onset, rime, tone = (row / self.size for row in rows)
        vectors: Tensor = self.projection(onset * rime * tone)
        return vectors


class TripleEmbedding(nn.Module):
    """A vector of its own for each triple of a list; 0 for what is not in it.

    Arguments:
        config: ``syllables`` says which list; ``initializer_range`` is the standard deviation of the first vectors.
    """

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__()
        self.size = config.initializer_range
        self.listed = TripleList(config)
        self.vectors = nn.Parameter(torch.empty(self.listed.count, config.hidden_size))

    def reset_parameters(self) -> None:
        """Draws first weights."""
        nn.init.normal_(self.vectors, std=self.size)

    def forward(self, packed: Tensor) -> Tensor:
        """Packed ids (...) to vectors (..., d)."""
        rows = self.listed.rows(packed)
        return functional.embedding(rows.clamp(min=0), self.vectors) * (rows >= 0)[..., None].to(self.vectors.dtype)


class Composing(nn.Module):
    """Mixed into the embeddings of both backbones: packed ids to one vector each.

    One table (V, d) serves all three components; their embeddings are concatenated and projected from 3d to d
    (equation 5 of the paper). ``config.composition`` may add a vector to that, and ``config.forms`` one for how the
    position is written.
    """

    word_embeddings: nn.Embedding

    def add_composition(self, config: PhonemicBertConfig) -> None:
        """Makes what ``word_embeddings`` lacks."""
        self.component_scale = config.component_scale
        self.projection = nn.Linear(len(COMPONENTS) * config.hidden_size, config.hidden_size)
        self.product = Product(config) if config.composition in ("product", "both") else None
        self.table = TripleEmbedding(config) if config.composition in ("table", "both") else None
        self.forms = None if config.forms == "none" else FormEmbedding(config)
        self.bigrams = Bigrams(config.num_bigram_buckets, config.hidden_size) if config.num_bigram_buckets else None
        self.form_bigrams = (
            Bigrams(config.num_form_bigram_buckets, config.hidden_size) if config.num_form_bigram_buckets else None
        )
        ids = {"first": CLS * 0x010101, "padding": PAD * 0x010101}
        self.neighbours = (
            ResidualConvolution(config.conv_kernel_size, config.hidden_size, **ids) if config.conv_kernel_size else None
        )

    @torch.no_grad()
    def scale_composition(self, factor: float) -> None:
        """Makes all that is composed so much larger than ``initializer_range``, which it then begins as large as."""
        width = self.projection.in_features
        own = self.projection.weight.std() * self.word_embeddings.weight.std() * math.sqrt(width)
        self.projection.weight *= factor * self.word_embeddings.weight.std() / own
        if self.product is not None:
            self.product.projection.weight *= factor
        if self.table is not None:
            self.table.vectors.mul_(factor)
        if self.forms is not None:
            for parameter in self.forms.parameters():
                parameter.mul_(factor)

    def compose(self, input_ids: Tensor) -> Tensor:
        """One vector for each position, without its place: packed ids (B, N) to (B, N, d).

        Without gradients on a CPU each distinct id is composed once.

        Raises:
            ValueError: an id is not a position (checked on the CPU, outside torch.compile).
        """
        check_positions(input_ids, self.word_embeddings.num_embeddings)
        if not torch.is_grad_enabled() and input_ids.device.type == "cpu" and not torch.compiler.is_compiling():
            distinct, places = input_ids.unique(return_inverse=True)
            return functional.embedding(places, self._composed(distinct))
        return self._composed(input_ids)

    def _composed(self, input_ids: Tensor) -> Tensor:
        """The same of each id by itself: (...) to (..., d)."""
        parts = components(input_ids)
        composed: Tensor = self.projection(self.word_embeddings(parts).flatten(-2))
        if self.product is not None:
            composed = composed + self.product(parts)
        composed = composed * self.component_scale
        if self.table is not None:
            composed = composed + self.table(input_ids)
        return composed if self.forms is None else composed + self.forms(input_ids)

    def embed(self, input_ids: Tensor) -> Tensor:
        """The result of :meth:`compose` for each position and its neighbours: (B, N) to (B, N, d).

        In training some forms are dropped or wrong, see :meth:`FormEmbedding.disturbed`.

        Raises:
            ValueError: as :meth:`compose`.
        """
        if self.forms is not None:
            input_ids = self.forms.disturbed(input_ids)
        return self.with_bigrams(self.compose(input_ids), input_ids)

    def with_bigrams(self, composed: Tensor, input_ids: Tensor) -> Tensor:
        """Adds the vectors of bigrams to what :meth:`compose` gives, (B, N, d).

        Arguments:
            composed: a vector for each position, (B, N, d).
            input_ids: the packed ids, (B, N).
        """
        special = (input_ids & 255) < EMPTY_ID
        if self.bigrams is not None:
            composed = composed + self.bigrams(input_ids & TRIPLE, special)
        if self.form_bigrams is not None and self.forms is not None:
            seen = self.forms.pairs.read(input_ids)
            composed = composed + self.form_bigrams(seen, special | (input_ids >> FORM_SHIFT == 0))
        return composed
