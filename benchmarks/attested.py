"""Counts the syllables of real text and how they are written, and writes the ones that occur often enough as lists.

    python benchmarks/attested.py DATA [--forms-only]

DATA is the folder of the raw text. The lists are ``phonemic_bert/attested/vi.tsv`` and ``zh.tsv``, a syllable a line,
its onset, rime and tone; a model with ``syllables = "attested"`` chooses among them. ``vi-forms.tsv`` and
``zh-forms.tsv`` have the written forms of each syllable of these and of each fallback character: the pairs that a model
with ``forms`` chooses among. Another list is another model: checkpoints of the old one are refused.
``zh-traditional.tsv`` has the forms of traditional characters outside that list which are read as simplified ones of
the same triple ("3=1").
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import click
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from phonemic import Tokenizer, mandarin
from phonemic.files import read_texts
from phonemic.forms import ESCAPED
from phonemic.inventory import FORM_SHIFT, TRIPLE, vocabulary
from phonemic.lexicon.forms import forms
from phonemic.reading.models import reading_data
from phonemic_bert import triples as lists
from phonemic_bert.pairs import pairs

#: The raw text of each language, and the readings that it is read with: a syllable counts where any of them has it.
TEXTS = {"vi": ("viwiki", "news"), "zh": ("lctt", "laws", "weekly", "general")}
READINGS = {"vi": ("pypinyin",), "zh": ("pypinyin", "context")}  # Vietnamese has one reading, whatever it is called

#: The texts whose written forms count: all of these folders.
FORM_FOLDERS = ("raw", "more")

#: How often a syllable, or a pair of it and its form, must occur.
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


def counted_forms(lang: str, data: Path) -> dict[int, int]:
    """How often each listed triple occurs in each form that writes it whole, packed: likewise."""
    listed = np.sort(lists.triples(lang, "attested").packed)
    most: dict[int, int] = {}
    for readings in READINGS[lang]:
        found: Counter[int] = Counter()
        tokenizer = Tokenizer(lang, readings=readings, form=True)
        for path in sorted(path for folder in FORM_FOLDERS for path in (data / lang / folder).glob("*.txt.xz")):
            for texts in read_texts(str(path)):
                ids, times = np.unique(tokenizer.encode_batch([text for text in texts if text]).ids, return_counts=True)
                forms = ids >> FORM_SHIFT
                kept = np.isin(ids & TRIPLE, listed) & (forms > 0) & (forms < ESCAPED)
                found.update(dict(zip(ids[kept].tolist(), times[kept].tolist(), strict=True)))
        for packed, count in found.items():
            most[packed] = max(count, most.get(packed, 0))
    return most


def write_forms(lang: str, data: Path) -> None:
    """Counts and writes the pairs of a language."""
    counts, symbols = counted_forms(lang, data), vocabulary(lang)
    found: dict[int, list[int]] = {}
    for packed in sorted(packed for packed, count in counts.items() if count >= LEAST):
        found.setdefault(packed & TRIPLE, []).append(packed >> FORM_SHIFT)
    rows = ["\t".join([*symbols.unpack(one), " ".join(map(str, found[one]))]) for one in sorted(found)]
    path = Path(lists.__file__).parent / "attested" / f"{lang}-forms.tsv"
    path.write_text("\n".join(["onset\trime\ttone\tforms", *rows]) + "\n", "utf-8")
    total, lost = sum(counts.values()), sum(count for count in counts.values() if count < LEAST)
    kept = sum(map(len, found.values()))
    print(f"{lang}: {kept:,} of {len(counts):,} pairs, all but {lost / total:.4%} of {total:,} positions")


def write_traditional() -> None:
    """Writes which listed pair each traditional character is read as."""
    path, symbols = Path(lists.__file__).parent / "attested" / "zh-traditional.tsv", vocabulary("zh")
    listed, simplified = frozenset(pairs("zh").packed.tolist()), reading_data().simplified
    rows: dict[int, list[str]] = {}
    for pinyin, chars in forms("zh").syllables.items():
        triple = symbols.pack(mandarin.factorize(pinyin))
        for form, char in enumerate(chars, start=1):
            plain = str(chars).find(simplified.get(char, char)) + 1
            itself, other = (triple | number << FORM_SHIFT for number in (form, plain))
            if plain and itself not in listed and other in listed:
                rows.setdefault(triple, []).append(f"{form}={plain}")
    lines = ["\t".join([*symbols.unpack(one), " ".join(rows[one])]) for one in sorted(rows)]
    path.write_text("\n".join(["onset\trime\ttone\tforms", *lines]) + "\n", "utf-8")
    print(f"zh: {sum(map(len, rows.values())):,} traditional characters are read as simplified ones")


def write_syllables(lang: str, data: Path) -> None:
    """Counts and writes the syllables of a language."""
    counts, symbols = counted(lang, data), vocabulary(lang)
    kept = sorted(packed for packed, count in counts.items() if count >= LEAST)
    lines = ["\t".join(symbols.unpack(packed)) for packed in kept]
    path = Path(lists.__file__).parent / "attested" / f"{lang}.tsv"
    path.write_text("\n".join(["onset\trime\ttone", *lines]) + "\n", "utf-8")
    total, lost = sum(counts.values()), sum(count for count in counts.values() if count < LEAST)
    print(f"{lang}: {len(kept):,} of {len(counts):,} syllables, all but {lost / total:.4%} of what occurs")
    lists.triples.cache_clear()


@click.command(help=__doc__)
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--forms-only", is_flag=True, help="Leave the lists of syllables as they are.")
def main(data: Path, forms_only: bool) -> None:
    """Counts and writes."""
    for lang in TEXTS:
        if not forms_only:
            write_syllables(lang, data)
        write_forms(lang, data)
    write_traditional()


if __name__ == "__main__":
    main()
