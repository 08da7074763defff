"""The commands ``inspect`` and ``embeddings``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from phonemic.cli.common import (
    LanguageCheck,
    claim,
    encoding_option,
    errors_option,
    files_of,
    force_option,
    output_file,
    print_json,
)
from phonemic.errors import InputError
from phonemic.files import read_texts, replacing, require
from phonemic.inventory import LANGUAGES
from phonemic.terminal import console
from phonemic_bert.checkpoints import checkpoint_folder

if TYPE_CHECKING:
    from phonemic_bert.inspection.confusions import Confusions
    from phonemic_bert.inspection.examples import Example
    from phonemic_bert.inspection.loading import Inspected
    from phonemic_bert.inspection.predictions import PredictionRecord


@click.command(name="inspect")
@click.argument("checkpoint", required=False)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@click.option(
    "--input", "path", metavar="FILE", help="Read one text per line, also .gz, .bz2, .xz or .zst; - for standard input."
)
@click.option(
    "--predictions", metavar="FILE", help="Read the file that `finetune --predictions` wrote; - for standard input."
)
@click.option("--lang", type=click.Choice(LANGUAGES), help="The language, for --predictions without a CHECKPOINT.")
@click.option("--errors-only", is_flag=True, help="Show only texts with an error.")
@click.option("--limit", type=click.IntRange(0), default=20, show_default=True, help="Show this many texts.")
@click.option(
    "-k",
    "--top-k",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Show this many syllables per position; 0 leaves them out.",
)
@click.option("--html", metavar="FILE", help="Write an HTML page instead of tables.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of tables.")
@errors_option
@encoding_option
@force_option
def inspect(
    checkpoint: str | None,
    texts: tuple[str, ...],
    path: str | None,
    predictions: str | None,
    lang: str | None,
    errors_only: bool,
    limit: int,
    top_k: int,
    html: str | None,
    as_json: bool,
    errors: str,
    encoding: str,
    force: bool,
) -> None:
    """Shows what CHECKPOINT, a folder or an installed checkpoint's name, makes of each TEXT, syllable by syllable.

    Where TEXT is the name of a file, its lines are the texts, as with --input.

    After pretraining: what it predicts for each syllable when that is masked. A classifier or tagger: its labels. Of
    all: the syllables embedded nearest. --predictions adds gold next to predicted labels and counts the errors; it
    needs no CHECKPOINT.
    """
    if sum(map(bool, (texts, path, predictions))) != 1:
        raise click.UsageError("give one of TEXT, --input and --predictions")
    if not checkpoint and not (predictions and lang):
        raise click.UsageError("give a CHECKPOINT; with --predictions, --lang is enough")
    if html and as_json:
        raise click.UsageError("give --html or --json, not both")
    files = files_of(texts) or ((path,) if path else ())
    claim([html], force, [*files, *([predictions] if predictions else [])])
    if checkpoint:
        checkpoint_folder(checkpoint)  # what is missing is said before anything heavy is imported
    from phonemic_bert.inspection.confusions import confusions, is_correct
    from phonemic_bert.inspection.inspecting import examples, predict
    from phonemic_bert.inspection.loading import load
    from phonemic_bert.inspection.predictions import PredictionRecord, read_predictions
    from phonemic_bert.tokenization import PhonemicBertTokenizer

    records: list[PredictionRecord]
    form: str | None = None
    if predictions:
        records, form = read_predictions(predictions)
    else:
        records = [PredictionRecord(line, text) for line, text in _numbered(texts, files, errors, encoding)]
    _quiet()
    inspected = load(checkpoint) if checkpoint else None
    if inspected and lang not in (None, inspected.lang):
        raise click.UsageError(f"CHECKPOINT is for {inspected.lang}, not {lang}")
    tokenizer = inspected.tokenizer if inspected else PhonemicBertTokenizer(lang)
    if inspected:
        # Errors are counted in all texts; of texts without gold only the ones that are shown are of interest.
        counted = len(records) if any(one.gold is not None for one in records) else limit
        filled, form = predict(inspected, records[:counted], form)
        records = filled + records[counted:]
    check = LanguageCheck(tokenizer.phonemic.lang)
    for one in records[:limit]:
        check.add(tokenizer.phonemic.encode(one.text).kinds)
    check.warn()
    annotated = form is not None and any(one.has_both for one in records)
    if errors_only and not annotated:
        raise InputError("--errors-only needs texts with a gold and a predicted annotation")
    found = confusions(form, records) if annotated and form else None
    chosen = [one for one in records if not errors_only or is_correct(form, one) is False]
    shown = examples(chosen[:limit], form, tokenizer, inspected, top_k)
    _write(shown, len(chosen), found, inspected, tokenizer.phonemic.lang, html, as_json, force)


#: The width of tables where standard output is not a terminal.
_WIDE = 200


def _quiet() -> None:
    from transformers.utils import logging

    logging.disable_progress_bar()


def _numbered(texts: tuple[str, ...], files: tuple[str, ...], errors: str, encoding: str) -> Iterator[tuple[int, str]]:
    read = (read_texts(path, errors=errors, encoding=encoding) for path in files)
    chunks: Any = chain.from_iterable(read) if files else [texts]
    number = 0
    for chunk in chunks:
        for text in chunk:
            number += 1
            if text and text.strip():
                yield number, text


def _plain(value: Any) -> Any:
    """The value with objects where it has named tuples, which JSON would write as lists."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _write(
    shown: Iterator[Example],
    number: int,
    found: Confusions | None,
    inspected: Inspected | None,
    lang: str,
    html: str | None,
    as_json: bool,
    force: bool,
) -> None:
    from phonemic_bert.inspection.page import page
    from phonemic_bert.inspection.terminal import print_confusions, print_example

    if as_json:
        rows = [_plain(asdict(one)) for one in shown]
        checkpoint = inspected.name if inspected else None
        errors = asdict(found) if found else None
        print_json({"checkpoint": checkpoint, "lang": lang, "texts": number, "errors": errors, "examples": rows})
        return
    if html:
        some = list(shown)
        note = f"{len(some)} of {number} texts" if len(some) < number else ""
        title = inspected.name if inspected else "Predictions"
        with output_file(html, force) as file:
            file.write(page(title, lang, some, found, note).encode("utf-8", "surrogateescape"))
        return
    to = console(wide=_WIDE)
    if found:
        print_confusions(to, found)
    count = 0
    for one in shown:
        print_example(to, one)
        count += 1
    if count < number:
        to.print(f"… and {number - count} more texts (--limit)")


@click.command(name="embeddings")
@click.argument("checkpoint")
@click.option("--out", metavar="FILE", required=True, help="The picture: .png, .svg or .pdf.")
@click.option("--json", "coordinates", metavar="FILE", help="Also write coordinates and figures as JSON.")
@click.option(
    "--method",
    type=click.Choice(["pca", "tsne"]),
    help="How symbols are placed; by default tsne for rimes and pca for the others.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of t-SNE and of the shuffled classes.")
@click.option("--title", help="Title of the picture; by default the checkpoint's name.")
@force_option
def embeddings(
    checkpoint: str, out: str, coordinates: str | None, method: str | None, seed: int, title: str, force: bool
) -> None:
    """Draws the onsets, rimes and tones that CHECKPOINT has learned, and measures how far phonology shows in them."""
    checkpoint_folder(checkpoint)
    require("sklearn", "finetune")
    require("matplotlib", "finetune")
    from phonemic_bert.inspection.embeddings import panels
    from phonemic_bert.inspection.loading import load
    from phonemic_bert.inspection.picture import check_path, draw

    check_path(out)
    claim([out, coordinates], force)
    _quiet()
    inspected = load(checkpoint)
    placed = panels(inspected.encoder, method, seed)
    draw(placed, out, title or f"{inspected.name}: the learned onsets, rimes and tones")
    if coordinates:
        with replacing(coordinates, force) as file:
            file.write(_as_json([panel.as_dict() for panel in placed]))


def _as_json(value: Any) -> bytes:
    import json

    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False).encode() + b"\n"
