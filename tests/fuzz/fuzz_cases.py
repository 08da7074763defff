"""Structured random input for the core: texts, UTF-8 with bad bytes, Arrow layouts, options, damaged saved files.

Everything comes from one ``random.Random``, so that a seed says a case again.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from phonemic import Tokenizer, vietnamese
from phonemic.lexicon.phrases import phrases_of
from phonemic.lexicon.tables import tables_of
from phonemic.reading.models import reading_data

#: Bytes that are no UTF-8: stray, cut, overlong, surrogates, beyond Unicode.
BAD = [b"\x80", b"\xbf" * 5, b"\xff", b"\xc0\x80", b"\xc3", b"\xe6\x95", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x9f\x8e",
       b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80"]  # fmt: skip

MARKS = "\u0300\u0301\u0303\u0309\u0323\u0302\u0306\u031b\u0308\u0327\u034f\u200b\u200d\u00ad\ufe0f\U000e0100"
ODD = "\0\x1f\x85\ufeff가\u1100\u1161\u11a8ßİıſKÅﬁ①²Ⅷ½👩🏽‍🚀🇻🇳٣９。，“”…《》_-.@#\u3000\t\n \U0002f800\uf900〇"


@cache
def pieces(lang: str) -> list[str]:
    """Spellings of all syllables, or all phrases, those first that change the reading of one of their characters."""
    if lang == "vi":
        return sorted(vietnamese.spellings())
    zh = Tokenizer("zh")
    found = phrases_of(tables_of("zh"))
    alone = {char: int(zh.encode(char).ids[0]) for char in sorted(set("".join(found)))}
    return sorted(found, key=lambda phrase: (found[phrase] == [alone[char] for char in phrase], phrase))


@cache
def changing(lang: str) -> int:
    """How many of the pieces, from the first on, change a reading; of Vietnamese all of them."""
    if lang == "vi":
        return len(pieces(lang))
    zh, found = Tokenizer("zh"), phrases_of(tables_of("zh"))
    alone = {char: int(zh.encode(char).ids[0]) for char in sorted(set("".join(found)))}
    return sum(found[phrase] != [alone[char] for char in phrase] for phrase in pieces(lang))


@cache
def varying() -> list[str]:
    """Characters that are read in context, in both scripts, and some that are seen around them."""
    return [*sorted(reading_data().models), *"，。、！；“”《》\n :3a著乾徵瞭銀為這的一了"]


def piece(dice: random.Random, lang: str) -> str:
    """One piece of a text."""
    kind = dice.random()
    if lang == "zh" and kind < 0.15:
        return "".join(dice.choices(varying(), k=dice.randint(1, 6)))
    if kind < 0.5:
        known = pieces(lang)
        one = known[dice.randrange(changing(lang) if dice.random() < 0.7 else len(known))]
        if dice.random() < 0.3:
            one = one[: dice.randrange(len(one) + 1)]
        return one
    if kind < 0.6:
        return dice.choice(pieces("zh" if lang == "vi" else "vi"))
    if kind < 0.75:
        return "".join(dice.choices("abcdeghiklmnopqrstuvxyđăâêôơư0189", k=dice.randint(1, 9)))
    if kind < 0.9:
        return "".join(dice.choices(MARKS + ODD, k=dice.randint(1, 3)))
    limit = dice.choice([0x80, 0x100, 0x3000, 0xD800, 0x110000])
    code = dice.randrange(limit)
    return chr(code) * dice.choice([1, 1, 2, 70])


def text(dice: random.Random, lang: str) -> str:
    """A text; it may hold lone surrogates."""
    made = "".join(piece(dice, lang) + dice.choice(["", "", " ", "_", "\u0301"]) for _ in range(dice.randrange(24)))
    change = dice.random()
    if change < 0.15:
        return unicodedata.normalize(dice.choice(["NFC", "NFD", "NFKD"]), made)
    if change < 0.25:
        return made.upper()
    return made


def long_text(dice: random.Random, lang: str) -> str:
    """A text of thousands of pieces, each of which comes many times and between others."""
    known = [piece(dice, lang) for _ in range(100)] + ["", " ", "_", "\u0301"]
    return "".join(dice.choices(known, k=dice.choice([500, 5000, 20_000])))


def raw(dice: random.Random, lang: str) -> bytes:
    """UTF-8, mostly with bad bytes between or within its characters."""
    made = text(dice, lang).encode("utf-8", "surrogatepass")
    for _ in range(dice.choice([0, 1, 1, 2, 5])):
        at = dice.randrange(len(made) + 1)
        made = made[:at] + dice.choice(BAD) + made[at + dice.choice([0, 0, 1, 3]) :]
    return made


@dataclass(frozen=True)
class Options:
    """The arguments of a Tokenizer, and of the reference's ``encode``."""

    lang: str
    strict: bool
    word_joiner: str | None
    phrases: tuple[tuple[str, tuple[str, ...]], ...]
    fallback: str
    readings: str
    sandhi: bool = False
    erhua: bool = False
    form: bool = False

    def tokenizer(self) -> Tokenizer:
        phrases = {phrase: list(pinyin) for phrase, pinyin in self.phrases}
        return Tokenizer(
            self.lang,
            strict=self.strict,
            word_joiner=self.word_joiner,
            phrases=phrases or None,
            fallback=self.fallback,
            readings=self.readings,
            sandhi=self.sandhi,
            erhua=self.erhua,
            form=self.form,
        )


def options(dice: random.Random) -> Options:
    """Options, among them a user's own phrases that meet those of the lexicon."""
    lang = dice.choice(["vi", "zh"])
    phrases = {}
    if lang == "zh" and dice.random() < 0.5:
        for _ in range(dice.randint(1, 5)):
            one = dice.choice(pieces("zh"))[: dice.randint(1, 5)]
            phrases[one] = tuple(dice.choice(["yi1", "hang2", "xing2", "de5"]) for _ in one)
    joiner = dice.choice([None, None, "_", "-", "·"])
    strict, fallback = lang == "vi" and dice.random() < 0.5, dice.choice(["character", "packed"])
    readings = dice.choice(["pypinyin", "context"]) if lang == "zh" else "pypinyin"
    spoken = [lang == "zh" and dice.random() < 0.3 for _ in range(2)]
    form = dice.random() < 0.4
    if form:
        fallback, spoken = "character", [False, False]
    return Options(lang, strict, joiner, tuple(phrases.items()), fallback, readings, *spoken, form)


def forged_ids(dice: random.Random, ids: list[int]) -> list[int]:
    """Ids of a text, some of them other, missing, doubled or moved."""
    made = list(ids)
    for _ in range(dice.choice([1, 2, 5, 20])):
        at = dice.randrange(len(made) + 1)
        other = dice.choice([dice.getrandbits(32) - (1 << 31), 0x010101 | dice.randrange(128) << 24, 0x020202, 0])
        if made and dice.random() < 0.5:
            other = dice.choice(made) & 0xFFFFFF | dice.randrange(128) << 24
        made[at : at + dice.choice([0, 0, 1, 3])] = [other] * dice.choice([0, 1, 1, 2])
    return made


def layouts(dice: random.Random, rows: list[bytes | None]) -> Iterator[Any]:
    """The rows as Arrow arrays of every kind: plain, sliced, views, a dictionary."""
    import pyarrow as pa

    plain = pa.array(rows, pa.binary())
    yield plain.view(pa.string())
    yield pa.array(rows, pa.large_binary()).view(pa.large_string())
    before = [b"x" * dice.randrange(5)] * dice.randrange(3)
    yield pa.array([*before, *rows, b"\xff"], pa.binary()).view(pa.string())[len(before) : len(before) + len(rows)]
    if hasattr(pa, "binary_view"):
        yield pa.array(rows, pa.binary_view()).view(pa.string_view())
    values = sorted({row for row in rows if row is not None})
    places = {row: at for at, row in enumerate(values)} | {None: len(values)}
    indices = pa.array([None if row is None and dice.random() < 0.5 else places[row] for row in rows], pa.int32())
    yield pa.DictionaryArray.from_arrays(indices, pa.array([*values, None], pa.binary()).view(pa.string()))


def damaged(dice: random.Random, data: bytes) -> bytes:
    """A file's bytes, cut, changed, or with a JSON value in another's place."""
    kind = dice.random()
    at = dice.randrange(len(data) + 1)
    if kind < 0.3:
        return data[:at]
    if kind < 0.6:
        return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]
    state = json.loads(data)
    values = [
        None,
        True,
        0,
        -1,
        1e400,
        "",
        "x",
        "..",
        [],
        {},
        [[]],
        {"a": 1},
        ["a"],
        {"银": "yin2"},
        {"银": 5},
        {"a": [1]},
    ]
    state[dice.choice([*state, "other"])] = dice.choice(values)
    return json.dumps(state).encode()
