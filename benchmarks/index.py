"""Speed of :class:`phonemic.Index`: a million names of real text, and queries of four kinds.

    python benchmarks/index.py --data folder

Names are what is in raw text: in Vietnamese runs of two to six capitalised syllables, and then other runs of two
to six syllables of a sentence, in Mandarin runs of two to six characters; each once. Queries are names of the index as
they stand, names in which every other syllable is replaced by one that sounds like it, runs of another text, and runs
of twelve syllables, which nothing is near to. Each is searched for alone, on one thread. The clock and the CPU time of
every search are taken: on a machine that does other work, the clock measures that as well. Python's collector of
garbage is off meanwhile: it would go through the million names of the script.
"""

from __future__ import annotations

import gc
import lzma
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any

import click
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.environment import environment
from phonemic import Index, Tokenizer
from phonemic.files.writing import write_json
from phonemic.sound import matrix

#: Raw text that names come from, and text that the other queries come from.
TEXTS = {
    "vi": (("vi/raw/viwiki.txt.xz",), "vi/raw/news.txt.xz"),
    "zh": (("zh/raw/general.txt.xz", "zh/raw/lctt.txt.xz", "zh/raw/laws.txt.xz"), "zh/raw/weekly.txt.xz"),
}
SEED = 20
#: Positions of the text in which names are found everywhere.
POSITIONS = 20_000

#: How a query is searched for.
SEARCHES: dict[str, dict[str, Any]] = {
    "the nearest 10 within 1": {"limit": 10},
    "the nearest 10": {"limit": 10, "max_distance": None},
    "all within 0.3": {"limit": None, "max_distance": 0.3},
}


def lines(data: Path, names: tuple[str, ...]) -> Iterator[str]:
    """The lines of packed texts."""
    for name in names:
        with lzma.open(data / name, "rt", encoding="utf-8") as file:
            yield from file


def runs(lang: str, line: str, dice: random.Random) -> Iterator[str]:
    """Runs of two to six syllables of a line."""
    pattern, joint = (r"[^\W\d_]+(?: [^\W\d_]+)+", " ") if lang == "vi" else (r"[一-鿿]{2,}", "")
    for found in re.findall(pattern, line):
        units, at = found.split() if lang == "vi" else found, 0
        while len(units) - at > 1:
            size = dice.choice((2, 2, 3, 3, 4, 4, 5, 6))
            yield joint.join(units[at : at + size])
            at += size


def names_of(data: Path, lang: str, count: int) -> list[str]:
    """Distinct names, in the order of the text."""
    dice, found = random.Random(SEED), dict[str, None]()
    if lang == "vi":
        capital = re.compile(r"\b(?:[A-ZĐÀ-ÖØ-ÞĂƠƯẠ-Ỹ][^\W\d_A-Z]*)(?: [A-ZĐÀ-ÖØ-ÞĂƠƯẠ-Ỹ][^\W\d_A-Z]*){1,5}\b")
        for line in lines(data, TEXTS[lang][0]):
            found.update(dict.fromkeys(capital.findall(line)))
            if len(found) >= count:
                break
    entities = len(found)
    for line in lines(data, TEXTS[lang][0]):
        if len(found) >= count:
            break
        found.update(dict.fromkeys(runs(lang, line, dice)))
    click.echo(f"{lang}: {len(found):,} names, {entities:,} of them entities by their capitals", err=True)
    return list(found)[:count]


def misheard(tokenizer: Tokenizer, dice: random.Random) -> Callable[[str], str]:
    """A function that writes a name with every other syllable as one that sounds like it."""
    parts = {part: matrix(tokenizer.lang, part) for part in ("onset", "rime", "tone")}

    def confused(triple: Any) -> Any:
        part = dice.choice(["onset", "rime", "tone"])
        symbols, costs = parts[part]
        near = np.flatnonzero(costs[symbols.index(getattr(triple, part))] <= 0.06)
        return triple._replace(**{part: symbols[dice.choice(near.tolist())]})

    def write(name: str) -> Any:
        encoding = tokenizer.encode(name)
        triples = [
            confused(triple) if number % 2 == 0 and kind == 0 else triple
            for number, (triple, kind) in enumerate(zip(encoding.triples, encoding.kinds.tolist(), strict=True))
        ]
        encoding.ids[:] = [tokenizer.vocabulary.pack(triple) for triple in triples]
        return encoding

    return write


def queries_of(data: Path, lang: str, names: list[str], count: int) -> dict[str, list[Any]]:
    """The queries of each kind."""
    dice, tokenizer = random.Random(SEED + 1), Tokenizer(lang)
    drawn = dice.sample(names, count)
    others: list[str] = []
    long: list[str] = []
    for line in lines(data, (TEXTS[lang][1],)):
        others += [run for run in runs(lang, line, dice) if dice.random() < 0.02]
        units = re.findall(r"[^\W\d_]+", line) if lang == "vi" else re.findall("[一-鿿]", line)
        if len(units) > 20 and len(long) < count:
            long.append((" " if lang == "vi" else "").join(units[:12]))
        if len(others) >= count and len(long) >= count:
            break
    return {
        "a name": drawn,
        "a name misheard": [*map(misheard(tokenizer, dice), drawn)],
        "a run of another text": others[:count],
        "twelve syllables": long,
    }


def timed(action: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall-clock and CPU seconds, and the result."""
    wall, cpu = time.perf_counter(), time.process_time()
    done = action()
    return time.perf_counter() - wall, time.process_time() - cpu, done


def measure(data: Path, lang: str, count: int, number: int) -> dict[str, Any]:
    """All figures of a language."""
    names = names_of(data, lang, count)
    queries = queries_of(data, lang, names, number)
    wall, cpu, index = timed(lambda: Index(names, lang))
    row: dict[str, Any] = {"lang": lang, "names": len(names), "build": [wall, cpu], "bytes": index.nbytes}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "names.index")
        row["save"] = timed(lambda: index.save(path))[:2]
        row["file_bytes"] = path.stat().st_size
        *row["load"], index = timed(lambda: Index.load(path))
        row["searches"] = [
            {"query": kind, "search": search, **figures(index, texts, options)}
            for kind, texts in queries.items()
            for search, options in SEARCHES.items()
        ]
    row["texts"] = [occurrences(data, lang, names, times, longest) for times, longest in product((1, 10), (0, 1000))]
    return row


def occurrences(data: Path, lang: str, names: list[str], times: int, longest: int) -> dict[str, Any]:
    """Seconds to find 1,000 names, and perhaps one that is as long, everywhere in a text that is repeated."""
    tokenizer = Tokenizer(lang)
    read = tokenizer.encode(" ".join(islice(lines(data, (TEXTS[lang][1],)), POSITIONS)))
    once = read.text[: read.spans[POSITIONS - 1, 1]] + "\n"
    text = tokenizer.encode(once * times)
    long = [text.text[: text.spans[longest - 1, 1]]] if longest else []
    index = Index([*names[:1000], *long], lang)
    wall, cpu, found = timed(lambda: index.occurrences(text, 0.3))
    return {"positions": len(text), "longest": int(index.lengths.max()), "found": len(found), "seconds": [wall, cpu]}


def figures(index: Index, texts: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Wall-clock and CPU milliseconds of the searches: median, 99 of 100, the worst; and how many were found."""
    gc.disable()
    taken = [timed(partial(index.search, text, **options)) for text in texts]
    gc.enable()
    made: dict[str, Any] = {"queries": len(taken), "found": statistics.mean(len(found) for *_, found in taken)}
    for at, clock in enumerate(("wall_ms", "cpu_ms")):
        values = sorted(each[at] * 1000 for each in taken)
        made[clock] = {
            "median": statistics.median(values),
            "p99": values[-1 - len(values) // 100],
            "worst": values[-1],
            "over_10": sum(value > 10 for value in values),
        }
    return made


def table(row: dict[str, Any]) -> str:
    """A language's searches as Markdown."""
    out = ["| query | search | found | median ms | 99 of 100 | worst | median CPU ms | worst CPU |",
           "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"]  # fmt: skip
    for each in row["searches"]:
        wall, cpu = each["wall_ms"], each["cpu_ms"]
        shown = (wall["median"], wall["p99"], wall["worst"], cpu["median"], cpu["worst"])
        cells = " | ".join(f"{value:.2f}" for value in shown)
        out.append(f"| {each['query']} | {each['search']} | {each['found']:.1f} | {cells} |")
    return "\n".join(out)


@click.command()
@click.option("--data", type=click.Path(path_type=Path), default=os.environ.get("PHONEMIC_DATA", "data"))
@click.option("--names", type=click.IntRange(1), default=1_000_000, show_default=True)
@click.option("--queries", type=click.IntRange(1), default=1000, show_default=True, help="Of each kind.")
@click.option("--lang", "languages", type=click.Choice(list(TEXTS)), multiple=True, default=list(TEXTS))
@click.option("--output", type=click.Path(path_type=Path), default=Path(__file__).parent / "results/index.json")
def main(data: Path, names: int, queries: int, languages: tuple[str, ...], output: Path) -> None:
    """Measures, prints tables and writes JSON."""
    results = []
    for lang in languages:
        row = measure(data, lang, names, queries)
        results.append(row)
        wall, cpu = row["build"]
        load = row["load"]
        size = row["bytes"] / 1e6
        print(f"\n{lang}: {row['names']:,} names; built in {wall:.1f} s ({cpu:.1f} s of CPU), {size:.1f} MB;")
        print(f"saved in {row['save'][0]:.2f} s; loaded in {load[0]:.2f} s ({load[1]:.2f} s of CPU)\n")
        print(table(row))
        for each in row["texts"]:
            seconds = each["seconds"][0]
            print(f"everywhere in {each['positions']:,} positions, names of up to {each['longest']:,}: {seconds:.2f} s")
    write_json(output, {"environment": environment(), "results": results})


if __name__ == "__main__":
    main()
