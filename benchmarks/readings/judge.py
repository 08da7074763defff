"""Judges the reading in context: both scripts of one sentence, 地 and 得 by their part of speech.

``python -m benchmarks.readings.judge DATA WORK``, after ``benchmarks.readings.make``.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pypinyin import Style, lazy_pinyin

from phonemic import Tokenizer

Reader = Callable[[str], list[str]]
_DEFAULT, _CONTEXT = Tokenizer("zh"), Tokenizer("zh", readings="context")


class Word(NamedTuple):
    """A word of a treebank, its tag of the treebank's own (DEV and DER: the particles), where it begins."""

    form: str
    tag: str
    at: int


def sentences(file: Path) -> Iterator[tuple[str, list[Word]]]:
    """The sentences of a CoNLL-U file, without spaces."""
    words: list[Word] = []
    text = ""
    for line in [*file.read_text("utf-8").splitlines(), ""]:
        fields = line.split("\t")
        if not line and text:
            yield text, words
            words, text = [], ""
        elif len(fields) == 10 and fields[0].isdigit():
            words.append(Word(fields[1], fields[4], len(text)))
            text += fields[1]


def _apart(rest: str) -> Any:
    """Split the characters that pypinyin cannot read; its types promise a str."""
    return list(rest)


def pypinyin_reader(text: str) -> list[str]:
    """Reads as pypinyin does, a character at a time."""
    return list(lazy_pinyin(text, style=Style.TONE3, neutral_tone_with_five=True, errors=_apart))


@cache
def _written(packed: int) -> str:
    return _CONTEXT.decode([packed], to="numbers")


def _read(tokenizer: Tokenizer, text: str) -> list[str]:
    found = list(text)
    encoding = tokenizer.encode(text)
    for packed, (start, _) in zip(encoding.ids.tolist(), encoding.spans.tolist(), strict=True):
        found[start] = _written(packed)
    return found


def context_reader(text: str) -> list[str]:
    """Reads as ``readings="context"`` does, a character at a time."""
    return _read(_CONTEXT, text)


def default_reader(text: str) -> list[str]:
    """Reads as the default does, a character at a time."""
    return _read(_DEFAULT, text)


def particles(texts: list[tuple[str, list[Word]]], reader: Reader) -> dict[str, Any]:
    """How often 地 and 得 as words of their own are read as a particle if and only if they are one."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    wrong = []
    for text, words in texts:
        asked = [word for word in words if word.form in ("地", "得")]
        readings = reader(text) if asked else []
        for word in asked:
            particle = word.tag in ("DEV", "DER")
            key = f"{word.form} {'particle' if particle else 'word'}"
            total[key] += 1
            right[key] += (readings[word.at] == "de5") == particle
            if (readings[word.at] == "de5") != particle:
                wrong.append(f"{text[max(0, word.at - 6) : word.at + 5]} {word.form} {word.tag} {readings[word.at]}")
    return {
        "share": sum(right.values()) / max(1, sum(total.values())),
        "counts": {key: [right[key], total[key]] for key in total},
        "wrong": wrong[:60],
    }


def agreement(texts: list[str], converted: list[str], reader: Reader) -> dict[str, Any]:
    """The share of Han characters with the same reading in two scripts, and where most others are."""
    alike = total = 0
    others: Counter[str] = Counter()
    for text, other in zip(texts, converted, strict=True):
        if len(text) != len(other):
            continue
        for one, two, char, form in zip(reader(text), reader(other), text, other, strict=True):
            if "\u3400" <= char <= "\u9fff":
                total += 1
                alike += one == two
                if one != two:
                    others[f"{char}{form} {one} {two}"] += 1
    return {"share": alike / max(1, total), "characters": total, "others": others.most_common(40)}


def main() -> None:
    """Prints and writes the figures."""
    import opencc

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    arguments = parser.parse_args()
    readers: dict[str, Reader] = {"pypinyin": pypinyin_reader, "context": context_reader}
    files = {
        "simplified": sorted((arguments.data / "zh" / "ud_gsdsimp").glob("*.conllu")),
        "traditional": sorted((arguments.data / "zh" / "ud_gsd").glob("*.conllu")),
    }
    figures: dict[str, Any] = {}
    banks = {name: [row for file in paths for row in sentences(file)] for name, paths in files.items()}
    for name, reader in readers.items():
        for script, rows in banks.items():
            figures[key := f"{name}: particles, {script}"] = particles(rows, reader)
            print(key, json.dumps(figures[key], ensure_ascii=False), flush=True)
        texts = [text for text, _ in banks["simplified"]]
        for config in ("s2t", "s2tw"):
            converter = opencc.OpenCC(config)
            converted = [converter.convert(text) for text in texts[:500]]
            figures[key := f"{name}: agreement, {config}"] = agreement(texts[:500], converted, reader)
            print(key, json.dumps(figures[key], ensure_ascii=False), flush=True)
    (arguments.work / "judged.json").write_text(json.dumps(figures, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
