"""Scores of models on text that none was trained on, in one unit: the bits, and the accuracy, of a masked syllable.

    python benchmarks/held_out.py RUN/final CORPUS CHARACTER-RUN/final CHARACTER-CORPUS --tokenizers FOLDER

A character model must tell 他 from 她, PhonemicBERT need not, so the probability that a character model gives to a
syllable is the sum over the characters whose default reading it is. Independent heads give a part of theirs to onsets,
rimes and tones that make no syllable: it is taken among existing ones, too. All models see the same documents with
the same positions masked.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from phonemic import Tokenizer, baselines
from phonemic.corpus import open_corpus
from phonemic_bert import PhonemicBertForMaskedLM
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.pretraining.sequences import EVALUATION, random_bits
from phonemic_bert.triples import triples

SHARE = 0.15
_ROWS = 64


class PositionScores(NamedTuple):
    """The predictions of a model for M masked positions.

    Attributes:
        bits: of the syllable that is there, (M,).
        right: whether the likeliest is that one, (M,).
        existing: bits among the triples that exist, where that is another figure, (M,).
    """

    bits: Tensor
    right: Tensor
    existing: Tensor | None = None


class Scorer:
    """A model over the ids of a corpus.

    Arguments:
        folder: the checkpoint.
        corpus: what it was trained on.
        tokenizers: the folder of the baselines' files, for a model over characters.
    """

    def __init__(self, folder: Path | str, corpus: FlatCorpus, tokenizers: Path | str | None = None) -> None:
        self.model: Any = AutoModelForMaskedLM.from_pretrained(folder).eval()
        self.symbols = corpus.symbols
        self.syllable = None if self.symbols.phonemic else _readings(corpus, tokenizers)
        if isinstance(self.model, PhonemicBertForMaskedLM):
            self.listed = torch.from_numpy(triples(self.model.config.lang).packed).long()

    @torch.inference_mode()
    def score(self, rows: list[Tensor], masks: list[Tensor]) -> PositionScores:
        """The predictions for the masked positions of rows of input ids, (N,) each, in the order of the rows."""
        pad = torch.nn.utils.rnn.pad_sequence
        ids = pad(rows, batch_first=True, padding_value=self.symbols.pad)
        chosen = pad(masks, batch_first=True)
        attention = pad([torch.ones_like(row) for row in rows], batch_first=True)
        hidden = self.model.base_model(ids.masked_fill(chosen, self.symbols.mask), attention_mask=attention)
        states, truth = hidden.last_hidden_state[chosen], ids[chosen]
        if self.syllable is not None:
            return _summed(logits_of(self.model, states), truth, self.syllable)
        predicted = self.model.predict(states)
        bits = predicted.losses(truth) / math.log(2)
        if self.model.config.head == "joint":
            return PositionScores(bits, predicted.best() == truth)
        logs = predicted.log_probabilities(self.listed)
        existing = bits + logs.logsumexp(-1) / math.log(2)
        return PositionScores(bits, self.listed[logs.argmax(-1)] == truth, existing)


def logits_of(model: Any, states: Tensor) -> Tensor:
    """Logits of a plain model, of either encoder, from hidden states (M, d): (M, V)."""
    logits: Tensor = model.cls(states) if hasattr(model, "cls") else model.predict(states)
    return logits


def _summed(logits: Tensor, truth: Tensor, syllable: Tensor) -> PositionScores:
    """Sums over the entries with the same reading: logits (M, V), truth (M,), and the syllable of each entry (V,)."""
    sums = torch.zeros(len(logits), int(syllable.max()) + 1).index_add_(1, syllable, logits.softmax(-1))
    right = syllable[truth]
    return PositionScores(-sums.gather(1, right[:, None])[:, 0].log2(), sums.argmax(-1) == right)


def tokens_of(corpus: FlatCorpus, folder: Path | str | None) -> list[str]:
    """The tokens of a baseline's corpus by their ids, those of its special symbols left out."""
    count = corpus.symbols.size - corpus.symbols.shift
    return baselines.load(corpus.symbols.tokenizer["name"], folder).tokens(range(count))


def _readings(corpus: FlatCorpus, folder: Path | str | None) -> Tensor:
    """Which syllable, numbered anew, each input id of a model over characters is read as by itself, (V,)."""
    tokens = tokens_of(corpus, folder)
    batch = Tokenizer("zh").encode_batch([token if len(token) == 1 else "" for token in tokens])
    packed = np.full(corpus.symbols.size, -1, np.int64)
    has = np.diff(batch.offsets) == 1
    packed[corpus.symbols.shift :][has] = batch.ids[batch.offsets[:-1][has]]
    return torch.from_numpy(np.unique(packed, return_inverse=True)[1])


def documents(one: FlatCorpus, other: FlatCorpus, count: int, limit: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The same held-out documents as input ids of two corpora, and which positions to mask, (N,) each.

    Left out are documents of which the tokenizers make different numbers of positions; long ones are cut.
    """
    for number in one.held_out(count).tolist():
        first, second = (c.ids[c.offsets[number] : c.offsets[number + 1]] for c in (one, other))
        if len(first) != len(second) or not len(first):
            continue
        sides = [np.asarray(part[: limit - 2], np.int64) for part in (first, second)]
        bits = random_bits(0, EVALUATION, 0, number, len(sides[0]))
        chosen = bits < np.uint64(SHARE * 2**64)
        rows = []
        for corpus, ids in zip((one, other), sides, strict=True):
            symbols = corpus.symbols
            shifted = ids + symbols.shift
            chosen &= ~symbols.never_masked(shifted)
            rows.append(torch.from_numpy(np.concatenate([[symbols.cls], shifted, [symbols.sep]])))
        if chosen.any():
            yield rows[0], rows[1], torch.from_numpy(np.concatenate([[False], chosen, [False]]))


def mean_scores(scorer: Scorer, rows: list[Tensor], masks: list[Tensor]) -> dict[str, float]:
    """Means over all masked positions: ``bits``, ``right`` and, of independent heads, ``existing``."""
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    found: list[PositionScores] = []
    for start in range(0, len(order), _ROWS):
        here = order[start : start + _ROWS]
        found.append(scorer.score([rows[number] for number in here], [masks[number] for number in here]))
    means = {"bits": torch.cat([one.bits for one in found]).mean().item()}
    means["right"] = torch.cat([one.right for one in found]).float().mean().item()
    if found[0].existing is not None:
        means["existing"] = torch.cat([one.existing for one in found if one.existing is not None]).mean().item()
    return means


@click.command()
@click.argument("phonemic")
@click.argument("phonemic_corpus")
@click.argument("character")
@click.argument("character_corpus")
@click.option("--tokenizers", help="The files of the baselines' tokenizers.")
@click.option("--documents", "count", default=1000, show_default=True, help="How many, as held out in pretraining.")
@click.option("--length", default=128, show_default=True, help="Positions that the models take.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Also write JSON.")
def main(
    phonemic: str,
    phonemic_corpus: str,
    character: str,
    character_corpus: str,
    tokenizers: str | None,
    count: int,
    length: int,
    output: Path | None,
) -> None:
    """Compares two runs on what neither was trained on."""
    ours, theirs = (
        FlatCorpus(open_corpus(Path(folder)), verify=False) for folder in (phonemic_corpus, character_corpus)
    )
    held = list(documents(ours, theirs, count, length))
    first, second, masks = (list(side) for side in zip(*held, strict=True))
    figures = {
        "PhonemicBERT": mean_scores(Scorer(phonemic, ours), first, masks),
        "character model": mean_scores(Scorer(character, theirs, tokenizers), second, masks),
    }
    for name, means in figures.items():
        more = f"  {means['existing']:.3f} among triples that exist" if "existing" in means else ""
        print(f"{name:20}{means['bits']:8.3f} bits per syllable{means['right']:9.1%} right{more}")
    positions = int(sum(mask.sum() for mask in masks))
    print(f"{positions:,} masked positions of {len(held):,} documents")
    if output:
        output.write_text(
            json.dumps({"figures": figures, "positions": positions, "documents": len(held)}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()
