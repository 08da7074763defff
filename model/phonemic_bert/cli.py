"""The ``phonemic-bert`` command."""

from __future__ import annotations

try:
    import click
    from rich.table import Table
except ImportError as missing:
    raise SystemExit(f'phonemic-bert: the command needs {missing.name}: pip install "phonemic[model]"') from missing

from transformers.utils import logging

from phonemic import __version__
from phonemic.cli.common import print_json
from phonemic.cli.group import Group
from phonemic.cli.prepare import prepare
from phonemic.inventory import LANGUAGES
from phonemic.streams import guard_streams
from phonemic.terminal import console
from phonemic_bert.configuration import PRESETS
from phonemic_bert.finetuning import commands as finetuning
from phonemic_bert.finetuning import results_command
from phonemic_bert.inspection import commands as inspection
from phonemic_bert.pretraining import commands as pretraining


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="phonemic-bert")
def cli() -> None:
    """PhonemicBERT: a BERT over onset, rime and tone."""


@cli.command()
@click.option("--preset", type=click.Choice(list(PRESETS)), default="paper-12", show_default=True, help="The shape.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="vi", show_default=True, help="The language.")
@click.option("--config", metavar="FOLDER", help="A checkpoint's configuration instead of a preset's.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def params(preset: str, lang: str, config: str | None, as_json: bool) -> None:
    """Counts the parameters of each part and compares the sums with the paper's 87.94M."""
    from phonemic_bert.configuration import PhonemicBertConfig
    from phonemic_bert.parameters import PAPER_MILLIONS, count_parameters, totals

    shape = PhonemicBertConfig.from_pretrained(config) if config else PhonemicBertConfig.from_preset(preset, lang)
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


for command in (
    prepare,
    *pretraining.COMMANDS,
    *finetuning.COMMANDS,
    *results_command.COMMANDS,
    *inspection.COMMANDS,
):
    cli.add_command(command)


def main() -> None:
    """Runs the command."""
    guard_streams()
    logging.disable_progress_bar()  # what shows is ours
    cli(prog_name="phonemic-bert")


if __name__ == "__main__":
    main()
