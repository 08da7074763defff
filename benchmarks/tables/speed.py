"""Speed and memory, from the files of speed, crafted text, indexes, written forms and corpora."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.tables import footer, load, number, rows, table

LANGUAGES = {"vi": "Vietnamese", "zh": "Mandarin"}
#: The tokenizers and readers that a user would choose from.
BASELINES = (
    "SentencePiece unigram", "tiktoken", "HF tokenizers BPE", "HF tokenizers WordPiece", "pypinyin TONE3", "g2pM",
    "sea-g2p", "phonemizer + espeak-ng", "spaCy tokenizer",
)  # fmt: skip


def measured(group: str) -> list[dict[str, Any]]:
    """Return the rows of a group of ``speed.json``."""
    return [row for row in load("speed")["rows"] if row["group"] == group]


def throughput(lang: str) -> float:
    """Return MB of text per CPU second, a list of strings on one thread."""
    [row] = [row for row in measured("Share of the limit") if row["what"] == f"{lang}, list of str"][:1]
    return float(row["ours"])


def baseline(lang: str, name: str) -> tuple[float, float] | None:
    """Return a baseline's MB per CPU second and how many times as fast we are, or None where it was not measured."""
    for row in measured("Other tools"):
        if row["what"][:2] == lang and row["against"] == name and row["other"]:
            return row["other"], row["value"]
    return None


@table("speed: encoding")
def encoding() -> str:
    """Compare encoding with other tokenizers and readers."""
    body = [["phonemic", *(number(throughput(lang)) for lang in LANGUAGES), ""]]
    for name in BASELINES:
        found = [baseline(lang, name) for lang in LANGUAGES]
        ratios = " and ".join(number(pair[1]) for pair in found if pair)
        speeds = [number(pair[0]) if pair else "–" for pair in found]
        body.append([name.replace("HF tokenizers", "Hugging Face"), *speeds, ratios])
    return f"{rows(['MB per CPU second', *LANGUAGES.values(), 'phonemic is faster by'], body)}\n\n{footer('speed')}"


@table("speed: one text")
def one_text() -> str:
    """List the costs of one call, of starting and of memory."""

    def each(form: Callable[[str], str]) -> list[str]:
        return [form(lang) for lang in LANGUAGES]

    sentence = {row["what"]: row["value"] for row in measured("One sentence") if row["unit"] == "µs"}
    start = {(row["what"][:2], row["unit"]): row["value"] for row in measured("Start")}
    memory = {row["what"]: row["value"] for row in measured("Memory")}
    spans = {row["what"][:2]: row["value"] for row in measured("Options")}
    threads = {row["what"]: row["note"].rpartition("all turns: ")[2] for row in measured("Two threads")}
    another = "encode, a different sentence each time"
    body = [
        ["`encode` of one sentence", *each(lambda lang: f"{sentence[f'{lang}, {another}']:.2f} µs")],
        ["import and first `Tokenizer`, without NumPy's", *each(lambda lang: f"{start[lang, 'ms']:.1f} ms")],
        ["memory for them", *each(lambda lang: f"{start[lang, 'MB']:.1f} MB")],
        ["peak memory of a batch, relative to its output", *each(lambda lang: f"{memory[f'{lang}, list of str']:.2f}")],
        ["time with spans, relative to without", *each(lambda lang: f"{spans[lang]:.2f}")],
        ["two threads, relative to one (wall-clock time)", *each(lambda lang: threads[f"{lang}, num_threads=2"][:-2])],
    ]
    return f"{rows(['', *LANGUAGES.values()], body)}\n\n{footer('speed')}"


@table("speed: forms")
def forms() -> str:
    """Compare encoding and decoding with and without written forms."""
    part = load("lossless")["speed"]
    body = [
        [name, *(number(row[key]) for key in ("encode", "encode with forms", "decode", "decode with forms"))]
        for name, row in part["rows"].items()
    ]
    heads = ["MB per CPU second", "encode", "with `form=True`", "decode", "with `form=True`"]
    return f"{rows(heads, body)}\n\n{footer('lossless', 'speed')}"


MIXTURES = {
    "space; letter": "a letter and a space in turn",
    "changing, 2 characters; space": "phrases of 2 characters that change a reading, and spaces",
    "changing, 2 characters; letter": "the same phrases, and letters",
    "the slowest 64 pieces of each of these kinds": "the slowest 64 pieces of each kind in that mixture",
    "user phrases: 63 phrases with one prefix": "a user's 63 phrases with one prefix",
    "user phrases: 4,000 phrases, each nearly matched": "a user's 4,000 phrases, each nearly matched",
    "user phrases: 2,000 phrases of 2 characters": "a user's 2,000 phrases of 2 characters",
}


@table("speed: slow input")
def slow_input() -> str:
    """List the slowest texts that a search found, as time per byte relative to ordinary text."""
    body = [
        [MIXTURES.get(row["name"], "the worst mixture after 40 changes"), number(row["by_byte"])]
        for row in load("crafted")["rows"]
        if row["way"] == "list of str"
    ]
    return f"{rows(['Mandarin text', 'times an ordinary byte'], body)}\n\n{footer('crafted')}"


def searches(lang: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the searches of ``index.json`` by query and kind of search."""
    [found] = [result for result in load("index")["results"] if result["lang"] == lang]
    return {(row["query"], row["search"]): row for row in found["searches"]}


@table("speed: names")
def names() -> str:
    """List the times of searches among a million names."""
    body = []
    for lang, language in LANGUAGES.items():
        for (query, search), row in searches(lang).items():
            if query == "a name misheard":
                times = row["wall_ms"]
                body.append([f"{language}, {search}", *(f"{times[key]:.2f}" for key in ("median", "p99", "worst"))])
    heads = ["ms per query, wall-clock time", "median", "99th percentile", "worst of 1,000"]
    return f"{rows(heads, body)}\n\n{footer('index')}"


@table("speed: names in text")
def names_in_text() -> str:
    """List the times to find 1,000 names everywhere in a text, and in ten times as much."""
    body = []
    for result in load("index")["results"]:
        short, with_long, ten, ten_with_long = (row["seconds"][1] for row in result["texts"])
        growth, with_long_growth = ten / short, ten_with_long / with_long
        cells = (f"{short:.2f}", f"{growth:.1f}", f"{with_long:.2f}", f"{with_long_growth:.1f}")
        body.append([LANGUAGES[result["lang"]], *cells])
    again = "in 10 times the text, times as much"
    heads = ["names in 20,000 positions", "CPU s", again, "with one of 1,000 positions, CPU s", again]
    return f"{rows(heads, body)}\n\n{footer('index')}"


@table("speed: prepare")
def prepare() -> str:
    """List the throughput of ``phonemic prepare``."""
    body = [
        [f"{LANGUAGES[row['lang']]}, {row['engine']}", number(row["mb_per_second"]), number(row["mb_per_cpu_second"])]
        for row in load("prepare_speed")["rows"]
    ]
    return f"{rows(['', 'MB/s, wall-clock time', 'MB per CPU second'], body)}\n\n{footer('prepare_speed')}"


@table("speed: spaCy component")
def spacy_component() -> str:
    """List what the spaCy component adds to a pipeline's time."""
    body = [
        [row["what"], f"{row['value']:.2f}"]
        for row in measured("spaCy") if row["unit"] == "x" and "SyllableTokenizer" in row["what"]
    ]  # fmt: skip
    return f"{rows(['pipeline', 'time relative to without the component'], body)}\n\n{footer('speed')}"
