"""The report next to a corpus: what was kept, coverage, lengths and component frequencies, with plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic.corpus.counts import LONGEST, SHARE_BINS, STATUSES, Counts
from phonemic.files import replacing, require
from phonemic.files.writing import write_json, write_text
from phonemic.inventory import EMPTY, KINDS, vocabulary
from phonemic.metrics import CONTROL_SYMBOLS, renyi_efficiency
from phonemic.writing.notations import tone_name

SLOTS = ("onset", "rime", "tone")

_SHOWN = 12  # most frequent symbols that are listed

_DRAWN = 8  # and that are drawn, of each slot

#: Of the onsets, the rimes and the tones.
COLOURS = ("#4c72b0", "#dd8452", "#55a868")

#: Of the picture, whose parts have always the same size: a layout that measures them takes longer than drawing.
_MARGINS = {"left": 0.08, "right": 0.98, "bottom": 0.08, "top": 0.95, "wspace": 0.25, "hspace": 0.28,
            "height_ratios": (1, 1.45)}  # fmt: skip

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def write_report(out: Path, manifest: dict[str, Any], counts: Counts) -> None:
    """Writes ``report.json``, ``report.md`` and, if a line was kept, ``report.png``."""
    numbers = summary(manifest, counts)
    write_json(out / "report.json", numbers, indent=1)
    if manifest["totals"]["rows"]:
        with replacing(out / "report.png") as file:
            figure = _draw(numbers, counts, manifest)
            figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    write_text(out / "report.md", _markdown(numbers, manifest))


def summary(manifest: dict[str, Any], counts: Counts) -> dict[str, Any]:
    """The report's numbers; a ratio of nothing is None."""
    totals, tokenizer = manifest["totals"], manifest["tokenizer"]
    units, native = counts.get("units", np.zeros(2)), counts.get("native", np.zeros(2))
    numbers = {
        "lines": dict(zip(STATUSES, counts.get("lines", np.zeros(len(STATUSES), int)).tolist(), strict=True)),
        "bytes": dict(zip(STATUSES, counts.get("bytes", np.zeros(len(STATUSES), int)).tolist(), strict=True)),
        "native_units_of_lines_read": _ratio(native[0], units[0]),
        "native_units_of_lines_kept": _ratio(native[1], units[1]),
        "positions": totals["positions"],
        "characters": totals["characters"],
        "characters_per_position": _ratio(totals["characters"], totals["positions"]),
        "bytes_per_position": _ratio(totals["bytes_kept"], totals["positions"]),
        "positions_per_line": _lengths(counts, totals),
    }
    if "ids" not in counts:
        return numbers
    ids = counts["ids"]
    if tokenizer["name"] != "phonemic":
        return numbers | {"ids_used": int((ids > 0).sum()), "renyi_efficiency": _renyi(ids, tokenizer["vocab_size"])}
    symbols = vocabulary(tokenizer["lang"]).symbols
    own = ids[:, : len(symbols)].copy()
    own[:, CONTROL_SYMBOLS] = 0
    kinds = dict(zip(KINDS, (counts["kinds"] / max(1, totals["positions"])).tolist(), strict=True))
    if tokenizer.get("form"):  # to which nothing is unknown
        kinds["white space or bytes"] = kinds.pop("unknown")
    return numbers | {
        "kinds": kinds,
        "renyi_efficiency": _renyi(own.sum(axis=0), len(symbols)),
        "components": {
            slot: {symbols[at]: int(row[at]) for at in np.argsort(-row, kind="stable").tolist() if row[at]}
            for slot, row in zip(SLOTS, own, strict=True)
        },
    }


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


def _renyi(frequencies: NDArray[np.int64], vocab_size: int) -> float | None:
    return renyi_efficiency(frequencies, vocab_size) if frequencies.any() else None


def _lengths(counts: Counts, totals: dict[str, Any]) -> dict[str, Any]:
    """Mean and quantiles; a quantile of LONGEST means that or more."""
    lengths = counts.get("lengths")
    if lengths is None or not totals["rows"]:
        return {}
    below = lengths.cumsum() / lengths.sum()
    quantiles = {f"{share:.0%}": int(np.searchsorted(below, share)) for share in _QUANTILES}
    return {"mean": totals["positions"] / totals["rows"], **quantiles}


def _markdown(numbers: dict[str, Any], manifest: dict[str, Any]) -> str:
    tokenizer, options = manifest["tokenizer"], manifest["options"]
    lines_read, bytes_read = (sum(numbers[name].values()) or 1 for name in ("lines", "bytes"))
    text = [
        f"# Corpus of {tokenizer['lang']}: {numbers['positions']:,} positions",
        "",
        f"Tokenizer {tokenizer['name']} (phonemic {tokenizer['version']}); lines with at least "
        f"{options['min_native']:.0%} native units.",
        "",
        "| lines | number | share | bytes | share |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for status in STATUSES:
        lines, size = numbers["lines"][status], numbers["bytes"][status]
        cells = f"{lines:,} | {lines / lines_read:.2%} | {size:,} | {size / bytes_read:.2%}"
        text.append(f"| {status.replace('_', ' ')} | {cells} |")
    shown = {
        "native units of the lines read": _percent(numbers["native_units_of_lines_read"]),
        "native units of the lines kept": _percent(numbers["native_units_of_lines_kept"]),
        "characters": f"{numbers['characters']:,}",
        "positions": f"{numbers['positions']:,}",
        "characters per position": _decimal(numbers["characters_per_position"]),
        "bytes per position": _decimal(numbers["bytes_per_position"]),
        **{f"positions that are {kind}": _percent(share) for kind, share in numbers.get("kinds", {}).items()},
        "Rényi efficiency of the ids": _decimal(numbers.get("renyi_efficiency")),
    }
    text += ["", "| measure | value |", "| --- | ---: |", *(f"| {name} | {value} |" for name, value in shown.items())]
    if numbers["positions_per_line"]:
        names, values = zip(*numbers["positions_per_line"].items(), strict=True)
        figures = [f"{value:.1f}" if isinstance(value, float) else f"{value:,}" for value in values]
        text += ["", "Positions of a line: mean, and the length that this share of the lines does not exceed.", ""]
        text += [f"| {' | '.join(names)} |", f"|{' ---: |' * len(names)}", f"| {' | '.join(figures)} |"]
    for slot, found in numbers.get("components", {}).items():
        most = ", ".join(
            f"`{symbol}` {count / sum(found.values()):.1%}" for symbol, count in list(found.items())[:_SHOWN]
        )
        text += ["", f"The commonest of {len(found)} in the {slot} slot: {most}."]
    damaged = [source for source in manifest["sources"] if "damaged" in source]
    if damaged:
        text += ["", "Damaged, and passed over from there on:", ""]
        text += [f"- {message}" for source in damaged for message in source["damaged"]]
    if manifest["totals"]["rows"]:
        text += ["", "![Share of syllables, lengths and frequencies](report.png)"]
    return "\n".join(text) + "\n"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.2%}"


def _decimal(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _draw(numbers: dict[str, Any], counts: Counts, manifest: dict[str, Any]) -> Any:
    """The figure; matplotlib without its global state, so that any thread may draw."""
    figure = require("matplotlib.figure", "corpus").Figure(figsize=(11, 9))
    (shares, lengths), (ranks, tops) = figure.subplots(2, 2, gridspec_kw=_MARGINS)
    bars = np.add.reduceat(counts["shares"], np.arange(SHARE_BINS))  # lines of 100 % belong to the last
    shares.stairs(bars, np.arange(SHARE_BINS + 1) * 100 / SHARE_BINS, fill=True, color="#4c72b0")
    shares.axvline(100 * manifest["options"]["min_native"], color="black", linewidth=1, linestyle="--")
    shares.set(title="Lines by share of syllables", xlabel="% of syllables (the rest: foreign words, numbers)",
               ylabel="lines", xlim=(-4, 104), yscale="log")  # fmt: skip
    found = counts["lengths"]
    edges = np.unique(np.geomspace(1, LONGEST, 40).astype(int))
    lengths.stairs(np.add.reduceat(found, edges), [*edges, edges[-1] * 1.2], fill=True, color="#55a868")
    lengths.set(title="Kept lines by length", xlabel=f"positions (the last bar: {LONGEST} or more)", ylabel="lines",
                xscale="log")  # fmt: skip
    lang = manifest["tokenizer"].get("lang")
    components = _of_syllables(numbers["components"], lang) if numbers.get("components") else None
    series = {name: [*found.values()] for name, found in components.items()} if components else {"ids": counts["ids"]}
    for name, frequencies in series.items():
        values = np.sort([count for count in frequencies if count])[::-1]
        ranks.plot(np.arange(1, len(values) + 1), values / values.sum(), ".-", label=name)
    title = "Frequencies by rank, in syllables" if components else "Frequencies by rank"
    ranks.set(title=title, xlabel="rank", ylabel="share of the slot", xscale="log", yscale="log")
    ranks.legend(loc="upper right")
    if components:
        _draw_commonest(tops, components, lang)
    else:
        tops.set_axis_off()
    return figure


def _of_syllables(components: dict[str, dict[str, int]], lang: str) -> dict[str, dict[str, int]]:
    """The counts of each slot without the fallback characters, which stand in all three."""
    own = {slot: {EMPTY, *vocabulary(lang).by_role(slot)} for slot in SLOTS}
    return {slot: {one: count for one, count in components[slot].items() if one in own[slot]} for slot in SLOTS}


def _draw_commonest(axes: Any, components: dict[str, dict[str, int]], lang: str) -> None:
    """The commonest of each slot."""
    top = 0
    for slot, colour in zip(SLOTS, COLOURS, strict=True):
        found = components[slot]
        whole = sum(found.values())
        labels, counts = [*found][:_DRAWN], [*found.values()][:_DRAWN]
        places = np.arange(top, top + len(labels))
        axes.barh(places, [100 * count / whole for count in counts], color=colour, label=f"{slot}s")
        for place, label in zip(places, labels, strict=True):
            name = tone_name(lang, label) if slot == "tone" else ""
            written = "(none)" if label == EMPTY else label
            axes.annotate(f"{name} {written}".strip(), (0, place), (-4, 0), textcoords="offset points", fontsize=9,
                          ha="right", va="center")  # fmt: skip
        top += len(labels) + 1
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.legend(loc="upper right")
    axes.set(title="Commonest onsets, rimes and tones", xlabel="% of the syllables")
