"""Language models: tasks from ``downstream.csv`` and ``downstream_forms.csv``, others from ``designs``, ``forms`` and
``checkpoints.json``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import product
from statistics import fmean
from typing import Any

from benchmarks.tables import RESULTS, bold_best, footer, load, rows, table

#: Columns of the tasks, with the noise that each is tested with and the name of its score.
TASKS = {
    "Chinese": ["TNEWS, accuracy", "OCNLI, accuracy", "CLUENER, span-f1", "Weibo NER, span-f1"],
    "Vietnamese": [
        "UIT-VSFC sentiment, macro-f1", "UIT-VSFC topic, macro-f1", "ViHOS, token-macro-f1", "VietBioNER, span-f1",
        "UD VTB POS, macro-f1",
    ],
}  # fmt: skip
NOISE = {
    "homophones": "homophones (pool=gb2312-1)", "missing diacritics": "missing-diacritics", "wrong tones": "wrong-tone"
}  # fmt: skip
#: Steps of the runs that compare forms.
SHORT = 2_000
#: Encoders that ran on other machines than the rest; their scores are in the log of experiments.
ELSEWHERE = ("PhonemicBERT, more text", "PhonemicBERT (paper)")
#: Rows of the ablation: a name of ours, and the design of ``designs.toml``.
ABLATION = {
    "the paper's design": "paper",
    "ModernBERT's encoder": "modern",
    "+ joint softmax over syllables": "modern, joint",
    "+ elementwise-product composition": "modern, product, joint",
    "+ convolution, kernel size 3": "modern, product, joint, kernel size 3",
    "+ tied output embeddings": "modern, product, joint, kernel size 3, tied",
    "+ syllable embedding table": "modern, both, joint, kernel size 3, tied",
    "+ component scale 0.1": "modern, both, joint, kernel size 3, tied, component scale 0.1",
    "+ 30 % masked instead of 15 %": "modern, both, joint, kernel size 3, tied, component scale 0.1, 30 % masked",
    "+ hashed bigrams (15 % masked)": "modern, both, joint, kernel size 3, tied, component scale 0.1, bigrams",
    "+ width 288 (15 % masked)": "modern, both, joint, kernel size 3, tied, component scale 0.1, width 288",
    "full syllable inventory instead of attested": "modern, both, joint, kernel size 3, tied, full inventory",
    "kernel size 5 instead of 3, untied, no table": "modern, product, joint, kernel size 5",
    "the paper's encoder, with product, joint softmax and convolution": "paper, product, joint, kernel size 3",
}


def scores(file_name: str = "downstream") -> dict[tuple[str, str, str], tuple[float, float, int]]:
    """Return mean, standard deviation and seeds by table, encoder and column of a file of scores."""
    with (RESULTS / f"{file_name}.csv").open(encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if row["mean"]]
    return {
        (row["table"], row["encoder"], row["column"]): (
            float(row["mean"]), float(row["spread"] or "nan"), int(row["seeds"])
        )
        for row in found
    }  # fmt: skip


def clean(lang: str) -> str:
    """Return the name of a language's table of scores on clean text."""
    return f"{lang}: mean ± standard deviation (seeds), times 100"


def noisy(task: str, noise: str) -> str:
    """Return the name of a task's table of scores under noise, by a name of NOISE."""
    return f"{task}, {NOISE[noise]}: mean ± standard deviation (seeds), times 100"


def encoders(lang: str, file_name: str = "downstream") -> list[str]:
    """Return the encoders of a language that ran on one machine, ours first."""
    found = scores(file_name)
    names = dict.fromkeys(encoder for name, encoder, _ in found if name == clean(lang) and encoder not in ELSEWHERE)
    return sorted(names, key=lambda name: "phonemic" not in name.lower() and "form" not in name)


def _shown(name: str) -> str:
    """Return an encoder's name as a page has it; in brackets are the settings in which its runs differ."""
    name, _, settings = name.replace("+", " and ").partition(" [")
    if "training_noise=homophones" in settings:
        name += ", trained with homophones"
    return f"`{name}`" if name.startswith("phonemic-") else name


def _tasks(lang: str, *noises: str, file_name: str = "downstream") -> str:
    found, names = scores(file_name), encoders(lang, file_name)
    body = []
    for task in TASKS[lang]:
        if any((clean(lang), name, task) not in found for name in names):
            continue
        by_name = [found[clean(lang), name, task] for name in names]
        cells = [f"{mean:.1f} ± {spread:.1f}" for mean, spread, _ in by_name]
        body.append([task.replace("-f1", " F1"), "clean", *bold_best(cells, [mean for mean, _, _ in by_name])])
        for noise, ratio in product(noises, ("15 %", "30 %")):
            if (noisy(task, noise), names[0], ratio) in found:
                by_name = [found[noisy(task, noise), name, ratio] for name in names]
                cells = [f"{mean:.1f} ± {spread:.1f}" for mean, spread, _ in by_name]
                body.append(["", f"{ratio} {noise}", *bold_best(cells, [mean for mean, _, _ in by_name])])
    heads = ["task, score", "text", *map(_shown, names)]
    return f"{rows(heads, body, len(names))}\n\n{footer(file_name)}"


@table("models: tasks with forms")
def tasks_forms() -> str:
    """Compare a model of sounds and forms with one of characters on Mandarin tasks."""
    return _tasks("Chinese", "homophones", file_name="downstream_forms")


@table("models: Vietnamese tasks with forms")
def tasks_forms_vi() -> str:
    """Compare a model of sounds and forms with one of byte-level BPE on Vietnamese tasks."""
    return _tasks("Vietnamese", "missing diacritics", "wrong tones", file_name="downstream_forms_vi")


@table("models: tasks in Mandarin")
def tasks_zh() -> str:
    """Compare encoders on Mandarin tasks."""
    return _tasks("Chinese", "homophones")


@table("models: tasks in Vietnamese")
def tasks_vi() -> str:
    """Compare encoders on Vietnamese tasks."""
    return _tasks("Vietnamese", "missing diacritics")


def _figure(row: dict[str, Any], key: str, form: str) -> str:
    return format(row[key], form) if key in row else ""


def designs() -> Iterator[tuple[str, dict[str, tuple[float, float]]]]:
    """Yield each row of the ablation with bits per syllable and accuracy by language."""
    figures = load("designs")
    for name, design in ABLATION.items():
        by_lang = {}
        for lang in ("zh", "vi"):
            runs = [run for run in figures if (run["corpus"], run["design"]) == (lang, design)]
            by_lang[lang] = fmean(run["bits"] for run in runs), fmean(run["right"] for run in runs)
        yield name, by_lang


@table("models: ablation")
def ablation() -> str:
    """List what each part of the design is worth."""
    body = [
        [
            name,
            *(cell for bits, right in by_lang.values() for cell in (f"{bits:.2f}", f"{right:.1%}".replace("%", " %"))),
        ]
        for name, by_lang in designs()
    ]
    heads = ["design", "Mandarin, bits per syllable", "accuracy", "Vietnamese, bits per syllable", "accuracy"]
    return f"{rows(heads, body)}\n\n{footer('designs')}"


@table("models: forms")
def forms() -> str:
    """Compare models that read sounds, forms or characters, on clean text and with wrong characters."""
    runs = [run for run in load("forms")["results"] if run["steps"] <= SHORT]
    body = []
    for run in runs:
        by_share = list(run["noise"].values())
        clean_text = by_share[0]
        body.append(
            [
                run["design"],
                f"{run['parameters'] / 1e6:.2f}M",
                f"{run['seconds']['processor'] / run['steps']:.2f}",
                *(f"{part['bits']:.2f}" for part in by_share),
                f"{clean_text['right']:.1%}".replace("%", " %"),
                _figure(clean_text, "character_bits", ".2f"),
            ]
        )
    wrong = [f"{float(share):.0%} wrong".replace("%", " %") for share in runs[0]["noise"]]
    heads = ["what is read", "parameters", "CPU s per step", *wrong, "accuracy", "bits per character"]
    return rows(heads, body)


@table("models: forms, longer")
def forms_longer() -> str:
    """Compare the ones that had six times as many steps."""
    runs = [run for run in load("forms")["results"] if run["steps"] > SHORT and run["noise"]]
    body = [
        [
            run["design"].partition(",")[0],
            *(f"{part['bits']:.2f}" for part in run["noise"].values()),
            *(f"{part['right']:.1%}".replace("%", " %") for part in run["noise"].values()),
            _figure(run["noise"]["0"], "character_bits", ".2f"),
        ]
        for run in runs
    ]
    shares = [f"{float(share):.0%}".replace("%", " %") for share in runs[0]["noise"]]
    heads = [*(f"{share} wrong" for share in shares), *(f"accuracy, {share}" for share in shares)]
    return f"{rows(['what is read', *heads, 'bits per character'], body)}\n\n{footer('forms')}"


@table("models: checkpoints")
def checkpoints() -> str:
    """Compare the shipped checkpoints on everyday text and on our own sentences."""
    body = [
        [
            f"`{row['checkpoint']}`",
            f"{row['bits']:.2f}",
            f"{row['right']:.1%}".replace("%", " %"),
            _figure(row, "character_bits", ".2f"),
            _figure(row, "character_right", ".1%").replace("%", " %"),
            f"{row['first']}, {row['ten']}",
        ]
        for row in load("checkpoints")["results"]
    ]
    heads = [
        "checkpoint",
        "bits per syllable",
        "accuracy",
        "bits as written",
        "accuracy",
        "of 100 sentences: first, in ten",
    ]
    return f"{rows(heads, body)}\n\n{footer('checkpoints')}"
