"""The worst text that can be crafted: what a character and a byte of it cost, against those of ordinary text.

    python benchmarks/crafted.py --data DIR

A search, not a list: pieces of every kind, and of every two kinds, are thrown together at random and timed; the worst
mixtures are changed a little, again and again, and what is worse is kept; then the slowest pieces of the worst are
picked out. Their slowest texts are timed again next to ordinary text, in turns, on one core. Prints a table and writes
it as JSON and into docs/results/speed.md.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import texts
from benchmarks.crafted_texts import Pools, pools, user_phrases
from benchmarks.environment import environment
from benchmarks.session import LANGS
from benchmarks.timing import ROOT, ratio
from phonemic import Tokenizer
from phonemic.files.writing import write_json

RESULT = ROOT / "benchmarks" / "results" / "crafted.json"
#: No text may cost more than this times an ordinary byte.
BOUND = 8
#: Characters of a crafted text: it is read in a few milliseconds, so that most runs are not interrupted.
SIZE = 60_000
ORDINARY = 600_000  # bytes
PICKED = 64  # pieces that are left when the slowest are picked out

Weights = dict[str, float]


@dataclass
class Text:
    """Rows of text, and a way to encode them."""

    rows: list[str]
    encode: Callable[[], Any]

    def __post_init__(self) -> None:
        self.characters = sum(map(len, self.rows))
        self.bytes = texts.size_of(self.rows)

    def seconds(self) -> float:
        """CPU seconds of the second of two runs, when the caches hold what this text needs."""
        self.encode()
        start = time.thread_time()
        result = self.encode()
        seconds = time.thread_time() - start
        del result
        return seconds


@dataclass
class Found:
    """The cost of a text; the ratios are medians of those of neighbouring runs.

    Attributes:
        lang: "vi" or "zh".
        name: what it is made of.
        way: how it was encoded.
        character: nanoseconds a character.
        ordinary: the same of ordinary text.
        by_character: cost of a character over that of an ordinary one.
        by_byte: the same of a byte of UTF-8.
        least: the ratio by the byte of the fastest runs of both.
    """

    lang: str
    name: str
    way: str
    character: float
    ordinary: float
    by_character: float
    by_byte: float
    least: float


def mixed(kinds: Pools, weights: Weights, seed: int, size: int = SIZE) -> list[str]:
    """One row of pieces in random order, each kind as often as its weight says."""
    dice = random.Random(seed)
    names = [name for name, weight in weights.items() if weight > 0]
    row, length = [], 0
    for name in iter(lambda: dice.choices(names, [weights[name] for name in names])[0], None):
        row.append(dice.choice(kinds[name]))
        length += len(row[-1])
        if length >= size:
            return ["".join(row)]
    raise AssertionError


class Bench:
    """The ordinary text of a language, and what others cost next to it."""

    def __init__(self, lang: str, ordinary: list[str], runs: int) -> None:
        self.lang, self.runs, self.tokenizer = lang, runs, Tokenizer(lang)
        self.kinds = pools(lang)
        self.ways: dict[str, Callable[[Tokenizer, list[str]], Text]] = {
            "list of str": lambda own, rows: Text(rows, lambda: own.encode_batch(rows)),
            "with spans": lambda own, rows: Text(rows, lambda: own.encode_batch(rows, spans=True)),
            "Arrow": _arrow,
        }
        self.ordinary = {way: make(self.tokenizer, ordinary) for way, make in self.ways.items()}

    def compare(self, name: str, rows: list[str], way: str, runs: int, own: Tokenizer | None = None) -> Found:
        """Times rows next to ordinary text, in turns."""
        crafted, ordinary = self.ways[way](own or self.tokenizer, rows), self.ordinary[way]
        pairs = [(crafted.seconds(), ordinary.seconds()) for _ in range(runs)]
        ours, plain = ([pair[side] for pair in pairs] for side in (0, 1))
        once = ratio(ours, plain)
        by_byte = ordinary.bytes / crafted.bytes
        return Found(
            self.lang,
            name,
            way,
            statistics.median(ours) / crafted.characters * 1e9,
            statistics.median(plain) / ordinary.characters * 1e9,
            once * ordinary.characters / crafted.characters,
            once * by_byte,
            min(ours) / min(plain) * by_byte,
        )

    def cost(self, weights: Weights, runs: int = 3) -> float:
        """The ratio by the byte of one mixture, roughly."""
        return self.compare("", mixed(self.kinds, weights, 1), "list of str", runs).by_byte

    def search(self, rounds: int) -> Iterator[tuple[str, Pools, Weights]]:
        """The worst mixtures that were found: names, the pieces, and how often each kind comes."""
        starts = [dict.fromkeys(names, 1.0) for names in combinations_with_replacement(self.kinds, 2)]
        ranked = sorted(starts, key=self.cost, reverse=True)
        for weights in ranked[:3]:
            yield _name(weights), self.kinds, weights
        dice = random.Random(texts.SEED)
        best = max(ranked[:8], key=lambda weights: self.cost(weights, 9))
        for _ in range(rounds):
            other = dict(best)
            kind = dice.choice(list(self.kinds))
            other[kind] = 0.0 if other.get(kind) and dice.random() < 0.3 else dice.choice([0.1, 0.3, 1, 3])
            if any(other.values()) and self.cost(other, 5) > self.cost(best, 5):
                best = other
        yield f"after {rounds} changes: {_name(best)}", self.kinds, best
        picked = {name: self._slowest(name) for name, weight in best.items() if weight > 0}
        yield f"the slowest {PICKED} pieces of each of these kinds", picked, best

    def _slowest(self, name: str) -> list[str]:
        """The pieces of a kind that cost most: the worse half of them again and again."""
        pieces = list(self.kinds[name])
        random.Random(texts.SEED).shuffle(pieces)
        while len(pieces) > PICKED:
            halves = [pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :]]
            texts_of = [mixed({name: half}, {name: 1.0}, 1) for half in halves]
            costs = [self.compare("", rows, "list of str", 5).by_byte for rows in texts_of]
            pieces = halves[costs[1] > costs[0]]
        return pieces

    def results(self, rounds: int) -> Iterator[Found]:
        """The texts that the search found, in every way; and in Mandarin, texts against a user's own phrases."""
        for name, kinds, weights in self.search(rounds):
            rows = mixed(kinds, weights, 2, 4 * SIZE)
            for way in self.ways:
                yield self.compare(name, rows, way, self.runs)
        if self.lang == "zh":
            for name, (own, text) in user_phrases().items():
                rows = [(text * (1 + SIZE // len(text)))[:SIZE]]
                yield self.compare(f"user phrases: {name}", rows, "list of str", self.runs, own)


def _arrow(tokenizer: Tokenizer, rows: list[str]) -> Text:
    import pyarrow as pa

    from phonemic import arrow

    column = pa.array(rows, pa.large_string())
    return Text(rows, lambda: arrow.encode(column, tokenizer))


def _name(weights: Weights) -> str:
    parts = [name if weight == 1 else f"{name} ({weight:g})" for name, weight in weights.items() if weight > 0]
    return "; ".join(parts)


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.environ.get("PHONEMIC_DATA")
    parser.add_argument("--data", type=Path, default=data, required=not data, help="the folder of the real data")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "benchmarks", help="folder for what is made")
    parser.add_argument("--lang", choices=LANGS, nargs="+", default=LANGS)
    parser.add_argument("--runs", type=int, default=25, help="how often what was found is timed (default: 25)")
    parser.add_argument("--rounds", type=int, default=60, help="changes that the search tries (default: 60)")
    parser.add_argument("--core", type=int, help="the core to run on (default: the first that may be used)")
    parser.add_argument("--out", type=Path, default=RESULT, help="the JSON file")
    return parser.parse_args(arguments)


def main() -> None:
    """Searches, measures, prints, writes."""
    given = options()
    core = given.core
    if hasattr(os, "sched_setaffinity"):
        core = min(os.sched_getaffinity(0)) if core is None else core
        os.sched_setaffinity(0, {core})
    given.build.mkdir(parents=True, exist_ok=True)
    gc.disable()
    rows = []
    for lang in given.lang:
        ordinary = texts.fresh(texts.head(texts.read(texts.prepare(lang, given.data, given.build)), ORDINARY))
        for found in Bench(lang, ordinary, given.runs).results(given.rounds):
            print(f"{found.by_byte:6.2f} x a byte, {found.by_character:6.2f} x a character, {found.character:6.1f} ns"
                  f"  {found.lang}, {found.name}, {found.way}", flush=True)  # fmt: skip
            rows.append(found)
    result = {
        "environment": environment(),
        "core": core,
        "load": os.getloadavg()[0],
        "runs": given.runs,
        "rounds": given.rounds,
        "rows": [asdict(row) for row in rows],
    }
    write_json(given.out, result)
    worst = max((row for row in rows if "user phrases" not in row.name), key=lambda row: row.by_byte)
    print(f"\nThe worst: {worst.by_byte:.2f} times an ordinary byte ({worst.lang}, {worst.name}, {worst.way}); "
          f"the bound is {BOUND}.")  # fmt: skip


if __name__ == "__main__":
    main()
