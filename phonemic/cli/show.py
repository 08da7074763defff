"""``phonemic show``: the positions of a text, as a table."""

from __future__ import annotations

import click

from phonemic.cli.common import dialect_option, errors_option, max_line_option, print_table, tokenizer_options
from phonemic.dialects import pronounce
from phonemic.files import read_texts
from phonemic.tokenizer import Tokenizer


@click.command()
@click.argument("text", nargs=-1, required=True)
@tokenizer_options
@dialect_option
@errors_option
@max_line_option
def show(text: tuple[str, ...], tokenizer: Tokenizer, dialect: str | None, errors: str, max_line: int) -> None:
    """Shows the positions of TEXT, or of standard input for "-"."""
    if dialect and tokenizer.lang != "vi":
        raise click.UsageError("--dialect is for Vietnamese")
    joined = " ".join(text)
    if text == ("-",):
        joined = "\n".join(line or "" for lines in read_texts("-", errors=errors, max_line=max_line) for line in lines)
    encoding = tokenizer.encode(joined)
    rows = []
    for syllable, triple, ids in zip(encoding.syllables, encoding.triples, encoding.components.tolist(), strict=True):
        ipa = "".join(pronounce(triple, dialect)) if dialect and syllable.is_native else syllable.ipa
        rows.append((*syllable[:4], ipa, "/".join(map(str, ids))))
    print_table(("text", "onset", "rime", "tone", "IPA", "ids"), rows)
