"""Text for the checkpoints: all raw text in its shares, without evaluation text, and lines that are held out.

    python benchmarks/pretraining_text.py zh --data FOLDER FOLDER-OF-THE-TEXT

A line is dropped where it shares a run of syllables (16 in Mandarin, 9 in Vietnamese) with any evaluation text or with
a held-out line, or has a whole sentence of ``examples/cloze-*.txt`` or ``examples/sentences-*.txt``. One line in 400 of
each file is held out, by its checksum, so the same ones every time.
"""

from __future__ import annotations

import csv
import json
import sys
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from phonemic import Tokenizer
from phonemic.files import read_texts
from phonemic.files.writing import write_text

SHARES = Path(__file__).with_suffix(".toml")
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
RUN = {"vi": 9, "zh": 16}
HELD_OUT = 400  # one line in
#: Folders below a language's that hold no evaluation text.
NO_EVALUATION = {"raw", "more", "syllables", "dialects"}


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def evaluation_texts(path: Path) -> Iterator[str]:
    """Texts of an evaluation file: its lines, its strings of JSON, its column of words as one text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        try:
            yield from strings(json.loads(text))
        except json.JSONDecodeError:
            for line in text.splitlines():
                yield from strings(json.loads(line))
        return
    lines = text.splitlines()
    yield from lines
    if path.suffix == ".csv":
        yield " ".join(row[2] for row in csv.reader(lines) if len(row) > 2)
    elif path.suffix != ".conllu":  # has its sentences in lines of their own
        yield " ".join(word for line in lines for word in line.split()[:1])


class Runs:
    """Runs of syllables of texts, as hashes; punctuation and what is not native is between none.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
    """

    def __init__(self, lang: str) -> None:
        self.tokenizer, self.length = Tokenizer(lang), RUN[lang]
        #: Hashes that are remembered, by the length of their runs.
        self.seen = {self.length: np.zeros(0, np.uint64)}

    def syllables(self, texts: list[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The native syllables of texts as mixed ids, and which text each is of."""
        batch = self.tokenizer.encode_batch(texts)
        ids = batch.ids.astype(np.uint64)
        owner = np.repeat(np.arange(len(texts)), np.diff(batch.offsets))
        native = (ids & 0xFF) != (ids >> 8 & 0xFF)
        mixed = (ids[native] + 1) * np.uint64(0x9E3779B97F4A7C15)
        return mixed ^ (mixed >> np.uint64(29)), owner[native]

    def add(self, texts: Iterable[str]) -> None:
        """Remembers the runs of texts."""
        self._remember(*self.syllables(list(texts)), self.length)

    def add_whole(self, texts: Iterable[str]) -> None:
        """Remembers the runs of texts, and of a text that is shorter than a run all its syllables."""
        for text in texts:
            mixed, owner = self.syllables([text])
            self._remember(mixed, owner, min(self.length, len(mixed)))

    def _remember(self, mixed: NDArray[np.uint64], owner: NDArray[np.int64], length: int) -> None:
        if length:
            seen = self.seen.get(length, np.zeros(0, np.uint64))
            self.seen[length] = np.unique(np.concatenate([seen, hashes(mixed, owner, length)[0]]))

    def shared(self, texts: list[str]) -> NDArray[np.bool_]:
        """Which texts share a run with the ones that are remembered."""
        found = np.zeros(len(texts), bool)
        mixed, owner = self.syllables(texts)
        for length, seen in self.seen.items():
            runs, owners = hashes(mixed, owner, length)
            if len(seen):
                at = np.searchsorted(seen, runs).clip(max=len(seen) - 1)
                found[owners[seen[at] == runs]] = True
        return found


def hashes(
    mixed: NDArray[np.uint64], owner: NDArray[np.int64], length: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of all runs of a length within a text, and which text each is of."""
    count = len(mixed) - length + 1
    if count <= 0:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    result = np.zeros(count, np.uint64)
    for step in range(length):
        result = result * np.uint64(0xD1342543DE82EF95) + mixed[step : step + count]
    whole = owner[:count] == owner[length - 1 :]
    return result[whole], owner[:count][whole]


def own_sentences(lang: str) -> Iterator[str]:
    """The sentences of ``examples`` that checkpoints are tested with, with the syllable that is masked."""
    for kind in ("cloze", "sentences"):
        for line in (EXAMPLES / f"{kind}-{lang}.txt").read_text(encoding="utf-8").splitlines():
            yield line.replace("[", "").replace("]", "")


def evaluation_runs(data: Path, lang: str) -> Runs:
    """The runs of every evaluation text of a language, and our own sentences, short as they are."""
    runs = Runs(lang)
    for path in sorted((data / lang).rglob("*")):
        if path.is_file() and path.relative_to(data / lang).parts[0] not in NO_EVALUATION:
            runs.add(evaluation_texts(path))
    runs.add_whole(own_sentences(lang))
    return runs


def chosen(path: Path, share: float) -> Iterator[tuple[list[str], list[str]]]:
    """The lines of a file that are read and the ones that are held out, some at a time."""
    for lines in read_texts(str(path)):
        read, held = list[str](), list[str]()
        for line in filter(None, lines):
            number = zlib.crc32(line.encode("utf-8"))
            if number % HELD_OUT == 0:
                held.append(line)
            elif number < share * 2**32:
                read.append(line)
        yield read, held


def compose(lang: str, data: Path, folder: Path, shares: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Writes ``text/NAME.txt`` and ``held-out/NAME.txt`` for each source, and returns the counts of lines.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        data: the folder of all data.
        folder: the folder that is written.
        shares: what is read of each source; None: the shares of the checkpoints.
    """
    if shares is None:
        shares = tomllib.loads(SHARES.read_text(encoding="utf-8"))[lang]
    runs = evaluation_runs(data, lang)
    held_out: dict[str, list[str]] = {}
    for source in shares:
        lines = [line for _, held in chosen(data / f"{source}.txt.xz", 0.0) for line in held]
        held_out[source] = [line for line, drop in zip(lines, runs.shared(lines), strict=True) if not drop]
    for lines in held_out.values():
        runs.add(lines)
    counts: dict[str, Any] = {}
    for source, share in shares.items():
        kept, count = list[str](), Counter[str]()
        for read, _ in chosen(data / f"{source}.txt.xz", share):
            fresh = [line for line, drop in zip(read, runs.shared(read), strict=True) if not drop]
            count.update(read=len(fresh), dropped=len(read) - len(fresh))
            kept += fresh
        name = Path(source).name
        for part, lines in (("text", kept), ("held-out", held_out[source])):
            (folder / part).mkdir(parents=True, exist_ok=True)
            write_text(folder / part / f"{name}.txt", "".join(f"{line}\n" for line in lines))
        counts[source] = {
            "share": share,
            "lines": count["read"],
            "dropped": count["dropped"],
            "held out": len(held_out[source]),
            "MB": round(sum(len(line.encode()) + 1 for line in kept) / 1e6, 1),
        }
    return counts


@click.command()
@click.argument("lang", type=click.Choice(["vi", "zh"]))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True, help="folder of all data")
def main(lang: str, folder: Path, data: Path) -> None:
    """Compose the text of a language in FOLDER, and write how many lines of each file it has."""
    counts = compose(lang, data, folder)
    write_text(folder / "counts.json", json.dumps(counts, indent=1, ensure_ascii=False) + "\n")
    for source, count in counts.items():
        click.echo(f"{source}: {count}")


if __name__ == "__main__":
    main()
