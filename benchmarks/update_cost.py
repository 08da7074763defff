"""The processor's seconds of one pretraining update, of models over several prepared corpora, in turns.

    phonemic prepare TEXT vi --lang vi && phonemic prepare TEXT bpe --lang vi --tokenizer Byte-BPE=FOLDER
    python benchmarks/update_cost.py vi bpe --set model.num_bigram_buckets=32768

Each corpus is learned by the preset's own model, as ``phonemic-bert pretrain`` makes it, compiled or plain: forward,
backward, clipping and AdamW's update, on batches of the corpus, with one thread. In each turn every model makes one
update, so that a slow spell of the machine hits all, and is compared with the first corpus' of that turn. Printed:
medians, the median of the ratios, and how many steps fit in the time of 1,000 of the first.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

import click
import torch
from transformers import set_seed

from phonemic.corpus import open_corpus
from phonemic_bert.pretraining.compiled import compile_training
from phonemic_bert.pretraining.fitting import Computer, fit
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.pretraining.memory import keep_freed_memory
from phonemic_bert.pretraining.models import make_model
from phonemic_bert.pretraining.run import split
from phonemic_bert.pretraining.sequences import collate
from phonemic_bert.pretraining.settings import Settings
from phonemic_bert.pretraining.trainer import separate


class Updating:
    """A model that is pretrained, an update at a time.

    Attributes:
        loss: of the last update, nats.
    """

    def __init__(self, corpus: Path, settings: Settings, compiled: bool) -> None:
        self.symbols = (flat := FlatCorpus(open_corpus(corpus), verify=False)).symbols
        self.train, _, _ = split(flat, settings)
        set_seed(settings.optimization.seed)
        self.settings, self.loss = settings, 0.0
        self.model: Any = make_model(settings, self.symbols).train()
        if compiled:
            compile_training(self.model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), settings.optimization.learning_rate, fused=True)

    def update(self, number: int) -> float:
        """The processor's seconds of the update of this number, from 0, without those of making its batch."""
        size, attention = self.settings.optimization.batch_size, str(self.model.config._attn_implementation)
        batch = collate([self.train[number * size + at] for at in range(size)])
        inputs = separate(batch, self.symbols.pad, self.settings.sequences.separate_documents, attention)
        start = time.process_time()
        with torch.autocast("cpu", torch.bfloat16, enabled=bool(self.settings.optimization.bf16)):
            loss = self.model(**inputs).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.optimization.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        seconds = time.process_time() - start
        self.loss = loss.item()
        return seconds


@click.command(help=__doc__)
@click.argument("corpora", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--preset", default="mini-sound", show_default=True)
@click.option("--set", "overrides", multiple=True, help="a setting of the preset, such as model.num_bigram_buckets=0")
@click.option("--turns", default=60, show_default=True)
@click.option("--before", default=30, show_default=True, help="turns before them, in which all is compiled")
def main(corpora: tuple[Path, ...], preset: str, overrides: tuple[str, ...], turns: int, before: int) -> None:
    """Measures and prints."""
    torch.set_num_threads(1)
    keep_freed_memory()
    steps = f"optimization.max_steps={turns + before}"
    settings = fit(Settings.load(preset, [*overrides, steps]), Computer.here("cpu"), None)
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}, {turns} turns\n")
    print("| corpus | | CPU s per step | ratio | steps in the time of 1,000 |")
    print("| --- | --- | ---: | ---: | ---: |")
    for compiled in (True, False):
        made = [Updating(corpus, settings, compiled) for corpus in corpora]
        measured = [[one.update(number) for one in made] for number in range(turns + before)][before:]
        for at, corpus in enumerate(corpora):
            seconds = statistics.median(turn[at] for turn in measured)
            ratio = statistics.median(turn[at] / turn[0] for turn in measured)
            how = "compiled" if compiled else "plain"
            print(f"| {corpus.name} | {how} | {seconds:.3f} | {ratio:.2f} | {1000 / ratio:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
