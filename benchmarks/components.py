"""Rows about the spaCy component: what it adds to a pipeline, and what one attribute costs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

from benchmarks.measurements import Measurement
from benchmarks.session import LANGS, Session
from benchmarks.timing import Contestant, cpu, in_turns, ratio

GROUP = "spaCy"
DOCS = 2_000
CHARACTERS = {"vi": 120, "zh": 40}  # of a text: about one sentence
OURS = {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}
TOKENIZERS: dict[str, dict[str, dict[str, Any]]] = {
    "vi": {"spaCy's tokenizer without pyvi": {"use_pyvi": False}, "SyllableTokenizer": OURS},
    "zh": {"spaCy's tokenizer, by character": {}, "SyllableTokenizer": OURS},
}
READS = 100_000


def components(session: Session) -> Iterator[Measurement]:
    """``nlp.pipe`` with the component against the same pipeline without it, and one attribute of one token."""
    for lang in LANGS:
        if find_spec("spacy") is None:
            yield Measurement(GROUP, f"{lang}, nlp.pipe", note="needs spaCy")
            continue
        rows = session.language(lang).texts[:DOCS]
        texts = [row[: CHARACTERS[lang]] for row in rows]
        for name, tokenizer in TOKENIZERS[lang].items():
            yield from _pipelines(lang, name, tokenizer, texts, session.runs)
        yield _attribute(lang, texts[0], session.runs)


def _pipelines(lang: str, name: str, tokenizer: dict[str, Any], texts: list[str], runs: int) -> Iterator[Measurement]:
    import spacy

    def pipeline(component: bool, **config: Any) -> Any:
        nlp = spacy.blank(lang, config={"nlp": {"tokenizer": tokenizer}})
        if component:
            nlp.add_pipe("phonemic", config=config)
        return nlp

    def run(nlp: Any) -> Contestant:
        return lambda: cpu(lambda: sum(map(len, nlp.pipe(texts))))

    reading = pipeline(True)
    ways = {
        "none": run(pipeline(False)),
        "the component": run(pipeline(True)),
        "the component, store": run(pipeline(True, store=True)),
        "the component, reading each token's rime": lambda: cpu(lambda: sum(map(_rimes, reading.pipe(texts)))),
    }
    seconds = in_turns(ways, runs)
    for way in list(ways)[1:]:
        at_least = 1.08 if way == "the component" else None
        row = Measurement(GROUP, f"{lang}, {name}, {way}", "the pipeline without it", at_least=at_least, less=True)
        row.value = ratio(seconds[way], seconds["none"])
        row.runs = {"ours": seconds[way], "other": seconds["none"]}
        row.note = f"{len(texts):,} texts of at most {CHARACTERS[lang]} characters, nlp.pipe"
        yield row


def _rimes(doc: Iterable[Any]) -> int:
    return len([token._.rime for token in doc])


def _attribute(lang: str, text: str, runs: int) -> Measurement:
    import spacy

    nlp = spacy.blank(lang, config={"nlp": {"tokenizer": OURS}})
    nlp.add_pipe("phonemic")
    token = nlp(text)[1]

    def read() -> None:
        for _ in range(READS):
            token._.rime  # noqa: B018

    def nothing() -> None:
        for _ in range(READS):
            token  # noqa: B018

    seconds = in_turns({"read": lambda: cpu(read), "nothing": lambda: cpu(nothing)}, runs)
    row = Measurement(GROUP, f"{lang}, token._.rime", "an empty loop", unit="µs", at_least=3, less=True)
    row.runs = {"ours": seconds["read"], "other": seconds["nothing"]}
    pairs = zip(seconds["read"], seconds["nothing"], strict=True)
    row.value = statistics.median((one - other) / READS * 1e6 for one, other in pairs)
    return row
