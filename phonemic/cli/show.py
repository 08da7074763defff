"""``phonemic show``: the positions of a text, as a table."""

from __future__ import annotations

import click

from phonemic.cli.common import errors_option, max_line_option, print_table, tokenizer_options
from phonemic.files import read_texts
from phonemic.tokenizer import Tokenizer


@click.command()
@click.argument("text", nargs=-1, required=True)
@tokenizer_options
@errors_option
@max_line_option
def show(text: tuple[str, ...], tokenizer: Tokenizer, errors: str, max_line: int) -> None:
    """Shows the positions of TEXT, or of standard input for "-"."""
    joined = " ".join(text)
    if text == ("-",):
        joined = "\n".join(line or "" for lines in read_texts("-", errors=errors, max_line=max_line) for line in lines)
    encoding = tokenizer.encode(joined)
    rows = zip(encoding.syllables, encoding.components.tolist(), strict=True)
    print_table(
        ("text", "onset", "rime", "tone", "IPA", "ids"),
        ((*syllable[:5], "/".join(map(str, ids))) for syllable, ids in rows),
    )
