"""Encodes a page of text and shows what came out: ``make demo``, ``make demo FILE=text.txt LANG=vi``.

A CoNLL-U treebank (``.conllu``) is read by its ``# text =`` lines, any other file line by line.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from phonemic import Encoding, Tokenizer
from phonemic.metrics import Statistics

HERE = Path(__file__).parent
CONSOLE = Console()


def read_sentences(path: Path) -> list[str]:
    """The sentences of a text file or a treebank."""
    lines = path.read_text("utf-8").split("\n")
    if path.suffix == ".conllu":
        return [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    return [line.rstrip("\r") for line in lines if line.strip()]


def show(encoding: Encoding) -> None:
    """Prints one sentence as a table, a row a position."""
    table = Table("text", "onset", "rime", "tone", "IPA", "ids", "span", title=encoding.text, title_justify="left")
    for syllable, ids in zip(encoding, encoding.components.tolist(), strict=True):
        table.add_row(*map(str, syllable[:5]), " ".join(map(str, ids)), f"{syllable.start}-{syllable.end}")
    CONSOLE.print(table)


def run(lang: str, path: Path) -> None:
    """Encodes a file, prints two sentences and the figures of all."""
    tokenizer, sentences = Tokenizer(lang), read_sentences(path)
    start = time.perf_counter()
    batch = tokenizer.encode_batch(sentences, spans=True)
    seconds = time.perf_counter() - start
    CONSOLE.rule(f"{lang}: {path.name}")
    for encoding in batch[:2]:
        show(encoding)
        CONSOLE.print(f"decoded: {tokenizer.decode(encoding)}\n")
    statistics = Statistics(tokenizer)
    statistics.update(sentences)
    CONSOLE.print(f"{len(batch):,} sentences, {len(batch.ids):,} positions in {seconds * 1e3:.1f} ms")
    CONSOLE.print(f"native positions {1 - statistics.fallback_share - statistics.unknown_share:.1%}")
    CONSOLE.print(f"Rényi efficiency {statistics.renyi_efficiency():.4f}")
    if lang == "vi":
        CONSOLE.print(f"fertility {statistics.fertility:.4f} positions per whitespace-delimited unit")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="text or .conllu; default: the pages beside this script")
    parser.add_argument("--lang", choices=["vi", "zh"], default="vi")
    arguments = parser.parse_args()
    if arguments.file:
        run(arguments.lang, arguments.file)
    else:
        for lang in ("vi", "zh"):
            run(lang, HERE / f"sentences-{lang}.txt")


if __name__ == "__main__":
    main()
