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
    """Prints one sentence as a table, a column a position."""
    table = Table(title=encoding.text, show_header=False, title_justify="left", pad_edge=False)
    rows = zip(*encoding.syllables[:12], strict=True)
    for name, cells in zip(("text", "onset", "rime", "tone", "IPA"), rows, strict=False):
        table.add_row(f"[bold]{name}", *cells)
    table.add_row("[bold]ids", *(" ".join(map(str, triple)) for triple in encoding.components[:12].tolist()))
    table.add_row("[bold]span", *(f"{start}-{end}" for start, end in encoding.spans[:12].tolist()))
    CONSOLE.print(table)


def run(lang: str, path: Path) -> None:
    """Encodes a file and prints three sentences and the figures."""
    tokenizer, sentences = Tokenizer(lang), read_sentences(path)
    start = time.perf_counter()
    batch = tokenizer.encode_batch(sentences, spans=True)
    seconds = time.perf_counter() - start
    CONSOLE.rule(f"{lang}: {path.name}")
    for encoding in batch[:3]:
        show(encoding)
    statistics = Statistics(tokenizer)
    statistics.update(sentences)
    CONSOLE.print(
        f"{len(batch)} sentences, {len(batch.ids)} positions in {seconds * 1e3:.1f} ms; "
        f"fertility {statistics.fertility:.4f}, Rényi efficiency {statistics.renyi_efficiency():.4f}, "
        f"native {statistics.token_coverage:.1%} of the units"
    )
    CONSOLE.print(f"decoded: {tokenizer.decode(batch[0])}\n")


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
