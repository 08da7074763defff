"""Mandarin readings, from ``readings.json``."""

from __future__ import annotations

from benchmarks.tables import footer, load, rows, table


@table("readings: accuracy")
def accuracy() -> str:
    """List the share of characters that are read right."""
    found = load("readings")
    readers = list(dict.fromkeys(reader for judge in found["accuracy"] for reader in judge["right"]))
    body = []
    for judge in found["accuracy"]:
        shares = [f"{judge['right'][reader]:.1f} %" if reader in judge["right"] else "–" for reader in readers]
        body.append([judge["text"], f"{judge['places']:,}", *shares])
    return f"{rows(['text', 'places', *readers], body)}\n\n{footer('readings')}"


@table("readings: cost")
def cost() -> str:
    """List the speed and memory of readers."""
    found = load("readings")
    body = [
        [row["reader"], f"{row['mb_per_second']:,g}", f"{row['memory_mb']:,}", f"{row['start_ms']:,}"]
        for row in found["cost"]
    ]
    heads = ["reader", "MB per CPU second", "memory, MB", "start, ms"]
    return f"{rows(heads, body)}\n\n{footer('readings')}"
