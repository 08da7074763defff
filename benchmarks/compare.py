"""Rows that compare us with the rivals: each on the beginning of the same text, in turns with us on all of it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial

from benchmarks.costs import calls
from benchmarks.measurements import Measurement, speed_ratio
from benchmarks.rivals import RIVALS, Rival, RivalProcess, version
from benchmarks.session import LANGS, Session
from benchmarks.texts import WAYS, in_way
from benchmarks.timing import ProcessError, in_turns, ratio

#: How many times as fast as a rival we must be.
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


def rivals(session: Session) -> Iterator[Measurement]:
    """Every rival of each language, on a list of str and on one sentence."""
    for lang in LANGS:
        rows = [row for rival in RIVALS if lang in rival.langs for row in _rival(session, rival, lang)]
        yield from rows


def _rival(session: Session, rival: Rival, lang: str) -> Iterator[Measurement]:
    language = session.language(lang)
    row = Measurement("Rivals", f"{lang}, list of str", rival.name, at_least=REQUIRED.get((lang, rival.name)))
    row.note, row.details["version"] = rival.note, version(rival)
    try:
        with RivalProcess(rival, lang, language.path, session.folder(f"models/{language.path.stem}"), LIMIT) as process:
            seconds = in_turns({"us": language.batch(), "rival": process.seconds}, session.runs)
            speed_ratio(row, seconds["us"], language.bytes, seconds["rival"], process.bytes)
            rows = [row]
            if rival.name in REQUIRED_OF_A_SENTENCE:
                rows.extend(_sentence(session, rival, lang, process))
        yield from rows
    except ProcessError as error:
        row.note = str(error)
        yield row


def _sentence(session: Session, rival: Rival, lang: str, process: RivalProcess) -> Iterator[Measurement]:
    language = session.language(lang)
    for way in WAYS:
        us = calls(language.tokenizer.encode, in_way(way, language.sentences))
        seconds = in_turns({"us": us, "rival": partial(process.seconds, way)}, session.runs)
        bound = REQUIRED_OF_A_SENTENCE[rival.name]
        row = Measurement("One sentence", f"{lang}, encode, {way}", f"{rival.name}, encode", at_least=bound)
        row.value = ratio(seconds["rival"], seconds["us"])
        row.runs = {"ours": seconds["us"], "other": seconds["rival"]}
        row.note = f"{statistics.median(seconds['rival']) * 1e6:.1f} µs per call"
        yield row
