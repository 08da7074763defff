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
from phonemic.errors import DecodingError, InputError
from phonemic.files.ids import FORMATS, format_of, reader
from phonemic.files.jsons import HALF
from phonemic.writing.notations import NOTATIONS

_TO = tuple(dict.fromkeys(name for names in NOTATIONS.values() for name in names))


@click.command()
@click.argument("path", metavar="IN")
@click.option(
    "--format",
    "file_format",
    type=click.Choice([*FORMATS]),
    help="The format of IN. [default: by the suffix of IN; jsonl for -]",
)
@language_option(required=False)
@click.option(
    "--to",
    type=click.Choice(_TO),
    help="The notation to write. [default: the text, of ids with forms; else spelling or pinyin]",
)
@click.option(
    "--style",
    type=click.Choice(["new", "old"]),
    default="new",
    help="Vietnamese: write the tone mark as in hoà (new) or as in hòa (old), where no form says how it is written.",
)
@dialect_option()
@click.option(
    "--errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    help="Stop at ids with forms that no text has, or write U+FFFD instead.",
)
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
    errors: str,
    output: str | None,
    max_line: int,
    force: bool,
) -> None:
    """Writes the ids of a Parquet file, an Arrow stream or JSON lines as text; "-" is standard input.

    Each row becomes one line; a null becomes an empty line. Ids of --form give the text back as it was.
    """
    claim([output], force, [path])
    file_format = file_format or format_of(path, "jsonl" if path == "-" else "parquet")
    tokenizer, blocks = reader(path, file_format, lang, max_line)
    if tokenizer is None:  # there are no rows
        with output_file(output, force):
            return
    if to not in (None, *NOTATIONS[tokenizer.lang]):
        raise click.UsageError(f"--to {to} does not apply to {tokenizer.lang}")
    if dialect and (tokenizer.lang != "vi" or to not in (None, "ipa")):
        raise click.UsageError("--dialect is for Vietnamese in IPA")
    to = "ipa" if dialect else to
    row = 1
    with output_file(output, force) as file:
        for ids, offsets, _ in blocks:
            try:
                lines = tokenizer.decode_batch(ids, offsets, to, style, dialect=dialect, errors=errors)
            except DecodingError as error:
                told = str(error).partition(": ")[2]
                raise InputError(f"{path}, row {row + error.row}: {told}") from error
            file.write(_utf8(lines, path, row, errors))
            row += len(lines)


def _utf8(lines: list[str], path: str, row: int, errors: str) -> bytes:
    """The lines in UTF-8, which has no halves of surrogate pairs."""
    text = "".join(f"{line}\n" for line in lines)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        if errors == "replace":
            return HALF.sub("\ufffd", text).encode()
        at = next(at for at, line in enumerate(lines) if HALF.search(line))
        raise InputError(
            f"{path}, row {row + at}: half of a surrogate pair, which UTF-8 does not have; --errors replace writes "
            "U+FFFD for it"
        ) from error
