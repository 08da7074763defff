"""``phonemic decode``: packed ids to text."""

from __future__ import annotations

import click

from phonemic.cli.common import (
    claim,
    dialect_option,
    force_option,
    language_option,
    max_line_option,
    output_file,
    output_option,
)
from phonemic.errors import InputError
from phonemic.files.ids import FORMATS, format_of, reader
from phonemic.notations import NOTATIONS

_TO = tuple(dict.fromkeys(name for names in NOTATIONS.values() for name in names))


@click.command()
@click.argument("path", metavar="IN")
@click.option(
    "--format", "file_format", type=click.Choice([*FORMATS]), help="[default: by the suffix of IN; jsonl for -]"
)
@language_option(required=False)
@click.option("--to", type=click.Choice(_TO), help="[default: spelling or pinyin]")
@click.option("--style", type=click.Choice(["new", "old"]), default="new", help="Vietnamese tone marks: hoà or hòa.")
@dialect_option()
@output_option()
@max_line_option
@force_option
def decode(
    *,
    path: str,
    file_format: str | None,
    lang: str | None,
    to: str | None,
    style: str,
    dialect: str | None,
    output: str | None,
    max_line: int,
    force: bool,
) -> None:
    """Writes the ids of a Parquet file, an Arrow stream or JSON lines as text; "-" is standard input.

    Each row becomes one line; a null becomes an empty line.
    """
    claim([output], force, [path])
    tokenizer, rows = reader(
        path, file_format or format_of(path, "jsonl" if path == "-" else "parquet"), lang, max_line
    )
    if tokenizer is None:  # there are no rows
        with output_file(output, force):
            return
    if to not in (None, *NOTATIONS[tokenizer.lang]):
        raise click.UsageError(f"--to {to} does not apply to {tokenizer.lang}")
    if dialect and (tokenizer.lang != "vi" or to not in (None, "ipa")):
        raise click.UsageError("--dialect is for Vietnamese in IPA")
    to = "ipa" if dialect else to
    with output_file(output, force) as file:
        for row, ids in enumerate(rows, start=1):
            try:
                line = tokenizer.decode(ids or [], to, style, dialect=dialect)
            except ValueError as error:
                raise InputError(f"{path}, row {row}: {error}") from error
            file.write(line.encode() + b"\n")
