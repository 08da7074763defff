"""``phonemic vocab``: the symbols and their ids."""

from __future__ import annotations

import click

from phonemic.cli.common import json_option, language_option, print_json, print_table
from phonemic.inventory import vocabulary


@click.command()
@language_option()
@json_option
def vocab(lang: str, as_json: bool) -> None:
    """Lists the vocabulary: ids, symbols and what they stand for."""
    symbols = vocabulary(lang)
    rows = [(number, symbol, sorted(symbols.roles(number))) for number, symbol in enumerate(symbols)]
    if as_json:
        print_json([dict(zip(("id", "symbol", "roles"), row, strict=True)) for row in rows])
    else:
        print_table(("id", "symbol", "roles"), ((number, symbol, ", ".join(roles)) for number, symbol, roles in rows))
