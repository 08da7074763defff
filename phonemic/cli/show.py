"""``phonemic show``: the positions of a text, as a table."""

from __future__ import annotations

import click

from phonemic.cli.common import (
    check_column,
    column_option,
    dialect_option,
    encoding_option,
    errors_option,
    files_of,
    max_line_option,
    print_json,
    print_table,
    say,
    tokenizer_options,
)
from phonemic.files import read_texts
from phonemic.tokenizer import Tokenizer
from phonemic.writing.dialects import pronounce


@click.command()
@click.argument("text", nargs=-1, required=True)
@tokenizer_options
@dialect_option()
@click.option(
    "--format",
    "layout",
    type=click.Choice(["table", "tsv", "json"]),
    default="table",
    show_default=True,
    help="Write a table, tab-separated values, or a JSON array.",
)
@column_option
@errors_option
@encoding_option
@max_line_option
def show(
    *,
    text: tuple[str, ...],
    tokenizer: Tokenizer,
    dialect: str | None,
    layout: str,
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
) -> None:
    """Shows the positions of TEXT; of files, where it is their names; or of standard input for "-"."""
    if dialect and tokenizer.lang != "vi":
        raise click.UsageError("--dialect is for Vietnamese")
    joined, files = " ".join(text), files_of(text)
    if files:
        check_column(files, column)
        read = (read_texts(path, column, errors, max_line=max_line, encoding=encoding) for path in files)
        joined = "\n".join(line or "" for chunks in read for lines in chunks for line in lines)
    found = tokenizer.encode(joined)
    rows = []
    words = found.form_words
    for at, (syllable, triple, ids) in enumerate(
        zip(found.syllables, found.triples, found.components.tolist(), strict=True)
    ):
        ipa = "".join(pronounce(triple, dialect)) if dialect and syllable.is_native else syllable.ipa
        rows.append((*syllable[:4], ipa, ids, syllable.start, syllable.end, *words[at : at + 1]))
    names = ("text", "onset", "rime", "tone", "ipa", "ids", "start", "end", *["form"][: len(words)])
    if layout == "json":
        print_json([dict(zip(names, row, strict=True)) for row in rows])
    elif layout == "tsv":
        say("\n".join("\t".join(map(_cell, row)) for row in (names, *rows)))
    else:
        shown = [
            ("" if again else row[0], *row[1:6], *row[8:]) for row, again in zip(rows, found.continues, strict=True)
        ]
        print_table(("text", "onset", "rime", "tone", "IPA", "ids", *names[8:]), (map(_cell, row) for row in shown))


def _cell(value: object) -> str:
    return "/".join(map(str, value)) if isinstance(value, list) else str(value)
