"""Text given back from ids, from ``lossless.json``, and the core against its reference, from ``twin.json``."""

from __future__ import annotations

from benchmarks.tables import footer, load, rows, table

LINES = {
    "vi, own": "Vietnamese text, `Tokenizer(\"vi\")`",
    "vi, other": "Vietnamese text, `Tokenizer(\"zh\")`",
    "zh, own": "Chinese text, `Tokenizer(\"zh\")`",
    "zh, other": "Chinese text, `Tokenizer(\"vi\")`",
    "zh, context": "Chinese text, readings in context",
    "vi": "fuzzed text, `Tokenizer(\"vi\")`",
    "zh": "fuzzed text, `Tokenizer(\"zh\")`",
    "fuzz zh, context": "fuzzed text, readings in context",
}  # fmt: skip


@table("correctness: text given back")
def given_back() -> str:
    """List how many texts do not come back from their ids."""
    found = load("lossless")
    body = []
    for part in ("exactness", "fuzz"):
        for name, row in found[part]["rows"].items():
            if name != "twin":
                label = LINES.get(f"{part} {name}", LINES[name])
                cells = (f"{row['characters']:,}", f"{row['texts that are other']:,}", f"{row['ids that are other']:,}")
                body.append([label, *cells])
    heads = ["text and tokenizer", "characters", "texts that differ", "ids that differ from `form=False`"]
    return f"{rows(heads, body)}\n\n{footer('lossless', 'exactness')}"


TWIN = {
    "vi, fuzzed": 'fuzzed text, `Tokenizer("vi")`',
    "vi, real": 'Vietnamese text, `Tokenizer("vi")`',
    "zh, fuzzed": 'fuzzed text, `Tokenizer("zh")`',
    "zh, real": 'Chinese text, `Tokenizer("zh")`',
    "zh, context, fuzzed": "fuzzed text, readings in context",
    "zh, context, real": "Chinese text, readings in context",
}


@table("correctness: reference")
def reference() -> str:
    """List how many texts the plain reference encodes otherwise."""
    found = load("twin")["rows"]
    body = [
        [TWIN[name], f"{row['characters']:,}", f"{row['texts']:,}", f"{row['other']:,}"] for name, row in found.items()
    ]
    heads = ["text and tokenizer", "characters", "texts", "texts that differ"]
    return f"{rows(heads, body)}\n\n{footer('twin')}"


@table("tokenizers: text given back")
def baselines() -> str:
    """Compare with trained tokenizers."""
    found = load("lossless")["other_tools"]["rows"]
    body = [
        [name, f"{row['vocabulary']:,}", f"{row['texts given back']:.1f} %", f"{row['positions per character']:.3f}"]
        for name, row in found.items()
    ]
    heads = ["tokenizer", "vocabulary", "texts given back", "positions per character"]
    return f"{rows(heads, body)}\n\n{footer('lossless', 'other_tools')}"


@table("tokenizers: positions with forms")
def positions() -> str:
    """List how many more positions texts take with forms."""
    body = [
        [name, f"{row['more positions']:.2f} %", f"{row['white space']:.2f} %"]
        for name, row in load("lossless")["positions"]["rows"].items()
    ]
    return f"{rows(['text', 'more positions', 'white space, in addition'], body)}\n\n{footer('lossless', 'positions')}"
