"""Counts onsets, rimes and tones with NLTK's frequency distributions.

``python examples/nltk_tour.py vi_vtb-ud-train.conllu --lang vi`` reads a Universal Dependencies treebank and compares
the parts of speech; any other file is read line by line. Without a file: the sentences next to this script.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from nltk import ConditionalFreqDist, FreqDist
from nltk.collocations import BigramAssocMeasures, BigramCollocationFinder

from nltk_phonemic import PhonemicTagger, PhonemicTokenizer, parse_tag
from phonemic import Triple

HERE = Path(__file__).parent
Words = list[tuple[str, str]]


def read_words(path: Path, tokenizer: PhonemicTokenizer) -> list[Words]:
    """The sentences of a file as words with their parts of speech; of plain text, as syllables with ""."""
    text = path.read_text("utf-8").strip()
    if path.suffix != ".conllu":
        lines = [line for line in text.split("\n") if line.strip()]
        return [[(token, "") for token in tokens] for tokens in tokenizer.tokenize_sents(lines)]
    blocks = [[line.split("\t") for line in block.split("\n") if line[:1] != "#"] for block in text.split("\n\n")]
    # A row numbered 2-3 or 2.1 is not a word of its own.
    return [[(row[1], row[3]) for row in rows if row[0].isdigit()] for rows in blocks]


def syllables(tag: str) -> Iterator[Triple]:
    """The syllables of a tag: a fallback position has its character three times and is passed over."""
    return (triple for triple in parse_tag(tag) if triple.rime != triple.tone)


def tour(lang: str, path: Path) -> None:
    """Prints what the distributions say about one file."""
    tagger, tokenizer = PhonemicTagger(lang), PhonemicTokenizer(lang)
    sentences = read_words(path, tokenizer)
    tagged = tagger.tag_sents([[word for word, _ in words] for words in sentences])
    rows = [
        (word, pos, triple)
        for words, tags in zip(sentences, tagged, strict=True)
        for (word, pos), (_, tag) in zip(words, tags, strict=True)
        for triple in syllables(tag)
    ]
    print(f"\n=== {path.name}: {len(sentences)} sentences, {sum(map(len, sentences))} words, {len(rows)} syllables")

    if not rows:
        return
    for part in Triple._fields:
        counts = FreqDist(getattr(triple, part) for *_, triple in rows)
        print(f"\n{len(counts)} {part}s, the commonest:")
        counts.tabulate(10)

    if any(pos for _, pos, _ in rows):
        print("\nTones by part of speech:")
        ConditionalFreqDist((pos, triple.tone) for _, pos, triple in rows).tabulate()
    else:
        print("\nTones by onset:")
        ConditionalFreqDist((triple.onset, triple.tone) for *_, triple in rows).tabulate()

    print("\nWords that rhyme (one syllable, the same rime and tone):")
    rhymes = ConditionalFreqDist(
        ((triple.rime, triple.tone), word.lower())
        for words in tagged
        for word, tag in words
        if len(parse_tag(tag)) == 1
        for triple in syllables(tag)
    )
    for rime, tone in sorted(rhymes, key=lambda rhyme: -len(rhymes[rhyme]))[:3]:
        print(f"  {rime} {tone}: {' '.join(word for word, _ in rhymes[rime, tone].most_common(12))}")

    print("\nSyllables that stand together more often than by chance (likelihood ratio):")
    written = [[syllable.lower() for word, _ in words for syllable in tokenizer.tokenize(word)] for words in sentences]
    finder = BigramCollocationFinder.from_documents(written)
    finder.apply_freq_filter(2)
    finder.apply_word_filter(lambda syllable: not syllable.isalpha())
    print("  " + ", ".join(" ".join(pair) for pair in finder.nbest(BigramAssocMeasures.likelihood_ratio, 12)))


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="treebanks (.conllu) or texts")
    parser.add_argument("--lang", choices=["vi", "zh"], default="vi", help="the language of the files")
    arguments = parser.parse_args()
    for path in arguments.files:
        tour(arguments.lang, path)
    if not arguments.files:
        for lang in ("vi", "zh"):
            tour(lang, HERE / f"sentences-{lang}.txt")


if __name__ == "__main__":
    main()
