"""The command ``phonemic-bert report``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click

from phonemic.cli.common import claim, force_option, printable, say
from phonemic.files.writing import replacing_text, write_text
from phonemic.terminal import console


@click.command(name="report")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["screen", "markdown", "latex", "csv"]),
    default="screen",
    show_default=True,
    help="Tables for the terminal, in Markdown or LaTeX, or comma-separated values.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the tables to a file.")
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), help="Plot the scores in a .png, .svg or .pdf file."
)
@click.option("--against", metavar="ENCODER", help="Also show each encoder's lead over this one, seed by seed.")
@click.option(
    "--robustness", is_flag=True, help="Show the scores at each ratio of noise instead of the tables of results."
)
@force_option
def report(
    folder: Path, form: str, out: Path | None, plot: Path | None, against: str | None, robustness: bool, force: bool
) -> None:
    """Makes tables and plots of the results that finetune wrote to FOLDER.

    Of several points of the grid the one with the best mean score on the dev sets is taken. Scores are means of the
    seeds ± standard deviation, times 100; the number of seeds is in parentheses. The best of a column is bold, the
    second underlined. Results that are left out are named on standard error.
    """
    from phonemic_bert.finetuning import plots, tabulation
    from phonemic_bert.finetuning.results import read

    if robustness and against:
        raise click.UsageError("--against compares scores without noise: leave out --robustness")
    claim([out, plot], force)
    found = read(folder)
    for problem in found.problems:
        say(printable(problem), err=True)
    chosen = list(tabulation.robustness_tables(found) if robustness else tabulation.score_tables(found))
    if not chosen:
        raise click.UsageError("no result was tested with noise: run phonemic-bert finetune with --noise")
    if against:
        chosen += tabulation.difference_tables(found, against)
    if form == "screen":
        with replacing_text(out, force) if out else nullcontext() as file:
            tabulation.show(chosen, console(file=file))
    else:
        plain = form == "csv" and not robustness and not against
        text = tabulation.comma_separated(found) if plain else tabulation.WRITERS[form](chosen)
        if out:
            write_text(out, f"{text}\n", force)
        else:
            say(text)
    if plot:
        (plots.draw_robustness if robustness else plots.draw_scores)(found, plot)
