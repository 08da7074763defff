"""The commands ``restore`` and ``ngrams``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from phonemic.cli.common import (
    check_column,
    claim,
    column_option,
    encoding_option,
    errors_option,
    files_of,
    force_option,
    input_options,
    input_texts,
    language_option,
    max_line_option,
    output_file,
    output_option,
)
from phonemic.files import read_texts, replacing
from phonemic.terminal import json_text
from phonemic_bert.restoration.restoring import default_name, load
from phonemic_bert.restoration.results import Restored

_COLUMNS = ("line", "start", "end", "before", "text", "probability", "alternatives")


@click.command()
@click.argument("text", nargs=-1)
@language_option()
@click.option(
    "--checkpoint",
    metavar="NAME",
    help="A file of n-grams, a restorer's folder or name. [default: phonemic-restorer-LANG]",
)
@click.option(
    "--threshold",
    type=float,
    metavar="NATS",
    help="How much likelier a change must make the text, unless the text lacks all marks. [default: 16 vi, 9 zh]",
)
@click.option("--ngrams-only", is_flag=True, help="Leave the restorer's network out: faster, and less often right.")
@click.option(
    "--model", metavar="NAME", help="A pretrained PhonemicBERT, which is asked where the n-grams are not sure."
)
@click.option("--protect", metavar="FILE", help="A file of words that are never changed, one per line.")
@click.option(
    "--prefer",
    metavar="FILE",
    help="Mandarin: a file of names, one per line; text that sounds like a name is written so.",
)
@click.option("--pinyin", is_flag=True, help="Mandarin: TEXT is pinyin, with tones or without.")
@click.option(
    "--format",
    "layout",
    type=click.Choice(["text", "tsv", "json"]),
    default="text",
    show_default=True,
    help="Write the restored text, one row per change, or one JSON object per line.",
)
@output_option()
@column_option
@errors_option
@encoding_option
@max_line_option
@force_option
def restore(
    text: tuple[str, ...],
    lang: str,
    checkpoint: str | None,
    threshold: float | None,
    ngrams_only: bool,
    model: str | None,
    protect: str | None,
    prefer: str | None,
    pinyin: bool,
    layout: str,
    output: str | None,
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
    force: bool,
) -> None:
    """Gives TEXT back its Vietnamese diacritics, or corrects its Chinese characters.

    Where TEXT is the name of a file, or names of files, their lines are the texts; without one, those of standard
    input. A Vietnamese text that has marks, and Mandarin,
    is changed only where it becomes much likelier. With --pinyin, pinyin is written in characters.
    """
    files = files_of(text) if text else ("-",)
    check_column(files, column)
    if lang != "zh" and (pinyin or prefer):
        raise click.UsageError(f"{'--pinyin' if pinyin else '--prefer'} is for Mandarin")
    if threshold is not None and not 0 <= threshold < math.inf:
        raise click.UsageError(f"--threshold {threshold}: must be finite and at least 0")
    claim([output], force, [*files, *filter(None, (protect, prefer))])
    options: dict[str, Any] = {
        "protected": _words(protect),
        "preferred": _words(prefer),
        "pinyin": pinyin,
        "threshold": threshold,
        "ngrams_only": ngrams_only,
        "model": model,
    }
    restorer = load(checkpoint or default_name(lang), lang, **options)
    write = _WRITERS[layout]
    with output_file(output, force) as file:
        if layout == "tsv":
            file.write(("\t".join(_COLUMNS) + "\n").encode())
        words: list[str | None] = [" ".join(text)]
        given = input_texts(files, column, errors, max_line, encoding) if files else nullcontext(iter([words]))
        with given as chunks:
            texts = (one or "" for chunk in chunks for one in chunk)
            for number, restored in enumerate(restorer.restore_batch(texts, layout != "text"), 1):
                file.write(write(restored, number).encode("utf-8", "surrogateescape"))


def _words(path: str | None) -> list[str]:
    """The lines of a file."""
    if path is None:
        return []
    return [word.strip() for words in read_texts(path) for word in words if word and word.strip()]


def _tsv(restored: Restored, number: int) -> str:
    """A line per change."""
    rows = []
    for change in restored.changes:
        others = " ".join(f"{' '.join(text.split())}:{share:.4f}" for text, share in change.alternatives)
        own = (number, change.start, change.end, change.before, change.text, f"{change.probability:.4f}", others)
        rows.append("\t".join(" ".join(str(cell).split()) for cell in own) + "\n")
    return "".join(rows)


_WRITERS: dict[str, Callable[[Restored, int], str]] = {
    "text": lambda restored, _: restored.text + "\n",
    "tsv": _tsv,
    "json": lambda restored, _: json_text(restored.to_json(), indent=None) + "\n",
}


@click.command()
@input_options(threads=False)
@click.argument("out")
@language_option()
@click.option(
    "--order",
    type=click.IntRange(2, 4),
    default=4,
    show_default=True,
    help="The number of words in the longest n-gram.",
)
@click.option(
    "--prune",
    type=click.FloatRange(0),
    default=4.0,
    show_default=True,
    metavar="NATS",
    help="Leave n-grams out that make the text less likely by fewer nats.",
)
@force_option
def ngrams(
    inputs: tuple[str, ...],
    out: str,
    lang: str,
    order: int,
    prune: float,
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
    force: bool,
) -> None:
    """Counts the n-grams of IN... for restore and writes them to the file OUT.

    The text is read twice, and its words are held in memory: 8 GB of memory for 200 MB of text.
    """
    from phonemic_bert.restoration.counting import mandarin_model, vietnamese_model

    claim([out], force, inputs)

    def texts() -> Iterator[str]:
        with input_texts(inputs, column, errors, max_line, encoding) as chunks:
            yield from (text or "" for chunk in chunks for text in chunk)

    model = (vietnamese_model if lang == "vi" else mandarin_model)(texts, order, prune)
    with replacing(out, overwrite=force) as file:
        file.write(model.to_bytes())


@click.command("train-restorer")
@input_options(threads=False)
@click.argument("out")
@click.option(
    "--ngrams",
    metavar="NAME",
    default="phonemic-restorer-vi",
    show_default=True,
    help="A file of n-grams, or a restorer.",
)
@click.option(
    "--model",
    metavar="NAME",
    default="phonemic-bert-mini-vi",
    show_default=True,
    help="The pretrained PhonemicBERT that it begins with.",
)
@click.option("--max-steps", type=click.IntRange(1), default=3600, show_default=True, help="Steps of training.")
@click.option(
    "--batch-tokens", type=click.IntRange(1), default=2048, show_default=True, help="About how many tokens a step has."
)
@click.option(
    "--learning-rate",
    type=click.FloatRange(0, min_open=True),
    default=1e-3,
    show_default=True,
    help="The highest learning rate, which follows the warm-up.",
)
@click.option(
    "--held-out-documents",
    type=click.IntRange(1),
    default=400,
    show_default=True,
    help="Texts that the network is evaluated on instead of trained on.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The seed of the order of the texts and of dropped forms."
)
@click.option(
    "--save-steps", type=click.IntRange(1), default=100, show_default=True, help="Steps between two checkpoints."
)
@force_option
def train_restorer(
    inputs: tuple[str, ...],
    out: str,
    ngrams: str,
    model: str,
    max_steps: int,
    batch_tokens: int,
    learning_rate: float,
    held_out_documents: int,
    seed: int,
    save_steps: int,
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
    force: bool,
) -> None:
    """Trains a network to restore diacritics on the texts of IN... and writes a restorer to OUT.

    OUT is a folder. The texts are Vietnamese, have their marks, and are held in memory. The same command continues a
    run that was interrupted.
    """
    from phonemic_bert.restoration.training import Run, train_restorer

    with input_texts(inputs, column, errors, max_line, encoding) as chunks:
        texts = [text for chunk in chunks for text in chunk if text and text.strip()]
    run = Run(
        model=model,
        ngrams=ngrams,
        max_steps=max_steps,
        batch_tokens=batch_tokens,
        learning_rate=learning_rate,
        held_out_documents=held_out_documents,
        seed=seed,
    )
    train_restorer(texts, Path(out), run, save_steps, force, click.echo)
