"""``phonemic-bert summary``: what each part of a model counts."""

from __future__ import annotations

import click
from rich.table import Table

from phonemic.cli.common import print_json
from phonemic.inventory import LANGUAGES
from phonemic.terminal import console
from phonemic_bert.checkpoints import checkpoint_folder
from phonemic_bert.shapes import PRESETS


@click.command()
@click.option(
    "--preset", type=click.Choice(list(PRESETS)), default="paper-12", show_default=True, help="The preset of the model."
)
@click.option("--lang", type=click.Choice(LANGUAGES), default="vi", show_default=True, help="The language.")
@click.option("--checkpoint", metavar="NAME", help="Count a checkpoint (a folder or a name), not a preset.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of a table.")
def summary(preset: str, lang: str, checkpoint: str | None, as_json: bool) -> None:
    """Counts the parameters of each part and compares the sums with the paper's 87.94M."""
    from phonemic_bert.configuration import PhonemicBertConfig
    from phonemic_bert.parameters import PAPER_MILLIONS, count_parameters, totals

    if checkpoint:
        shape = PhonemicBertConfig.from_pretrained(checkpoint_folder(checkpoint))
    else:
        shape = PhonemicBertConfig.from_preset(preset, lang)
    parts = count_parameters(shape)
    sums = totals(parts)
    if as_json:
        print_json({"parts": parts, "totals": sums, "paper": PAPER_MILLIONS * 1e6})
        return
    table = Table("part", "parameters", title=f"{shape.num_hidden_layers} layers of {shape.hidden_size}, {shape.lang}")
    for part, count in parts.items():
        table.add_row(part, f"{count:,}")
    table.add_section()
    for name, count in sums.items():
        table.add_row(name, f"{count:,}")
    to = console()
    to.print(table)
    if PRESETS["paper-12"].items() <= shape.to_dict().items() and shape.lang == "vi":
        for name, count in sums.items():
            away = count / 1e6 - PAPER_MILLIONS
            to.print(f"{name}: {count / 1e6:.2f}M, {away:+.2f}M from the paper's {PAPER_MILLIONS}M")
