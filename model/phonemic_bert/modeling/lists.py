"""Lists of what positions may be, on a model's device."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from phonemic.forms import ESCAPED, FORMS
from phonemic.inventory import FORM_SHIFT, TRIPLE, UNKNOWN_ID
from phonemic_bert.configuration import PhonemicBertConfig
from phonemic_bert.pairs import pairs
from phonemic_bert.triples import triples


class Frozen(nn.Module):
    """Arrays that are the same in every model of a configuration: buffers of which nothing is saved.

    A module of these has no weights, so that transformers, which leaves buffers empty when it loads weights, always has
    them filled again.
    """

    def arrays(self) -> dict[str, Tensor]:
        """The buffers by name."""
        raise NotImplementedError

    def add_buffers(self) -> None:
        """Makes them."""
        for name, array in self.arrays().items():
            self.register_buffer(name, array, persistent=False)

    def reset_buffers(self) -> None:
        """Fills them again."""
        for name, array in self.arrays().items():
            getattr(self, name).copy_(array)


class TripleList(Frozen):
    """A list of triples.

    Arguments:
        config: ``lang`` and ``syllables`` say which list.
    """

    packed: Tensor
    ascending: Tensor
    order: Tensor
    ends: Tensor

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__()
        self.triples = triples(config.lang, config.syllable_inventory)
        self.count = len(self.triples)
        self.add_buffers()

    def arrays(self) -> dict[str, Tensor]:
        """As of :class:`Frozen`."""
        packed = torch.from_numpy(self.triples.packed).long()
        ascending, order = packed.sort()
        return {"packed": packed, "ascending": ascending, "order": order, "ends": torch.from_numpy(self.triples.ends)}

    def rows(self, packed: Tensor) -> Tensor:
        """Which row of the list each packed id is, whatever its form, -1 where none: int64 of the same shape."""
        wanted = packed.long() & TRIPLE
        at = torch.searchsorted(self.ascending, wanted).clamp(max=self.count - 1)
        return torch.where(self.ascending[at] == wanted, self.order[at], -1)


class PairList(Frozen):
    """The list of pairs of a triple and a form.

    Arguments:
        config: ``lang`` says which list.

    Attributes:
        packed: the ids, int64 (P,).
        triples: the row of each pair's triple in the list of triples, int64 (P,).
        begins: the pairs of triple i are ``begins[i]:begins[i + 1]``, int64 (S + 1,).
        most: the most pairs that a triple has.
        traditional, simplified: ids, and the ids that they are read as, int64 (T,).
    """

    packed: Tensor
    triples: Tensor
    begins: Tensor
    keys: Tensor
    traditional: Tensor
    simplified: Tensor

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__()
        self.pairs = pairs(config.lang)
        self.count, self.most = len(self.pairs), int(np.bincount(self.pairs.rows).max())
        self.syllables = int(np.searchsorted(self.pairs.rows, self._first_character(config)))
        self.add_buffers()

    @staticmethod
    def _first_character(config: PhonemicBertConfig) -> int:
        listed = triples(config.lang, config.syllable_inventory)
        return len(listed) - listed.characters

    def arrays(self) -> dict[str, Tensor]:
        """As of :class:`Frozen`."""
        packed, rows = torch.from_numpy(self.pairs.packed).long(), torch.from_numpy(self.pairs.rows)
        begins = torch.searchsorted(rows, torch.arange(int(rows[-1]) + 2))
        keys = rows * FORMS + (packed >> FORM_SHIFT)
        scripts = (torch.from_numpy(ids).long() for ids in (self.pairs.traditional, self.pairs.simplified))
        names = ("packed", "triples", "begins", "keys", "traditional", "simplified")
        return dict(zip(names, (packed, rows, begins, keys, *scripts), strict=True))

    def read(self, packed: Tensor) -> Tensor:
        """The ids as a model sees them, of the same shape and dtype: unlisted traditional characters as simplified."""
        if not len(self.traditional):
            return packed
        at = torch.searchsorted(self.traditional, packed.long().contiguous()).clamp(max=len(self.traditional) - 1)
        return torch.where(self.traditional[at] == packed, self.simplified[at].to(packed.dtype), packed)

    def rows(self, packed: Tensor, triples: Tensor) -> Tensor:
        """Which row of the list each packed id is, -1 where none: int64 of the same shape.

        Arguments:
            packed: the ids, with their forms.
            triples: what :meth:`TripleList.rows` gives of them.
        """
        keys = triples * FORMS + (packed.long() >> FORM_SHIFT)
        at = torch.searchsorted(self.keys, keys).clamp(max=self.count - 1)
        return torch.where(self.keys[at] == keys, at, -1)

    def members(self, triples: Tensor) -> tuple[Tensor, Tensor]:
        """The pairs of each triple, filled up to ``most``.

        Arguments:
            triples: rows of the list of triples, (M,); -1 has no pairs.

        Returns:
            Rows of this list, int64 (M, most), and which of them are pairs of the triple, bool (M, most).
        """
        at = triples.clamp(min=0)
        places = torch.arange(self.most, device=triples.device)
        rows = self.begins[at][:, None] + places
        inside = (rows < self.begins[at + 1][:, None]) & (triples >= 0)[:, None]
        return rows.clamp(max=self.count - 1), inside


#: The digits of forms, and how many vectors each has: see :mod:`phonemic.forms`.
FIELDS = {
    "none": 1, "unlisted": 1, "escaped": 1, "space": 2, "case": 3, "normalization": 3, "spelling": 7, "rank": 32,
    "byte": FORMS,
}  # fmt: skip

#: What a form's number means depends on which of these its position is.
SYLLABLE, CHARACTER, UNKNOWN = range(3)


class FieldList(Frozen):
    """Numbers of the vectors that each form stands for.

    Arguments:
        config: ``lang`` says what a syllable's form means.

    Attributes:
        numbers: of each form (0 to 127) of a syllable, a fallback character and [UNK], int64 (3 * 128, 4), -1 for none.
    """

    numbers: Tensor

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__()
        self.lang = config.lang
        self.add_buffers()

    def arrays(self) -> dict[str, Tensor]:
        """As of :class:`Frozen`."""
        sizes = np.array([*FIELDS.values()])
        first = dict(zip(FIELDS, (sizes.cumsum() - sizes).tolist(), strict=True))
        table = torch.full((3, FORMS, 4), -1)
        for kind in range(3):
            for form in range(FORMS):
                said = self._said(kind, form)
                table[kind, form, : len(said)] = torch.tensor([first[name] + digit for name, digit in said.items()])
        return {"numbers": table.flatten(0, 1)}

    def _said(self, kind: int, form: int) -> dict[str, int]:
        """The digits of a form by name."""
        rest = form - 1
        if form == 0:
            return {"none": 0}
        if kind == UNKNOWN:
            return {"byte": form}
        if form == ESCAPED:
            return {"escaped": 0}
        if kind == CHARACTER:
            return {"space": rest % 2, "case": 2 * (rest // 2 % 2), "rank": rest // 4}
        if self.lang == "zh":  # a listed one has a vector of its own
            return {"unlisted": 0}
        return {"case": rest % 3, "space": rest // 3 % 2, "normalization": rest // 6 % 3, "spelling": rest // 18}

    @staticmethod
    def rows(packed: Tensor) -> Tensor:
        """The row of ``numbers`` of each packed id: int64 of the same shape."""
        triple, form = packed.long() & TRIPLE, packed.long() >> FORM_SHIFT
        kind = torch.where(triple == (triple & 255) * 0x010101, CHARACTER, SYLLABLE)
        return torch.where(triple == UNKNOWN_ID, UNKNOWN, kind) * FORMS + form
