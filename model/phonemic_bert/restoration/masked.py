"""Scores of a masked model for candidates that n-grams are not sure of: one pass, with all of these masked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from phonemic.inventory import TRIPLE
from phonemic_bert.errors import CheckpointError
from phonemic_bert.inspection.loading import load
from phonemic_bert.modeling import PhonemicBertForMaskedLM
from phonemic_bert.restoration.base import Draft
from phonemic_bert.restoration.lattice import Lattice, Solved
from phonemic_bert.restoration.results import Restored
from phonemic_bert.tokenization.positions import SPECIAL_IDS

#: How probable a candidate must be by n-grams for its position not to be masked.
SURE = 0.9
#: The weight of a nat of the masked model, compared with one of the n-grams.
WEIGHT = 0.4
#: Rows that the model reads together.
_ROWS = 32
_LEAST = -20.0
_CLS, _SEP, _MASK = (SPECIAL_IDS[name] for name in ("[CLS]", "[SEP]", "[MASK]"))


class _Row(NamedTuple):
    """A row of ids with masks.

    Attributes:
        text: which text it is of.
        ids: with [CLS] and [SEP].
        masked: the lattice's position that each masked place is.
    """

    text: int
    ids: list[int]
    masked: dict[int, int]


class MaskedScorer:
    """Adds what a masked model says of candidates to their costs.

    Arguments:
        checkpoint: the folder or name of a pretrained PhonemicBERT; in Mandarin one with forms.
        words: the words of the n-grams.
        lang: their language.

    Raises:
        CheckpointError: it is of another language or kind, or, in Mandarin, has no forms.
    """

    def __init__(self, checkpoint: str | os.PathLike[str], words: Sequence[str], lang: str) -> None:
        loaded = load(checkpoint)
        if loaded.lang != lang:
            raise CheckpointError(f"{os.fspath(checkpoint)}: is for {loaded.lang}, but the n-grams are for {lang}")
        if not isinstance(loaded.model, PhonemicBertForMaskedLM):
            raise CheckpointError(f"{os.fspath(checkpoint)}: does not predict masked syllables: take a pretrained one")
        self.model: Any = loaded.model.float()
        self.tokenizer = loaded.tokenizer.phonemic
        if lang == "zh" and not self.tokenizer.form:
            raise CheckpointError(f"{os.fspath(checkpoint)}: tells no characters apart: take one with forms")
        self._room = self.model.config.max_position_embeddings - 2
        self._packed = np.array([self._id(word) for word in words], np.int64)
        self._asked = np.unique(self._packed)

    def _id(self, word: str) -> int:
        """Return the id that the model is asked about: of a character, or a Vietnamese syllable; 0 for none."""
        if self.tokenizer.lang == "zh":
            found = self.tokenizer.encode(word).ids
            return int(found[0]) if len(found) == 1 and found[0] & TRIPLE else 0
        triple = self.tokenizer.factorize(word)
        return 0 if triple is None else self.tokenizer.vocabulary.pack(triple)

    def rescore(self, texts: Sequence[str], lattices: Sequence[Lattice], draft: Draft) -> list[Lattice]:
        """Lattices with what the model says of the candidates of positions that are in doubt.

        Arguments:
            texts: the texts.
            lattices: theirs.
            draft: makes the texts in which these positions are masked.
        """
        solved, restored = draft(texts, lattices, True)
        rows = [row for at in range(len(lattices)) for row in self._rows(at, lattices[at], solved[at], restored[at])]
        rows.sort(key=lambda row: len(row.ids))
        costs: list[dict[int, NDArray[np.float32]]] = [{} for _ in lattices]
        for at in range(0, len(rows), _ROWS):
            self._read(rows[at : at + _ROWS], lattices, costs)
        return [lattice.with_costs(own) for lattice, own in zip(lattices, costs, strict=True)]

    def _rows(self, text: int, lattice: Lattice, solved: Solved, restored: Restored) -> list[_Row]:
        doubtful = _doubtful(lattice, solved, restored)
        if not doubtful:
            return []
        encoding = self.tokenizer.encode(restored.text)
        places = [doubtful.get(start, -1) for start, _ in encoding.spans.tolist()]
        found, ids = [], encoding.ids.tolist()
        for begin in range(0, len(ids), self._room):
            part = slice(begin, begin + self._room)
            masked = {at: number for at, number in enumerate(places[part], 1) if number >= 0}
            if masked:
                own = [_CLS, *ids[part], _SEP]
                found.append(_Row(text, [_MASK if at in masked else one for at, one in enumerate(own)], masked))
        return found

    def _read(
        self, rows: Sequence[_Row], lattices: Sequence[Lattice], costs: list[dict[int, NDArray[np.float32]]]
    ) -> None:
        ids = torch.zeros(len(rows), max(len(row.ids) for row in rows), dtype=torch.long)
        for at, row in enumerate(rows):
            ids[at, : len(row.ids)] = torch.tensor(row.ids)
        places = [(at, place, row.text, number) for at, row in enumerate(rows) for place, number in row.masked.items()]
        with torch.inference_mode():
            hidden = self.model.bert(input_ids=ids, attention_mask=(ids != 0).long()).last_hidden_state
            chosen = hidden[[at for at, *_ in places], [place for _, place, *_ in places]]
            logs = self.model.predict(chosen).log_probabilities(torch.from_numpy(self._asked)).float().numpy()
        for own, (_, _, text, number) in zip(logs, places, strict=True):
            packed = self._packed[lattices[text].positions[number].candidates.words]
            said = np.where(packed > 0, own[np.searchsorted(self._asked, packed)], _LEAST)
            costs[text][number] = (WEIGHT * np.maximum(said, _LEAST)).astype(np.float32)


def _doubtful(lattice: Lattice, solved: Solved, restored: Restored) -> dict[int, int]:
    """The positions whose candidate is not sure, by where they begin in the restored text."""
    found, shift = {}, 0
    changes = iter([*restored.changes, None])
    change = next(changes)
    for number, position in enumerate(lattice.positions):
        while change is not None and change.end <= position.start:
            shift += len(change.text) - (change.end - change.start)
            change = next(changes)
        if len(position.candidates.words) > 1 and solved.logs[number][solved.places[number]] < np.log(SURE):
            spaced = change is not None and change.start < position.start < change.end
            found[(change.start if spaced and change is not None else position.start) + shift] = number
    return found
