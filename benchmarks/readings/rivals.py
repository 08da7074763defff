"""Compares readers of Mandarin: CPP's development set, MB a second, peak memory, start.

``python -m benchmarks.readings.rivals DATA [ROUNDS]`` (needs pypinyin-dict and g2pM). Every reader runs in a process of
its own, one after the other, ROUNDS times in turn; the medians are printed, and speed as a ratio to pypinyin's within
the same round. Times are of the process, so that other work on the machine counts less. The texts are the first lines
of each file of raw text.
"""

from __future__ import annotations

import argparse
import importlib
import json
import lzma
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.readings.cpp import cases
from benchmarks.readings.score import errors

Read = Callable[[str], list[str]]
#: Bytes of text that a reader gets, for each about a second or more.
BYTES = {"none": 0, "pypinyin": 2e6, "pypinyin, large": 2e6, "g2pM": 1e5, "ours, pypinyin": 8e7, "ours, context": 8e7}
RAW = ("general", "laws", "lctt", "weekly")


def raw(data: Path, name: str, characters: int) -> list[str]:
    """The first lines of a file of raw text."""
    with lzma.open(data / "zh" / "raw" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
        return [line for line in file.read(characters).splitlines() if line]


def texts(data: Path, size: float) -> list[str]:
    """As much from each file, in lines."""
    return [row for name in RAW for row in raw(data, name, int(min(size, 2e6) / len(RAW) / 2.7))]


def _pypinyin(large: bool) -> Read:
    from pypinyin import Style, lazy_pinyin

    if large:
        importlib.import_module("pypinyin_dict.phrase_pinyin_data.large_pinyin").load()
    apart: Any = list
    return lambda text: list(lazy_pinyin(text, style=Style.TONE3, neutral_tone_with_five=True, errors=apart))


def _g2pm() -> Read:
    from g2pM import G2pM

    model = G2pM()
    return lambda text: list(model(text, tone=True, char_split=True))


def _ours(readings: str) -> tuple[Read, Callable[[list[str]], Any]]:
    from phonemic import Tokenizer

    tokenizer = Tokenizer("zh", readings=readings)

    def read(text: str) -> list[str]:
        encoding, found = tokenizer.encode(text), list(text)
        for packed, (start, _) in zip(encoding.ids.tolist(), encoding.spans.tolist(), strict=True):
            found[start] = tokenizer.decode([packed], to="numbers")
        return found

    return read, tokenizer.encode_batch


def _reader(name: str) -> tuple[Read, Callable[[list[str]], Any]]:
    if name.startswith("ours"):
        return _ours(name.split(", ")[1])
    read = _g2pm() if name == "g2pM" else _pypinyin("large" in name)
    return read, lambda rows: [read(row) for row in rows]


def measure(name: str, data: Path) -> dict[str, float]:
    """One reader, in this process."""
    begin = time.process_time()
    if name == "none":
        return {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    read, read_all = _reader(name)
    read("银行")
    started = time.process_time() - begin
    rows = texts(data, BYTES[name])
    size = sum(len(row.encode()) for row in rows)
    read_all(rows[:3])
    repeats = max(1, round(BYTES[name] / size))
    begin = time.process_time()
    for _ in range(repeats):
        read_all(rows)
    speed = repeats * size / (time.process_time() - begin) / 1e6
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"start": 1000 * started, "speed": speed, "memory": memory}


def accuracy(name: str, data: Path) -> float:
    """The share of CPP's development set that is read right."""
    judged = cases(data / "zh" / "cpp")
    return 1 - errors(judged, _reader(name)[0]).total() / len(judged)


def main() -> None:
    """Runs them all, or one of them for itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--one", choices=list(BYTES))
    parser.add_argument("--accuracy", action="store_true")
    arguments = parser.parse_args()
    if arguments.one:
        work = accuracy if arguments.accuracy else measure
        print(json.dumps(work(arguments.one, arguments.data)))
        return

    def run(name: str, *more: str) -> Any:
        command = [sys.executable, "-m", __spec__.name, str(arguments.data), "--one", name, *more]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])

    rounds = [{name: run(name) for name in BYTES} for _ in range(arguments.rounds)]
    bare = median(each["none"]["memory"] for each in rounds)
    print(f"memory of Python and this script alone: {bare:.0f} MB")
    for name in list(BYTES)[1:]:
        figures = {key: median(each[name][key] for each in rounds) for key in ("start", "speed", "memory")}
        ratio = median(each[name]["speed"] / each["pypinyin"]["speed"] for each in rounds)
        print(
            f"{name}: {run(name, '--accuracy'):.2%} right, {figures['speed']:.3g} MB/s ({ratio:.3g} times pypinyin's), "
            f"{figures['memory'] - bare:.0f} MB more, start {figures['start']:.0f} ms"
        )


if __name__ == "__main__":
    main()
