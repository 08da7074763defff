"""Speed of ``phonemic prepare``: one and two threads, and a Ray cluster of two workers on this machine.

    python benchmarks/prepare_speed.py --data folder     # the real data; its raw text is unpacked into --work

The whole command is measured, from text on the disk to the manifest (drawing the report too), several times in turns; a
contestant's figure is its median. Ray's workers are started, and have imported, before. MB are 10**6 bytes of text.

The aim is 10 times what one H200 takes in while it trains the 12-layer model. No GPU is measured here: a position is
taken to cost the model's matrix products, forward and backward, at 40 % of the chip's dense bf16 peak. Both are in the
result, and so are the bytes of text that a position is.
"""

from __future__ import annotations

import json
import logging
import lzma
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import psutil

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.environment import environment
from phonemic import Tokenizer
from phonemic.corpus import Options, Ray, Threads, prepare
from phonemic.corpus.engines import Engine
from phonemic.files import replacing, require

#: Raw text of each language.
TEXTS = {"vi": ("vi/raw/viwiki.txt.xz", "vi/raw/news.txt.xz"), "zh": ("zh/raw/laws.txt.xz", "zh/raw/lctt.txt.xz")}

#: Text of a shard: enough parts for two workers.
SHARD = 16 << 20

#: NVIDIA's figure for dense bf16, in operations a second, and the share that training is taken to reach.
PEAK, UTILISATION = 989e12, 0.4
LENGTH = 512


def operations() -> float:
    """Operations of one training step of the 12-layer model, per position."""
    from benchmarks.training_speed import arithmetic
    from phonemic_bert import PhonemicBertConfig

    return arithmetic(None, PhonemicBertConfig.from_preset("paper-12"), LENGTH)


def unpack(data: Path, lang: str, work: Path) -> list[Path]:
    """The raw texts of a language as plain files."""
    paths = []
    for name in TEXTS[lang]:
        path = work / Path(name).stem
        if not path.exists():
            with lzma.open(data / name) as packed, replacing(path) as plain:
                shutil.copyfileobj(packed, plain, 1 << 20)
        paths.append(path)
    return paths


def cpu_seconds() -> float:
    """CPU seconds of this process and all below it: Ray's workers, and what manages them."""
    own = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in [own, *own.children(recursive=True)])


def once(paths: list[Path], lang: str, engine: Engine, out: Path) -> tuple[float, float, dict[str, Any]]:
    """Wall-clock and CPU seconds of this process and its children, and the manifest, of one run."""
    shutil.rmtree(out, ignore_errors=True)
    wall, cpu = time.perf_counter(), cpu_seconds()
    manifest = prepare(map(str, paths), out, Options(Tokenizer(lang), shard_bytes=SHARD), engine)
    return time.perf_counter() - wall, cpu_seconds() - cpu, manifest


def cluster() -> Callable[[], None]:
    """Starts a head without CPUs and two workers with one each; returns what ends them."""
    ray = require("ray", "ray")
    head = {"num_cpus": 0, "include_dashboard": False}
    made = require("ray.cluster_utils", "ray").Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        made.add_node(num_cpus=1)
    made.wait_for_nodes()
    ray.init(address=made.address, log_to_driver=False, logging_level=logging.ERROR)

    def end() -> None:
        ray.shutdown()
        made.shutdown()

    return end


def measure(data: Path, work: Path, runs: int, engines: dict[str, Engine]) -> list[dict[str, Any]]:
    """A row for each language and engine."""
    rows: list[dict[str, Any]] = []
    needed = UTILISATION * PEAK / operations()
    for lang in TEXTS:
        paths = unpack(data, lang, work)
        size = sum(path.stat().st_size for path in paths)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
        shards = set()
        for _ in range(runs):
            for name, engine in engines.items():
                wall, cpu, manifest = once(paths, lang, engine, work / "out")
                taken[name].append((wall, cpu))
                shards.add(tuple(shard["sha256"] for shard in manifest["shards"]))
        assert len(shards) == 1, "the engines made different shards"
        totals = manifest["totals"]
        bytes_a_position = totals["bytes_kept"] / totals["positions"]
        for name, runs_taken in taken.items():
            wall = statistics.median(wall for wall, _ in runs_taken)
            rows.append(
                {
                    "lang": lang,
                    "engine": name,
                    "mb": size / 1e6,
                    "seconds": [round(wall, 3) for wall, _ in runs_taken],
                    "cpu_seconds": [round(cpu, 3) for _, cpu in runs_taken],
                    "mb_per_second": size / 1e6 / wall,
                    "mb_per_cpu_second": size / 1e6 / statistics.median(cpu for _, cpu in runs_taken),
                    "positions_per_second": totals["positions"] / wall,
                    "bytes_per_position": bytes_a_position,
                    "times_one_h200": totals["positions"] / wall / needed,
                }
            )
    return rows


@click.command()
@click.option("--data", type=click.Path(path_type=Path), default=os.environ.get("PHONEMIC_DATA", "data"))
@click.option("--work", type=click.Path(path_type=Path), required=True, help="A folder for text and corpora.")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True)
@click.option("--ray/--no-ray", "with_ray", default=True, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), default=Path(__file__).parent / "results/prepare_speed.json")
def main(data: Path, work: Path, runs: int, with_ray: bool, output: Path) -> None:
    """Measures, prints a table and writes JSON."""
    work.mkdir(parents=True, exist_ok=True)
    engines: dict[str, Engine] = {"1 thread": Threads(1), "2 threads": Threads(2)}
    end = cluster() if with_ray else None
    if end:
        engines["Ray, 2 workers"] = Ray()
        once(unpack(data, "zh", work), "zh", Ray(), work / "out")
    try:
        load = os.getloadavg()[0]
        rows = measure(data, work, runs, engines)
    finally:
        if end:
            end()
    result = {
        "environment": environment(),
        "load_before": load,
        "assumed": {
            "operations_a_position": operations(),
            "peak": PEAK,
            "utilisation": UTILISATION,
            "positions_per_second_of_one_h200": UTILISATION * PEAK / operations(),
        },
        "rows": rows,
    }
    output.write_text(json.dumps(result, indent=1) + "\n")
    print("| text | engine | MB/s | positions/s | MB a CPU second | times one H200 |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for row in rows:
        print(
            f"| {row['lang']}, {row['mb']:.0f} MB | {row['engine']} | {row['mb_per_second']:.1f} "
            f"| {row['positions_per_second']:,.0f} | {row['mb_per_cpu_second']:.1f} | {row['times_one_h200']:.1f} |"
        )


if __name__ == "__main__":
    main()
