"""Diacritics and characters given back, from ``restoration-vi.json`` and ``restoration-zh.json``."""

from __future__ import annotations

from benchmarks.tables import bold_best, footer, load, rows, table

PARTS, BOTH = ("treebank", "Wikipedia, held out"), "these two together"
JUDGES = ("news-dev", *PARTS, BOTH, "social, held out")
TASKS = {"law": "ECSpell, law", "med": "ECSpell, medicine", "odw": "ECSpell, official documents"}


@table("restoration: diacritics")
def diacritics() -> str:
    """List the syllables that get their diacritics back."""
    found = load("restoration-vi")
    size = f"{found['size']['MB']:.0f} MB"
    names = {
        "as it is": "as it is",
        "commonest": "commonest choice",
        "bigrams, Viterbi": "bigrams",
        "pyvi": "pyvi",
        "n-grams": f"4-grams, {size}",
        "n-grams and pretrained model": f"4-grams and `{found['model']}`",
        "n-grams and network": f"4-grams and network, {found['size']['network MB']:.0f} MB more",
    }
    judged, counts = found["results"]["judges"], found["results"]["syllables"]
    for row in judged.values():
        row[BOTH] = sum(row[name] * counts[name] for name in PARTS) / sum(counts[name] for name in PARTS)
    names = {key: name for key, name in names.items() if key in judged}
    columns = [
        bold_best([f"{judged[key][name]:.1f}" for key in names], [judged[key][name] for key in names])
        for name in JUDGES
    ]
    times = [f"{judged[key]['ms per 20 syllables']:.1f}" for key in names]
    single = [f"{judged[key]['ms of one of 20']:.1f}" for key in names]
    speeds = ["" if key == "as it is" else f"{judged[key]['MB per CPU second']:.2f}" for key in names]
    body = zip(names.values(), *columns, times, single, speeds, strict=True)
    heads = ["restorer", *JUDGES, "CPU ms per 20 syllables", "the same, one sentence by itself", "MB per CPU second"]
    return f"{rows(heads, body)}\n\n{footer('restoration-vi')}"


@table("restoration: pinyin")
def pinyin() -> str:
    """List the characters that pinyin is written in."""
    result = load("restoration-zh")
    names = {"commonest": "commonest choice", "Pinyin2Hanzi": "Pinyin2Hanzi, these sentences only"}
    names["n-grams"] = f"4-grams, {result['size']['MB']:.0f} MB"
    names["n-grams and pretrained model"] = f"4-grams and `{result['model']}`"
    body = [
        [
            f"{kind} pinyin",
            name,
            f"{row['characters']:.1f}",
            f"{row['short sentences']:.1f}",
            f"{row['ms per 20 characters']:.1f}",
        ]
        for kind in ("toned", "toneless")
        for key, name in names.items()
        if (row := result["results"][kind].get(key))
    ]
    heads = ["input", "restorer", "characters right, %", "sentences of at most 20 right, %", "CPU ms per 20 characters"]
    return f"{rows(heads, body, 3)}\n\n{footer('restoration-zh')}"


@table("restoration: corrections")
def corrections() -> str:
    """List how many sentences with wrong characters are corrected."""
    result = load("restoration-zh")
    names = {"n-grams": "4-grams", "n-grams and pretrained model": f"4-grams and `{result['model']}`"}
    found = result["results"]["corrections"]
    body = [
        [
            title,
            name,
            *(f"{found[key][task][figure]:.1f}" for figure in ("precision", "recall", "F1", "ms per sentence")),
        ]
        for task, title in TASKS.items()
        for key, name in names.items()
    ]
    heads = ["test set", "restorer", "precision", "recall", "F1", "CPU ms per sentence"]
    return f"{rows(heads, body, 4)}\n\n{footer('restoration-zh')}"
