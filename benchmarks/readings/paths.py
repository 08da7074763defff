"""Judged places of running text where a word on the cheapest path has a character read otherwise than models do.

``python -m benchmarks.readings.paths DATA`` prints those of CHARACTERS of each of SOURCES, with the verdicts that
``paths.tsv`` has: *right* if the word is, *wrong* if what models read is, *neither*. Models were
fitted to places of such text, the costs of words were not.
"""

from __future__ import annotations

import argparse
import lzma
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from phonemic.reading.context import Reader, reader
from phonemic.reading.segmentation import Words

JUDGED = Path(__file__).with_name("paths.tsv")
SOURCES = ("raw/general", "raw/weekly", "more/weibo_moods", "raw/laws")
#: Characters that lines are drawn from and that are read, of each source; on either side of a place in the list.
DRAWN, CHARACTERS, AROUND = 12_000_000, 220_000, 12


class Place(NamedTuple):
    """The text before a character, the character, the text behind it, the word, and both readings."""

    before: str
    char: str
    behind: str
    word: str
    models: str
    path: str


def places(data: Path) -> Iterator[Place]:
    """The places of all sources."""
    with_words = reader()
    without, dice = Reader(with_words.data, Words({})), random.Random(5)
    for source in SOURCES:
        with lzma.open(data / "zh" / f"{source}.txt.xz", "rt", encoding="utf-8") as file:
            lines = [line.strip() for line in file.read(DRAWN).splitlines() if len(line) > 10]
        dice.shuffle(lines)
        left = CHARACTERS
        for line in lines:
            for at, char in enumerate(line[:left]):
                word = with_words.decider(line, at) if char in with_words.data.models else None
                said = [str(each.read(line, at)) for each in (without, with_words)] if word else []
                if word and said[0] != said[1]:
                    yield Place(line[max(0, at - AROUND) : at], char, line[at + 1 : at + 1 + AROUND], word, *said)
            left -= len(line)
            if left <= 0:
                break


def verdicts(path: Path = JUDGED) -> dict[Place, str]:
    """The verdicts of the list, by place."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {Place(*row[:6]): row[6] for row in rows}


def main() -> None:
    """Prints places and verdicts, and how many of each there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    known, counts = verdicts(), Counter[str]()
    for place in places(parser.parse_args().data):
        counts[known.get(place, "not judged")] += 1
        print(*place, known.get(place, "not judged"), sep="\t")
    print(", ".join(f"{verdict}: {count}" for verdict, count in counts.most_common()))


if __name__ == "__main__":
    main()
