"""Rows that compare us with other tools, each on the beginning of the same text, in turns with us on all of it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial

from benchmarks.costs import calls
from benchmarks.measurements import Measurement, speed_ratio
from benchmarks.other_tools import OTHER_TOOLS, OtherTool, OtherToolProcess, version
from benchmarks.session import LANGS, Session
from benchmarks.texts import WAYS, in_way
from benchmarks.timing import ProcessError, in_turns, ratio

#: How many times as fast as another tool we must be.
REQUIRED = {
    ("vi", "SentencePiece unigram"): 10,
    ("vi", "donglao-g2p"): 20,
    ("vi", "sea-g2p"): 20,
    ("zh", "SentencePiece unigram"): 8,
    ("zh", "pypinyin TONE3"): 500,
    ("zh", "pypinyin, three passes"): 1300,
    ("zh", "cpp-pinyin"): 40,
}
REQUIRED_OF_A_SENTENCE = {"HF tokenizers BPE": 15, "HF tokenizers WordPiece": 15}
LIMIT = 240  # seconds for getting ready (training, calibration) or for one run


def other_tools(session: Session) -> Iterator[Measurement]:
    """Every other tool of each language, on a list of str and on one sentence."""
    for lang in LANGS:
        rows = [row for tool in OTHER_TOOLS if lang in tool.langs for row in _other_tool(session, tool, lang)]
        yield from rows


def _other_tool(session: Session, tool: OtherTool, lang: str) -> Iterator[Measurement]:
    language = session.language(lang)
    row = Measurement("Other tools", f"{lang}, list of str", tool.name, at_least=REQUIRED.get((lang, tool.name)))
    row.note, row.details["version"] = tool.note, version(tool)
    try:
        with OtherToolProcess(
            tool, lang, language.path, session.folder(f"models/{language.path.stem}"), LIMIT
        ) as process:
            seconds = in_turns({"us": language.batch(), "other": process.seconds}, session.runs)
            speed_ratio(row, seconds["us"], language.bytes, seconds["other"], process.bytes)
            rows = [row]
            if tool.name in REQUIRED_OF_A_SENTENCE:
                rows.extend(_sentence(session, tool, lang, process))
        yield from rows
    except ProcessError as error:
        row.note = str(error)
        yield row


def _sentence(session: Session, tool: OtherTool, lang: str, process: OtherToolProcess) -> Iterator[Measurement]:
    language = session.language(lang)
    for way in WAYS:
        us = calls(language.tokenizer.encode, in_way(way, language.sentences))
        seconds = in_turns({"us": us, "other": partial(process.seconds, way)}, session.runs)
        bound = REQUIRED_OF_A_SENTENCE[tool.name]
        row = Measurement("One sentence", f"{lang}, encode, {way}", f"{tool.name}, encode", at_least=bound)
        row.value = ratio(seconds["other"], seconds["us"])
        row.runs = {"ours": seconds["us"], "other": seconds["other"]}
        row.note = f"{statistics.median(seconds['other']) * 1e6:.1f} µs per call"
        yield row
