"""Measures readers of Mandarin for ``docs/results/readings.md``: judged places, and the cost of reading.

    python -m benchmarks.readings.figures DATA                # results/readings.json
    python -m benchmarks.readings.figures DATA --only cost    # one part, the other stays as it was

Needs g2pM, opencc-python-reimplemented and pypinyin-dict, and takes a few minutes. Models in context are fitted to
CPP's development set, so they are not judged on it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from benchmarks.environment import environment
from benchmarks.readings import boundaries, cpp, crossings, disagreements, everyday, other_tools
from benchmarks.readings.cpp import Case
from benchmarks.readings.judge import Reader, agreement, context_reader, particles, pypinyin_reader, sentences
from benchmarks.readings.score import errors
from phonemic.files.writing import write_json

ROOT = Path(__file__).resolve().parents[2]
HERE, TESTS, FIGURES = Path(__file__).parent, ROOT / "tests", ROOT / "benchmarks" / "results" / "readings.json"
CONTEXT = "in context"
#: Sentences that are compared in both scripts.
PAIRS = 500


def named(path: Path = TESTS / "names.txt") -> tuple[list[Case], list[Case]]:
    """Return the cases with polyphones as family names and the cases with them as other words."""
    names, _, others = path.read_text("utf-8").partition("# As anything else")
    return everyday.marked(names), everyday.marked(others)


def judged(data: Path, readers: dict[str, Reader]) -> Iterator[dict[str, Any]]:
    """Yield how many places of each set the readers have right.

    Arguments:
        data: the folder of all data.
        readers: by name; the one in context is ``CONTEXT``.
    """

    def row(text: str, cases: Sequence[Case], names: Sequence[str] = tuple(readers)) -> dict[str, Any]:
        right = {name: len(cases) - errors(cases, readers[name]).total() for name in names}
        return {"text": text, "places": len(cases), "right": right}

    both, zh = ("pypinyin", CONTEXT), data / "zh"
    names, others = named()
    yield row("CPP, development set", cpp.cases(zh / "cpp"), [name for name in readers if name != CONTEXT])
    yield row("made phrases where a listed word crosses a border of words", boundaries.cases(zh / "boundaries/dev.txt"))
    places = crossings.judged(crossings.JUDGED)
    right = {name: sum(crossings.right(data, places, readers[name])) for name in both}
    yield {"text": "such borders in running text, where the two differ", "places": len(places), "right": right}
    yield row("such borders in an independent writer's phrases", boundaries.cases(HERE / "independent.txt"))
    yield row("and in another writer's phrases", boundaries.cases(HERE / "unseen.txt"))
    yield row("everyday sentences", everyday.sentences(TESTS / "everyday.txt"))
    yield row("family names, as names", names)
    yield row("the same characters, as other words", others)
    yield scripts(zh / "ud_gsdsimp", {name: readers[name] for name in both})
    yield tagged(zh / "ud_gsd", {name: readers[name] for name in both})


def scripts(folder: Path, readers: dict[str, Reader]) -> dict[str, Any]:
    """Count the characters that are read the same in a simplified sentence and in its Taiwan form."""
    import opencc

    texts = [text for file in sorted(folder.glob("*.conllu")) for text, _ in sentences(file)][:PAIRS]
    convert = opencc.OpenCC("s2tw").convert
    found = {name: agreement(texts, [convert(text) for text in texts], reader) for name, reader in readers.items()}
    places = next(iter(found.values()))["characters"]
    right = {name: round(one["share"] * places) for name, one in found.items()}
    return {"text": "simplified and Taiwan text of one sentence read the same", "places": places, "right": right}


def tagged(folder: Path, readers: dict[str, Reader]) -> dict[str, Any]:
    """Count the words 地 and 得 of UD GSD that are read as a particle exactly where they are one."""
    bank = [row for part in ("dev", "test") for row in sentences(folder / f"zh_gsd-ud-{part}.conllu")]
    counts = {name: particles(bank, reader)["counts"].values() for name, reader in readers.items()}
    right = {name: sum(right for right, _ in found) for name, found in counts.items()}
    places = sum(total for _, total in next(iter(counts.values())))
    text = "地 and 得 as particle or word, traditional UD GSD, development and test parts"
    return {"text": text, "places": places, "right": right}


def accuracy(data: Path) -> list[dict[str, Any]]:
    """Return the rows of :func:`judged` for all readers."""
    readers = {"pypinyin": pypinyin_reader, "g2pM": other_tools.reader("g2pM")[0], CONTEXT: context_reader}
    return list(judged(data, readers))


@click.command(help=__doc__)
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", type=click.Choice(["accuracy", "cost"]), help="One part; the other stays as it is.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Turns of all readers, for cost.")
def main(data: Path, only: str | None, rounds: int) -> None:
    """Measures each part, and writes it with where it was measured."""
    found = json.loads(FIGURES.read_text("utf-8"))
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "accuracy": partial(accuracy, data),
        "cost": partial(other_tools.cost, data, rounds),
    }
    for name in [only] if only else parts:
        where = {key: value for key, value in environment().items() if key != "commit"}
        found[name] = {"rows": parts[name](), "environment": where}
        click.echo(found[name]["rows"])
    found["disagreements"] = Counter(disagreements.verdicts(HERE / "disagreements.tsv"))
    write_json(FIGURES, found)


if __name__ == "__main__":
    main()
