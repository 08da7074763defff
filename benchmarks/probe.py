"""Measurements in a fresh process, printed as JSON.

``probe.py start LANG``, ``probe.py memory LANG WAY TEXT``, ``probe.py line LANG BYTES`` and
``probe.py calls LANG NUMBER``.

``probe.py serve LANG TEXT HALF CORE`` encodes the first (0) or the second (1) half of a text, on that core where the
system lets it choose, for each line that it is given.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def kilobytes(key: str) -> int | None:
    """A line of the kernel's account of this process, in kB."""
    found = re.search(rf"^{key}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE) if STATUS.exists() else None
    return int(found[1]) if found else None


def start(lang: str) -> dict[str, Any]:
    """The cost of importing phonemic and making a Tokenizer once numpy is there."""
    import numpy as np

    before, clock = kilobytes("VmRSS"), time.process_time()
    from phonemic import Tokenizer

    Tokenizer(lang)
    milliseconds = (time.process_time() - clock) * 1e3
    after = kilobytes("VmRSS")
    megabytes = (after - before) * 1024 / 1e6 if before and after else None
    return {"milliseconds": milliseconds, "megabytes": megabytes, "numpy": np.__version__}


def memory(lang: str, way: str, text: str) -> dict[str, Any]:
    """The peak beyond what the input takes, and the bytes of the arrays that come out."""
    from phonemic import Tokenizer

    tokenizer = Tokenizer(lang)
    with open(text, encoding="utf-8", newline="\n") as file:  # line by line: what is read and freed could be used again
        rows: Any = [line.rstrip("\n") for line in file]
    if way == "Arrow UTF-8":
        import pyarrow as pa

        from phonemic import arrow

        rows = pa.array(rows, pa.large_string())

    def encode(some: Any) -> Any:
        if way == "Arrow UTF-8":
            return arrow.encode(some, tokenizer)
        return tokenizer.encode_batch(some, spans=way.endswith("spans"))

    encode(rows[:200])  # what is needed once
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)  # nor may memory that was freed before
    Path("/proc/self/clear_refs").write_text("5")  # the peak is the present
    before = kilobytes("VmRSS")
    result = encode(rows)
    peak = kilobytes("VmHWM")
    if before is None or peak is None:
        raise SystemExit("this system does not say how much memory a process has")
    if way == "Arrow UTF-8":
        output = result.nbytes
    else:
        output = result.ids.nbytes + result.offsets.nbytes + (result.spans.nbytes if way.endswith("spans") else 0)
    return {"peak": (peak - before) * 1024, "output": output}


def line(lang: str, size: str) -> dict[str, Any]:
    """The peak beyond one line of so many bytes, and the bytes of the arrays that come of it."""
    from phonemic import Tokenizer

    tokenizer = Tokenizer(lang)
    unit = {"vi": "tiếng ", "zh": "银行"}[lang]
    text = unit * (int(size) // len(unit.encode()))
    tokenizer.encode(unit)
    Path("/proc/self/clear_refs").write_text("5")
    before = kilobytes("VmRSS")
    found = tokenizer.encode(text)
    output = found.ids.nbytes + found.spans.nbytes + found.word_ids.nbytes
    peak = kilobytes("VmHWM")
    if before is None or peak is None:
        raise SystemExit("this system does not say how much memory a process has")
    return {"peak": (peak - before) * 1024, "output": output}


def calls(lang: str, number: str) -> dict[str, Any]:
    """By how much the process grows while it encodes short texts again and again."""
    from phonemic import Tokenizer

    tokenizer = Tokenizer(lang)
    texts = {"vi": ["giếng nước COVID-19 🎉", "", "hoàng hôn " * 50], "zh": ["银行行长在重庆", "", "音樂" * 50]}[lang]

    def some(count: int) -> None:
        for _ in range(count):
            tokenizer.encode(texts[0])
            tokenizer.encode_batch(texts, spans=True, word_ids=True)

    some(int(number) // 4)
    before = kilobytes("VmRSS")
    some(int(number))
    after = kilobytes("VmRSS")
    if before is None or after is None:
        raise SystemExit("this system does not say how much memory a process has")
    return {"megabytes": (after - before) * 1024 / 1e6}


def serve(lang: str, text: str, half: str, core: str) -> None:
    """Encodes one half of the lines of a text, again and again."""
    from phonemic import Tokenizer

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    tokenizer = Tokenizer(lang)
    rows = Path(text).read_text(encoding="utf-8").rstrip("\n").split("\n")
    middle = len(rows) // 2
    mine = rows[middle:] if half == "1" else rows[:middle]
    for _ in sys.stdin:
        tokenizer.encode_batch(mine)
        print("done", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*sys.argv[2:])
        raise SystemExit
    probes: dict[str, Callable[..., dict[str, Any]]] = {"start": start, "memory": memory, "line": line, "calls": calls}
    json.dump(probes[sys.argv[1]](*sys.argv[2:]), sys.stdout)
