"""Measures the shipped checkpoints on everyday text that none of them has read, and on our own sentences.

    python benchmarks/pretraining_text.py vi WORK/vi --data DATA
    python benchmarks/checkpoints.py WORK

WORK/LANG holds what ``pretraining_text.py`` composed. Of the held-out lines of its sources in ``more``, which only
checkpoints with forms had a part of, those are taken that all tokenizers cut into the same positions. 15 % of the
positions are masked, the same for every checkpoint: bits and accuracy of the syllable, and with forms of the syllable
with its form. Of ``examples/cloze-LANG.txt`` it is counted how often the masked syllable, with forms as it is written,
is the likeliest and among the ten likeliest. The figures go to benchmarks/results/checkpoints.json.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from torch import Tensor

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.environment import environment
from benchmarks.forms import scores
from benchmarks.held_out import Scorer
from benchmarks.pretraining_text import EXAMPLES, SHARES
from phonemic.files.writing import write_json
from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertTokenizer, fill_mask
from phonemic_bert.pretraining.sequences import EVALUATION, random_bits
from phonemic_bert.pretraining.symbols import Symbols
from phonemic_bert.tokenization.positions import SPECIAL_IDS

CHECKPOINTS = Path(__file__).resolve().parents[1] / "model" / "checkpoints"
FIGURES = Path(__file__).parent / "results" / "checkpoints.json"
SHARE, LONGEST = 0.15, 200


class Checkpoint(Scorer):
    """A shipped checkpoint, to be asked like a run.

    Arguments:
        name: of its folder.
    """

    def __init__(self, name: str) -> None:
        folder = CHECKPOINTS / name
        self.model = PhonemicBertForMaskedLM.from_pretrained(folder).eval()
        self.tokenizer = PhonemicBertTokenizer.from_pretrained(folder)
        special = {key: SPECIAL_IDS[f"[{key.upper()}]"] for key in ("pad", "cls", "sep", "mask")}
        self.symbols = Symbols(
            {"name": "phonemic", "form": True}, **special, special=tuple(SPECIAL_IDS.values()), shift=0, size=0
        )
        self.syllable = None

    def row(self, text: str) -> Tensor:
        """The input ids of a text, (N,)."""
        ids = self.tokenizer.phonemic.encode(text).ids[:LONGEST].astype(np.int64)
        return torch.tensor([self.symbols.cls, *ids.tolist(), self.symbols.sep])


def held_out(work: Path, lang: str) -> list[str]:
    """The held-out lines of everyday text."""
    sources = tomllib.loads(SHARES.read_text("utf-8"))[lang]
    names = [Path(source).name for source in sources if source.split("/")[1] == "more"]
    return [
        line for name in names for line in (work / lang / "held-out" / f"{name}.txt").read_text("utf-8").splitlines()
    ]


def mask(number: int, rows: list[Tensor], symbols: Symbols) -> Tensor:
    """Which positions of a line are masked, none that a run would not mask, (N,).

    Arguments:
        number: of the line.
        rows: its input ids for each checkpoint.
        symbols: what the ids mean.
    """
    chosen = random_bits(0, EVALUATION, 0, number, len(rows[0])) < np.uint64(SHARE * 2**64)
    for row in rows:
        chosen &= ~symbols.never_masked(row.numpy())
    return torch.from_numpy(chosen)


def cloze(checkpoint: Checkpoint, lang: str) -> tuple[int, int]:
    """In how many of our sentences the masked syllable is the likeliest, and among the ten likeliest."""
    first = ten = 0
    for line in (EXAMPLES / f"cloze-{lang}.txt").read_text("utf-8").splitlines():
        before, syllable, after = re.split(r"[\[\]]", line)
        encoding = checkpoint.tokenizer.phonemic.encode(before + syllable + after)
        [truth] = encoding.ids[encoding.spans[:, 0] == len(before)].tolist()
        [found] = fill_mask(checkpoint.model, checkpoint.tokenizer, f"{before}[MASK]{after}", top_k=10)
        written = checkpoint.tokenizer.phonemic.form
        right = [filling.text == syllable if written else filling.packed == truth for filling in found]
        first += right[0]
        ten += any(right)
    return first, ten


@click.command(help=__doc__)
@click.argument("work", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--lang", "langs", type=click.Choice(["vi", "zh"]), multiple=True, default=("vi", "zh"), show_default=True
)
@click.option("--lines", default=4000, show_default=True, help="How many held-out lines at most.")
def main(work: Path, langs: tuple[str, ...], lines: int) -> None:
    """Asks every shipped checkpoint, and writes what it knows."""
    results: list[dict[str, Any]] = []
    for lang in langs:
        names = sorted(path.name for path in CHECKPOINTS.glob(f"phonemic-bert-*-{lang}"))
        asked = {name: Checkpoint(name) for name in names}
        texts = held_out(work, lang)
        order = np.random.default_rng(0).permutation(len(texts))[:lines]
        symbols = next(iter(asked.values())).symbols
        alike, masks = list[list[Tensor]](), list[Tensor]()
        for number in order.tolist():
            rows = [one.row(texts[number]) for one in asked.values()]
            if len({len(row) for row in rows}) == 1 and (chosen := mask(number, rows, symbols)).any():
                alike.append(rows)
                masks.append(chosen)
        for at, (name, checkpoint) in enumerate(asked.items()):
            own = [rows[at] for rows in alike]
            found = scores(checkpoint, own, own, masks)
            first, ten = cloze(checkpoint, lang)
            results.append({"checkpoint": name, **found, "lines": len(alike), "first": first, "ten": ten})
            click.echo(results[-1])
    write_json(FIGURES, {"environment": environment(), "results": results})


if __name__ == "__main__":
    main()
