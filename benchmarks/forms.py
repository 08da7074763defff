"""Compares models that read sounds, written forms or characters, on clean text and with wrong characters.

    python benchmarks/forms.py DATA WORK [--only "sound*"]

The designs of ``forms.toml`` learn the same text, one after the other; WORK keeps corpora and runs, as of
``benchmarks/designs.py``. Each is then asked for masked positions of held-out documents, the same for all: bits and
accuracy of the syllable, and where it knows characters, of the character. Of the positions that are seen, shares are
exchanged for another character with the same sound, the same one for every model. A model of other pieces has other
positions: of it, only the bits of a whole character are kept, as the trainer has them. The figures go to
benchmarks/results/forms.json.
"""

from __future__ import annotations

import json
import math
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForMaskedLM

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.designs import learn, prepare, slug
from benchmarks.environment import environment
from benchmarks.held_out import Scorer, documents, logits_of, tokens_of
from phonemic import Tokenizer
from phonemic.corpus import open_corpus
from phonemic.files.writing import write_json
from phonemic.inventory import FORM_SHIFT, TRIPLE
from phonemic_bert import PhonemicBertConfig
from phonemic_bert.modeling.forms import FormEmbedding
from phonemic_bert.pretraining.flat import FlatCorpus

TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FIGURES = Path(__file__).parent / "results" / "forms.json"
SYLLABLES, CHARACTERS = "zh-form", "zh-character"
DOCUMENTS, _ROWS = 4000, 64


class Held:
    """Held-out documents as both corpora have them, and the positions that are masked.

    Arguments:
        syllables: the corpus with written forms.
        characters: the corpus of the same text by characters.
        tokens: the characters by their input ids.
        length: positions of a sequence.
    """

    def __init__(self, syllables: FlatCorpus, characters: FlatCorpus, tokens: list[str], length: int) -> None:
        rows = sorted(documents(syllables, characters, DOCUMENTS, length), key=lambda row: len(row[0]))
        self.rows = {SYLLABLES: [row[0] for row in rows], CHARACTERS: [row[1] for row in rows]}
        self.masks = [row[2] for row in rows]
        self._ids = {token: number + characters.symbols.shift for number, token in enumerate(tokens)}
        self._forms = FormEmbedding(PhonemicBertConfig.from_preset("micro", "zh", forms="joint"))
        self._forms.train()

    def noisy(self, share: float) -> dict[str, list[Tensor]]:
        """The rows in which a share of the characters is exchanged for another with the same sound.

        A character stays where the corpus of characters does not have the other one, in both.
        """
        torch.manual_seed(0)
        self._forms.set_shares(0.0, share)
        tokenizer = Tokenizer("zh", form=True)
        found: dict[str, list[Tensor]] = {SYLLABLES: [], CHARACTERS: []}
        for rows in zip(self.rows[SYLLABLES], self.rows[CHARACTERS], strict=True):
            heard, seen = (row.clone() for row in rows)
            others = self._forms.disturbed(heard)
            for at in (others != heard).nonzero()[:, 0].tolist():
                number = self._ids.get(tokenizer.decode([int(others[at])]))
                if number is not None:
                    heard[at], seen[at] = others[at], number
            found[SYLLABLES].append(heard)
            found[CHARACTERS].append(seen)
        return found


@torch.inference_mode()
def scores(scorer: Scorer, shown: list[Tensor], true: list[Tensor], masks: list[Tensor]) -> dict[str, float]:
    """Means over masked positions: ``bits`` and ``right`` of the syllable, ``character_bits`` and ``character_right``.

    Arguments:
        scorer: the model.
        shown: rows of input ids (N,) as the model sees them but for what is masked.
        true: the rows as they are.
        masks: which positions are masked, (N,).
    """
    sums: dict[str, float] = {}
    count = 0
    rows = list(zip(shown, true, masks, strict=True))
    for start in range(0, len(rows), _ROWS):
        group = rows[start : start + _ROWS]
        ids, aims, chosen = (pad_sequence(list(part), batch_first=True) for part in zip(*group, strict=True))
        attention = pad_sequence([torch.ones_like(row) for row, _, _ in group], batch_first=True)
        ids = ids.masked_fill(attention == 0, scorer.symbols.pad).masked_fill(chosen, scorer.symbols.mask)
        states = scorer.model.base_model(ids, attention_mask=attention).last_hidden_state[chosen]
        truth = aims[chosen]
        count += len(truth)
        for name, value in _of_states(scorer, states, truth).items():
            sums[name] = sums.get(name, 0.0) + float(value.double().sum())
    return {name: value / count for name, value in sums.items()} | {"positions": count}


def _of_states(scorer: Scorer, states: Tensor, truth: Tensor) -> dict[str, Tensor]:
    if scorer.syllable is not None:
        logs = logits_of(scorer.model, states).log_softmax(-1)
        sums = torch.zeros(len(logs), int(scorer.syllable.max()) + 1).index_add_(1, scorer.syllable, logs.exp())
        right = scorer.syllable[truth]
        return {
            "bits": -sums.gather(1, right[:, None])[:, 0].log2(),
            "right": sums.argmax(-1) == right,
            "character_bits": -logs.gather(1, truth[:, None])[:, 0] / math.log(2),
            "character_right": logs.argmax(-1) == truth,
        }
    predicted, heard = scorer.model.predict(states), truth & TRIPLE
    if scorer.model.config.forms == "none":
        return {"bits": predicted.losses(heard) / math.log(2), "right": predicted.best() == heard}
    return {
        "bits": predicted.losses(heard) / math.log(2),
        "right": predicted.triples.best() == heard,
        "character_bits": predicted.losses(truth) / math.log(2),
        "character_right": (predicted.best() == truth) & (truth >> FORM_SHIFT > 0),
    }


def measure(name: str, on: str, seed: int, work: Path, held: Held, tokenizers: Path) -> dict[str, Any]:
    """The figures of a finished run."""
    folder = work / "runs" / on / slug(name, seed)
    run = json.loads((folder / "run.json").read_text())["settings"]
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text("utf-8").splitlines()]
    found = {}
    if on in held.rows:
        scorer = Scorer(folder / "final", FlatCorpus(open_corpus(work / "corpora" / on), verify=False), tokenizers)
        for share in TABLE["settings"]["noise"]:
            found[f"{share:g}"] = scores(scorer, held.noisy(share)[on], held.rows[on], held.masks)
    return {
        "design": name,
        "corpus": on,
        "seed": seed,
        "parameters": AutoModelForMaskedLM.from_pretrained(folder / "final").num_parameters(),
        "steps": run["optimization"]["max_steps"],
        "seconds": json.loads((folder / "seconds.json").read_text()),
        "bits_per_character": [row["eval_bits_per_character"] for row in log if "eval_loss" in row][-1],
        "noise": found,
    }


def read() -> dict[tuple[str, str, int], dict[str, Any]]:
    """The figures of the file, by design, corpus and seed."""
    rows = json.loads(FIGURES.read_text("utf-8"))["results"] if FIGURES.exists() else []
    return {(one["design"], one["corpus"], one["seed"]): one for one in rows}


@click.command(help=__doc__)
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("work", type=click.Path(path_type=Path))
@click.option("--only", default="*", help="Designs whose name fits the pattern.")
@click.option("--cores", default=1, show_default=True, help="Threads of each run.")
@click.option("--again", is_flag=True, help="Also the runs whose figures are there.")
def main(data: Path, work: Path, only: str, cores: int, again: bool) -> None:
    """Learns, measures and writes."""
    data, work = data.resolve(), work.resolve()
    designs, settings = TABLE["designs"], TABLE["settings"]
    every = [(name, on, seed) for name in designs for on in designs[name]["on"] for seed in settings["seeds"]]
    known = read()
    chosen = [(name, on, seed) for name, on, seed in every if fnmatch(name, only)]
    chosen = [one for one in chosen if again or one not in known]
    for name in dict.fromkeys((SYLLABLES, CHARACTERS, *(on for _, on, _ in chosen))):
        prepare(TABLE, name, data, work)
    syllables, characters = (
        FlatCorpus(open_corpus(work / "corpora" / name), verify=False) for name in (SYLLABLES, CHARACTERS)
    )
    length = next(int(one.split("=")[1]) for one in settings["overrides"] if "max_seq_length" in one)
    held = Held(syllables, characters, tokens_of(characters, data / "tokenizers"), length)
    for name, on, seed in chosen:
        learn(TABLE, name, on, seed, work, cores)
        measured = measure(name, on, seed, work, held, data / "tokenizers")
        known = read() | {(name, on, seed): measured}  # another process may have written, too
        write_json(FIGURES, {"environment": environment(), "results": [known[one] for one in every if one in known]})
    for one in (one for one in known.values() if one["noise"]):
        bits = "  ".join(f"{part['bits']:.2f} {part['right']:.1%}" for part in one["noise"].values())
        print(f"{one['design']:45} {bits}  {one['noise']['0'].get('character_bits', math.nan):.2f}")


if __name__ == "__main__":
    main()
