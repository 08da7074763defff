"""The paper's intrinsic tables on your own copies of the data, with every tokenizer that is at hand.

    python benchmarks/intrinsic.py --data DATA --tokenizers TOKENIZERS --out tables

DATA holds a folder for each dataset (any of the 23 that ``phonemic.tasks`` reads; what is not there is named and left
out), TOKENIZERS one for each baseline (``subchar``, ``mbert``, ``phobert``, ``xlm-r``, ...). Prints the tables and
writes them to OUT as ``intrinsic.json``, ``.md`` and ``.tex``, with plots. A tokenizer of your own is a Python file:
``--tokenizer mine.py``.

``--nfd`` adds the table of what text in NFD does to each tokenizer. ``--keep`` also keeps the figures in
``benchmarks/results``, from which ``benchmarks/report.py`` makes ``docs/results/tokenizers.md``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.corpora import CORPORA
from benchmarks.environment import environment
from benchmarks.tables import tokenizers
from phonemic import intrinsic, tasks
from phonemic.cli.common import print_figures
from phonemic.cli.progress import Advance, progress
from phonemic.errors import PhonemicError
from phonemic.intrinsic.measure import Measures
from phonemic.intrinsic.plots import draw
from phonemic.intrinsic.tabulation import Table, latex, markdown, pivot

#: Left out unless it is requested: its vocabulary and its rules are mBERT's, so all its figures are.
SAME_AS_ANOTHER = ("DistilBERT",)

#: The measures that the paper has tables of, and what is before the tokenizers' columns.
TABLES = {
    "vi": {"fertility": (), "renyi_efficiency": (), "average_length": ("average_input_length",)},
    "zh": {"renyi_efficiency": (), "average_length": ("average_input_length",)},
}

#: Columns for plots, which the JSON file does without.
PLOTTED = ("renyi_curve", "ranks")

TITLES = {"fertility": "Fertility", "renyi_efficiency": "Rényi efficiency", "average_length": "Average length"}
LANGUAGES = {"vi": "Vietnamese", "zh": "Chinese"}


def corpora(root: Path, wanted: tuple[str, ...]) -> Iterator[tuple[str, str, Iterator[str]]]:
    """Title, language and texts of the datasets that are at hand; names on stderr what is not."""
    for name in tasks.names():
        dataset = tasks.get(name)
        if wanted and not {name, dataset.title} & set(wanted):
            continue
        try:
            yield dataset.title, dataset.lang, dataset.texts(dataset.find(root))
        except PhonemicError as error:
            click.echo(f"left out: {error}", err=True)
    for corpus in CORPORA:
        if wanted and corpus.title not in wanted:
            continue
        if corpus.files(root):
            yield corpus.title, corpus.lang, corpus.read(root)
        else:
            click.echo(f"left out: {corpus.title}: no {corpus.pattern} in {root}", err=True)


def tables(rows: list[Measures]) -> Iterator[tuple[str, Table]]:
    """The paper's tables, each with its title."""
    for lang, measures in TABLES.items():
        some = [row for row in rows if row["lang"] == lang]
        if not some:
            continue
        vocabularies = {row["tokenizer"]: row["vocab_size"] for row in some}
        entries = [[name, f"{size:,}"] for name, size in vocabularies.items()]
        yield f"{LANGUAGES[lang]}: vocabulary", [["tokenizer", "entries"], *entries]
        for measure, first in measures.items():
            yield f"{LANGUAGES[lang]}: {TITLES[measure]}", pivot(some, measure, first)
        yield f"{LANGUAGES[lang]}: coverage", coverage(some)


def coverage(rows: list[Measures]) -> Table:
    """Types and occurrences of our tokenizer, and how many of them are native (section 6.1)."""
    heading = ["dataset", "types", "native", "coverage", "occurrences", "native", "coverage"]
    body = [
        [
            row["dataset"],
            f"{row['types']:,}",
            f"{row['native_types']:,}",
            f"{row['type_coverage'] or 0:.1%}",
            f"{row['occurrences']:,}",
            f"{row['native_occurrences']:,}",
            f"{row['token_coverage'] or 0:.1%}",
        ]
        for row in rows
        if row["tokenizer"] == "Phonemic"
    ]
    return [heading, *body]


def measured(
    data: Path, folder: str, wanted: tuple[str, ...], names: tuple[str, ...], alpha: float, form: Any = None
) -> list[Measures]:
    """The rows of all datasets at hand; with a normal form, of the Vietnamese ones."""
    loaded: dict[str, dict[str, Any]] = {}
    rows: list[Measures] = []
    for title, lang, texts in corpora(data, wanted):
        if form and lang != "vi":
            continue
        if lang not in loaded:
            chosen = names or [name for name in intrinsic.available(lang, folder) if name not in SAME_AS_ANOTHER]
            loaded[lang] = intrinsic.tokenizers(chosen, lang, folder)
        name = " ".join(filter(None, (title, form)))
        with progress("texts") as count:
            advance = partial(_advance, count, name)
            rows += intrinsic.measure(title, lang, intrinsic.chunks(texts), loaded[lang], alpha, form, 1, advance)
    return rows


def _advance(count: Advance, name: str, texts: int) -> None:
    count(name, texts, 0)


def packages() -> dict[str, str]:
    """Versions of the libraries that tokenize."""
    return {name: metadata.version(name) for name in ("sentencepiece", "tokenizers", "pyvi")}


@click.command(help=__doc__.partition("\n")[0])
@click.option("--data", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--tokenizers", "folder", required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--dataset", "datasets", multiple=True, help="Only this one; may be given again.")
@click.option("--tokenizer", "names", multiple=True, help="Only this one; may be given again.")
@click.option("--alpha", default=2.5, show_default=True, type=click.FloatRange(0))
@click.option("--nfd", multiple=True, metavar="DATASET", help="Also measure this one in NFC and in NFD.")
@click.option("--out", default="intrinsic", show_default=True, type=click.Path(file_okay=False, path_type=Path))
@click.option("--plots", "form", default="svg", type=click.Choice(["svg", "png", "pdf"]), show_default=True)
@click.option("--keep", is_flag=True, help="Write the figures and pictures that the pages show.")
def main(
    data: Path,
    folder: str,
    datasets: tuple[str, ...],
    names: tuple[str, ...],
    alpha: float,
    nfd: tuple[str, ...],
    out: Path,
    form: str,
    keep: bool,
) -> None:
    """Measures, prints and writes."""
    try:
        rows = measured(data, folder, datasets, names, alpha)
        forms = (
            [row for form in ("NFC", "NFD") for row in measured(data, folder, nfd, names, alpha, form)] if nfd else []
        )
    except PhonemicError as error:
        raise click.ClickException(str(error)) from error
    if not rows:
        raise click.ClickException(f"{data}: no dataset is there")
    found = [*tables(rows), *([("NFC and NFD", tokenizers.forms(forms))] if forms else [])]
    for title, (heading, *body) in found:
        print_figures(title, heading, body)
    out.mkdir(parents=True, exist_ok=True)
    result = {"environment": environment() | {"tokenizers": packages()}, "alpha": alpha} | {
        key: [{name: value for name, value in row.items() if name not in PLOTTED} for row in some]
        for key, some in (("rows", rows), ("forms", forms))
    }
    written = json.dumps(result, ensure_ascii=False, indent=1) + "\n"
    (out / "intrinsic.json").write_text(written, encoding="utf-8")
    (out / "intrinsic.md").write_text("\n\n".join(f"{t}\n\n{markdown(table)}" for t, table in found) + "\n", "utf-8")
    (out / "intrinsic.tex").write_text("\n\n".join(f"% {t}\n{latex(table)}" for t, table in found) + "\n", "utf-8")
    draw(rows, out, form)
    if keep:
        tokenizers.RESULT.write_text(written, encoding="utf-8")
        draw(rows, tokenizers.IMAGES, "svg", tokenizers.PLOTS)


if __name__ == "__main__":
    main()
