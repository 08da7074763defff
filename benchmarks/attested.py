"""Counts the syllables of real text, and writes those that occur often enough as the lists of attested syllables.

    python benchmarks/attested.py DATA

DATA is the folder of the raw text. The lists are ``phonemic_bert/attested/vi.tsv`` and ``zh.tsv``, a syllable a line,
its onset, rime and tone; a model with ``syllables = "attested"`` chooses among them. Another list is another model:
checkpoints of the old one are refused.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from phonemic import Tokenizer
from phonemic.files import read_texts
from phonemic.inventory import vocabulary
from phonemic_bert import triples as lists

#: The raw text of each language, and the readings that it is read with: a syllable counts where any of them has it.
TEXTS = {"vi": ("viwiki", "news"), "zh": ("lctt", "laws", "weekly", "general")}
READINGS = {"vi": ("pypinyin",), "zh": ("pypinyin", "context")}  # Vietnamese has one reading, whatever it is called

#: How often a syllable must occur.
LEAST = 5


def counted(lang: str, data: Path) -> dict[int, int]:
    """How often each possible syllable occurs, packed: in the reading that has it most often."""
    syllables = lists.triples(lang).packed[: -lists.triples(lang).characters]
    counts = np.zeros(len(syllables), np.int64)
    order = np.argsort(syllables)
    for readings in READINGS[lang]:
        found = np.zeros(len(syllables), np.int64)
        tokenizer = Tokenizer(lang, readings=readings)
        for name in TEXTS[lang]:
            for texts in read_texts(str(data / lang / "raw" / f"{name}.txt.xz")):
                ids, times = np.unique(tokenizer.encode_batch([text for text in texts if text]).ids, return_counts=True)
                at = np.searchsorted(syllables, ids, sorter=order).clip(max=len(syllables) - 1)
                known = syllables[order[at]] == ids
                found[order[at[known]]] += times[known]
        counts = np.maximum(counts, found)
    return dict(zip(syllables.tolist(), counts.tolist(), strict=True))


@click.command(help=__doc__)
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(data: Path) -> None:
    """Counts and writes."""
    for lang in TEXTS:
        counts, symbols = counted(lang, data), vocabulary(lang)
        kept = sorted(packed for packed, count in counts.items() if count >= LEAST)
        lines = ["\t".join(symbols.unpack(packed)) for packed in kept]
        path = Path(lists.__file__).parent / "attested" / f"{lang}.tsv"
        path.write_text("\n".join(["onset\trime\ttone", *lines]) + "\n", "utf-8")
        total, lost = sum(counts.values()), sum(count for count in counts.values() if count < LEAST)
        print(f"{lang}: {len(kept):,} of {len(counts):,} syllables, all but {lost / total:.4%} of what occurs")


if __name__ == "__main__":
    main()
