"""Compares the cost of readers of Mandarin: MB per CPU second, peak memory, start.

``python -m benchmarks.readings.other_tools DATA [ROUNDS]`` (needs pypinyin-dict and g2pM). Every reader runs in a
process of its own, one after the other, ROUNDS times in turn. Medians of CPU time are printed, and the median of the
ratios to pypinyin's speed within a round. Run it on an idle machine: other work slows long runs more than short ones.
The texts are the first lines of each file of raw text.
"""

from __future__ import annotations

import argparse
import importlib
import json
import lzma
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

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


def reader(name: str) -> tuple[Read, Callable[[list[str]], Any]]:
    """Return what reads a text, and what reads many, by a name of BYTES."""
    if name.startswith("ours"):
        return _ours(name.split(", ")[1])
    read = _g2pm() if name == "g2pM" else _pypinyin("large" in name)
    return read, lambda rows: [read(row) for row in rows]


def _peak() -> float:
    """Return the process's peak memory in MB. ``ru_maxrss`` would count the process that started this one."""
    [kilobytes] = re.findall(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text("utf-8"))
    return int(kilobytes) / 1024


def measure(name: str, data: Path) -> dict[str, float]:
    """One reader, in this process."""
    begin = time.process_time()
    if name == "none":
        return {"memory": _peak()}
    read, read_all = reader(name)
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
    memory = _peak()
    return {"start": 1000 * started, "speed": speed, "memory": memory}


def cost(data: Path, rounds: int) -> list[dict[str, Any]]:
    """Return the cost of every reader: medians of speed, of memory beyond Python's own, and of start.

    Arguments:
        data: the folder of all data.
        rounds: turns of all readers, each in a process of its own.
    """

    def run(name: str) -> Any:
        command = [sys.executable, "-m", __spec__.name, str(data), "--one", name]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])

    turns = [{name: run(name) for name in BYTES} for _ in range(rounds)]
    bare = median(turn["none"]["memory"] for turn in turns)
    return [
        {
            "reader": name,
            "mb_per_second": median(turn[name]["speed"] for turn in turns),
            "memory_mb": median(turn[name]["memory"] for turn in turns) - bare,
            "start_ms": median(turn[name]["start"] for turn in turns),
            "speeds": [turn[name]["speed"] for turn in turns],
        }
        for name in list(BYTES)[1:]
    ]


def main() -> None:
    """Runs them all, or one of them for itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--one", choices=list(BYTES))
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one, arguments.data)))
        return
    rows = cost(arguments.data, arguments.rounds)
    pypinyin = next(row for row in rows if row["reader"] == "pypinyin")["speeds"]
    for row in rows:
        ratio = median(one / other for one, other in zip(row["speeds"], pypinyin, strict=True))
        print(
            f"{row['reader']}: {row['mb_per_second']:.3g} MB/s ({ratio:.3g} times pypinyin's), "
            f"{row['memory_mb']:.0f} MB more, start {row['start_ms']:.0f} ms"
        )


if __name__ == "__main__":
    main()
