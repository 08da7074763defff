"""The texts that are measured: distinct sentences of real data in a fixed random order, and what is made from them."""

from __future__ import annotations

import csv
import lzma
import random
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from phonemic.files.writing import write_text

SEED = 20
MEGABYTE = 1_000_000
WHOLE = 100 * MEGABYTE
SENTENCES = 10_000
SOURCES = {"vi": "vi/raw/news.txt.xz", "zh": "zh/raw/*.xz"}

_EMOJI = "😀 😂 🤣 😍 👍 🙏 ❤️ 🔥 💯 🎉 😭 🤔 👨‍👩‍👧 🇻🇳 🇨🇳 👍🏽".split()
_TAGS = "#sale #TBT #2024 #vlog #freeship #OOTD @shop_online @user_123 @Tom".split()
_LINKS = "https://t.co/aB3xYz9 http://example.com/p?id=42&ref=home www.example.org/news/2024-05-01".split()
_ENGLISH = "ok,lol,COVID-19,iPhone 15 Pro,good job,update version 2.0.1,livestream,check inbox,Premier League".split(
    ","
)
_NUMBERS = "100% 1.299.000đ 3,5 24/7 50k ¥199 12:30 +84 2-1 !!! ??? =)) :v".split()


class MissingTextError(Exception):
    """A text cannot be made; the message says what it needs."""


def size_of(texts: Iterable[str]) -> int:
    """Bytes of UTF-8."""
    return sum(len(text.encode()) for text in texts)


def fresh(texts: Iterable[str]) -> list[str]:
    """New strings that lie in memory in their order, as after reading a file."""
    return "\n".join(texts).split("\n")


def head(texts: list[str], size: int) -> list[str]:
    """The first texts of at most ``size`` bytes, but one at least."""
    for count, text in enumerate(texts):
        size -= len(text.encode()) + 1
        if size < 0:
            return texts[: max(count, 1)]
    return texts


def read(path: Path) -> list[str]:
    """The lines of a text file."""
    return path.read_text(encoding="utf-8").rstrip("\n").split("\n")


def sentences(texts: Iterable[str], lang: str, count: int) -> list[str]:
    """Different sentences of 15 syllables out of the beginnings of texts, ``count`` at most."""
    found: dict[str, None] = {}
    for text in texts:
        words = text.split() if lang == "vi" else re.findall("[\u4e00-\u9fff]", text)
        if len(words) >= 15:
            found[(" " if lang == "vi" else "").join(words[:15])] = None
        if len(found) == count:
            break
    return fresh(found)


#: Whether one sentence of 15 syllables is encoded again and again, which suits a cache, or a new one each time.
WAYS = ("the same sentence each time", "a different sentence each time")


def in_way(way: str, different: list[str]) -> list[str]:
    """As many sentences as are different: the first of them each time, or all."""
    return different[:1] * len(different) if way == WAYS[0] else different


def prepare(lang: str, data: Path, folder: Path) -> Path:
    """Writes the distinct lines of the raw data, at most 100 MB, in a random order that is always the same."""
    path = folder / f"{lang}.txt"
    if path.exists():
        return path
    files = sorted(data.glob(SOURCES[lang]))
    if not files:
        raise MissingTextError(f"needs {data / SOURCES[lang]}")
    lines: dict[str, None] = {}
    for file in files:
        with lzma.open(file, "rt", encoding="utf-8", newline="\n") as rows:
            lines |= dict.fromkeys(unicodedata.normalize("NFC", row.strip()) for row in rows)
    lines.pop("", None)
    distinct = [line.replace("\r", " ") for line in lines]
    random.Random(SEED).shuffle(distinct)
    write(path, head(distinct, WHOLE))
    return path


def write(path: Path, lines: Iterable[str]) -> None:
    """Writes a text file, next to it first and then renamed."""
    write_text(path, "\n".join(lines) + "\n")


def traditional(texts: list[str], path: Path) -> list[str]:
    """The same sentences in traditional characters, one for one (OpenCC s2t; ``path`` keeps them)."""
    if not path.exists():
        try:
            from opencc import OpenCC
        except ImportError as error:
            raise MissingTextError("needs OpenCC: pip install opencc") from error
        write(path, OpenCC("s2t").convert("\n".join(texts)).split("\n"))
    return read(path)


def _vihos(data: Path) -> Iterator[str]:
    for path in sorted(data.glob("vi/vihos/*.csv")):
        with open(path, encoding="utf-8", newline="") as file:
            sentence = ""
            words: list[str] = []
            for row in csv.DictReader(file):
                if row["sentence_id"] != sentence and words:
                    yield " ".join(words)
                    words = []
                sentence = row["sentence_id"]
                words.append(row["Word"])
            yield " ".join(words)


def _weibo(data: Path) -> Iterator[str]:
    for path in sorted(data.glob("zh/weibo_ner/*")):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            yield "".join(line.split("\t")[0][:-1] for line in block.split("\n") if "\t" in line)


def _feedback(data: Path) -> Iterator[str]:
    for path in sorted(data.glob("vi/vsfc/*/sents.txt")):
        yield from read(path)


def social(lang: str, data: Path, size: int) -> list[str]:
    """Posts as on social media: real sentences with emoji, links, tags, English and numbers between them.

    The sentences recur (there are 0.3 MB of them in Chinese, 2 MB in Vietnamese); no two posts are the same.
    """
    sentences = [text for text in (chain(_vihos(data), _feedback(data)) if lang == "vi" else _weibo(data)) if text]
    if not sentences:
        raise MissingTextError(f"needs {data}/{'vi/vihos or vi/vsfc' if lang == 'vi' else 'zh/weibo_ner'}")
    dice = random.Random(SEED)
    space = " " if lang == "vi" else ""
    posts: dict[str, None] = {}
    while size > 0:
        parts = []
        for _ in range(dice.randint(1, 3)):
            parts.append(dice.choice(sentences))
            parts.extend(
                dice.choice(kind) for kind in (_EMOJI, _TAGS, _LINKS, _ENGLISH, _NUMBERS) if dice.random() < 0.4
            )
        post = (space or dice.choice(("", " "))).join(parts)
        if post not in posts:
            posts[post] = None
            size -= len(post.encode()) + 1
    return fresh(posts)


def shuffles(texts: list[str], total: int, block: int) -> Iterator[list[str]]:
    """Blocks of about ``block`` bytes, ``total`` bytes in all: the texts again and again, each time shuffled."""
    dice = random.Random(SEED)
    order = list(range(len(texts)))
    rows: list[str] = []
    size = 0
    while True:
        dice.shuffle(order)
        for index in order:
            rows.append(texts[index])
            size += len(texts[index].encode()) + 1
            if size >= min(block, total):
                yield fresh(rows)
                total -= size
                rows, size = [], 0
                if total <= 0:
                    return
