"""The written form of a position as a vector, and forms that are dropped or wrong while a model is trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from phonemic.inventory import FORM_SHIFT, TRIPLE
from phonemic_bert.configuration import PhonemicBertConfig, check_shares
from phonemic_bert.modeling.lists import FIELDS, FieldList, PairList, TripleList


class FormEmbedding(nn.Module):
    """A vector for how a position is written.

    It is the sum of one for each thing that the form says: space, case, normalization and spelling of a Vietnamese
    syllable; space, case and rank of a fallback character; the byte of [UNK]. A Mandarin syllable whose character is in
    the list of pairs has the vector of the pair, which is the character's; an unlisted traditional one that of its
    simplified one.

    Arguments:
        config: ``initializer_range`` is the standard deviation of the first vectors; ``form_dropout`` and
            ``form_noise`` are the shares of the forms that :meth:`disturbed` drops and exchanges.
    """

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__()
        self.size = config.initializer_range
        self.set_shares(config.form_dropout, config.form_noise)
        self.triples, self.pairs, self.fields = TripleList(config), PairList(config), FieldList(config)
        self.vectors = nn.Parameter(torch.empty(sum(FIELDS.values()), config.hidden_size))
        listed = (self.pairs.syllables, config.hidden_size)
        self.characters = nn.Parameter(torch.empty(listed)) if config.lang == "zh" else None

    def reset_parameters(self) -> None:
        """Draws first weights."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=self.size)

    def set_shares(self, dropped: float, wrong: float) -> None:
        """Sets the shares of the forms that :meth:`disturbed` drops and exchanges.

        Raises:
            CheckpointError: one is not from 0 to 1, or both together are more than 1.
        """
        check_shares(dropped, wrong)
        self.dropped, self.wrong = dropped, wrong

    def table(self) -> Tensor:
        """The vectors of all forms, the ones that :meth:`rows` counts, (K, d)."""
        numbers = self.fields.numbers
        said = functional.embedding(numbers.clamp(min=0), self.vectors) * (numbers >= 0)[..., None]
        table = said.sum(-2)
        return table if self.characters is None else torch.cat((table, self.characters))

    def rows(self, packed: Tensor) -> Tensor:
        """The row of the table of each packed id: int64 of the same shape."""
        rows = self.fields.rows(packed)
        if self.characters is None:
            return rows
        pairs = self.pairs.rows(self.pairs.read(packed), self.triples.rows(packed))
        own = (pairs >= 0) & (pairs < len(self.characters))
        return torch.where(own, len(self.fields.numbers) + pairs, rows)

    def forward(self, packed: Tensor) -> Tensor:
        """Packed ids (...) to vectors (..., d)."""
        return functional.embedding(self.rows(packed), self.table())

    def disturbed(self, packed: Tensor) -> Tensor:
        """The ids as a model in training reads them: some forms are dropped, some are another's.

        A model that always sees how a text is written leans on it, and texts are written wrongly. Of the positions that
        have a form a share ``form_dropout`` loses it; a share ``form_noise`` gets that of another pair of the same
        triple, drawn from the list, where there is one: in Mandarin another character with the same reading. Which ones
        is drawn from torch's generator, as for dropout; in evaluation nothing changes.

        Arguments:
            packed: the ids, (B, N).
        """
        if not self.training or not (self.dropped or self.wrong):
            return packed
        drawn = torch.rand(packed.shape, device=packed.device)
        read = torch.where(drawn < self.dropped, packed & TRIPLE, packed)
        if not self.wrong:
            return read
        wrong = (drawn >= self.dropped) & (drawn < self.dropped + self.wrong)
        return torch.where(wrong, self._others(packed), read)

    def _others(self, packed: Tensor) -> Tensor:
        """Another pair of each id's triple; the id itself where there is none, or no form."""
        triples = self.triples.rows(packed)
        own = self.pairs.rows(self.pairs.read(packed), triples)
        first, last = self.pairs.begins[triples.clamp(min=0)], self.pairs.begins[triples.clamp(min=0) + 1]
        is_listed = own >= 0
        others = last - first - is_listed.long()
        step = (torch.rand(packed.shape, device=packed.device) * others).long().clamp(max=others - 1).clamp(min=0)
        place = torch.where(is_listed, (own - first + 1 + step) % (last - first), step)
        exchanged = (triples >= 0) & (others > 0) & (packed >> FORM_SHIFT > 0)
        return torch.where(exchanged, self.pairs.packed[first + place].to(packed.dtype), packed)
