"""spaCy encoders, from ``spacy_until_*.json``, ``spacy_forms.json`` and ``spacy_speed.json``."""

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
MODELS = {
    "HashEmbedCNN": "spaCy's HashEmbedCNN",
    "PhonemicHashEmbed": "`hash`",
    "PhonemicBERT from a checkpoint": "`bert`",
    "both from a checkpoint": "`both`",
}


def runs() -> list[dict[str, Any]]:
    """Return the runs of today's configs: `bert` in Vietnamese has errors in training."""
    noisy = load("spacy_until_errors")["runs"]
    replaced = {(run["task"], run["model"]) for run in noisy}
    rest = load("spacy_until_tokens")["runs"]
    return [*noisy, *(run for run in rest if (run["task"], run["model"]) not in replaced)]


def scores(task: str, model: str) -> list[list[float]]:
    """Return the scores of all seeds, times 100: clean, with 15 and with 30 % of errors."""
    found = [run for run in runs() if (run["task"], run["model"]) == (task, model)]
    return [
        [100 * score for score in column]
        for column in zip(*([run["score"], *run["noisy"]] for run in found), strict=True)
    ]


@table("spaCy: scores")
def quality() -> str:
    """Compare encoders on five corpora, clean and with errors."""
    body = []
    for task, corpus in CORPORA.items():
        by_model = [scores(task, model) for model in MODELS]
        for number, text in enumerate(("clean", "15 % errors", "30 % errors")):
            means = [fmean(columns[number]) for columns in by_model]
            cells = [
                f"{mean:.1f} ± {stdev(columns[number]):.1f}" for mean, columns in zip(means, by_model, strict=True)
            ]
            body.append(["" if number else corpus, text, *bold_best(cells, means)])
    return f"{rows(['corpus', 'text', *MODELS.values()], body, len(MODELS))}\n\n{footer('spacy_until_tokens')}"


@table("spaCy: forms")
def forms() -> str:
    """Compare checkpoints that see what is written with the other encoders, as far as they were run."""
    made = load("spacy_forms")["runs"]
    models = ("HashEmbedCNN", "PhonemicHashEmbed", "PhonemicBERT from a checkpoint")
    body = []
    for task, corpus in CORPORA.items():
        own = [run for run in made if run["task"] == task]
        if not own:
            continue
        columns = zip(*([run["score"], *run["noisy"]] for run in own), strict=True)
        for number, (text, column) in enumerate(zip(("clean", "15 % errors", "30 % errors"), columns, strict=True)):
            means = [*(fmean(scores(task, model)[number]) for model in models), 100 * fmean(column)]
            cells = bold_best([f"{mean:.1f}" for mean in means], means)
            body.append(["" if number else corpus, text, *cells, "" if number else str(len(own))])
    heads = ["corpus", "text", "spaCy's HashEmbedCNN", "`hash`", "`bert`, sounds alone", "`bert` of today", "its seeds"]
    return f"{rows(heads, body, 5)}\n\n{footer('spacy_forms')}"


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
    names = {**MODELS, "PhonemicBERT from a checkpoint in float32": "`bert`, float32"}
    heads = ["words per CPU second", *(names[model] for model in found["vtb"]["models"])]
    return f"{rows(heads, body)}\n\n{footer('spacy_speed')}"
