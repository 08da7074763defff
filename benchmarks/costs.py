"""Rows about one sentence, memory, start-up, scaling and the worst inputs."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import texts, worst_cases
from benchmarks.measurements import Measurement, megabytes, time_ratio
from benchmarks.session import LANGS, Session
from benchmarks.texts import MEGABYTE
from benchmarks.timing import ROOT, Contestant, cpu, in_turns


def calls(function: Callable[[str], Any], sentences: list[str]) -> Contestant:
    """One call a sentence as something that is measured: CPU seconds of a call, the loop included."""

    def call_all() -> None:
        for text in sentences:
            function(text)

    return lambda: cpu(call_all) / len(sentences)


def sentence(session: Session) -> Iterator[Measurement]:
    """One ``encode`` of 15 syllables, beyond a Python call that does nothing."""

    def nothing(text: str) -> None:
        """The cost of an empty call."""

    for lang in LANGS:
        language = session.language(lang)
        for way in texts.WAYS:
            rows = texts.in_way(way, language.sentences)
            contestants = {"us": calls(language.tokenizer.encode, rows), "empty": calls(nothing, rows)}
            seconds = in_turns(contestants, session.runs)
            row = Measurement(
                "One sentence", f"{lang}, encode, {way}", "an empty call", unit="µs", at_least=3, aim=1.5, less=True
            )
            row.runs = {"ours": seconds["us"], "other": seconds["empty"]}
            row.value = statistics.median(us - empty for us, empty in zip(*row.runs.values(), strict=True)) * 1e6
            row.note = f"15 syllables; {len(rows):,} calls per run"
            yield row


def _probe(*arguments: str) -> dict[str, Any]:
    """The output of ``probe.py`` in a fresh process."""
    command = [sys.executable, str(Path(__file__).with_name("probe.py")), *arguments]
    # pip compiles a package as it installs it; a source tree is compiled in the first of these runs.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, env=environment)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["it failed"])[-1]}
    return dict(json.loads(done.stdout))


def memory(session: Session) -> Iterator[Measurement]:
    """The peak beyond the input over the size of the arrays that come out."""
    for lang in LANGS:
        for way in ("list of str", "list of str with spans", "Arrow UTF-8"):
            language = session.language(lang)
            found = _probe("memory", lang, way, str(language.path if session.quick else language.whole))
            row = Measurement("Memory", f"{lang}, {way}", "the output arrays", at_least=1.05, less=True, details=found)
            row.note = found.get("error", "peak beyond the input")
            if "error" not in found:
                row.value = found["peak"] / found["output"]
            yield row
        size = session.size if session.quick else 200 * MEGABYTE
        found = _probe("line", lang, str(size))
        row = Measurement(
            "Memory", f"{lang}, one line of {size / MEGABYTE:,.0f} MB", "the output arrays", less=True, details=found
        )
        row.note = found.get("error", "peak beyond the line; spans and word ids too")
        row.value = found["peak"] / found["output"] if "error" not in found else None
        yield row
        found = _probe("calls", lang, "100000")
        row = Measurement("Memory", f"{lang}, 100,000 calls", unit="MB", at_least=1, less=True, details=found)
        row.note = found.get("error", "by which the process grows")
        row.value = found.get("megabytes")
        yield row


def start_up(session: Session) -> Iterator[Measurement]:
    """``import phonemic`` and the first Tokenizer in a fresh process, beyond ``import numpy``."""
    for lang in LANGS:
        found = [_probe("start", lang) for _ in range(session.runs + 1)][1:]
        bad = [run["error"] for run in found if "error" in run]
        for key, unit, at_least, aim in (("milliseconds", "ms", 20, 8), ("megabytes", "MB", 6, None)):
            row = Measurement(
                "Start",
                f"{lang}, import and first Tokenizer",
                "numpy",
                unit=unit,
                at_least=at_least,
                aim=aim,
                less=True,
            )
            if bad or any(run[key] is None for run in found):
                row.note = bad[0] if bad else "this system does not say how much memory a process has"
            else:
                row.runs = {"ours": [run[key] for run in found]}
                row.value = statistics.median(row.runs["ours"])
            yield row


def scaling(session: Session) -> Iterator[Measurement]:
    """MB per second of batches of 1 kB, 1 MB, 100 MB, and of 1 GB that is read block by block."""
    for lang in LANGS:
        language = session.language(lang)
        encode = language.tokenizer.encode_batch
        for size in (1_000, MEGABYTE):
            batches = _batches(language.texts, size)
            seconds = in_turns({"all": _each_batch(encode, batches)}, session.runs)
            done = sum(texts.size_of(rows) for rows in batches)
            yield _speed(f"{lang}, {size // 1000:,} kB per batch", done, seconds["all"], f"{len(batches):,} batches")
        whole = texts.read(language.whole)
        done = texts.size_of(whole)
        if not session.quick:
            seconds = in_turns({"all": language.batch(whole)}, min(session.runs, 7))
            yield _speed(
                f"{lang}, {done / MEGABYTE:,.0f} MB per batch", done, seconds["all"], "all the distinct text there is"
            )
        total = session.size if session.quick else 1_000 * MEGABYTE
        seconds_of, streamed = [], 0
        for block in texts.shuffles(whole, total, session.size):
            seconds_of.append(language.batch(block)())
            streamed += texts.size_of(block)
        note = f"the text in {len(seconds_of)} blocks, reshuffled on every pass"
        yield _speed(f"{lang}, {streamed / MEGABYTE:,.0f} MB streamed", streamed, [sum(seconds_of)], note)


def _each_batch(encode: Callable[[list[str]], Any], batches: list[list[str]]) -> Contestant:
    def encode_all() -> None:
        for rows in batches:
            encode(rows)

    return lambda: cpu(encode_all)


def _batches(rows: list[str], size: int) -> list[list[str]]:
    """The text in batches of at least ``size`` bytes: at most 10 MB of it."""
    batches: list[list[str]] = [[]]
    filled = 0
    for row in texts.head(rows, 10 * MEGABYTE):
        batches[-1].append(row)
        filled += len(row.encode())
        if filled >= size:
            batches.append([])
            filled = 0
    return [batch for batch in batches if batch]


def _speed(what: str, size: int, seconds: list[float], note: str) -> Measurement:
    speed = megabytes(size, seconds)
    return Measurement("Scaling", what, value=speed, unit="MB/s", runs={"ours": seconds}, note=note)


def worst(session: Session) -> Iterator[Measurement]:
    """Inputs made to be slow, by the time per byte against that of ordinary text."""
    for lang in LANGS:
        language = session.language(lang)
        plain = texts.head(language.texts, session.size // 4)
        plain_size = texts.size_of(plain)
        for name, rows in worst_cases.inputs(lang, language.tokenizer, session.size // 2):
            size = texts.size_of(rows)
            seconds = in_turns({"bad": language.batch(rows), "plain": language.batch(plain)}, min(session.runs, 7))
            row = Measurement("Worst inputs", f"{lang}, {name}", "ordinary text", at_least=5)
            time_ratio(row, seconds["bad"], seconds["plain"], size, plain_size)
            assert row.value is not None
            row.value *= plain_size / size
            row.note = "time per byte"
            yield row
