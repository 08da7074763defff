"""The first screen of the README: one sentence and one comparison, from the results of the other tables."""

from __future__ import annotations

from statistics import fmean

from benchmarks.tables import load, number, rows, table
from benchmarks.tables.readings import judged, share
from benchmarks.tables.spacy import scores
from benchmarks.tables.speed import baseline, searches, throughput

WITH, WITHOUT, WITH_ERRORS = "PhonemicHashEmbed", "HashEmbedCNN", "HashEmbedCNN trained with errors"
LIBRARIES = {
    "SentencePiece unigram": "SentencePiece",
    "HF tokenizers BPE": "Hugging Face BPE",
    "pypinyin TONE3": "pypinyin",
    "g2pM": "g2pM",
}


def _f1(model: str, errors: int) -> float:
    """Return the F1 on the names of CLUENER, clean (0), with 15 % (1) or with 30 % homophones (2)."""
    return fmean(scores("cluener", model)[errors])


def _speeds(lang: str, *names: str) -> str:
    found = [(LIBRARIES[name], baseline(lang, name)) for name in names]
    return ", ".join(f"{name} {number(pair[0])}" for name, pair in found if pair) + " MB/s"


@table("headline: why")
def why() -> str:
    """Return why sounds help, with one pair of numbers."""
    return (
        "Speech recognition and pinyin input write characters that sound right and are wrong. With 30 % of the\n"
        f"characters replaced by homophones, a spaCy pipeline scores **{_f1(WITH, 2):.0f}** F1 on CLUENER's names\n"
        f"with sounds, **{_f1(WITH_ERRORS, 2):.0f}** without them if it was trained on such errors, and "
        f"**{_f1(WITHOUT, 2):.0f}** if it was not."
    )


@table("headline: comparison")
def comparison() -> str:
    """Compare with what a user would pick instead."""
    phrases = judged("and in another writer's phrases")
    bounded = {lang: searches(lang)["a name misheard", "the nearest 10 within 1"]["wall_ms"] for lang in ("vi", "zh")}
    unbounded = searches("vi")["a name misheard", "the nearest 10"]["wall_ms"]
    sizes = {row["lang"]: row["vocab_size"] for row in load("intrinsic")["rows"] if row["tokenizer"] == "Phonemic"}
    medians = f"{bounded['vi']['median']:.1f} ms and {bounded['zh']['median']:.1f} ms per query (median)"
    trained = ("SentencePiece unigram", "HF tokenizers BPE")
    cnn = "spaCy's HashEmbedCNN"
    body = [
        ["Encode Vietnamese", f"{number(throughput('vi'))} MB/s", _speeds("vi", *trained)],
        ["Encode Mandarin", f"{number(throughput('zh'))} MB/s", _speeds("zh", *trained, "pypinyin TONE3", "g2pM")],
        ["Vocabulary", f"{sizes['vi']} and {sizes['zh']} symbols", "PhoBERT 64,000, bert-base-chinese 21,128"],
        [
            "Names in CLUENER, clean",
            f"{_f1(WITH, 0):.1f} F1",
            f"{cnn} {_f1(WITHOUT, 0):.1f}, trained with errors {_f1(WITH_ERRORS, 0):.1f}",
        ],
        [
            "the same, 30 % homophones",
            f"{_f1(WITH, 2):.1f} F1",
            f"{cnn} {_f1(WITHOUT, 2):.1f}, trained with errors {_f1(WITH_ERRORS, 2):.1f}",
        ],
        [
            "Polyphones in an independent writer's hard phrases",
            f"{share(phrases, 'in context')} read right in context",
            f"pypinyin {share(phrases, 'pypinyin')}, g2pM {share(phrases, 'g2pM')}",
        ],
        ["A name among a million, by sound", medians, "not compared"],
        ["the same, at any distance", f"{unbounded['p99']:.0f} ms (Vietnamese, 99th percentile)", "not compared"],
    ]
    return rows(["", "phonemic", "instead"], body, 0)
