"""The ``phonemic`` command: a module a command, imported when it is called."""

from __future__ import annotations

import signal
import sys

try:
    import click
    import rich as _  # noqa: F401
except ImportError as missing:
    raise SystemExit(f'phonemic: the command needs {missing.name}: pip install "phonemic[cli]"') from missing

from phonemic.cli.group import Group
from phonemic.streams import guard_streams
from phonemic.version import __version__

#: Command -> its summary, the first sentence of its help. A command is in the module of its name (``_`` for ``-``).
COMMANDS = {
    "decode": 'Writes the ids of a Parquet file, an Arrow stream or JSON lines as text; "-" is standard input.',
    "encode": 'Encodes texts to packed ids in OUT: a .parquet, .arrow or .jsonl file, or "-" for standard output.',
    "homophones": "Groups the words of lists that sound the same, one group per line.",
    "noise": "Rewrites a share of the characters or syllables of texts.",
    "prepare": "Turns text into a corpus of ids for pretraining, in the folder OUT.",
    "rhymes": "Groups the words of lists that rhyme, by their last syllables, one group per line.",
    "search": 'Finds the names that sound like QUERY, or like each line of a file, or of standard input for "-".',
    "show": 'Shows the positions of TEXT; of files, where it is their names; or of standard input for "-".',
    "stats": "Measures texts: fertility, lengths, Rényi efficiency and coverage.",
    "train-baseline": "Trains the baseline NAME on texts and saves it where --tokenizers FOLDER finds it.",
    "transcribe": "Writes the reading of TEXT, or of each line of files or of stdin, in pinyin, zhuyin or IPA.",
    "vocab": "Lists the vocabulary: ids, symbols and what they stand for.",
}


@click.group(cls=Group, package=__name__, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="phonemic")
def cli() -> None:
    """Vietnamese and Chinese text, syllable by syllable, as an onset, a rime and a tone."""


def main() -> None:
    """Runs the command, which writes UTF-8 everywhere; a termination signal leaves nothing half-written either."""
    guard_streams()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    cli(prog_name="phonemic")
