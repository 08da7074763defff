"""``phonemic train-baseline``: a tokenizer of the paper's comparison, trained on texts."""

from __future__ import annotations

import click

from phonemic import baselines
from phonemic.cli.common import force_option, input_options, input_texts, say


@click.command("train-baseline")
@click.argument("name")
@click.argument("folder")
@input_options(threads=False)
@click.option(
    "--vocab-size",
    type=click.IntRange(1),
    default=22_675,
    show_default=True,
    help="The size of the vocabulary, special tokens included.",
)
@force_option
def train_baseline(
    *,
    name: str,
    folder: str,
    inputs: tuple[str, ...],
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
    vocab_size: int,
    force: bool,
) -> None:
    """Trains the baseline NAME on texts and saves it where --tokenizers FOLDER finds it.

    Character, Subword, the SubChar tokenizers and Byte-BPE can be trained. SubChar's code maps must be in
    FOLDER/subchar.
    """
    with input_texts(inputs, column, errors, max_line, encoding) as chunks:
        texts = (text for chunk in chunks for text in chunk if text)
        trained = baselines.train(name, texts, folder, vocab_size, overwrite=force)
    say(f"{trained.name}: {trained.vocab_size:,} entries in {trained.path}")
