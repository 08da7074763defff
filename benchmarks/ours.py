"""Rows that compare us with the least-work programs, with ourselves on other forms of the text, and on two cores."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks import texts
from benchmarks.limits import LimitRun
from benchmarks.measurements import Measurement, megabytes, speed_ratio, time_ratio
from benchmarks.session import LANGS, Language, Session
from benchmarks.timing import ROOT, Process, in_turns, ratio, wall, warm
from phonemic import Tokenizer

LIMIT_GROUP = "Share of the limit"
PYTHON_THREADS, BUILT_IN_THREADS = "Python threads on halves", "num_threads=2"
ALONE = ("the first half", "the second half")
MORE = 5  # times as many turns for wall-clock time: a core is slow for seconds at a time where others use it, too

#: language, input, limit, at least, aim
LIMIT_ROWS: list[tuple[str, str, str, float | None, float | None]] = [
    ("vi", "list of str", "E", 0.5, 0.75),
    ("vi", "Arrow UTF-8", "F", 0.4, 0.7),
    ("zh", "list of str", "all-ucs2", 1.0, None),
    ("zh", "list of str", "pruned-ucs2", None, 0.6),
    ("zh", "Arrow UTF-8", "all-utf8", 1.0, None),
    ("zh", "Arrow UTF-8", "pruned-utf8", None, 0.7),
    ("vi", "list of str", "copy", None, None),
    ("zh", "list of str", "copy", None, None),
]


def limits(session: Session) -> Iterator[Measurement]:
    """Us and the least-work programs, in turns."""
    for lang in LANGS:
        language = session.language(lang)
        rows = [row for row in LIMIT_ROWS if row[0] == lang]
        runner = language.limits
        if runner is None:
            yield from (
                Measurement(LIMIT_GROUP, f"{lang}, {source}", f"limit {name}", note="no C compiler")
                for _, source, name, *_ in rows
            )
            continue
        inputs = {"list of str": language.batch(), "Arrow UTF-8": language.arrow()}
        names = {name: runner.contestant(name) for _, _, name, _, _ in rows}
        seconds = in_turns({name: warm(contestant) for name, contestant in (inputs | names).items()}, session.runs)
        for _, source, name, at_least, aim in rows:
            row = Measurement(LIMIT_GROUP, f"{lang}, {source}", f"limit {name}", at_least=at_least, aim=aim)
            speed_ratio(row, seconds[source], language.bytes, seconds[name], language.path.stat().st_size)
            if name != "copy":
                row.details["work"] = work(language, runner.run(name))
            yield row


def work(language: Language, run: LimitRun) -> dict[str, int]:
    """How many syllables the limit and we find, and the sums of their ids: it does the work that we do."""
    ids = language.tokenizer.encode_batch(language.texts).ids
    onset, rime, tone = ids & 255, ids >> 8 & 255, ids >> 16 & 255
    native = (onset != rime) | (rime != tone)
    return {
        "our_syllables": int(native.sum()),
        "limit_syllables": run.syllables,
        "our_id_sum": int(ids[native].sum(dtype=np.int64)),
        "limit_id_sum": run.id_sum,
    }


def spans(session: Session) -> Iterator[Measurement]:
    """The cost of asking for spans."""
    for lang in LANGS:
        language = session.language(lang)
        seconds = in_turns({"with": language.batch(spans=True), "without": language.batch()}, session.runs)
        row = Measurement("Options", f"{lang}, with spans", "without spans", at_least=1.25, aim=1.1)
        yield time_ratio(row, seconds["with"], seconds["without"], language.bytes, language.bytes)


def _forms(language: Language) -> Iterator[tuple[str, list[str] | str]]:
    """Names of other forms of the text, and each form, or why there is none."""
    if language.lang == "vi":
        yield "NFD", texts.fresh(unicodedata.normalize("NFD", text) for text in language.texts)
        yield "upper case", texts.fresh(text.upper() for text in language.texts)
        return
    try:
        path = language.path.with_name(f"{language.path.stem}-traditional.txt")
        yield "traditional", texts.traditional(language.texts, path)
    except texts.MissingTextError as error:
        yield "traditional", str(error)


def forms(session: Session) -> Iterator[Measurement]:
    """The same sentences in another form, by the time for the whole text; and mixed text, by the time per byte."""
    for lang in LANGS:
        language = session.language(lang)
        for name, form in _forms(language):
            row = Measurement("Other text", f"{lang}, {name}", "ordinary text", at_least=2, aim=1.3)
            if isinstance(form, str):
                row.note = form
                yield row
                continue
            seconds = in_turns({"form": language.batch(form), "plain": language.batch()}, session.runs)
            time_ratio(row, seconds["form"], seconds["plain"], texts.size_of(form), language.bytes)
            row.note = "time for the same sentences"
            yield row
        yield _mixed(session, language)


def _mixed(session: Session, language: Language) -> Measurement:
    row = Measurement("Other text", f"{language.lang}, as on social media", "ordinary text")
    try:
        posts = texts.social(language.lang, session.data, session.size // 4)
    except texts.MissingTextError as error:
        row.note = str(error)
        return row
    seconds = in_turns({"posts": language.batch(posts), "plain": language.batch()}, session.runs)
    size = texts.size_of(posts)
    time_ratio(row, seconds["posts"], seconds["plain"], size, language.bytes)
    row.value = ratio(seconds["posts"], seconds["plain"]) * language.bytes / size
    row.note = "time per byte"
    row.details["positions_a_second"] = len(language.tokenizer.encode_batch(posts).ids) / row.runs["ours"][0]
    return row


def threads(session: Session) -> Iterator[Measurement]:
    """Two threads against one in wall-clock time, and what the machine gives to two processes that share nothing."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    for lang in LANGS:
        rows = [
            Measurement("Two threads", f"{lang}, {name}", "one thread", at_least=1.85, aim=1.95, note="needs two cores")
            for name in (PYTHON_THREADS, BUILT_IN_THREADS)
        ]
        if len(cores) > 1:
            language = session.language(lang)
            # Long enough that it matters little on which core a thread begins: the system moves it after milliseconds.
            path = language.path if session.quick else language.whole
            lines = texts.read(path)
            seconds = _threads(language.tokenizer, lines, path, cores, MORE * session.runs)
            note = f"wall clock, {len(seconds['one'])} turns"
            ceiling = Measurement(
                "Two threads", f"{lang}, two processes, half the text each", "one after the other", note=note
            )
            in_a_row = [sum(pair) for pair in zip(*(seconds[name] for name in ALONE), strict=True)]
            ceiling.value = ratio(in_a_row, seconds["together"])
            ceiling.runs = {"ours": seconds["together"], "other": in_a_row}
            yield ceiling
            for row, name in zip(rows, (PYTHON_THREADS, BUILT_IN_THREADS), strict=True):
                row.value, row.note = ratio(seconds["one"], seconds[name]), note
                row.ours, row.other = (megabytes(texts.size_of(lines), seconds[key]) for key in (name, "one"))
                row.runs = {"ours": seconds[name], "other": seconds["one"]}
        yield from rows


def _threads(tokenizer: Tokenizer, lines: list[str], path: Path, cores: list[int], runs: int) -> dict[str, list[float]]:
    """Wall-clock seconds of each way to encode the lines of a file, and of one process per core with half of them."""
    encode, halves = tokenizer.encode_batch, _halves(lines, texts.size_of(lines))
    command = [sys.executable, str(ROOT / "benchmarks" / "probe.py"), "serve", tokenizer.lang, str(path)]
    with (
        ThreadPoolExecutor(2) as pool,
        Process([*command, "0", str(cores[0])]) as first,
        Process([*command, "1", str(cores[1])]) as second,
    ):
        ways = {
            ALONE[0]: lambda: wall(lambda: first.ask("run")),
            ALONE[1]: lambda: wall(lambda: second.ask("run")),
            "one": lambda: wall(lambda: encode(lines)),
            PYTHON_THREADS: lambda: wall(lambda: list(pool.map(encode, halves))),
            BUILT_IN_THREADS: lambda: wall(lambda: encode(lines, num_threads=2)),
            "together": lambda: wall(lambda: list(pool.map(lambda process: process.ask("run"), (first, second)))),
        }
        return in_turns(ways, runs)


def _halves(rows: list[str], size: int) -> list[list[str]]:
    first = texts.head(rows, size // 2)
    return [first, rows[len(first) :]]
