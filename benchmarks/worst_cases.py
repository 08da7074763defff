"""Inputs made to be slow: each is real UTF-8 text of about a given size, the same every time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from benchmarks.limit_tables import phrases
from benchmarks.texts import SEED, fresh
from phonemic import Tokenizer

LINE = 400  # characters, where an input is not one row
VOWELS = "aáàảãạăắằẳẵặâấầẩẫậeéèẻẽẹêếềểễệiíìỉĩịoóòỏõọôốồổỗộơớờởỡợuúùủũụưứừửữựyýỳỷỹỵ"
CONSONANTS = "b c ch d đ g gh gi h k kh l m n ng ngh nh p ph q r s t th tr v x".split()
LETTERS = VOWELS + "bcdđghklmnpqrstvx"
EMOJI = "😀😂🤣😍👍🙏🔥💯🎉😭🤔🥰😎🚀🍜🐉🇻👩🏽💡"
SCRIPTS = ["a", "中", "ж", "7", "ế", "한", ",", "ก", "𠀀", "😀", "é", "\u0301"]

Make = Callable[[random.Random, int], list[str]]


def inputs(lang: str, tokenizer: Tokenizer, size: int) -> Iterator[tuple[str, list[str]]]:
    """Names and rows of the inputs of a language, each of about ``size`` bytes."""
    made = _vietnamese(tokenizer) if lang == "vi" else _mandarin(tokenizer)
    for name, make in {**made, **_COMMON}.items():
        yield name, make(random.Random(SEED), size)


def _row(pieces: Callable[[random.Random], str], joint: str = "") -> Make:
    """One row."""

    def make(dice: random.Random, size: int) -> list[str]:
        sample = [pieces(dice) for _ in range(1000)]
        mean = sum(len(piece.encode()) + len(joint) for piece in sample) / len(sample)
        return [joint.join(pieces(dice) for _ in range(int(size / mean)))]

    return make


def _lines(pieces: Callable[[random.Random], str], joint: str = "") -> Make:
    """Rows of about LINE characters."""
    one_row = _row(pieces, joint)

    def make(dice: random.Random, size: int) -> list[str]:
        (text,) = one_row(dice, size)
        return fresh(text[at : at + LINE] for at in range(0, len(text), LINE))

    return make


def _from(choices: str | list[str]) -> Callable[[random.Random], str]:
    return lambda dice: dice.choice(choices)


def _under_marks(dice: random.Random, size: int) -> list[str]:
    return ["a" + "".join(dice.choices("\u0301\u0323\u031b", k=size // 2))]


_COMMON: dict[str, Make] = {
    "all emoji": _lines(_from(EMOJI)),
    "combining marks only": _lines(_from("\u0300\u0301\u0303\u0309\u0323\u0302\u0306\u031b\ufe0f\u200d")),
    "one letter under more and more marks": _under_marks,
    "alternating scripts": _lines(_from(SCRIPTS)),
    "white space only": _lines(_from(" \t\u3000\xa0\u2028")),
    "ASCII punctuation only": _lines(_from("!?,.;:-()[]\"'")),
    "digits": _lines(_from("0123456789")),
}


def _vietnamese(tokenizer: Tokenizer) -> dict[str, Make]:
    def miss(dice: random.Random) -> str:
        """Words that look like a syllable and are not one."""
        while True:
            text = dice.choice(CONSONANTS) + dice.choice(VOWELS) + dice.choice(VOWELS) + dice.choice(CONSONANTS)
            if tokenizer.factorize(text) is None:
                return text

    def letters(dice: random.Random) -> str:
        return "".join(dice.choices(LETTERS, k=dice.randint(5, 9)))

    dice = random.Random(SEED)
    misses = [miss(dice) for _ in range(20_000)]
    return {
        "one run of letters, no space": _row(_from(LETTERS)),
        "misses that look like syllables": _lines(_from(misses), " "),
        "every run different": _lines(letters, " "),
        "single letters": _lines(_from(LETTERS), " "),
        "one syllable per row": lambda dice, size: fresh(dice.choices(["tôi", "yêu", "giếng", "nước"], k=size // 7)),
        "decomposed misses": _lines(_from([_decomposed(text) for text in misses]), " "),
        "CJK": _lines(lambda dice: chr(dice.randrange(0x4E00, 0x9FA6))),
    }


def _decomposed(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFD", text)


def _mandarin(tokenizer: Tokenizer) -> dict[str, Make]:
    table = phrases()
    defaults: dict[str, int] = {}
    for char in sorted({char for phrase, _ in table for char in phrase}):
        defaults[char] = int(tokenizer.encode(char).ids[0])
    changing = [phrase for phrase, readings in table if readings != [defaults[char] for char in phrase]]
    common = sorted({char for phrase in changing for char in phrase})
    long = [phrase for phrase, _ in table if len(phrase) >= 4]
    longest = max(long, key=len)
    return {
        "one run of characters, no punctuation": _row(_from(common)),
        "prefixes of the phrases that change a reading": _row(_from(sorted({phrase[:-1] for phrase in changing}))),
        "prefixes of all phrases": _row(_from(sorted({phrase[:-1] for phrase, _ in table}))),
        "prefixes of the long phrases": _row(_from(sorted({phrase[:-1] for phrase in long}))),
        "one long prefix, repeated": _row(lambda _: longest[:-1]),
        "phrases that change a reading": _row(_from(changing)),
        "all phrases": _row(_from([phrase for phrase, _ in table])),
        "any character of the basic block": _row(lambda dice: chr(dice.randrange(0x4E00, 0x9FA6))),
        "characters beyond the basic plane": _row(lambda dice: chr(dice.randrange(0x20000, 0x2A6D7))),
        "one character per row": lambda dice, size: fresh(dice.choices(common, k=size // 4)),
        "Latin letters": _lines(_from("abcdefghijklmnopqrstuvwxyz")),
    }
