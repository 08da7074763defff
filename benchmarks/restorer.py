"""The restorers that ship with the checkpoints: text, n-grams, network and card by one command.

    python benchmarks/restorer.py vi --data FOLDER WORK

The text is composed in WORK by ``pretraining_text.py``, so evaluation text and held-out lines are left out, with the
shares of ``restorer.toml`` where they differ. The n-grams are those of ``phonemic-bert ngrams``, and the card says
what was read. In Vietnamese ``phonemic-bert train-restorer`` then trains the network, which takes an hour and a half of
one core; it continues where it was interrupted.
"""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.pretraining_text import SHARES, compose
from phonemic.files import read_texts
from phonemic.files.writing import replacing_folder, write_text
from phonemic_bert.restoration.counting import mandarin_model, vietnamese_model
from phonemic_bert.restoration.ngrams import Ngrams
from phonemic_bert.restoration.restoring import FILE, NETWORK, default_name
from phonemic_bert.restoration.training import RECORD, Run, train_restorer

CHECKPOINTS = Path(__file__).resolve().parents[1] / "model" / "checkpoints"
SETTINGS = Path(__file__).with_suffix(".toml")
CARD = """\
---
language: {lang}
license: MIT
tags: [{tags}]
---

# {title}

```sh
{usage}
```

{model}

## Data

Lines that share a run of {run} with an evaluation text of the project were left out, and so was one line in 400, which
is held out.

| text | MB |
| --- | ---: |
{rows}

The text itself is not contained: n-grams are runs of at most {order} {units}, with probabilities.

## Limits

{limits} Each change comes with its probability. The restorer was not tested for bias.

## Made with

```sh
python benchmarks/restorer.py {lang} --data DATA WORK
```
"""
WORDS = {
    "vi": {
        "title": "Restorer of Vietnamese diacritics",
        "tags": "diacritics",
        "usage": 'phonemic-bert restore --lang vi "sang nay troi mua nhe"',
        "run": "9 syllables",
        "units": "syllables",
        "limits": "Names, short texts and words of dialects are often guesses.",
    },
    "zh": {
        "title": "Restorer of Chinese characters",
        "tags": "pinyin, spelling-correction",
        "usage": 'phonemic-bert restore --lang zh "我在银航工作"\n'
        'phonemic-bert restore --lang zh --pinyin "wo zai yinhang gongzuo"',
        "run": "16 characters",
        "units": "characters",
        "limits": "The text is in simplified characters, and so is what is restored. Names are often guesses.",
    },
}  # fmt: skip


def settings(lang: str) -> dict[str, Any]:
    """Return the settings of a language: ``prune``, all ``shares``, and all ``sources``."""
    found = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    shares = tomllib.loads(SHARES.read_text(encoding="utf-8"))[lang]
    return {**found[lang], "shares": shares | found[lang]["shares"], "sources": found["sources"]}


def counted(lang: str, folder: Path, order: int, prune: float) -> Ngrams:
    """Count the n-grams of the text files of a folder."""

    def texts() -> Iterator[str]:
        for path in sorted(folder.glob("*.txt")):
            for lines in read_texts(str(path)):
                yield from (line or "" for line in lines)

    return (vietnamese_model if lang == "vi" else mandarin_model)(texts, order, prune)


def trained(folder: Path, ngrams: Path, own: dict[str, Any], work: Path) -> Path:
    """Train a network on the text files of a folder: its restorer's folder."""
    texts = [line for path in sorted(folder.glob("*.txt")) for lines in read_texts(str(path)) for line in lines if line]
    settings = {name: value for name, value in own.items() if name != "shares"}
    run = Run(ngrams=str(ngrams), **settings)
    train_restorer([text for text in texts if text.strip()], work, run, tell=click.echo)
    return work


def card(
    lang: str, model: Ngrams, counts: dict[str, Any], sources: dict[str, str], size: int, network: dict[str, Any] | None
) -> str:
    """Return the README of a restorer: what it is, what it read, and how it is made.

    Arguments:
        lang: the language.
        model: the n-grams.
        counts: what each source has of the text.
        sources: what each is, with its licence.
        size: bytes of the n-grams.
        network: what determined the network's run; None where there is none.
    """
    rows = "\n".join(f"| {sources[name]} | {count['MB']:.1f} |" for name, count in counts.items())
    text = f"{len(model):,} n-grams of at most {model.order} {WORDS[lang]['units']}"
    what = f"{text}, estimated by modified Kneser-Ney smoothing and pruned; {size / 1e6:.1f} MB."
    if network:
        what += (
            f"\n\nThe network is {network['model']}, trained for {network['max_steps']:,} steps to correct the errors "
            f"that n-grams of one half of the text make in the other half. It read {network['texts']:,} lines, with "
            "only a part of those of Wikipedia and news."
        )
    return CARD.format(lang=lang, order=model.order, rows=rows, model=what, **WORDS[lang])


@click.command(help=__doc__)
@click.argument("lang", type=click.Choice(["vi", "zh"]))
@click.argument("work", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True, help="Folder of all data.")
@click.option("--output", type=click.Path(path_type=Path), help="Folder of the restorer. [default: that in the source]")
def main(lang: str, work: Path, data: Path, output: Path | None) -> None:
    """Compose the text, count the n-grams, train the network, and write them and the card."""
    own = settings(lang)
    counts = compose(lang, data, work, own["shares"])
    model = counted(lang, work / "text", 4, own["prune"])
    folder = output or CHECKPOINTS / default_name(lang)
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / FILE)
    size, network = (folder / FILE).stat().st_size, None
    if "network" in own:
        compose(lang, data, work / NETWORK, own["shares"] | own["network"]["shares"])
        made = trained(work / NETWORK / "text", folder / FILE, own["network"], work / "run")
        with replacing_folder(folder / NETWORK, overwrite=True) as partial:
            shutil.copytree(made / NETWORK, partial, dirs_exist_ok=True)
        shutil.copy(made / RECORD, folder / RECORD)
        network = json.loads((made / RECORD).read_text("utf-8"))
    write_text(folder / "README.md", card(lang, model, counts, own["sources"], size, network))
    click.echo(f"{folder / FILE}: {len(model):,} n-grams, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
