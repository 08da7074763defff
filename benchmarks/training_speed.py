"""Training speed: PhonemicBERT against transformers' BertForMaskedLM with 22,675 and 64,001 entries.

    python benchmarks/training_speed.py                      # CPU: a small shape
    python benchmarks/training_speed.py --batch-sizes 64,128,256,512      # GPU: 12 layers, 512 positions, bf16

The same shape, the same full rows (no padding), 15 % of the positions masked, AdamW; each model runs in a process of
its own, in turns, so that memory is its own and a slow spell of the machine hits all. A step is forward, backward,
clipping and update on data that is already on the device. Printed for each: seconds a step (median), positions a
second, peak memory, and the model's arithmetic as a share of the matrix-product rate that the same process measured.
A batch size that does not fit is passed over; the ratios are at the largest size that all three fit.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import torch
from transformers import BertConfig, BertForMaskedLM

from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM

#: Entries of the embedding table; None is PhonemicBERT with its 256.
MODELS = {"PhonemicBERT 256": None, "BERT 22,675": 22_675, "BERT 64,001": 64_001}
MASKED = 0.15
FIRST_ID = 6


def build(entries: int | None, preset: str, length: int) -> Any:
    """The model of a table size; both have the same encoder."""
    config = PhonemicBertConfig.from_preset(preset, max_position_embeddings=length)
    if entries is None:
        return PhonemicBertForMaskedLM(config)
    shape = {name: getattr(config, name) for name in ("hidden_size", "num_hidden_layers", "num_attention_heads")}
    return BertForMaskedLM(
        BertConfig(
            vocab_size=entries,
            intermediate_size=config.intermediate_size,
            max_position_embeddings=length,
            **shape,
        )
    )


def batches(entries: int | None, batch_size: int, length: int, count: int, device: str) -> list[dict[str, Any]]:
    """Full rows of random ids with their masks: the same rows and masks for every model, each in its own ids."""
    generator = torch.Generator().manual_seed(0)
    made = []
    for _ in range(count):
        parts = torch.randint(FIRST_ID, 256, (batch_size, length, 3), generator=generator)
        ids = parts[..., 0] | parts[..., 1] << 8 | parts[..., 2] << 16
        chosen = torch.rand(batch_size, length, generator=generator) < MASKED
        mask_id = 4 * 0x010101
        if entries is not None:
            ids, mask_id = FIRST_ID + ids % (entries - FIRST_ID), 4
        batch = {"input_ids": ids.masked_fill(chosen, mask_id), "labels": ids.masked_fill(~chosen, -100)}
        made.append({name: value.to(device) for name, value in batch.items()})
    return made


def arithmetic(entries: int | None, config: Any, length: int) -> float:
    """Floating-point operations of the matrix products for one position: forward, and twice that backward."""
    d, f = config.hidden_size, config.intermediate_size
    layer = 2 * (4 * d * d + 2 * d * f) + 4 * length * d
    ours, berts = 2 * 3 * d * d + MASKED * 3 * 2 * d * config.vocab_size, 2 * d * d + 2 * d * (entries or 0)
    ends = ours if entries is None else berts
    return float(3 * (config.num_hidden_layers * layer + ends))


def matrix_rate(device: str, dtype: torch.dtype) -> float:
    """Operations a second of the fastest of some square matrix products."""
    size = 8192 if device == "cuda" else 1024
    a, b = torch.randn(2, size, size, device=device, dtype=dtype).unbind()
    best = float("inf")
    for _ in range(20):
        synchronize(device)
        start = time.perf_counter()
        torch.mm(a, b)
        synchronize(device)
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best


def synchronize(device: str) -> None:
    """Waits for the device."""
    if device == "cuda":
        torch.cuda.synchronize()


def peak_memory(device: str) -> int:
    """Bytes: what torch took of the device, or the process of the machine."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(name: str, preset: str, length: int, batch_size: int, steps: int, compiled: bool) -> dict[str, Any]:
    """Trains one model for some steps; what a worker process does."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    torch.set_float32_matmul_precision("high")
    rate = matrix_rate(device, dtype)
    torch.manual_seed(0)
    entries = MODELS[name]
    model = build(entries, preset, length).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    run = torch.compile(model) if compiled else model
    data = batches(entries, batch_size, length, 4, device)

    def step(batch: dict[str, Any]) -> Any:
        with torch.autocast(device, dtype, enabled=device == "cuda"):
            loss = run(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return loss

    for number in range(max(3, steps // 4)):  # compiling, and the allocator's first rounds
        step(data[number % len(data)])
    seconds = []
    for number in range(steps):
        synchronize(device)
        start = time.perf_counter()
        step(data[number % len(data)])
        synchronize(device)
        seconds.append(time.perf_counter() - start)
    median = statistics.median(seconds)
    positions = batch_size * length
    return {
        "model": name,
        "batch_size": batch_size,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "step_seconds": median,
        "positions_per_second": positions / median,
        "peak_bytes": peak_memory(device),
        "share_of_matrix_rate": arithmetic(entries, model.config, length) * positions / median / rate,
        "matrix_rate": rate,
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
    }


def in_a_process(arguments: list[str]) -> dict[str, Any] | None:
    """The measurement of a worker process; None where the memory did not suffice."""
    command = [sys.executable, os.path.abspath(__file__), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        if "out of memory" in done.stderr.lower():
            return None
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


@click.command(help=__doc__)
@click.option("--preset", help="The shape  [default: paper-12 on a GPU, paper-tiny on a CPU]")
@click.option("--length", type=int, help="Positions of a row  [default: 512 on a GPU, 128 on a CPU]")
@click.option(
    "--batch-sizes", help="Rows of a batch, separated by commas  [default: 32,64,128,256 on a GPU, 8 on a CPU]"
)
@click.option("--steps", type=int, help="Steps that are timed  [default: 20 on a GPU, 8 on a CPU]")
@click.option(
    "--rounds", default=2, show_default=True, help="Times each model has its turn; the fastest median counts."
)
@click.option("--compile/--no-compile", "compiled", default=None, help="torch.compile  [default: on a GPU]")
@click.option("--threads", type=int, help="Threads that compute on a CPU.")
@click.option("--out", default="training_speed.json", show_default=True)
@click.option("--worker", hidden=True)
def main(
    preset: str | None,
    length: int | None,
    batch_sizes: str | None,
    steps: int | None,
    rounds: int,
    compiled: bool | None,
    threads: int | None,
    out: str,
    worker: str | None,
) -> None:
    """Runs every model at every batch size in turn, prints a table, writes JSON."""
    gpu = torch.cuda.is_available()
    preset = preset or ("paper-12" if gpu else "paper-tiny")
    length = length or (512 if gpu else 128)
    steps = steps or (20 if gpu else 8)
    sizes = [int(size) for size in (batch_sizes or ("32,64,128,256" if gpu else "8")).split(",")]
    compiled = gpu if compiled is None else compiled
    if threads:
        torch.set_num_threads(threads)
    if worker:
        print(json.dumps(measure(worker, preset, length, sizes[0], steps, compiled)))
        return

    shape = ["--preset", preset, "--length", str(length), "--steps", str(steps)]
    shape += ["--compile" if compiled else "--no-compile", *(["--threads", str(threads)] if threads else [])]
    best: dict[tuple[int, str], dict[str, Any]] = {}
    for size in sizes:
        for _ in range(rounds):
            for name in MODELS:
                result = in_a_process([*shape, "--batch-sizes", str(size), "--worker", name])
                if (
                    result
                    and result["step_seconds"] < best.get((size, name), {"step_seconds": float("inf")})["step_seconds"]
                ):
                    best[size, name] = result
    report(list(best.values()), f"{preset}, {length} positions{', compiled' if compiled else ''}")
    Path(out).write_text(
        json.dumps({"shape": shape, "torch": torch.__version__, "results": list(best.values())}, indent=2)
    )


def report(results: list[dict[str, Any]], title: str) -> None:
    """Prints the table and the ratios."""
    print(f"{title}, {results[0]['device']}, matrix products {results[0]['matrix_rate'] / 1e12:.2f} TFLOP/s")
    print(f"{'model':18}{'rows':>6}{'parameters':>13}{'s/step':>9}{'positions/s':>13}{'peak GB':>9}{'of rate':>9}")
    for r in results:
        print(
            f"{r['model']:18}{r['batch_size']:6}{r['parameters']:13,}{r['step_seconds']:9.4f}"
            f"{r['positions_per_second']:13,.0f}{r['peak_bytes'] / 1e9:9.2f}{r['share_of_matrix_rate']:9.1%}"
        )
    sizes = {r["batch_size"] for r in results}
    common = [size for size in sizes if sum(r["batch_size"] == size for r in results) == len(MODELS)]
    if common:
        ours, *others = [r for r in results if r["batch_size"] == max(common)]
        for other in others:
            ratio = other["step_seconds"] / ours["step_seconds"]
            print(f"{ours['model']}: {ratio:.2f} x the steps of {other['model']} at {max(common)} rows")


if __name__ == "__main__":
    main()
