"""The cost of a training step by its head: three heads, or one joint head over either list of triples.

    python benchmarks/head_cost.py [--turns 9]

The preset ``mini-sound`` of both languages: forward, backward, clipping and update of 8 x 256 positions, 30 % of them
masked, in bf16, on one core. The designs take turns, and each is compared with the three heads of its own turn, so that
a slow spell of the machine hits all; seconds are the processor's. Printed as Markdown: medians, and the median of the
ratios.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM
from phonemic_bert.pretraining.memory import keep_freed_memory
from phonemic_bert.tokenization.positions import SPECIAL_IDS
from phonemic_bert.triples import triples

#: The designs, by what they change in the preset. The first is what the others are compared with.
DESIGNS: dict[str, dict[str, str]] = {
    "three heads": {"composition": "linear", "head": "independent", "output_embeddings": "composed"},
    "joint, attested": {},
    "joint, possible": {"syllable_inventory": "full"},
}
ROWS, LENGTH, MASKED = 8, 256, 0.3


def batch(lang: str) -> dict[str, torch.Tensor]:
    """Rows of syllables drawn at random, with their masks and labels."""
    draw = np.random.default_rng(0)
    ids = torch.from_numpy(draw.choice(triples(lang, "attested").packed, (ROWS, LENGTH))).long()
    chosen = torch.from_numpy(draw.random((ROWS, LENGTH)) < MASKED)
    return {
        "input_ids": ids.masked_fill(chosen, SPECIAL_IDS["[MASK]"]),
        "attention_mask": torch.ones_like(ids),
        "labels": ids.masked_fill(~chosen, -100),
    }


class Trained:
    """A model and its optimizer."""

    def __init__(self, lang: str, fields: dict[str, str]) -> None:
        config = PhonemicBertConfig.from_preset(
            "mini-sound", lang, attn_implementation="eager", num_bigram_buckets=0, **fields
        )
        torch.manual_seed(0)
        self.model: Any = PhonemicBertForMaskedLM(config).train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), fused=True)
        self.batch = batch(lang)

    def step(self) -> float:
        """Seconds of a step."""
        start = time.process_time()
        with torch.autocast("cpu", torch.bfloat16):
            loss = self.model(**self.batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return time.process_time() - start


def measured(lang: str, turns: int) -> dict[str, list[float]]:
    """Seconds of a step of each design in each turn; two turns before them do not count."""
    made = {name: Trained(lang, fields) for name, fields in DESIGNS.items()}
    seconds = [{name: one.step() for name, one in made.items()} for _ in range(turns + 2)][2:]
    return {name: [turn[name] for turn in seconds] for name in made}


@click.command(help=__doc__)
@click.option("--turns", default=9, show_default=True)
def main(turns: int) -> None:
    """Measures and prints."""
    torch.set_num_threads(1)
    keep_freed_memory()
    print(f"torch {torch.__version__}, Python {platform.python_version()}, {turns} turns\n")
    print("| | triples | s per step | ratio |\n| --- | ---: | ---: | ---: |")
    for lang in ("vi", "zh"):
        found = measured(lang, turns)
        first = next(iter(found.values()))
        for name, seconds in found.items():
            _, _, syllables = name.partition(", ")
            size = f"{len(triples(lang, syllables)):,}" if syllables else ""
            ratio = statistics.median(one / other for one, other in zip(seconds, first, strict=True))
            print(f"| {lang}, {name} | {size} | {statistics.median(seconds):.3f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
