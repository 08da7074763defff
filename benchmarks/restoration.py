"""Diacritics and characters given back: each judge, against what leaves text as it is and other programs.

    python benchmarks/restoration.py vi WORK --data FOLDER --bigrams vi-2.ngrams
    python benchmarks/restoration.py zh WORK --data FOLDER

The restorers are the shipped ones, which ``restorer.py`` makes of text without all evaluation text and the lines held
out; WORK is the folder where it left these and the text. ``--bigrams`` are counted in the same text by
``phonemic-bert ngrams --order 2 --prune 0``, and ``--model`` names the pretrained PhonemicBERT of a row. pyvi and
Pinyin2Hanzi are measured where they are installed. Times are CPU time of one thread.
"""

from __future__ import annotations

import importlib
import random
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice, product
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.environment import environment
from phonemic import Tokenizer
from phonemic.files import read_texts
from phonemic.files.writing import write_json
from phonemic.inventory import NATIVE
from phonemic_bert.restoration.characters import CharactersRestorer
from phonemic_bert.restoration.lattice import Solved
from phonemic_bert.restoration.ngrams import Ngrams
from phonemic_bert.restoration.restoring import FILE, Parts, default_name
from phonemic_bert.restoration.results import applied
from phonemic_bert.restoration.vietnamese import bare, canonical, is_syllable, tokens

HERE = Path(__file__).parent
#: Held-out files of social text.
SOCIAL = ("fb_edu", "social_hsd", "comments", "reviews", "aivivn", "vispam")
#: Lines of held-out Mandarin.
LINES = 800
SHORT = 20
#: Lines of each file of text in which the commonest choices are counted.
SAMPLE = 5_000

Restore = Callable[[Sequence[str]], Iterable[str]]


def lines(path: Path) -> list[str]:
    """The lines of a file that are not empty."""
    return [line.strip() for texts in read_texts(str(path)) for line in texts if line and line.strip()]


def sample(folder: Path) -> Iterator[str]:
    """The first lines of each file of a folder."""
    for path in sorted(folder.glob("*.txt")):
        yield from islice((line for texts in read_texts(str(path)) for line in texts if line), SAMPLE)


def without_marks(text: str) -> str:
    """A text without diacritics."""
    kept = (char for char in unicodedata.normalize("NFD", text) if not "\u0300" <= char <= "\u036f")
    return "".join(kept).replace("đ", "d").replace("Đ", "D")


def timed(restore: Restore, texts: Sequence[str]) -> tuple[list[str], float]:
    """Restored texts, and the CPU time."""
    begun = time.process_time()
    found = list(restore(texts))
    return found, time.process_time() - begun


def alone(restore: Restore, texts: Sequence[str]) -> float:
    """The median of the CPU milliseconds of texts that come one by one; of each the fastest of five times."""
    times: list[list[float]] = [[timed(restore, [text])[1] for text in texts] for _ in range(5)]
    fastest = [min(each) for each in zip(*times, strict=True)]
    middle: float = median(fastest)
    return 1000 * middle


# --- Vietnamese


def vietnamese_texts(data: Path, held_out: Path) -> dict[str, list[str]]:
    """The judges of diacritics."""
    treebank = [
        line.removeprefix("# text = ")
        for part in ("dev", "test")
        for line in lines(data / "vi" / "ud_vtb" / f"vi_vtb-ud-{part}.conllu")
        if line.startswith("# text = ")
    ]
    found = {
        "news-dev": lines(data / "vi" / "diacritics" / "news-dev.tone"),
        "treebank": treebank,
        "Wikipedia, held out": lines(held_out / "viwiki.txt"),
        "social, held out": [line for name in SOCIAL for line in lines(held_out / f"{name}.txt")],
    }
    return {name: [unicodedata.normalize("NFC", text) for text in texts] for name, texts in found.items()}


def syllables_right(texts: Sequence[str], found: Sequence[str]) -> float:
    """The share of the syllables of texts that are right, in percent; a text of other words has none right."""
    right = count = 0
    for text, restored in zip(texts, found, strict=True):
        gold = [token.text for token in tokens(text) if token.kind == "word"]
        own = [token.text for token in tokens(restored) if token.kind == "word"]
        own = own if len(own) == len(gold) else [""] * len(gold)
        for one, other in zip(gold, own, strict=True):
            if is_syllable(one.lower()):
                count += 1
                right += canonical(one) == canonical(other)
    return 100 * right / count


def syllables(texts: Iterable[str]) -> int:
    """Count the syllables of texts."""
    return sum(token.kind == "word" and is_syllable(token.text.lower()) for text in texts for token in tokens(text))


def commonest(texts: Iterable[str]) -> Restore:
    """Each syllable as it is most often written in texts."""
    found = (token.text.lower() for text in texts for token in tokens(text) if token.kind == "word")
    seen = Counter(unicodedata.normalize("NFC", word) for word in found)
    best: dict[str, str] = {}
    for word, _ in reversed(seen.most_common()):
        if is_syllable(word):
            best[bare(word)] = word

    def restore(texts: Sequence[str]) -> Iterable[str]:
        for text in texts:
            pieces, at = [], 0
            for token in tokens(text):
                if token.kind == "word" and token.text.lower() in best:
                    pieces += [text[at : token.start], best[token.text.lower()]]
                    at = token.start + len(token.text)
            yield "".join([*pieces, text[at:]])

    return restore


def vietnamese(
    data: Path, held_out: Path, text: Path, restorer: Parts, bigrams: Path | None, model: str | None
) -> dict[str, Any]:
    """All figures of diacritics."""
    programs: dict[str, Restore] = {"as it is": lambda texts: texts, "commonest": commonest(sample(text))}
    if bigrams:
        programs["bigrams, Viterbi"] = restoring(Parts.load(bigrams))
    if add_accents := program("pyvi.ViUtils", "add_accents"):
        programs["pyvi"] = lambda texts: (unless_it_fails(add_accents, text) for text in texts)
    programs["n-grams"] = restoring(without_network(restorer))
    if model:
        programs["n-grams and pretrained model"] = restoring(restorer, model=model)
    programs["n-grams and network"] = whole = restoring(restorer)
    judges = vietnamese_texts(data, held_out)
    rows: dict[str, Any] = {}
    for name, restore in programs.items():
        rows[name] = row = {}
        for judge, texts in judges.items():
            bare_texts = [without_marks(text) for text in texts]
            found, seconds = timed(restore, bare_texts)
            row[judge] = round(syllables_right(texts, found), 2)
            if judge == "news-dev":
                row["ms per 20 syllables"] = round(20_000 * seconds / sum(len(text.split()) for text in texts), 3)
                row["MB per CPU second"] = round(sum(len(text.encode()) for text in bare_texts) / 1e6 / seconds, 3)
                sentences = [" ".join(text.split()[:20]) for text in bare_texts if len(text.split()) >= 20]
                row["ms of one of 20"] = round(alone(restore, sentences[:100]), 2)
        click.echo(f"{name}: {row}")
    marked = [text for texts in judges.values() for text in texts]
    found, _ = timed(whole, marked)
    kept = round(100 * sum(one == other for one, other in zip(marked, found, strict=True)) / len(marked), 2)
    click.echo(f"marked texts left alone: {kept} %")
    return {
        "judges": rows,
        "marked texts left alone": kept,
        "texts": {name: len(each) for name, each in judges.items()},
        "syllables": {name: syllables(each) for name, each in judges.items()},
    }


# --- Mandarin


def toned(text: str, tokenizer: Tokenizer, numbers: bool) -> tuple[str, int]:
    """A text in pinyin, with tone numbers or without, and how many characters are written so."""
    encoding = tokenizer.encode(text)
    pieces, at, count = [], 0, 0
    for packed, kind, (start, end) in zip(
        encoding.ids.tolist(), encoding.kinds.tolist(), encoding.spans.tolist(), strict=True
    ):
        if kind != NATIVE or end - start != 1:
            continue
        syllable = tokenizer.decode([packed], to="numbers")
        pieces += [text[at:start], " ", syllable if numbers else syllable.rstrip("12345"), " "]
        at, count = end, count + 1
    return "".join([*pieces, text[at:]]), count


def characters_right(texts: Sequence[str], found: Sequence[str], tokenizer: Tokenizer) -> tuple[int, int]:
    """How many characters that are read are right, and of how many."""
    right = count = 0
    for text, restored in zip(texts, found, strict=True):
        gold, own = ("".join(one.split()) for one in (text, restored))
        own = own if len(own) == len(gold) else " " * len(gold)
        kinds = tokenizer.encode(gold)
        for kind, (start, end) in zip(kinds.kinds.tolist(), kinds.spans.tolist(), strict=True):
            if kind == NATIVE and end - start == 1:
                count += 1
                right += gold[start] == own[start]
    return right, count


def mandarin(data: Path, held_out: Path, text: Path, restorer: Parts, model: str | None) -> dict[str, Any]:
    """All figures of characters."""
    tokenizer = Tokenizer("zh", readings="context")
    texts = [line for path in sorted(held_out.glob("*.txt")) for line in lines(path)]
    random.Random(5).shuffle(texts)
    texts = [text for text in texts[:LINES] if not any(char.isascii() and char.isalpha() for char in text)]
    programs: dict[str, Restore] = {"commonest": commonest_characters(restorer.ngrams, sample(text))}
    if viterbi := program("Pinyin2Hanzi", "viterbi"):
        programs["Pinyin2Hanzi"] = pinyin2hanzi(viterbi)
    programs["n-grams"] = restoring(restorer, pinyin=True)
    if model:
        programs["n-grams and pretrained model"] = restoring(restorer, pinyin=True, model=model)
    rows: dict[str, Any] = {"toned": {}, "toneless": {}}
    for name, program_name in product(rows, programs):
        if (name, program_name) == ("toned", "Pinyin2Hanzi"):  # reads no tones
            continue
        written = [toned(text, tokenizer, name == "toned") for text in texts]
        short = [at for at, (_, many) in enumerate(written) if 0 < many <= SHORT]
        # it takes a second for a long sentence
        asked = short if program_name == "Pinyin2Hanzi" else range(len(texts))
        found, seconds = timed(programs[program_name], [written[at][0] for at in asked])
        restored = dict(zip(asked, found, strict=True))
        right, count = characters_right([texts[at] for at in asked], found, tokenizer)
        whole = sum("".join(restored[at].split()) == "".join(texts[at].split()) for at in short)
        rows[name][program_name] = {
            "characters": round(100 * right / count, 2),
            "of": count,
            "short sentences": round(100 * whole / len(short), 1),
            "of sentences": len(short),
            "ms per 20 characters": round(20_000 * seconds / count, 2),
        }
        click.echo(f"{name}, {program_name}: {rows[name][program_name]}")
    rows["corrections"] = {"n-grams": corrections(data, restoring(restorer))}
    if model:
        rows["corrections"]["n-grams and pretrained model"] = corrections(data, restoring(restorer, model=model))
    return rows


def commonest_characters(ngrams: Ngrams, texts: Iterable[str]) -> Restore:
    """Each syllable as the character that it most often is in texts, by the readings of the n-grams' characters."""
    restorer, counts = CharactersRestorer(ngrams), Counter("".join(texts))
    often = np.log([counts[word] + 0.5 for word in ngrams.words])

    def restore(texts: Sequence[str]) -> Iterable[str]:
        for text in texts:
            lattice = restorer._lattice(text)
            each = [position.candidates for position in lattice.positions]
            places = [int(np.argmax(one.costs + often[one.words])) for one in each]
            yield applied(text, restorer._changes(text, lattice, Solved(places, []))).text

    return restore


def pinyin2hanzi(viterbi: Any) -> Restore:
    """Runs of syllables, by its hidden Markov model; a syllable that it does not know parts them and stays."""
    model = program("Pinyin2Hanzi", "DefaultHmmParams")()
    simple, known = program("Pinyin2Hanzi", "simplify_pinyin"), program("Pinyin2Hanzi", "is_pinyin")

    def characters(found: re.Match[str]) -> str:
        written, runs = [simple(one) for one in found.group().split()], list[str]()
        for is_known, run in groupby(written, known):
            syllables = tuple(run)
            best = viterbi(hmm_params=model, observations=syllables, path_num=1) if is_known else []
            runs += best[0].path if best else syllables
        return "".join(runs)

    return lambda texts: (re.sub(r"[a-zü]+(?:\s+[a-zü]+)*", characters, text) for text in texts)


def corrections(data: Path, restore: Restore) -> dict[str, Any]:
    """Precision, recall and F1 of corrected sentences, and how many without errors stay."""
    rows = dict[str, Any]()
    for name in ("law", "med", "odw"):
        pairs = [line.split("\t")[1:3] for line in lines(data / "zh" / "ecspell" / f"{name}.test.txt")]
        found, seconds = timed(restore, [wrong for wrong, _ in pairs])
        changed = sum(one != wrong for one, (wrong, _) in zip(found, pairs, strict=True))
        right = sum(one == gold != wrong for one, (wrong, gold) in zip(found, pairs, strict=True))
        wrong = sum(one != other for one, other in pairs)
        rows[name] = {
            "precision": round(100 * right / max(changed, 1), 1),
            "recall": round(100 * right / wrong, 1),
            "F1": round(200 * right / (changed + wrong), 1),
            "ms per sentence": round(1000 * seconds / len(pairs), 2),
        }
        click.echo(f"{name}: {rows[name]}")
    texts = lines(data / "zh" / "correct" / "dev.txt")
    found, _ = timed(restore, texts)
    rows["correct left alone"] = round(100 * sum(a == b for a, b in zip(texts, found, strict=True)) / len(texts), 2)
    click.echo(f"correct left alone: {rows['correct left alone']}")
    return rows


# --- both


def restoring(restorer: Parts, **options: Any) -> Restore:
    """Our own."""
    made = restorer.restorer(**options)
    return lambda texts: (one.text for one in made.restore_batch(texts, alternatives=False))


def without_network(restorer: Parts) -> Parts:
    """The n-grams alone."""
    return restorer._replace(network={}, folder=None)


def program(module: str, name: str) -> Any:
    """A function of another package; None where that is not installed."""
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        return None


def unless_it_fails(restore: Callable[[str], str], text: str) -> str:
    """A text that another program restored, or as it is where that ends in an error."""
    try:
        return restore(text)
    except (LookupError, ValueError):
        return text


@click.command(help=__doc__)
@click.argument("lang", type=click.Choice(["vi", "zh"]))
@click.argument("work", type=click.Path(exists=True, path_type=Path))
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True, help="Folder of all data.")
@click.option("--restorer", type=click.Path(exists=True, path_type=Path), help="[default: the one that ships]")
@click.option("--bigrams", type=click.Path(exists=True, path_type=Path), help="Vietnamese: n-grams of order 2.")
@click.option("--model", help="A pretrained PhonemicBERT to ask where the n-grams are not sure.")
@click.option("--output", type=click.Path(path_type=Path))
def main(
    lang: str,
    work: Path,
    data: Path,
    restorer: Path | None,
    bigrams: Path | None,
    model: str | None,
    output: Path | None,
) -> None:
    """Measures, and writes the figures."""
    folder = restorer or HERE.parent / "model" / "checkpoints" / default_name(lang)
    parts = Parts.load(folder)
    held_out, text = work / "held-out", work / "text"
    if lang == "vi":
        found = vietnamese(data, held_out, text, parts, bigrams, model)
    else:
        found = mandarin(data, held_out, text, parts, model)
    count, order = len(parts.ngrams), parts.ngrams.order
    sizes = {
        "MB": round((folder / FILE).stat().st_size / 1e6, 1),
        "network MB": round(sum(map(len, parts.network.values())) / 1e6, 1),
        "n-grams": count,
        "order": order,
    }
    where = {name: value for name, value in environment().items() if name != "commit"}
    result = {"environment": where, "model": model and Path(model).name, "size": sizes, "results": found}
    write_json(output or HERE / "results" / f"restoration-{lang}.json", result, indent=1)


if __name__ == "__main__":
    main()
