"""Draws how models learned: the bits per character of held-out text against steps, one panel per language.

    python benchmarks/curves.py --zh PhonemicBERT=RUN/final --zh Character=RUN/final \
        --vi PhonemicBERT=RUN/final --vi Byte-BPE=RUN/final --out docs/images/curves.svg

A model is NAME=FOLDER, the folder or name of a checkpoint that ``phonemic-bert pretrain`` or ``export`` wrote, with its
``pretraining.json``. The figures are added to benchmarks/results/curves.json, from which those are drawn whose models
are not given.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.chart import NAMES
from phonemic.files.writing import write_json
from phonemic_bert.checkpoints import resolve
from phonemic_bert.finetuning.encoders import named
from phonemic_bert.origin import read_origin

FIGURES = Path(__file__).parent / "results" / "curves.json"


def curve(folder: Path) -> dict[str, Any]:
    """The curve of a checkpoint: steps, and the bits per character of held-out text after each."""
    origin = read_origin(folder)
    rows = [row for row in origin["log"] if "eval_bits_per_character" in row]
    return {
        "steps": [row["step"] for row in rows],
        "bits": [round(row["eval_bits_per_character"], 4) for row in rows],
        "masked": origin["settings"]["masking"]["mlm_probability"],
        "versions": origin["versions"],
    }


def draw(figures: dict[str, dict[str, dict[str, Any]]], path: Path) -> None:
    """Writes the chart."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "phonemic", "svg.fonttype": "none"}):
        figure = Figure(figsize=(4.2 * len(figures), 3.4), layout="constrained")
        for panel, (lang, models) in zip(
            figure.subplots(1, len(figures), squeeze=False)[0], figures.items(), strict=True
        ):
            for name, found in models.items():
                panel.plot(found["steps"], found["bits"], marker=".", label=f"{name}, {found['bits'][-1]:.2f}")
            panel.set(title=NAMES[lang], xlabel="steps", ylabel="bits per character")
            panel.grid(alpha=0.3)
            panel.legend()
        figure.savefig(path, metadata={"Date": None})


@click.command(help=__doc__)
@click.option("--zh", multiple=True, metavar="NAME=FOLDER", help="A model for Mandarin. Repeatable.")
@click.option("--vi", multiple=True, metavar="NAME=FOLDER", help="A model for Vietnamese. Repeatable.")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The chart, SVG or PNG.")
def main(out: Path, **langs: Any) -> None:
    """Reads, keeps and draws."""
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    for lang, models in langs.items():
        for written in models:
            name, where = named(written)
            folder = Path(str(resolve(where)))
            figures.setdefault(lang, {})[name or folder.name] = curve(folder)
    if not figures:
        raise click.UsageError("there is nothing to draw: give --zh or --vi")
    write_json(FIGURES, figures, indent=1)
    draw(figures, out)


if __name__ == "__main__":
    main()
