"""``phonemic encode``: texts to packed ids in Parquet, Arrow or JSON lines."""

from __future__ import annotations

from contextlib import nullcontext

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
@click.option(
    "--format",
    "file_format",
    type=click.Choice([*FORMATS]),
    help="The format of OUT. [default: by the suffix of OUT; jsonl for -]",
)
@click.option("--spans", is_flag=True, help="Also write where each position starts and ends in the text.")
@click.option("--text", "keep_text", is_flag=True, help="Also write the texts.")
@force_option
def encode(
    *,
    inputs: tuple[str, ...],
    out: str,
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
    threads: int,
    tokenizer: Tokenizer,
    file_format: str | None,
    spans: bool,
    keep_text: bool,
    force: bool,
) -> None:
    """Encodes texts to packed ids in OUT: a .parquet, .arrow or .jsonl file, or "-" for standard output.

    IN is plain text with one text per line, or JSON lines (.jsonl, .ndjson, .json), also as .gz, .bz2, .xz or .zst; or
    Parquet; or "-" for plain text on standard input. Standard output gets JSON lines, or an Arrow stream with
    --format arrow.
    """
    to_stdout = out == "-"
    try:
        file_format = file_format or format_of(out, "jsonl" if to_stdout else None)
    except InputError as error:
        raise click.BadParameter(f"{error} (the last file named is the output)", param_hint="OUT") from error
    claim([None if to_stdout else out], force, inputs)
    with (
        standard_output() if to_stdout else nullcontext(out) as target,
        input_texts(inputs, column, errors, max_line, encoding) as chunks,
        writer(target, file_format, tokenizer, threads, spans, keep_text, overwrite=force) as write,
    ):
        check = LanguageCheck(tokenizer.lang)
        for texts in chunks:
            check.add(write(texts))
    check.warn()
