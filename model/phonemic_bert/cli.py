"""The ``phonemic-bert`` command: what a command needs is imported when it is called."""

from __future__ import annotations

import gc

try:
    import click
    import rich as _  # noqa: F401
except ImportError as missing:
    raise SystemExit(f'phonemic-bert: the command needs {missing.name}: pip install "phonemic[model]"') from missing

from phonemic.cli.group import Group
from phonemic.streams import guard_streams
from phonemic.version import __version__

#: Command -> its summary, the first sentence of its help.
COMMANDS = {
    "embeddings": "Draws the onsets, rimes and tones that CHECKPOINT has learned.",
    "export": "Writes CHECKPOINT, the final folder of a run, to OUT with smaller weights in files of limited size.",
    "finetune": "Fine-tunes encoders on tasks by the paper's protocol, and writes one file of results per run.",
    "init-config": "Writes settings of pretrain or finetune, a TOML file that explains every field.",
    "inspect": "Shows what CHECKPOINT predicts for each TEXT, syllable by syllable.",
    "model-card": "Rewrites the model card of CHECKPOINT from its log, with what you add.",
    "ngrams": "Counts the n-grams of IN... for restore and writes them to the file OUT.",
    "pretrain": "Pretrains on a prepared CORPUS by CONFIG into the folder RUN.",
    "report": "Makes tables and plots of the results that finetune wrote to FOLDER.",
    "restore": "Gives TEXT back its Vietnamese diacritics, or corrects its Chinese characters.",
    "summary": "Counts the parameters of each part and compares the sums with the paper's 87.94M.",
    "train-restorer": "Trains a network to restore diacritics on the texts of IN... and writes a restorer to OUT.",
}
#: Command -> the module that it is in.
MODULES = {
    **dict.fromkeys(("export", "model-card", "pretrain"), "phonemic_bert.pretraining.commands"),
    **dict.fromkeys(("embeddings", "inspect"), "phonemic_bert.inspection.commands"),
    "finetune": "phonemic_bert.finetuning.commands",
    "init-config": "phonemic_bert.init_config",
    **dict.fromkeys(("ngrams", "restore", "train-restorer"), "phonemic_bert.restoration.commands"),
    "report": "phonemic_bert.finetuning.report_command",
    "summary": "phonemic_bert.summary_command",
}


@click.group(cls=Group, lazy=COMMANDS, modules=MODULES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="phonemic-bert")
def cli() -> None:
    """PhonemicBERT: a BERT over onset, rime and tone."""


def main() -> None:
    """Runs the command."""
    guard_streams()
    gc.set_threshold(50_000, 20, 50)  # imports of torch and transformers make millions of objects that stay
    cli(prog_name="phonemic-bert")


if __name__ == "__main__":
    main()
