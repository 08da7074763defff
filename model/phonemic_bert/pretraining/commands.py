"""The commands ``pretrain``, ``export`` and ``model-card``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from phonemic.cli.common import force_option
from phonemic.files import require
from phonemic.files.outputs import check_own
from phonemic_bert.checkpoints import silent_transformers
from phonemic_bert.origin import ORIGIN, read_origin

_FOLDER = click.Path(file_okay=False)


@click.command(name="pretrain")
@click.argument("config")
@click.argument("corpus", type=_FOLDER)
@click.argument("run", type=_FOLDER)
@click.option(
    "--set", "overrides", multiple=True, metavar="SECTION.FIELD=VALUE", help="Override a field of CONFIG. Repeatable."
)
@click.option(
    "--export", "dtype", type=click.Choice(["fp16"]), help="Also write RUN/final-fp16, in files of at most 15 MB."
)
def pretrain(config: str, corpus: str, run: str, overrides: tuple[str, ...], dtype: str | None) -> None:
    """Pretrains on a prepared CORPUS by CONFIG, a preset's name or a TOML file, into the folder RUN.

    An interrupted run is continued by the same command. SIGTERM and Ctrl-C save first and exit with status 75.
    """
    from phonemic_bert.pretraining.settings import Settings

    settings = Settings.load(config, overrides)  # before anything that takes seconds to import
    require("pyarrow", "pretrain")
    from phonemic_bert.pretraining.finish import export as write_export
    from phonemic_bert.pretraining.memory import keep_freed_memory
    from phonemic_bert.pretraining.run import pretrain as run_it

    keep_freed_memory()
    status = run_it(settings, corpus, run)
    if status:
        sys.exit(status)
    out = Path(run, "final-fp16")
    if dtype and not out.exists() and os.environ.get("RANK", "0") == "0":
        write_export(Path(run, "final"), out)


@click.command(name="export")
@click.argument("checkpoint", type=_FOLDER)
@click.argument("out", type=_FOLDER)
@click.option(
    "--dtype",
    type=click.Choice(["float16", "bfloat16", "float32"]),
    default="float16",
    show_default=True,
    help="The number type of the weights.",
)
@click.option("--shard-mb", default=15.0, show_default=True, help="The size limit of a weights file, in megabytes.")
@force_option
def export(checkpoint: str, out: str, dtype: str, shard_mb: float, force: bool) -> None:
    """Writes CHECKPOINT, the final folder of a run, to OUT with smaller weights in files of limited size."""
    read_origin(Path(checkpoint))  # what is missing is said before anything heavy is imported
    require("pyarrow", "pretrain")
    from phonemic_bert.pretraining.finish import export as write_export

    with silent_transformers():
        write_export(Path(checkpoint), Path(out), dtype, int(shard_mb * 1e6), force)


@click.command(name="model-card")
@click.argument("checkpoint", type=_FOLDER)
@click.option("--licence", "--license", help="The licence of the weights, an SPDX name.")
@click.option("--data", help="A description of the text and its sources.")
def model_card(checkpoint: str, licence: str | None, data: str | None) -> None:
    """Rewrites the model card of CHECKPOINT from its log, with what you add."""
    folder = Path(checkpoint)
    check_own(folder)
    origin = read_origin(folder)
    require("pyarrow", "pretrain")
    from phonemic.files.jsons import damaged
    from phonemic.files.writing import write_json
    from phonemic_bert.errors import RunError
    from phonemic_bert.pretraining.card import write_card

    origin |= {name: value for name, value in (("licence", licence), ("data", data)) if value is not None}
    with damaged(folder / ORIGIN, RunError):
        write_json(folder / ORIGIN, origin)  # first: the next card is made of it
        write_card(folder, origin)
