"""What PhonemicBERT and a character model know of held-out Mandarin, in the same units.

    python benchmarks/held_out.py RUN/final CORPUS CHARACTER-RUN/final CHARACTER-CORPUS --tokenizers FOLDER

A character model must tell 他 from 她, PhonemicBERT need not; and PhonemicBERT's three heads are independent, so that
they give a part of their probability to onsets, rimes and tones that make no syllable. So two more figures are taken
than the bits of a masked position that pretraining logs: PhonemicBERT's, with the probability divided among real
syllables and fallback symbols only, and the character model's for the syllable, which is the sum over the characters
whose default reading it is. Both models see the same documents with the same positions masked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM

import phonemic_bert  # noqa: F401  (transformers' Auto classes find PhonemicBERT)
from phonemic import Tokenizer, baselines
from phonemic.corpus import open_corpus
from phonemic.inventory import vocabulary
from phonemic_bert.composition import components
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.pretraining.sequences import EVALUATION, random_bits
from phonemic_bert.syllables import syllables

SHARE = 0.15


def documents(one: FlatCorpus, other: FlatCorpus, count: int, limit: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The same held-out documents as both models' input ids, and which positions to mask, (N,) each.

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
            chosen &= ~np.isin(shifted, symbols.special)
            rows.append(torch.from_numpy(np.concatenate([[symbols.cls], shifted, [symbols.sep]])))
        if chosen.any():
            yield rows[0], rows[1], torch.from_numpy(np.concatenate([[False], chosen, [False]]))


@torch.inference_mode()
def hidden_logits(model: Any, corpus: FlatCorpus, rows: list[Tensor], masks: list[Tensor]) -> tuple[Any, Tensor]:
    """Logits at the masked positions, and the true ids there."""
    pad = torch.nn.utils.rnn.pad_sequence
    ids = pad(rows, batch_first=True, padding_value=corpus.symbols.pad)
    chosen = pad(masks, batch_first=True)
    attention = pad([torch.ones_like(row) for row in rows], batch_first=True)
    logits = model(ids.masked_fill(chosen, corpus.symbols.mask), attention_mask=attention).logits
    parts = [part[chosen].float() for part in (logits if isinstance(logits, tuple) else (logits,))]
    return parts, ids[chosen]


class Syllables:
    """Which syllable, or fallback symbol, each entry of the character model's vocabulary is read as by itself."""

    def __init__(self, corpus: FlatCorpus, folder: str | None) -> None:
        tokens = baselines.load(corpus.symbols.tokenizer["name"], folder).tokens(range(corpus.symbols.size - 4))
        batch = Tokenizer("zh").encode_batch([token if len(token) == 1 else "" for token in tokens])
        packed = np.full(len(tokens) + 4, -1, np.int64)
        has = np.diff(batch.offsets) == 1
        packed[4:][has] = batch.ids[batch.offsets[:-1][has]]
        self.packed, classes = np.unique(packed, return_inverse=True)
        self.of = torch.from_numpy(classes)

    def sums(self, logits: Tensor) -> Tensor:
        """Probabilities of the syllables, (M, S), from logits (M, V)."""
        return torch.zeros(len(logits), len(self.packed)).index_add_(1, self.of, logits.softmax(-1))


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
    models = [AutoModelForMaskedLM.from_pretrained(folder).eval() for folder in (phonemic, character)]
    known = Syllables(theirs, tokenizers)
    symbols = [vocabulary("zh").pack((symbol,) * 3) for symbol in vocabulary("zh").by_role("fallback")]
    real = torch.from_numpy(np.concatenate([syllables("zh"), np.array(symbols, np.int32)]).astype(np.int64))
    parts = components(real).unbind(-1)

    figures: dict[str, list[Tensor]] = {}

    def note(name: str, logs: Tensor, right: Tensor) -> None:
        figures.setdefault(f"{name}, bits", []).append(-logs / math.log(2))
        figures.setdefault(f"{name}, right", []).append(right.float())

    held = list(documents(ours, theirs, count, length))
    held.sort(key=lambda document: len(document[0]))
    for start in range(0, len(held), 64):
        first, second, masks = (list(side) for side in zip(*held[start : start + 64], strict=True))
        heads, truth = hidden_logits(models[0], ours, first, masks)
        logs = [head.log_softmax(-1) for head in heads]
        joint = sum(log[:, part] for log, part in zip(logs, parts, strict=True))
        target = components(truth).unbind(-1)
        whole = sum(log.gather(1, part[:, None])[:, 0] for log, part in zip(logs, target, strict=True))
        guessed = torch.stack([head.argmax(-1) for head in heads], -1)
        note("PhonemicBERT, syllable, three heads", whole, (guessed == components(truth)).all(-1))
        note("PhonemicBERT, syllable, real ones", whole - joint.logsumexp(-1), real[joint.argmax(-1)] == truth)
        (logits,), truth = hidden_logits(models[1], theirs, second, masks)
        sums = known.sums(logits)
        right = known.of[truth]
        note("character model, syllable", sums.gather(1, right[:, None])[:, 0].log(), sums.argmax(-1) == right)
        chars = logits.log_softmax(-1).gather(1, truth[:, None])[:, 0]
        note("character model, character", chars, logits.argmax(-1) == truth)
    means = {name: torch.cat(values).mean().item() for name, values in figures.items()}
    positions = sum(len(values) for values in figures["character model, syllable, bits"])
    for name in dict.fromkeys(name.rpartition(", ")[0] for name in means):
        print(f"{name:40}{means[f'{name}, bits']:8.3f} bits{means[f'{name}, right']:9.1%} right")
    print(f"{positions:,} masked positions of {len(held):,} documents")
    if output:
        output.write_text(
            json.dumps({"figures": means, "positions": positions, "documents": len(held)}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()
