"""``phonemic rhymes``: words of a list that rhyme."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from phonemic.cli.wordlists import group_options, write_groups
from phonemic.tokenizer import Tokenizer


@click.command()
@group_options
@click.option("--near", is_flag=True, help="Vietnamese: also group near rhymes (vần thông).")
def rhymes(*, tokenizer: Tokenizer, near: bool, **options: Any) -> None:
    """Groups the words of lists that rhyme, by their last syllables, one group per line."""
    from phonemic.sound.groups import rhymes as groups

    if near and tokenizer.lang != "vi":
        raise click.UsageError("--near is for Vietnamese")
    write_groups(partial(groups, tokenizer=tokenizer, near=near), tokenizer, **options)
