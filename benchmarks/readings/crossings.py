"""Places where the two readings differ and a listed word crosses a border of words, judged one by one.

``python -m benchmarks.readings.crossings score DATA [FILE]`` counts how many of the judged places each reading has
right. Nothing is fitted to their texts (``SOURCES``, in ``zh/more``). ``... draw DATA SEED OUT`` draws new ones, and
prints each with more of its text, to be judged.

Columns: source, line, place in it, CRC-32 of the line, at most six characters around, character, the readings that are
right (``both1 both2`` where two are possible, ``-`` where it cannot be told).
"""

from __future__ import annotations

import argparse
import lzma
import random
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.readings import lac
from benchmarks.readings.cpp import normal
from benchmarks.readings.disagreements import is_han
from benchmarks.readings.judge import Reader, context_reader, default_reader
from phonemic import mandarin
from phonemic.reading.models import reviewed

SOURCES = ("xinwenlianbo", "weibo_rumor", "medical_qa", "lit_prose")
#: Places of each source, lines that they are drawn from, and the longest word that may cross a border.
EACH, LINES, LONGEST = 75, 1_500, 4
JUDGED = Path(__file__).with_name("crossings.tsv")


class Place(NamedTuple):
    """A judged place: where it is, and which readings are right."""

    source: str
    line: int
    at: int
    checksum: int
    right: tuple[str, ...]


def lines_of(data: Path, source: str) -> list[str]:
    """The lines of a source."""
    with lzma.open(data / "zh" / "more" / f"{source}.txt.xz", "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def crossed(text: str, at: int, begun: list[bool], words: frozenset[str]) -> bool:
    """Whether a listed word around a character holds the beginning of another word than its own."""
    return any(
        text[first : first + size] in words and any(begun[first + 1 : first + size])
        for size in range(2, LONGEST + 1)
        for first in range(max(0, at - size + 1), min(at, len(text) - size) + 1)
    )


def places(texts: list[str], words: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Text and place wherever the two readings differ and there is such a word, but for the two with sandhi."""
    begun = lac.begins(texts).tolist()
    begin = 0
    for number, text in enumerate(texts):
        own = begun[begin : begin + len(text)]
        begin += len(text)
        for at, (one, two) in enumerate(zip(context_reader(text), default_reader(text), strict=True)):
            if one != two and is_han(text[at]) and text[at] not in "一不" and crossed(text, at, own, words):
                yield number, at


def draw(data: Path, seed: int, out: Path) -> None:
    """Writes places without verdicts, and prints them."""
    dice, rows = random.Random(seed), list[str]()
    lists = mandarin.lexicon().phrases, reviewed(), reviewed("readings-words")
    words = frozenset(word for listed in lists for word in listed)
    for source in SOURCES:
        lines = lines_of(data, source)
        numbers = dice.sample(range(len(lines)), min(LINES, len(lines)))
        found = [(numbers[number], at) for number, at in places([lines[number] for number in numbers], words)]
        for line, at in dice.sample(found, min(EACH, len(found))):
            text = lines[line]
            shown = text[max(0, at - 3) : at + 3].replace("\t", " ")
            row = (source, line, at, zlib.crc32(text.encode()), shown, text[at], "")
            rows.append("\t".join(map(str, row)))
            readings = f"{context_reader(text)[at]}\t{default_reader(text)[at]}"
            print(f"{len(rows)}\t{text[max(0, at - 14) : at]}[{text[at]}]{text[at + 1 : at + 12]}\t{readings}")
    out.write_text("\n".join([*rows, ""]), "utf-8")


def judged(file: Path) -> list[Place]:
    """The places of a file that have a verdict."""
    rows = [line.split("\t") for line in file.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return [
        Place(source, int(line), int(at), int(checksum), tuple(right.split()))
        for source, line, at, checksum, _, _, right in rows
        if right not in ("", "-")
    ]


def right(data: Path, found: list[Place], reader: Reader) -> list[bool]:
    """Which places a reading has right.

    Raises:
        ValueError: a line is not the one that was judged.
    """
    lines = {source: lines_of(data, source) for source in {place.source for place in found}}
    told = []
    for place in found:
        text = lines[place.source][place.line]
        if zlib.crc32(text.encode()) != place.checksum:
            raise ValueError(f"{place.source}, line {place.line}: not the text that was judged")
        told.append(normal(reader(text)[place.at]) in place.right)
    return told


def score(data: Path, file: Path) -> None:
    """Prints how many places each reading has right, and one of the two."""
    found = judged(file)
    ours, default = (right(data, found, reader) for reader in (context_reader, default_reader))
    either = sum(map(max, ours, default))
    print(f"{len(found)} places: in context {sum(ours)}, by default {sum(default)} right")
    print(f"in context {sum(ours) / either:.1%} of the {either} that one has right")


def main() -> None:
    """Draws or counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("data", type=Path)
    drawing.add_argument("seed", type=int)
    drawing.add_argument("out", type=Path)
    scoring = commands.add_parser("score")
    scoring.add_argument("data", type=Path)
    scoring.add_argument("file", type=Path, nargs="?", default=JUDGED)
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(arguments.data, arguments.seed, arguments.out)
    else:
        score(arguments.data, arguments.file)


if __name__ == "__main__":
    main()
