"""The pairs of a triple and a written form that real text has, which a model with forms chooses from."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterator
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
        traditional: ids of traditional characters that are not in the list, ascending, int32 (T,); in Vietnamese none.
        simplified: the pair of the simplified character that each of these is read as, int32 (T,).
    """

    lang: str
    packed: NDArray[np.int32]
    rows: NDArray[np.int64]
    traditional: NDArray[np.int32]
    simplified: NDArray[np.int32]

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
        character. A traditional character that is not in the list is read as the simplified one with the same triple,
        where that is (``attested/zh-traditional.tsv``): what models learn from is simplified, what they read is both.

    Raises:
        KeyError: there is no such language.
    """
    vocab, listed = vocabulary(lang), triples(lang, "attested").packed
    written = {
        vocab.pack((row["onset"], row["rime"], row["tone"])): [int(form) for form in row["forms"].split()]
        for row in _rows(f"{lang}-forms.tsv")
    }
    found = [one | form << FORM_SHIFT for one in listed.tolist() for form in sorted(written.get(one, [1]))]
    packed = np.array(found, np.int32)
    order = np.argsort(listed)
    rows = order[np.searchsorted(listed, packed & TRIPLE, sorter=order)]
    return Pairs(lang, packed, rows.astype(np.int64), *(_scripts() if lang == "zh" else np.empty((2, 0), np.int32)))


def _scripts() -> NDArray[np.int32]:
    """The ids of traditional characters, and the ids that they are read as, by the former: int32 (2, T)."""
    vocab = vocabulary("zh")
    found = []
    for row in _rows("zh-traditional.tsv"):
        triple = vocab.pack((row["onset"], row["rime"], row["tone"]))
        both = (cell.split("=") for cell in row["forms"].split())
        found += [[triple | int(form) << FORM_SHIFT for form in forms] for forms in both]
    return np.array(sorted(found), np.int32).reshape(-1, 2).T


def _rows(name: str) -> Iterator[dict[str, str]]:
    """The rows of a list."""
    text = (files("phonemic_bert") / "attested" / name).read_text("utf-8")
    return csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
