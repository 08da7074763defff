"""Draws places where the reading in context and pypinyin differ, to be judged one by one, and counts the verdicts.

``python -m benchmarks.readings.disagreements draw DATA SEED OUT [--seen FILE]`` writes 100 places each of news (TNEWS
and CLUENER), law and social media (Weibo NER) to OUT, and prints them with more of their sentences. 一 and 不 are not
drawn: there the two differ in whether sandhi is written. Only texts of odd checksum are drawn from (``held``): the
others may be looked at while models are fixed. ``... count FILE`` counts the verdicts.

Columns: source, the place within at most six characters, the character, ours, pypinyin's, verdict (``ours``,
``pypinyin``, ``both`` are possible, ``neither``), what is right or why.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.readings.judge import context_reader, pypinyin_reader

SIZE, EACH = 6, 100


def _news(data: Path) -> Iterator[str]:
    for name, key in (("tnews/dev.json", "sentence"), ("cluener/train.json", "text")):
        for line in (data / "zh" / name).read_text("utf-8").splitlines():
            yield json.loads(line)[key]


def _law(data: Path) -> Iterator[str]:
    with lzma.open(data / "zh" / "raw" / "laws.txt.xz", "rt", encoding="utf-8") as file:
        yield from (line.rstrip("\n") for line in file)


def _social(data: Path) -> Iterator[str]:
    for file in sorted((data / "zh" / "weibo_ner").glob("weiboNER_2nd_conll.*")):
        for block in file.read_text("utf-8").split("\n\n"):
            yield "".join(line[0] for line in block.splitlines() if line)


def held(text: str) -> bool:
    """Whether a text is held out for samples that are judged."""
    return zlib.crc32(text.encode()) % 2 == 1


SOURCES = {"news": _news, "law": _law, "social": _social}


def is_han(char: str) -> bool:
    """Whether it is one of the usual Han characters."""
    return "\u3400" <= char <= "\u9fff"


def places(texts: list[str]) -> list[tuple[str, int, str, str]]:
    """Text, place and both readings wherever they differ."""
    found = []
    for text in texts:
        ours, theirs = context_reader(text), pypinyin_reader(text)
        if len(ours) == len(theirs) == len(text):
            for at, (char, one, two) in enumerate(zip(text, ours, theirs, strict=True)):
                if is_han(char) and one.replace("ü", "v") != two.replace("ü", "v"):
                    found.append((text, at, one, two))
    return found


def _shown(text: str, at: int) -> str:
    """The place within at most six characters."""
    return text[max(0, at - 3) : at + SIZE - 3].replace("\t", " ")


def draw(data: Path, seed: int, out: Path, seen: Path | None) -> None:
    """Writes a sample without verdicts, of places that are not in the sample ``seen``."""
    choose, rows = random.Random(seed), []
    before = {tuple(line.split("\t")[:2]) for line in seen.read_text("utf-8").splitlines()} if seen else set()
    for name, source in SOURCES.items():
        texts = [text for text in source(data) if text.strip() and held(text)]
        texts = choose.sample(texts, min(len(texts), 4_000))
        found = places(texts)
        kept = [row for row in found if row[0][row[1]] not in "一不"]
        characters = sum(is_han(char) for text in texts for char in text)
        print(f"# {name}: {characters} characters, {len(found)} differ, {len(kept)} without 一 and 不", file=sys.stderr)
        kept = [row for row in kept if (name, _shown(row[0], row[1])) not in before]
        for text, at, ours, theirs in choose.sample(kept, EACH):
            rows.append("\t".join((name, _shown(text, at), text[at], ours, theirs, "", "")))
            around = f"{text[max(0, at - 14) : at]}[{text[at]}]{text[at + 1 : at + 12]}"
            print(f"{len(rows)}\t{text[at]} {ours} {theirs}\t{around}")
    out.write_text("\n".join(rows) + "\n", "utf-8")


def verdicts(file: Path, source: str = "") -> list[str]:
    """Return the verdicts of a file, or of one of its sources."""
    rows = [line.split("\t") for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [row[5] for row in rows if source in ("", row[0])]


def count(file: Path) -> None:
    """Prints how often each verdict was given."""
    for name in (*SOURCES, ""):
        found = Counter(verdicts(file, name))
        total = found.total()
        print(name or "all", total, {verdict: f"{many / total:.1%}" for verdict, many in found.most_common()})


def main() -> None:
    """Draws or counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("data", type=Path)
    drawing.add_argument("seed", type=int)
    drawing.add_argument("out", type=Path)
    drawing.add_argument("--seen", type=Path, help="an earlier sample, whose places are not drawn again")
    commands.add_parser("count").add_argument("file", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(arguments.data, arguments.seed, arguments.out, arguments.seen)
    else:
        count(arguments.file)


if __name__ == "__main__":
    main()
