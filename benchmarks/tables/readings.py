"""Mandarin readings, from ``readings.json``."""

from __future__ import annotations

from typing import Any

from benchmarks.tables import footer, load, number, rows, table

READERS = {
    "pypinyin": "pypinyin",
    "pypinyin, large": "pypinyin with pypinyin-dict's large phrases",
    "g2pM": "g2pM",
    "ours, pypinyin": 'phonemic, `readings="pypinyin"`',
    "ours, context": 'phonemic, `readings="context"`',
}


def share(row: dict[str, Any], reader: str) -> str:
    """Return the share of a row's places that a reader has right, as ``77.3 %``."""
    return f"{100 * row['right'][reader] / row['places']:.1f} %"


def judged(text: str) -> dict[str, Any]:
    """Return the row of judged places of that name."""
    [found] = [row for row in load("readings")["accuracy"]["rows"] if row["text"] == text]
    return dict(found)


def speed(reader: str) -> float:
    """Return MB per CPU second of a reader."""
    [found] = [row for row in load("readings")["cost"]["rows"] if row["reader"] == reader]
    return float(found["mb_per_second"])


@table("readings: accuracy")
def accuracy() -> str:
    """List the share of characters that are read right."""
    found = load("readings")["accuracy"]["rows"]
    readers = list(dict.fromkeys(reader for row in found for reader in row["right"]))
    body = []
    for row in found:
        shares = [share(row, reader) if reader in row["right"] else "–" for reader in readers]
        body.append([row["text"], f"{row['places']:,}", *shares])
    return f"{rows(['text', 'places', *readers], body)}\n\n{footer('readings', 'accuracy')}"


@table("readings: disagreements")
def disagreements() -> str:
    """List how a reader judged places where phonemic and pypinyin differ."""
    found = load("readings")["disagreements"]
    heads = {"ours": "phonemic right", "pypinyin": "pypinyin right", "both": "both possible", "neither": "both wrong"}
    places = sum(found.values())
    return rows(list(heads.values()), [[f"{found[verdict] / places:.0%}".replace("%", " %") for verdict in heads]], 4)


@table("readings: cost")
def cost() -> str:
    """List the speed and memory of readers."""
    body = [
        [READERS[row["reader"]], number(row["mb_per_second"]), f"{row['memory_mb']:,.0f}", f"{row['start_ms']:,.0f}"]
        for row in load("readings")["cost"]["rows"]
    ]
    heads = ["reader", "MB per CPU second", "memory, MB", "start, ms"]
    return f"{rows(heads, body)}\n\n{footer('readings', 'cost')}"
