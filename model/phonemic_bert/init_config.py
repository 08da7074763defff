"""``phonemic-bert init-config``: the settings that ship with the package, to begin a file of your own with."""

from __future__ import annotations

import click

from phonemic.terminal import say


@click.command("init-config")
@click.argument("command", type=click.Choice(["pretrain", "finetune"]))
@click.argument("name")
def init_config(command: str, name: str) -> None:
    """Writes settings NAME of pretrain or finetune, a TOML file that explains every field, to standard output.

    pretrain has micro, mini-*, small and the paper's (paper-6, paper-12); finetune has base and small.
    """
    if command == "pretrain":
        from phonemic_bert.pretraining.settings import preset_text as text
    else:
        from phonemic_bert.finetuning.settings import grid_text as text
    say(text(name), end="")
