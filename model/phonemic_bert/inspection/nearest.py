"""The syllables whose input embeddings are nearest to those of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from phonemic.inventory import NATIVE, TRIPLE, kinds_of, vocabulary
from phonemic.writing.notations import speller
from phonemic_bert.modeling import PhonemicBertModel
from phonemic_bert.syllables import readings, syllables
from phonemic_bert.triples import triples

#: How many of a Mandarin syllable's characters are shown.
_CHARACTERS = 4


class NearestSyllable(NamedTuple):
    """A real syllable that is embedded near another.

    Attributes:
        syllable: Vietnamese spelling, or pinyin.
        characters: up to four of the Chinese characters that are read so, those of most phrases first.
        ipa: onset, rime and tone, "" for what it has not.
        cosine: of the two projected embeddings.
        packed: the packed id.
    """

    syllable: str
    characters: tuple[str, ...]
    ipa: tuple[str, str, str]
    cosine: float
    packed: int


class NearestSyllables:
    """The input embeddings of the real syllables of a model's language.

    A syllable's embedding is what is composed of its onset, rime and tone, before the position and the token type are
    added: 18,660 vectors for Vietnamese, 1,593 for Mandarin. It does not depend on the context. Of a model whose
    list has the attested syllables only, which has learned no rows for others, it is those.

    Arguments:
        model: the encoder.
    """

    def __init__(self, model: PhonemicBertModel) -> None:
        self.lang = model.config.lang
        real = syllables(self.lang)
        if model.config.triples_checksum is not None:
            real = real[np.isin(real, triples(self.lang, model.config.syllable_inventory).packed)]
        self.packed = torch.from_numpy(real).long()
        self._embeddings: Any = model.embeddings
        self._unit = self._embed(self.packed)

    @torch.no_grad()
    def _embed(self, packed: Tensor) -> Tensor:
        device = self._embeddings.word_embeddings.weight.device
        return functional.normalize(self._embeddings.compose(packed.to(device)).float(), dim=-1).cpu()

    def of(self, packed: Sequence[int], top_k: int = 5) -> list[tuple[NearestSyllable, ...] | None]:
        """The ``top_k`` nearest real syllables of each position, nearest first, itself left out.

        Arguments:
            packed: packed ids of positions, whose forms are passed over.
            top_k: how many.

        Returns:
            An entry a position; None where that is not a syllable of the language.

        Raises:
            ValueError: ``top_k`` is below 1.
        """
        if top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {top_k}")
        native = [int(kind) == NATIVE for kind in kinds_of(list(packed))]  # type: ignore[arg-type]
        asked = sorted({one & TRIPLE for one, kind in zip(packed, native, strict=True) if kind})
        found = dict(zip(asked, self._nearest(asked, top_k), strict=True)) if asked else {}
        return [found.get(one & TRIPLE) for one in packed]

    def _nearest(self, asked: list[int], top_k: int) -> list[tuple[NearestSyllable, ...]]:
        ids = torch.tensor(asked)
        cosines = self._embed(ids) @ self._unit.T
        cosines[ids[:, None] == self.packed] = -torch.inf
        best = cosines.topk(min(top_k, len(self.packed) - 1))
        write = speller(self.lang)
        vocab, same = vocabulary(self.lang), readings() if self.lang == "zh" else {}
        nearest = []
        for values, places in zip(best.values.tolist(), best.indices, strict=True):
            row = []
            for cosine, packed in zip(values, self.packed[places].tolist(), strict=True):
                triple = vocab.unpack(packed)
                onset, rime, tone = ("" if symbol == "[EMPTY]" else symbol for symbol in triple)
                characters = same.get(packed, ())[:_CHARACTERS]
                row.append(NearestSyllable(write(triple), characters, (onset, rime, tone), cosine, packed))
            nearest.append(tuple(row))
        return nearest
