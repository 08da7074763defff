"""How much of a score is lost by representation alone: spaCy's HashEmbedCNN on text that tells only what is heard.

    python benchmarks/spacy_heard.py DATA --tasks vtb,weibo,gsd --steps 300 --seeds 1

The corpora, steps and settings of spacy_training.py. Vietnamese is put in lower case; a Chinese character is replaced
by one that stands for all that have the same reading in their context, and for no others. Tokens, labels and everything
else stay, so what is missing from HashEmbedCNN's score in spacy_training.py is what PhonemicBERT's input does not have;
the rest of PhonemicBERT's distance is the encoder's.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import click
import torch
from spacy.tokens import Doc

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.spacy_noise import Words, rewrite
from benchmarks.spacy_training import TASKS, Setting, config_of, convert, measure
from phonemic import Tokenizer


def hearing(lang: str) -> Words:
    """A function that gives the words of a Doc as they are heard."""
    tokenizer, stands_for = Tokenizer(lang), dict[int, str]()

    def words(doc: Doc) -> list[str]:
        text = "".join(low if len(low := character.lower()) == 1 else character for character in doc.text)
        if lang == "zh":
            encoding = tokenizer.encode(doc.text)
            characters = list(text)
            for symbol, (start, end) in zip(encoding.ids.tolist(), encoding.spans.tolist(), strict=True):
                if end - start == 1 and "\u3400" <= text[start] <= "\u9fff":
                    characters[start] = stands_for.setdefault(symbol, chr(0x4E00 + len(stands_for)))
            text = "".join(characters)
        return [text[token.idx : token.idx + len(token.text)] for token in doc]

    return words


@click.command()
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--tasks", default="vtb,weibo,gsd", show_default=True, help="which corpora")
@click.option("--steps", default=300, show_default=True)
@click.option("--seeds", default=1, show_default=True)
def main(data: Path, tasks: str, steps: int, seeds: int) -> None:
    """Prints the scores."""
    torch.set_num_threads(1)
    setting = Setting(steps, "paper-tiny", 1.0, 1.0, 0, -1, version("spacy"))
    for name in tasks.split(","):
        task = TASKS[name]
        with tempfile.TemporaryDirectory() as folder:
            corpus = Path(folder)
            convert(task, data, corpus, 0)
            words = hearing(task.lang)
            for part in ("train", "dev", "test"):
                path = corpus / f"{part}.spacy"
                rewrite(path, task.lang, words, path)
            for seed in range(seeds):
                config = config_of(task, "HashEmbedCNN", seed, setting, None, corpus)
                click.echo(
                    f"{name} seed {seed}: {100 * measure(name, 'HashEmbedCNN', seed, config, corpus, -1).score:.2f}"
                )


if __name__ == "__main__":
    main()
