"""Scores of models over syllables and over pieces of words for one whole syllable that is masked.

    python benchmarks/whole_syllables.py RUN/final CORPUS BYTE-BPE-RUN/final BYTE-BPE-CORPUS --tokenizers FOLDER

The bits of masked pieces say little of a model over pieces: where one piece of a syllable is masked, the others tell of
it. Here a whole syllable is: all of its pieces, then one after the other is shown, and what each costs is added (the
chain rule, from left to right; Kauf and Ivanova 2023 do so with words). A syllable is right where each of its pieces is
the likeliest, the ones before being shown. A model over pieces is told how many there are, which flatters it; and it
must tell *hà* from *Hà*, so that only syllables in small letters are masked. One syllable is masked at a time, a few of
each held-out document, the same for all models.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import tokenizers as hf_tokenizers
import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.held_out import Scorer, logits_of
from phonemic import Tokenizer, baselines
from phonemic.corpus import open_corpus
from phonemic.inventory import NATIVE
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.tokenization.positions import SPECIAL_IDS

_ROWS = 32


class Place(NamedTuple):
    """A syllable that is masked: the text, where it is there, and which position of ours that is."""

    text: str
    start: int
    end: int
    position: int


def places(texts: Sequence[str], lang: str, each: int, length: int, seed: int = 0) -> Iterator[Place]:
    """Syllables in small letters, ``each`` of a text that has so many; texts are cut to ``length`` positions."""
    tokenizer = Tokenizer(lang)
    for number, text in enumerate(texts):
        encoded = tokenizer.encode(text)
        spans = encoded.spans[:length].tolist()
        cut = text[: spans[-1][1]] if spans else ""
        native = [at for at in np.flatnonzero(encoded.kinds[:length] == NATIVE).tolist() if _small(cut, *spans[at])]
        if len(native) < each:
            continue
        for at in sorted(np.random.default_rng([seed, number]).choice(native, each, replace=False).tolist()):
            yield Place(cut, spans[at][0], spans[at][1], at)


def _small(text: str, start: int, end: int) -> bool:
    return text[start:end] == text[start:end].lower()


def of_syllables(scorer: Scorer, lang: str, found: Sequence[Place]) -> tuple[Tensor, Tensor]:
    """Bits and whether it is right, of each place, (P,), by a model over syllables."""
    tokenizer, rows, masks = Tokenizer(lang), [], []
    for place in found:
        ids = tokenizer.encode(place.text).ids.tolist()
        rows.append(torch.tensor([SPECIAL_IDS["[CLS]"], *ids, SPECIAL_IDS["[SEP]"]]))
        masks.append(torch.arange(len(ids) + 2) == place.position + 1)
    scores = [scorer.score(rows[at : at + _ROWS], masks[at : at + _ROWS]) for at in range(0, len(rows), _ROWS)]
    return torch.cat([one.bits for one in scores]), torch.cat([one.right for one in scores])


@torch.inference_mode()
def of_pieces(model: Any, symbols: Any, baseline: Any, found: Sequence[Place]) -> tuple[Tensor, Tensor, Tensor]:
    """Bits, whether it is right, and the number of pieces, of each place, (P,), by a model over pieces."""
    rows, pieces = [], []
    for (ids, spans), place in zip(baseline.spans([place.text for place in found]), found, strict=True):
        own = [at + 1 for at, (start, end) in enumerate(spans) if start < place.end and end > place.start]
        rows.append(torch.tensor([symbols.cls, *(number + symbols.shift for number in ids), symbols.sep]))
        pieces.append(own)
    bits, right = torch.zeros(len(rows)), torch.ones(len(rows), dtype=torch.bool)
    for shown in range(max(map(len, pieces))):
        left = [number for number, own in enumerate(pieces) if len(own) > shown]
        for at in range(0, len(left), _ROWS):
            here = left[at : at + _ROWS]
            pad = torch.nn.utils.rnn.pad_sequence([rows[number] for number in here], True, symbols.pad)
            attention = (torch.arange(pad.shape[1]) < torch.tensor([[len(rows[number])] for number in here])).long()
            aims = torch.tensor([rows[number][pieces[number][shown]] for number in here])
            for row, number in enumerate(here):
                pad[row, pieces[number][shown:]] = symbols.mask
            states = model.base_model(pad, attention_mask=attention).last_hidden_state
            states = states[torch.arange(len(here)), torch.tensor([pieces[number][shown] for number in here])]
            logs = logits_of(model, states).float().log_softmax(-1)
            bits[here] -= logs.gather(1, aims[:, None])[:, 0] / math.log(2)
            right[here] &= logs.argmax(-1) == aims
    return bits, right, torch.tensor([len(own) for own in pieces])


def texts_of(corpus: FlatCorpus, baseline: Any, count: int) -> list[str]:
    """The held-out documents of a corpus of byte-level pieces, as text."""
    decoder = hf_tokenizers.decoders.ByteLevel()
    return [
        decoder.decode(baseline.tokens(corpus.ids[corpus.offsets[number] : corpus.offsets[number + 1]].tolist()))
        for number in corpus.held_out(count).tolist()
    ]


@click.command()
@click.argument("phonemic")
@click.argument("phonemic_corpus")
@click.argument("pieces")
@click.argument("pieces_corpus")
@click.option("--tokenizers", required=True, help="The files of the baselines' tokenizers.")
@click.option("--lang", default="vi", show_default=True)
@click.option("--documents", "count", default=1000, show_default=True, help="How many, as held out in pretraining.")
@click.option("--each", default=4, show_default=True, help="Syllables of a document.")
@click.option("--length", default=96, show_default=True, help="Positions of a document.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Also write JSON.")
def main(
    phonemic: str,
    phonemic_corpus: str,
    pieces: str,
    pieces_corpus: str,
    tokenizers: str,
    lang: str,
    count: int,
    each: int,
    length: int,
    output: Path | None,
) -> None:
    """Compares a model over syllables with one over pieces."""
    ours, theirs = (FlatCorpus(open_corpus(Path(folder)), verify=False) for folder in (phonemic_corpus, pieces_corpus))
    baseline = baselines.load(theirs.symbols.tokenizer["name"], tokenizers)
    found = list(places(texts_of(theirs, baseline, count), lang, each, length))
    if not found:
        raise click.UsageError(f"no held-out document has {each} syllables in small letters within {length} positions")
    characters = sum(place.end - place.start for place in found)
    model = AutoModelForMaskedLM.from_pretrained(pieces).eval()
    bits, right, numbers = of_pieces(model, theirs.symbols, baseline, found)
    own = of_syllables(Scorer(phonemic, ours), lang, found)
    scores = {"syllables": own, "pieces": (bits, right)}
    figures: dict[str, dict[str, Any]] = {}
    for name, (cost, hits) in scores.items():
        figures[name] = {
            "bits": cost.mean().item(),
            "bits_per_character": cost.sum().item() / characters,
            "right": hits.float().mean().item(),
        }
        for part, chosen in (("one_piece", numbers == 1), ("more_pieces", numbers > 1)):
            if chosen.any():
                means = {"bits": cost[chosen].mean().item(), "right": hits[chosen].float().mean().item()}
                figures[name][part] = means
    result = {"syllables": len(found), "split": int((numbers > 1).sum()), "figures": figures}
    print(json.dumps(result, indent=1))
    if output:
        output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
