"""Pieces of crafted texts: pieces that cost more than ordinary text, and tokenizers to be used badly."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Mapping

from benchmarks.limit_tables import phrases
from benchmarks.texts import SEED
from benchmarks.worst_cases import CONSONANTS, LETTERS, VOWELS
from phonemic import Tokenizer, vietnamese
from phonemic.lexicon.user_phrases import LONGEST_PHRASE

Pools = dict[str, list[str]]

#: Single characters that send the loops another way, in both languages.
_COMMON: Pools = {
    "space": [" "],
    "comma": [","],
    "letter": list("abcdefghijklmnopqrstuvwxyz"),
    "mark": list("\u0300\u0301\u0303\u0309\u0323\u0302\u0306\u031b"),
    "variation selector": ["\ufe0f"],
    "emoji": ["😀", "👍🏽", "❤️"],
    "beyond the basic plane": [chr(code) for code in range(0x20000, 0x20400)],
}


def pools(lang: str) -> Pools:
    """The pieces of a language by their kind."""
    return {**(_vietnamese() if lang == "vi" else _mandarin()), **_COMMON}


def changing_phrases() -> list[str]:
    """The lexicon's phrases that change the reading of one of their characters."""
    table = phrases()
    zh = Tokenizer("zh")
    alone = {char: int(zh.encode(char).ids[0]) for char in sorted({char for phrase, _ in table for char in phrase})}
    return [phrase for phrase, readings in table if readings != [alone[char] for char in phrase]]


def _mandarin() -> Pools:
    every = [phrase for phrase, _ in phrases()]
    changing = changing_phrases()
    known, others = set(every), set(every).difference(changing)
    characters = sorted(set("".join(every)))

    def beginnings(of: list[str], least: int) -> list[str]:
        return sorted({phrase[:end] for phrase in of for end in range(least, len(phrase))} - known)

    return {
        "changing, 2 characters": [phrase for phrase in changing if len(phrase) == 2],
        "changing, 3 characters": [phrase for phrase in changing if len(phrase) == 3],
        "changing, 4 characters": [phrase for phrase in changing if len(phrase) == 4],
        "changing, longer": [phrase for phrase in changing if len(phrase) > 4],
        "not changing, 2 characters": sorted(phrase for phrase in others if len(phrase) == 2),
        "not changing, longer": sorted(phrase for phrase in others if len(phrase) > 2),
        "beginnings of changing phrases": beginnings(changing, 2),
        "long beginnings": beginnings(every, 4),
        "beginnings and a wrong character": _wrong(beginnings(changing, 2), characters),
        "characters of phrases": characters,
        "characters of no phrase": [char for char in map(chr, range(0x4E00, 0x9FA6)) if char not in characters],
    }


def _wrong(beginnings: list[str], characters: list[str]) -> list[str]:
    dice = random.Random(SEED)
    return [beginning + dice.choice(characters) for beginning in beginnings]


def _vietnamese() -> Pools:
    dice = random.Random(SEED)
    known = sorted(vietnamese.spellings())
    misses: set[str] = set()
    while len(misses) < 20_000:
        text = dice.choice(CONSONANTS) + dice.choice(VOWELS) + dice.choice(VOWELS) + dice.choice(["", *CONSONANTS])
        misses |= {text} - set(known)
    near = sorted(misses)
    return {
        "syllables": known,
        "syllables in upper case": [text.upper() for text in known],
        "syllables, decomposed": [unicodedata.normalize("NFD", text) for text in known],
        "misses": near,
        "misses, decomposed": [unicodedata.normalize("NFD", text) for text in near],
        "letters": list(LETTERS),
        "long runs": ["".join(dice.choices(LETTERS, k=dice.randint(8, 17))) for _ in range(10_000)],
        "wide letters": [chr(code) for code in range(0xFF41, 0xFF5B)],
        "digit": list("0123456789"),
        "Han": [chr(code) for code in range(0x4E00, 0x5200)],
    }


def user_phrases() -> Mapping[str, tuple[Tokenizer, str]]:
    """Phrases of a user that are as long as they may be, with the text that costs them most, by what they share."""
    dice = random.Random(SEED)
    many = [chr(code) for code in range(0x4E00, 0x4E00 + 4000)]
    dice.shuffle(many)
    longest = LONGEST_PHRASE - 1
    alike = {"一" * length + "丁" for length in range(1, longest + 1)}
    turned = {"".join((many + many)[at : at + longest]) + "丁" for at in range(len(many))}
    short = {"".join(dice.choices(many[:60], k=2)) for _ in range(2000)}
    cases = {
        "63 phrases with one prefix": (alike, "一"),
        "4,000 phrases, each nearly matched": (turned, "".join(many)),
        "2,000 phrases of 2 characters": (short, "".join(sorted(short))),
    }
    made = {}
    for name, (chosen, text) in cases.items():
        own = {phrase: ["yi4"] * len(phrase) for phrase in sorted(chosen)}
        made[name] = (Tokenizer("zh", phrases=own), text)
    return made
