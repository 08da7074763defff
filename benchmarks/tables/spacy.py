"""spaCy encoders, from ``spacy_init.json``, ``spacy_until_tokens.json``, ``spacy_cnn_errors.json``,
``spacy_forms.json`` and ``spacy_speed.json``.
"""

from __future__ import annotations

from statistics import fmean, median, stdev
from typing import Any

from benchmarks.tables import bold_best, footer, load, rows, table

CORPORA = {
    "vtb": "UD VTB, parts of speech",
    "vietbioner": "VietBioNER, names",
    "gsd": "UD GSD, parts of speech",
    "cluener": "CLUENER, names",
    "weibo": "Weibo, names",
}
#: Model -> its name on the page.
MODELS = {
    "spacy init config": "`spacy init config`",
    "HashEmbedCNN": "HashEmbedCNN",
    "HashEmbedCNN trained with errors": "the same, with errors",
    "PhonemicHashEmbed": "`hash`",
    "PhonemicBERT from a checkpoint": "`bert`",
}
#: Model -> the file of its runs.
FILES = {
    "spacy init config": "spacy_init",
    "HashEmbedCNN": "spacy_until_tokens",
    "HashEmbedCNN trained with errors": "spacy_cnn_errors",
    "PhonemicHashEmbed": "spacy_until_tokens",
    "PhonemicBERT from a checkpoint": "spacy_forms",
}


def runs(task: str, model: str) -> list[dict[str, Any]]:
    """Return the runs of a model on a corpus."""
    return [run for run in load(FILES[model])["runs"] if (run["task"], run["model"]) == (task, model)]


def scores(task: str, model: str) -> list[list[float]]:
    """Return the scores of all seeds, times 100: clean, with 15 and with 30 % of errors; empty without a run."""
    found = ([run["score"], *run["noisy"]] for run in runs(task, model))
    return [[100 * score for score in column] for column in zip(*found, strict=True)]


def _cell(column: list[float]) -> str:
    spread = f" ± {stdev(column):.1f}" if len(column) > 1 else ""
    return f"{fmean(column):.1f}{spread}"


def seeds(model: str) -> str:
    """Return how many runs a model has per corpus that it was trained on, as ``n = 5`` or ``n = 1 to 2``."""
    counts = sorted({len(runs(task, model)) for task in CORPORA} - {0})
    return f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"


@table("spaCy: scores")
def quality() -> str:
    """Compare encoders on five corpora, clean and with errors."""
    body = []
    for task, corpus in CORPORA.items():
        by_model = [scores(task, model) for model in MODELS]
        for number, text in enumerate(("clean", "15 % errors", "30 % errors")):
            means = [fmean(columns[number]) if columns else 0.0 for columns in by_model]
            cells = [_cell(columns[number]) if columns else "–" for columns in by_model]
            body.append(["" if number else corpus, text, *bold_best(cells, means)])
    heads = ["corpus", "text", *(f"{name}, {seeds(model)}" for model, name in MODELS.items())]
    return f"{rows(heads, body, len(MODELS))}\n\n{footer('spacy_forms')}"


@table("spaCy: 8 bits")
def int8() -> str:
    """Compare the scores of the same pipelines with products in 8 bits and in float32."""
    made = [run for run in load("spacy_forms")["runs"] if run.get("float32")]
    body = []
    for task, corpus in CORPORA.items():
        own = [run for run in made if run["task"] == task]
        if own:
            eight = zip(*([run["score"], *run["noisy"]] for run in own), strict=True)
            exact = zip(*(run["float32"] for run in own), strict=True)
            pairs = zip(eight, exact, strict=True)
            cells = [f"{100 * fmean(one):.2f} / {100 * fmean(other):.2f}" for one, other in pairs]
            body.append([corpus, *cells, str(len(own))])
    heads = ["8 bits / float32", "clean", "15 % errors", "30 % errors", "seeds"]
    return f"{rows(heads, body, 4)}\n\n{footer('spacy_forms')}"


@table("spaCy: speed")
def speed() -> str:
    """Compare the words per second of encoders."""
    found = load("spacy_speed")
    body = []
    for task, corpus in CORPORA.items():
        turns = list(zip(*found[task]["turns"], strict=True))
        body.append([corpus, *(f"{median(turn):,.0f}" for turn in turns)])
    others = {"PhonemicBERT from a checkpoint in float32": "`bert`, float32", "both from a checkpoint": "`both`"}
    names = {**MODELS, **others}
    heads = ["words per CPU second", *(names[model] for model in found["vtb"]["models"])]
    return f"{rows(heads, body)}\n\n{footer('spacy_speed')}"
