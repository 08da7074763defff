"""``phonemic encode``: texts to packed ids in Parquet."""

from __future__ import annotations

import click

from phonemic.cli.common import LanguageCheck, claim, force_option, input_options, input_texts, tokenizer_options
from phonemic.files import ids_writer
from phonemic.tokenizer import Tokenizer


def _parquet_name(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not value.lower().endswith(".parquet"):
        raise click.BadParameter(f"{value!r} must end in .parquet (the last file named is the output)")
    return value


@click.command()
@input_options()
@click.argument("out", metavar="OUT.parquet", callback=_parquet_name)
@tokenizer_options
@click.option("--spans", is_flag=True, help="Also write the positions' spans, start and end alternating.")
@click.option("--text", "keep_text", is_flag=True, help="Also write the texts.")
@force_option
def encode(
    *,
    inputs: tuple[str, ...],
    out: str,
    column: str,
    errors: str,
    max_line: int,
    threads: int,
    tokenizer: Tokenizer,
    spans: bool,
    keep_text: bool,
    force: bool,
) -> None:
    """Encodes texts to packed ids in a Parquet file.

    IN is plain text, one text a line, also as .gz, .bz2, .xz or .zst; or Parquet; or "-" for standard input.
    """
    claim([out], force, inputs)
    with (
        input_texts(inputs, column, errors, max_line) as chunks,
        ids_writer(out, tokenizer, threads, spans, keep_text, overwrite=force) as write,
    ):
        check = LanguageCheck(tokenizer.lang)
        for texts in chunks:
            check.add(write(texts))
    check.warn()
