"""``phonemic encode``: texts to packed ids in Parquet, Arrow or JSON lines."""

from __future__ import annotations

import click

from phonemic.cli.common import LanguageCheck, claim, force_option, input_options, input_texts, tokenizer_options
from phonemic.errors import InputError
from phonemic.files.ids import FORMATS, format_of, writer
from phonemic.terminal import standard_output
from phonemic.tokenizer import Tokenizer


@click.command()
@input_options()
@click.argument("out")
@tokenizer_options
@click.option("--format", "form", type=click.Choice([*FORMATS]), help="[default: by the end of OUT; jsonl for -]")
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
    form: str | None,
    spans: bool,
    keep_text: bool,
    force: bool,
) -> None:
    """Encodes texts to packed ids: OUT is a file that ends in .parquet, .arrow or .jsonl, or "-".

    IN is plain text, one text a line, also as .gz, .bz2, .xz or .zst; or Parquet; or "-" for standard input. What goes
    to standard output is JSON lines, or with --format arrow an Arrow stream.
    """
    to_stdout = out == "-"
    try:
        form = form or format_of(out, "jsonl" if to_stdout else None)
    except InputError as error:
        raise click.BadParameter(f"{error} (the last file named is the output)", param_hint="OUT") from error
    claim([None if to_stdout else out], force, inputs)
    target = standard_output() if to_stdout else out
    with (
        input_texts(inputs, column, errors, max_line) as chunks,
        writer(target, form, tokenizer, threads, spans, keep_text, overwrite=force) as write,
    ):
        check = LanguageCheck(tokenizer.lang)
        for texts in chunks:
            check.add(write(texts))
    check.warn()
