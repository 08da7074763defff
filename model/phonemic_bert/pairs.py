"""The pairs of a triple and a written form that real text has, which a model with forms chooses from."""

from __future__ import annotations

import csv
import zlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from phonemic.inventory import FORM_SHIFT, TRIPLE, vocabulary
from phonemic.lexicon.forms import forms
from phonemic_bert.triples import triples

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Pairs:
    """A list of pairs of a triple and a form, in an order that never changes.

    Attributes:
        lang: ``"vi"`` or ``"zh"``.
        packed: the ids with their forms, by the triple's row in the list of attested triples, then by form, int32 (P,).
        rows: the triple's row of each pair, ascending, int64 (P,). Every row has a pair.
    """

    lang: str
    packed: NDArray[np.int32]
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def checksum(self) -> str:
        """CRC-32 of the pairs in order and of the tables that say what their forms are, eight hexadecimal digits."""
        tables = forms(self.lang).checksum.encode()
        return f"{zlib.crc32(self.packed.astype('<i4').tobytes() + tables):08x}"


@cache
def pairs(lang: str) -> Pairs:
    """The list of a language.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.

    Returns:
        For each triple of ``triples(lang, "attested")`` the forms that occur with it at least five times in real text
        (``attested/*-forms.tsv``); where none does, its first form, the standard one or that of the commonest
        character.

    Raises:
        KeyError: there is no such language.
    """
    vocab, listed = vocabulary(lang), triples(lang, "attested").packed
    text = (files("phonemic_bert") / "attested" / f"{lang}-forms.tsv").read_text("utf-8")
    written = {
        vocab.pack((row["onset"], row["rime"], row["tone"])): [int(form) for form in row["forms"].split()]
        for row in csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    }
    found = [one | form << FORM_SHIFT for one in listed.tolist() for form in sorted(written.get(one, [1]))]
    packed = np.array(found, np.int32)
    order = np.argsort(listed)
    rows = order[np.searchsorted(listed, packed & TRIPLE, sorter=order)]
    return Pairs(lang, packed, rows.astype(np.int64))
