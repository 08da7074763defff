"""Does it learn? A tiny model's cross-entropy on held-out lines, against unigram and bigram baselines, per component.

    python benchmarks/learning.py --lang vi --out learning corpus.txt.xz

Text is read from files of one text a line (.gz, .xz, .zst, .parquet too); every tenth line is held out. All predictors
are scored on the same positions of the held-out lines, the ones that are masked for the model (15 %, seeded):

- unigram: the share of each symbol in its slot, add-one smoothed;
- bigram: given the same component of the position before, Witten-Bell interpolated with the unigram;
- syllable bigram: given the whole triple before, likewise: a harder mark for a short run (both see the position before
  as it is, the model only where it is not masked too);
- the model: given everything but the masked positions.

Writes ``OUT.json`` and, where matplotlib is installed, ``OUT.png``. Takes minutes on a CPU.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

from phonemic import Tokenizer
from phonemic.files import read_texts
from phonemic.inventory import CLS, SEP, unpack
from phonemic_bert import (
    COMPONENTS,
    HolisticCollator,
    PhonemicBertConfig,
    PhonemicBertForMaskedLM,
    PhonemicBertTokenizer,
)

HELD_OUT = 10


def read_blocks(
    tokenizer: Tokenizer, paths: tuple[str, ...], length: int, limit: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Blocks of packed ids (blocks, length), for training and held out: lines one behind the other, no padding."""
    lines: list[str] = []
    for path in paths:
        for texts in read_texts(path):
            lines += [text for text in texts if text and not text.isspace()]
            if len(lines) >= limit:
                break
    lines = lines[:limit]
    held_out = [number % HELD_OUT == HELD_OUT - 1 for number in range(len(lines))]
    parts = []
    for wanted in (False, True):
        batch = tokenizer.encode_batch([line for line, held in zip(lines, held_out, strict=True) if held == wanted])
        # Every line ends in [SEP]; every block begins with [CLS].
        flat = np.insert(batch.ids, batch.offsets[1:], SEP * 0x010101)
        blocks = flat[: len(flat) // (length - 1) * (length - 1)].reshape(-1, length - 1)
        parts.append(np.insert(blocks, 0, CLS * 0x010101, axis=1).astype(np.int64))
    return parts[0], parts[1]


def baselines(
    train: np.ndarray[Any, Any], test: np.ndarray[Any, Any], chosen: np.ndarray[Any, Any], size: int
) -> dict[str, dict[str, float]]:
    """Mean cross-entropies of each baseline at the chosen positions of ``test``, for each component."""
    found: dict[str, dict[str, float]] = {"unigram": {}, "bigram": {}, "syllable bigram": {}}
    picked = chosen[:, 1:]
    for slot, name in enumerate(COMPONENTS):
        slots, test_slots = (unpack(blocks)[..., slot].astype(np.int64) for blocks in (train, test))
        target, follower = test_slots[:, 1:][picked], slots[:, 1:].ravel()
        counts = np.bincount(follower, minlength=size) + 1.0
        single = (counts / counts.sum())[target]
        found["unigram"][name] = float(-np.log(single).mean())
        for kind, before, history in (("bigram", slots, test_slots), ("syllable bigram", train, test)):
            pair = after(before[:, :-1].ravel(), follower, history[:, :-1][picked], target, single, size)
            found[kind][name] = float(-np.log(pair).mean())
    return found


def after(before: Any, follower: Any, history: Any, target: Any, single: Any, size: int) -> Any:
    """Probability of each target after its history, from the pairs (before, follower); Witten-Bell with ``single``."""
    known, index = np.unique(before, return_inverse=True)
    place = np.searchsorted(known, history).clip(max=len(known) - 1)
    seen = known[place] == history
    pairs, count = np.unique(index * size + follower, return_counts=True)
    total = np.bincount(pairs // size, count, len(known))[place]
    types = np.bincount(pairs // size, minlength=len(known))[place]
    at = np.searchsorted(pairs, place * size + target).clip(max=len(pairs) - 1)
    joint = np.where(pairs[at] == place * size + target, count[at], 0)
    return np.where(seen, (joint + types * single) / (total + types), single)


@torch.no_grad()
def model_entropies(model: PhonemicBertForMaskedLM, batches: list[dict[str, torch.Tensor]]) -> dict[str, float]:
    """The model's mean cross-entropy at the masked positions of the batches, for each component."""
    model.eval()  # type: ignore[no-untyped-call]
    sums, positions = np.zeros(len(COMPONENTS)), 0
    for batch in batches:
        chosen = batch["labels"] != -100
        hidden = model.bert(batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state[chosen]
        targets = unpack(batch["labels"][chosen].cpu().numpy()).astype(np.int64)
        for slot, logits in enumerate(model.predict(hidden).logits):
            target = torch.from_numpy(targets[:, slot]).to(logits.device)
            sums[slot] += torch.nn.functional.cross_entropy(logits.float(), target, reduction="sum").item()
        positions += len(targets)
    return dict(zip(COMPONENTS, (sums / positions).tolist(), strict=True))


def epochs(blocks: np.ndarray[Any, Any], batch_size: int, seed: int) -> Iterator[list[list[int]]]:
    """Batches of blocks, shuffled anew each time through."""
    generator = np.random.default_rng(seed)
    while True:
        order = generator.permutation(len(blocks))
        for start in range(0, len(order) - batch_size + 1, batch_size):
            yield blocks[order[start : start + batch_size]].tolist()


def to_batch(collator: HolisticCollator, rows: list[list[int]], device: str) -> dict[str, torch.Tensor]:
    """One masked batch on a device."""
    masked = collator([{"input_ids": row, "attention_mask": [1] * len(row)} for row in rows])
    return {name: value.to(device) for name, value in masked.items()}


@click.command(help=__doc__)
@click.argument("texts", nargs=-1, required=True)
@click.option("--lang", type=click.Choice(["vi", "zh"]), default="vi", show_default=True)
@click.option("--out", default="learning", show_default=True, help="Writes OUT.json and OUT.png.")
@click.option("--lines", default=40_000, show_default=True, help="Lines that are read.")
@click.option("--preset", default="paper-tiny", show_default=True)
@click.option("--length", default=32, show_default=True, help="Positions of a block.")
@click.option("--batch-size", default=32, show_default=True)
@click.option("--steps", default=8000, show_default=True)
@click.option("--learning-rate", default=1e-3, show_default=True)
@click.option("--evaluate-every", default=500, show_default=True)
@click.option("--threads", default=0, help="Threads that compute; 0 leaves it to torch.")
@click.option("--seed", default=0, show_default=True)
@click.option("--checkpoint", metavar="FOLDER", help="Also keeps the trained model there.")
def main(
    texts: tuple[str, ...],
    lang: str,
    out: str,
    lines: int,
    preset: str,
    length: int,
    batch_size: int,
    steps: int,
    learning_rate: float,
    evaluate_every: int,
    threads: int,
    seed: int,
    checkpoint: str | None,
) -> None:
    """Trains, prints a table, writes the results."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(seed)
    if threads:
        torch.set_num_threads(threads)
    tokenizer = PhonemicBertTokenizer(lang)
    train, held = read_blocks(tokenizer.phonemic, texts, length, lines)
    held = held[:1024]
    collator = HolisticCollator(tokenizer, seed=seed)
    tests = [to_batch(collator, held[at : at + 64].tolist(), device) for at in range(0, len(held), 64)]
    chosen = torch.cat([batch["labels"] for batch in tests]).cpu().numpy() != -100
    results = baselines(train, held, chosen, tokenizer.vocab_size)
    for name, entropies in results.items():
        print(f"{name:20}" + "  ".join(f"{component} {value:.3f}" for component, value in entropies.items()))
    print(f"{train.size:,} positions to learn from, {int(chosen.sum()):,} held-out positions to predict, on {device}")

    # A run this short has no use for dropout, and BERT's initial weights are for a width of 768.
    fields = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.05}
    config = PhonemicBertConfig.from_preset(preset, lang, **fields)
    model = PhonemicBertForMaskedLM(config).to(device)  # type: ignore[arg-type]
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, steps, pct_start=0.05)
    curve: list[dict[str, float]] = []
    started = time.perf_counter()
    for step, rows in zip(range(1, steps + 1), epochs(train, batch_size, seed), strict=False):
        model.train()
        model(**to_batch(collator, rows, device)).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % evaluate_every == 0 or step == steps:
            curve.append({"step": step, "seconds": time.perf_counter() - started, **model_entropies(model, tests)})
            shown = "  ".join(f"{name} {curve[-1][name]:.3f}" for name in COMPONENTS)
            print(f"step {step:5}  {curve[-1]['seconds']:6.0f} s  {shown}", flush=True)

    print(f"\n{'nats a position':16}" + "".join(f"{name:>9}" for name in (*COMPONENTS, "sum")))
    results["model"] = {name: curve[-1][name] for name in COMPONENTS}
    for name, entropies in results.items():
        print(f"{name:16}" + "".join(f"{value:9.3f}" for value in (*entropies.values(), sum(entropies.values()))))
    settings = {
        "lang": lang,
        "preset": preset,
        "length": length,
        "batch_size": batch_size,
        "steps": steps,
        "seed": seed,
    }
    record = {
        **settings,
        "positions": train.size,
        "device": device,
        "torch": torch.__version__,
        **results,
        "curve": curve,
    }
    if checkpoint:
        model.save_pretrained(checkpoint)
        tokenizer.save_pretrained(checkpoint)
    Path(f"{out}.json").write_text(json.dumps(record, indent=2) + "\n")
    draw(out, results, curve)
    if any(results["model"][name] >= results["bigram"][name] for name in COMPONENTS):
        raise SystemExit("the model does not beat the bigram in every component")


def draw(out: str, results: dict[str, dict[str, float]], curve: list[dict[str, float]]) -> None:
    """Writes the curves, one panel a component."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no picture: matplotlib is not installed")
        return
    figure = Figure(figsize=(11, 3.5), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(COMPONENTS)), COMPONENTS, strict=True):
        axes.plot([point["step"] for point in curve], [point[name] for point in curve], marker=".", label="model")
        for baseline, style in (("unigram", ":"), ("bigram", "--"), ("syllable bigram", "-.")):
            axes.axhline(results[baseline][name], color="tab:red", linestyle=style, label=baseline)
        axes.set(title=name, xlabel="step", ylabel="nats per held-out position", ylim=(0, None))
    axes.legend()
    figure.savefig(f"{out}.png", dpi=110)


if __name__ == "__main__":
    main()
