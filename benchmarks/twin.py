"""The core with forms against its plain twin, position by position, on real and on fuzzed text.

    python benchmarks/twin.py --data FOLDER --work FOLDER      # results/twin.json

Blocks of lines are drawn from all data of a language until there are enough characters. Finished parts are kept in the
folder of work, so that a run that was stopped continues.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.environment import environment
from benchmarks.lossless import fuzzed, lines
from phonemic import Tokenizer, reference_forms
from phonemic.files import replacing
from phonemic.inventory import FORM_SHIFT, Triple, vocabulary

RESULTS = Path(__file__).parent / "results" / "twin.json"
LINES = 1000  # in a block
FUZZED = 100_000  # characters in a block of fuzzed text

Blocks = Iterator[tuple[str, list[str]]]


@cache
def packed(triple: Triple, lang: str) -> int:
    """The id of a triple."""
    return vocabulary(lang).pack(triple)


def differing(texts: list[str], tokenizer: Tokenizer) -> int:
    """How many texts the core and the twin encode otherwise: ids, forms, spans or words."""
    batch = tokenizer.encode_batch(texts, spans=True, word_ids=True)
    wrong = 0
    for text, encoding in zip(texts, batch, strict=True):
        expected = reference_forms.encode(text, tokenizer.lang, readings=tokenizer.readings)
        ids = [packed(one.triple, tokenizer.lang) | one.form << FORM_SHIFT for one in expected]
        wrong += (
            encoding.ids.tolist() != ids
            or encoding.spans.tolist() != [[one.start, one.end] for one in expected]
            or encoding.word_ids.tolist() != [one.word for one in expected]
        )
    return wrong


def real(data: Path, lang: str, characters: int) -> Blocks:
    """Blocks of lines, evenly drawn from all files of a language, of so many characters in all."""
    paths = [path for path in sorted((data / lang).rglob("*")) if path.is_file()]
    total = sum(len(line) for path in paths for block in lines(path) for line in block)
    share = min(1.0, characters / total)
    for path in paths:
        number, taken = 0, 0
        for block in lines(path):
            for at in range(0, len(block), LINES):
                number += 1
                if taken < number * share:
                    taken += 1
                    yield f"{path.relative_to(data)}, {number}", block[at : at + LINES]


def made(characters: int) -> Blocks:
    """Blocks of fuzzed text."""
    for number in range(characters // FUZZED):
        yield f"fuzzed, {number}", fuzzed(np.random.default_rng(number), FUZZED)


def compare(name: str, tokenizer: Tokenizer, blocks: Blocks, done: Path) -> dict[str, int]:
    """Count characters and texts that differ; blocks that a file has are not done again."""
    known = {}
    if done.exists():
        rows = map(json.loads, done.read_text(encoding="utf-8").splitlines())
        known = {row["block"]: row for row in rows if row["tokenizer"] == name}
    counts: Counter[str] = Counter()
    with done.open("a", encoding="utf-8") as file:
        for block, texts in blocks:
            row = known.get(block)
            if row is None:
                row = {"tokenizer": name, "block": block, "characters": sum(map(len, texts)), "texts": len(texts)}
                row["other"] = differing(texts, tokenizer)
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()
            counts.update({key: row[key] for key in ("characters", "texts", "other")})
    return dict(counts)


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True, help="The folder of all data.")
@click.option("--work", type=click.Path(path_type=Path), required=True, help="Where what is done is kept.")
@click.option("--characters", default=50_000_000, show_default=True, help="Of real text, in each language.")
@click.option("--fuzz", default=1_000_000, show_default=True, help="Characters of fuzzed text, by each tokenizer.")
def main(data: Path, work: Path, characters: int, fuzz: int) -> None:
    """Compare, and write the counts."""
    work.mkdir(parents=True, exist_ok=True)
    rows: dict[str, dict[str, int]] = {}
    for name, lang, readings, share in (
        ("vi", "vi", "pypinyin", 1.0), ("zh", "zh", "pypinyin", 1.0), ("zh, context", "zh", "context", 0.02),
    ):  # fmt: skip
        tokenizer = Tokenizer(lang, readings=readings, form=True)
        for kind, blocks in (("fuzzed", made(fuzz)), ("real", real(data, lang, int(characters * share)))):
            rows[f"{name}, {kind}"] = compare(name, tokenizer, blocks, work / "twin.jsonl")
            click.echo(f"{name}, {kind}: {rows[f'{name}, {kind}']}")
    where = {key: value for key, value in environment().items() if key != "commit"}
    with replacing(RESULTS) as file:
        file.write(json.dumps({"rows": rows, "environment": where}, ensure_ascii=False, indent=1).encode() + b"\n")


if __name__ == "__main__":
    main()
