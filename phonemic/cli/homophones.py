"""``phonemic homophones``: words of a list that sound the same."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from phonemic.cli.common import dialect_option
from phonemic.cli.wordlists import group_options, write_groups
from phonemic.tokenizer import Tokenizer


@click.command()
@group_options
@dialect_option("Vietnamese: group by the sounds of this dialect, not by the spelling.")
def homophones(*, tokenizer: Tokenizer, dialect: str | None, **options: Any) -> None:
    """Groups the words of lists that sound the same, one group per line.

    Letters and digits must be the same, except for case; punctuation is ignored.
    """
    from phonemic.sound.groups import homophones as groups

    if dialect and tokenizer.lang != "vi":
        raise click.UsageError("--dialect is for Vietnamese")
    write_groups(partial(groups, tokenizer=tokenizer, dialect=dialect), tokenizer, **options)
