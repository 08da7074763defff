"""Scores of a network that is trained to restore: it reads what n-grams restored, and judges all candidates at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phonemic_bert.errors import CheckpointError
from phonemic_bert.inspection.loading import load
from phonemic_bert.modeling import PhonemicBertForMaskedLM
from phonemic_bert.modeling.prepared import PreparedEncoder
from phonemic_bert.restoration.base import Draft
from phonemic_bert.restoration.lattice import Lattice
from phonemic_bert.restoration.ngrams import Ngrams
from phonemic_bert.tokenization.positions import SPECIAL_IDS

#: The weight of a nat of the model, compared with one of the n-grams.
WEIGHT = 2.0
#: Positions that the model reads together, padding included.
_POSITIONS = 4096
CLS, SEP, PAD = (SPECIAL_IDS[name] for name in ("[CLS]", "[SEP]", "[PAD]"))


class Row(NamedTuple):
    """A row of ids, and what is asked about it.

    Attributes:
        ids: with [CLS] and [SEP].
        places: where in these the asked positions are.
        numbers: which positions of the lattice they are.
        candidates: the rows in :attr:`Reader.triples` of the candidates of each.
    """

    ids: list[int]
    places: list[int]
    numbers: list[int]
    candidates: list[NDArray[np.int64]]


class Batch(NamedTuple):
    """Rows as the model takes them.

    Attributes:
        ids: packed ids with padding, int64 (B, N).
        attention: which positions attend to which, as the model takes it; None: all of a row.
        places: the flat places of the M positions that are asked about, int64 (M,).
        rows: the rows in :attr:`Reader.triples` of the candidates of all of them, int64 (C,).
        sizes: candidates of each position, int64 (M,).
    """

    ids: Tensor
    attention: Tensor | None
    places: Tensor
    rows: Tensor
    sizes: Tensor


class Reader:
    """Texts as the network reads them: as n-grams restore them, with the choice of every position to be judged.

    Arguments:
        model: a PhonemicBERT with a joint head.
        tokenizer: the tokenizer that it is for.
        words: those of n-grams, of one model or of several.

    Attributes:
        triples: the packed ids of all words, each once, int64 (K,).
        rows: of each model, which of these its words are, int64.
        longest: positions that the network reads together, [CLS] and [SEP] among them.
    """

    def __init__(self, model: Any, tokenizer: Any, *words: Sequence[str]) -> None:
        self.tokenizer, self.longest = tokenizer, model.config.max_position_embeddings
        packed = [np.array([self._packed(word) for word in some]) for some in words]
        triples = np.unique(np.concatenate(packed))
        self.triples = torch.from_numpy(triples).to(model.device)
        self.rows = [np.searchsorted(triples, each) for each in packed]

    def _packed(self, word: str) -> int:
        triple = self.tokenizer.factorize(word)
        return 0 if triple is None else int(self.tokenizer.vocabulary.pack(triple))

    def read(self, restored: str, lattice: Lattice, model: int = 0) -> list[Row]:
        """Return the rows of a text, those without a question left out.

        Arguments:
            restored: as n-grams restored it, of as many code points as the text.
            lattice: the text's positions; those with several candidates are judged.
            model: the n-grams whose words the candidates are.
        """
        rows = self.rows[model]
        asked = {
            position.start: number
            for number, position in enumerate(lattice.positions)
            if len(position.candidates.words) > 1
        }
        encoding = self.tokenizer.encode(restored)
        numbers = [asked.get(start, -1) for start, _ in encoding.spans.tolist()]
        ids, room, found = encoding.ids.tolist(), self.longest - 2, []
        for begin in range(0, len(ids), room):
            part = slice(begin, begin + room)
            own = [(place, number) for place, number in enumerate(numbers[part], 1) if number >= 0]
            if own:
                places, these = zip(*own, strict=True)
                candidates = [rows[lattice.positions[number].candidates.words] for number in these]
                found.append(Row([CLS, *ids[part], SEP], list(places), list(these), candidates))
        return found


def batched(rows: Sequence[Row]) -> Batch:
    """Return rows as the network takes them, one below the other."""
    width = max(len(row.ids) for row in rows)
    ids = torch.tensor([row.ids + [PAD] * (width - len(row.ids)) for row in rows])
    places = [at * width + place for at, row in enumerate(rows) for place in row.places]
    attention = None if all(len(row.ids) == width for row in rows) else (ids != PAD).long()
    return Batch(ids, attention, torch.tensor(places), *candidates(rows))


def candidates(rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
    """Return the last two fields of a batch of rows."""
    found = [each for row in rows for each in row.candidates]
    return torch.from_numpy(np.concatenate(found)), torch.tensor([len(each) for each in found])


def log_probabilities(model: Any, batch: Batch, hidden: Tensor, vectors: tuple[Tensor, Tensor]) -> Tensor:
    """The logarithms of the probabilities of all candidates among those of their position, nats, float32 (C,).

    Arguments:
        model: a PhonemicBERT with a joint head.
        batch: what is asked.
        hidden: the encoder's last states for it, (B, N, d).
        vectors: what the model has for :attr:`Reader.triples`.
    """
    state = model.heads.transform(hidden.flatten(0, 1)[batch.places])
    owners = torch.repeat_interleave(batch.sizes, output_size=len(batch.rows))
    asked, said = state.index_select(0, owners), vectors[0].index_select(0, batch.rows)
    scores = (asked * said).sum(-1) + vectors[1][batch.rows]
    lowest = scores.new_full((len(batch.sizes),), -torch.inf)
    highest = lowest.scatter_reduce(0, owners, scores.detach(), "amax")
    shifted = scores - highest[owners]
    sums = torch.zeros_like(lowest).index_add(0, owners, shifted.exp())
    found: Tensor = shifted - sums.log()[owners]
    return found


class TrainedScorer:
    """Adds what a model that is trained to restore says of candidates to their costs.

    Arguments:
        folder: the model's.
        ngrams: the n-grams that it is trained with.
        weight: what a nat of it counts next to one of the n-grams.

    Raises:
        CheckpointError: it is not such a model, or damaged.
    """

    def __init__(self, folder: Path, ngrams: Ngrams, weight: float = WEIGHT) -> None:
        loaded = load(folder)
        if not isinstance(loaded.model, PhonemicBertForMaskedLM) or loaded.model.config.head != "joint":
            raise CheckpointError(f"{folder}: does not judge syllables: train it by phonemic-bert train-restorer")
        if loaded.lang != ngrams.lang:
            raise CheckpointError(f"{folder}: is for {loaded.lang}, but the n-grams are for {ngrams.lang}")
        self.model: Any = loaded.model.float()
        self.reader = Reader(self.model, loaded.tokenizer.phonemic, ngrams.words)
        self.weight = weight
        self.encoder = PreparedEncoder(self.model.bert)
        with torch.inference_mode():
            self._vectors = self.model.vectors(self.reader.triples)

    def rescore(self, texts: Sequence[str], lattices: Sequence[Lattice], draft: Draft) -> list[Lattice]:
        """Lattices with what the model says of the candidates, of texts without any marks.

        Arguments:
            texts: the texts.
            lattices: theirs.
            draft: restores them.
        """
        _, restored = draft(texts, lattices, False)
        both = enumerate(zip(restored, lattices, strict=True))
        rows = [(at, row) for at, (one, own) in both if own.bare for row in self.reader.read(one.text, own)]
        rows.sort(key=lambda each: len(each[1].ids))
        costs: list[dict[int, NDArray[np.float32]]] = [{} for _ in lattices]
        for some in _batches(rows):
            batch = batched([row for _, row in some])
            with torch.inference_mode():
                hidden = self.encoder(batch.ids, batch.attention)
                said = log_probabilities(self.model, batch, hidden, self._vectors)
            logs: NDArray[np.float32] = (self.weight * said).numpy()
            bounds = np.concatenate([[0], np.cumsum(batch.sizes.numpy())]).tolist()
            asked = ((at, number) for at, row in some for number in row.numbers)
            for (at, number), (begin, end) in zip(asked, pairwise(bounds), strict=True):
                costs[at][number] = logs[begin:end]
        return [lattice.with_costs(own) for lattice, own in zip(lattices, costs, strict=True)]


def _batches(rows: Sequence[tuple[int, Row]]) -> list[list[tuple[int, Row]]]:
    """Rows in groups; ascending by length, so the last of a group is its longest."""
    found: list[list[tuple[int, Row]]] = []
    for each in rows:
        if not found or (len(found[-1]) + 1) * len(each[1].ids) > _POSITIONS:
            found.append([])
        found[-1].append(each)
    return found
