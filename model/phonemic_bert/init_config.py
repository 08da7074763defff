"""``phonemic-bert init-config``: the settings that ship with the package, to begin a file of your own with."""

from __future__ import annotations

import click

from phonemic.terminal import say
from phonemic_bert.finetuning.settings import GRIDS, grid_text
from phonemic_bert.pretraining.settings import PRESETS, preset_text

_TEXTS = {"pretrain": preset_text, "finetune": grid_text}
#: ``\b`` keeps click from breaking the lines within a name.
_NAMES = f"\b\nNames for pretrain:\n  {', '.join(PRESETS)}\nNames for finetune:\n  {', '.join(GRIDS)}"


@click.command("init-config", epilog=_NAMES)
@click.argument("command", type=click.Choice(list(_TEXTS)))
@click.argument("name")
def init_config(command: str, name: str) -> None:
    """Writes settings NAME of pretrain or finetune, a TOML file that explains every field, to standard output."""
    say(_TEXTS[command](name), end="")
