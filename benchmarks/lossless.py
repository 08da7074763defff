"""Text given back from ids: exactness on real and on fuzzed text, positions, speed, compared with trained tokenizers.

    python benchmarks/lossless.py --data FOLDER --work FOLDER               # results/lossless.json
    python benchmarks/lossless.py --data FOLDER --work FOLDER --only fuzz   # one part, the others stay as they were

MB are 10**6 bytes of the text in UTF-8; speeds are CPU time of one thread, the parts of a row in turns.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import models
from benchmarks.environment import environment
from benchmarks.texts import head, size_of
from benchmarks.timing import cpu, in_turns, ratio
from phonemic import Tokenizer, reference_forms
from phonemic.files import replacing
from phonemic.files.writing import write_text
from phonemic.forms import UNKNOWN, WHITE, without_forms
from phonemic.inventory import READINGS

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "lossless.json"

#: The text of each row of the table of positions.
KINDS = {
    "news": ("vi", "vi/raw/news.txt.xz"),
    "Wikipedia": ("vi", "vi/raw/viwiki.txt.xz"),
    "reviews and comments": ("vi", "vi/more/[acrsv]*.txt.xz"),
    "news, headlines and reviews": ("zh", "zh/raw/general.txt.xz"),
    "technical articles": ("zh", "zh/raw/lctt.txt.xz"),
    "laws": ("zh", "zh/raw/laws.txt.xz"),
    "microblogs": ("zh", "zh/more/weibo_*.txt.xz"),
}
SPEED = {"vi": "vi/raw/news.txt.xz", "zh": "zh/raw/general.txt.xz"}
MEASURED = 10_000_000  # bytes of text
BLOCK = 20_000  # lines, or texts, at a time
SENTENCE = 100  # characters

#: Code points of fuzzed text, by kind.
POOLS = [
    range(0x80), range(0xC0, 0x250), range(0x1EA0, 0x1EFA), range(0x300, 0x370), [0x20, 0x0A, 0x09, 0xA0, 0x3000],
    range(0x4E00, 0xA000), range(0x3400, 0x4DC0), range(0x20000, 0x2A6E0), range(0xF900, 0xFB00), range(0x2E80, 0x2FE0),
    range(0x3000, 0x3040), range(0xFF00, 0xFFF0), range(0x1F300, 0x1FAFF), range(0x200B, 0x2010), range(0xFE00, 0xFE10),
    range(0xE0100, 0xE01F0), range(0x1160, 0x1200), range(0xD800, 0xE000), range(0xE000, 0xE100), range(0x110000),
    [ord(char) for char in "aăâeêioôơuưyđðĐÐbcghklmnpqrtvxAKH"], [ord(char) for char in "行长重为还著的地得好一不了"],
]  # fmt: skip
MARKS = [0x300, 0x301, 0x303, 0x309, 0x323, 0x302, 0x306, 0x31B]


def lines(path: Path) -> Iterator[list[str]]:
    """The lines of a file, each with what ends it, some at a time."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8", newline="\n") as file:
        block: list[str] = []
        for line in file:
            block.append(line)
            if len(block) == BLOCK:
                yield block
                block = []
        yield block


def fuzzed(dice: np.random.Generator, characters: int) -> list[str]:
    """Texts in which short runs of every kind of character touch."""
    pools = [np.array(pool, np.uint32) for pool in POOLS]
    runs: list[NDArray[np.uint32]] = []
    made = 0
    while made < characters:
        pool = pools[dice.integers(len(pools))]
        run = pool[dice.integers(len(pool), size=dice.integers(1, 12))]
        if dice.random() < 0.3:
            run = np.stack([run, np.array(MARKS, np.uint32)[dice.integers(len(MARKS), size=len(run))]], 1).reshape(-1)
        runs.append(run)
        made += len(run)
    codes = np.concatenate(runs)
    ends = np.sort(dice.integers(len(codes), size=len(codes) // 40))
    return [part.tobytes().decode("utf-32-le", "surrogatepass") for part in np.split(codes, ends)]


class Tally:
    """Texts given back, and what that takes, by one tokenizer."""

    def __init__(self, lang: str, readings: str = READINGS[0]) -> None:
        self.tokenizer, self.plain = (Tokenizer(lang, readings=readings, form=form) for form in (True, False))
        self.characters = self.lost = self.other = self.positions = self.without = self.white = 0

    def add(self, texts: list[str], compared: bool = True) -> None:
        """Encodes texts, gives them back, and compares the ids, if asked, with those without forms."""
        batch, plain = self.tokenizer.encode_batch(texts), self.plain.encode_batch(texts)
        given = self.tokenizer.decode_batch(batch.ids, batch.offsets)
        self.characters += sum(map(len, texts))
        self.lost += sum(one != other for one, other in zip(texts, given, strict=True))
        dropped = without_forms(batch.ids, self.tokenizer.lang) if compared else plain.ids
        self.other += not np.array_equal(dropped, plain.ids) and sum(
            not np.array_equal(without_forms(one.ids, self.tokenizer.lang), other.ids)
            for one, other in zip(batch, plain, strict=True)
        )
        self.positions += len(batch.ids)
        self.without += len(plain.ids)
        self.white += int(
            (((batch.ids & 0xFFFFFF) == UNKNOWN) & (batch.forms >= WHITE) & (batch.forms < WHITE + 6)).sum()
        )

    def result(self) -> dict[str, Any]:
        """The counts."""
        more = (self.positions - self.white - self.without) / max(self.without, 1)
        return {
            "characters": self.characters, "texts that are other": self.lost, "ids that are other": self.other,
            "more positions": round(100 * more, 3), "white space": round(100 * self.white / max(self.without, 1), 3),
        }  # fmt: skip


def exactness(data: Path) -> dict[str, Any]:
    """Every line of all data, each language by its own tokenizers and by the other's."""
    found: dict[str, Any] = {}
    for lang, other in (("vi", "zh"), ("zh", "vi")):
        tallies = {"own": Tally(lang), "other": Tally(other)}
        if lang == "zh":
            tallies["context"] = Tally(lang, readings="context")
        for path in sorted((data / lang).rglob("*")):
            if path.is_file():
                for number, block in enumerate(lines(path)):
                    for name, tally in tallies.items():
                        if name == "own" or number % 10 == 0:  # the others: a tenth
                            tally.add(block)
        found |= {f"{lang}, {name}": tally.result() for name, tally in tallies.items()}
    return found


def fuzz(characters: int) -> dict[str, Any]:
    """Fuzzed text by every core, and a part of it by the plain twin."""
    tallies = {"vi": Tally("vi"), "zh": Tally("zh"), "zh, context": Tally("zh", readings="context")}
    dice, blocks, twin, wrong = np.random.default_rng(7), 0, 0, 0
    while min(tally.characters for tally in tallies.values()) < characters:
        texts = fuzzed(dice, min(characters, 1_000_000))
        for tally in tallies.values():
            tally.add(texts, compared=blocks % 10 == 0)
        blocks += 1
        for tally in tallies.values():
            options = {"readings": tally.tokenizer.readings}
            for text in texts[: len(texts) // 200]:
                expected = reference_forms.encode(text, tally.tokenizer.lang, **options)
                encoding = tally.tokenizer.encode(text)
                wrong += encoding.forms.tolist() != [position.form for position in expected]
                wrong += encoding.triples != [position.triple for position in expected]
                twin += len(text)
    return {name: tally.result() for name, tally in tallies.items()} | {"twin": {"characters": twin, "other": wrong}}


def positions(data: Path) -> dict[str, Any]:
    """How many more positions texts of each kind take."""
    found = {}
    for name, (lang, pattern) in KINDS.items():
        tally = Tally(lang)
        for path in sorted(data.glob(pattern)):
            for block in lines(path):
                tally.add([line.rstrip("\n") for line in block])
        found[f"{lang}, {name}"] = tally.result()
    return found


def measured(data: Path, lang: str) -> list[str]:
    """Sentences of about a hundred characters."""
    made: list[str] = []
    for block in lines(data / SPEED[lang]):
        for line in block:
            text = line.rstrip("\n")
            made += [text[at : at + SENTENCE] for at in range(0, len(text), SENTENCE)]
        if size_of(made) > MEASURED:
            break
    return head(made, MEASURED)


def speed(data: Path) -> dict[str, Any]:
    """MB per CPU second with forms and without."""
    found = {}
    for lang, readings in (("vi", "pypinyin"), ("zh", "pypinyin"), ("zh", "context")):
        texts = measured(data, lang)
        plain, tokenizer = (Tokenizer(lang, readings=readings, form=form) for form in (False, True))
        calls: dict[str, Callable[[], Any]] = {
            "encode": partial(plain.encode_batch, texts),
            "encode with forms": partial(tokenizer.encode_batch, texts),
            "decode": partial(plain.decode_batch, plain.encode_batch(texts)),
            "decode with forms": partial(tokenizer.decode_batch, tokenizer.encode_batch(texts)),
        }
        seconds = in_turns({name: partial(cpu, call) for name, call in calls.items()})
        name = f"{lang}, {readings}" if lang == "zh" else lang
        found[name] = rates(seconds, texts) | {
            "ratio of encode": round(ratio(seconds["encode"], seconds["encode with forms"]), 3)
        }
    return found


def rates(seconds: dict[str, list[float]], texts: list[str]) -> dict[str, float]:
    """MB per second, by the median of the runs."""
    return {name: round(size_of(texts) / 1e6 / float(np.median(runs)), 1) for name, runs in seconds.items()}


class OtherTool(NamedTuple):
    """A tokenizer: how many entries it has, and what makes ids of texts, a list per text, and texts of those."""

    vocabulary: int
    encode: Callable[[list[str]], list[list[int]]]
    decode: Callable[[list[list[int]]], list[str]]


def _ids_of(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    return [each.ids for each in tokenizer.encode_batch(texts)]


def _each(function: Callable[[Any], Any], many: list[Any]) -> list[Any]:
    return [function(one) for one in many]


def trained(lang: str, path: Path, work: Path) -> dict[str, OtherTool]:
    """The tokenizers that people train, trained on a text."""
    bpe, piece = models.byte_bpe(lang, path, work), models.wordpiece(lang, path, work)
    unigram, tik = models.sentencepiece_unigram(lang, path, work), models.tiktoken_encoding(lang, path, work)
    return {
        "SentencePiece unigram": OtherTool(
            unigram.vocab_size(), partial(unigram.encode, num_threads=1), unigram.decode
        ),
        "tiktoken": OtherTool(tik.n_vocab, partial(_each, tik.encode_ordinary), partial(_each, tik.decode)),
        "Hugging Face byte-level BPE": OtherTool(bpe.get_vocab_size(), partial(_ids_of, bpe), bpe.decode_batch),
        "Hugging Face WordPiece": OtherTool(piece.get_vocab_size(), partial(_ids_of, piece), piece.decode_batch),
    }


def other_tools(data: Path, work: Path) -> dict[str, Any]:
    """Ours and tokenizers that people train, on the same texts; theirs on a fifth of them."""
    found = {}
    for lang in ("vi", "zh"):
        texts = measured(data, lang)
        path = work / f"lossless-{lang}.txt"
        write_text(path, "\n".join(texts) + "\n")
        ours = Tokenizer(lang, form=True)
        batch = ours.encode_batch(texts)
        encode: Any = ours.encode_batch
        decode: Any = ours.decode_batch
        found[f"{lang}, phonemic, form=True"] = compare(ours.vocab_size, encode, decode, texts, len(batch.ids))
        some = head(texts, MEASURED // 5)
        for name, tool in trained(lang, path, work).items():
            made = tool.encode(some)
            row = compare(tool.vocabulary, tool.encode, tool.decode, some, sum(map(len, made)))
            found[f"{lang}, {name}"] = row
    return found


def compare(
    vocabulary: int,
    encode: Callable[[list[str]], Any],
    decode: Callable[[Any], list[str]],
    texts: list[str],
    count: int,
) -> dict[str, Any]:
    """A row of the table of tokenizers."""
    made = encode(texts)
    same = [one == other for one, other in zip(texts, decode(made), strict=True)]
    seconds = in_turns(
        {"encode": partial(cpu, partial(encode, texts)), "decode": partial(cpu, partial(decode, made))}, 3
    )
    return {
        "vocabulary": vocabulary,
        "texts given back": round(100 * float(np.mean(same)), 2),
        "positions per character": round(count / sum(map(len, texts)), 3),
    } | rates(seconds, texts)


PARTS = ("exactness", "fuzz", "positions", "speed", "other_tools")


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True, help="The folder of the datasets.")
@click.option("--work", type=click.Path(path_type=Path), required=True, help="Where trained tokenizers are kept.")
@click.option("--only", type=click.Choice(PARTS), multiple=True, help="Parts; all by default.")
@click.option("--characters", default=100_000_000, show_default=True, help="Characters of fuzzed text.")
def main(data: Path, work: Path, only: tuple[str, ...], characters: int) -> None:
    """Measure, and write the results."""
    work.mkdir(parents=True, exist_ok=True)
    result = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    run = {
        "exactness": lambda: exactness(data), "fuzz": lambda: fuzz(characters), "positions": lambda: positions(data),
        "speed": lambda: speed(data), "other_tools": lambda: other_tools(data, work),
    }  # fmt: skip
    for part in only or PARTS:
        rows = run[part]()
        where = {name: value for name, value in environment().items() if name != "commit"}
        result[part] = {"rows": rows, "environment": where}
        click.echo(f"{part}\n{json.dumps(rows, ensure_ascii=False, indent=1)}")
        with replacing(RESULTS) as file:
            file.write(json.dumps(result, ensure_ascii=False, indent=1).encode() + b"\n")


if __name__ == "__main__":
    main()
