"""Writes characters.tsv: the Unicode facts the tokenizer depends on, frozen so that every Python gives the same ids.

Run with unicodedata2 installed (``pip install unicodedata2``): ``python phonemic/compiling/make_characters.py``.
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

import unicodedata2 as unicodedata

#: Unicode's Default_Ignorable_Code_Point.
IGNORABLE = """
00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFF8
1BCA0-1BCA3 1D173-1D17A E0000-E0FFF
"""
#: Conjoining vowels and finals: NFC joins them to the jamo before them.
JAMO = "1160-11FF D7B0-D7FF"

#: ASCII mark <- marks of the same function. Full-width ASCII needs no entry: its compatibility mapping is ASCII.
SAME_FUNCTION = {
    ",": "、‚،、﹑﹐،՝߸᠂꓾",
    ".": "。．｡…‥⋯。۔።।॥։᠃꓿",
    "!": "¡‼",
    "?": "¿⁇؟՞",
    ":": "∶˸꞉",
    ";": "؛",
    '"': "“”„‟«»《》「」『』〈〉〝〞〟｢｣﹁﹂﹃﹄″❝❞⟨⟩",
    "'": "‘’‚‛′‹›´`ʹʻʼʽˊˋ❛❜",
    "-": "–—―‐‑‒−─━·・‧•∙⋅●▪■ｰ﹣⁃",
    "~": "〜∼˜",
    "(": "〔❨⦅",
    ")": "〕❩⦆",
    "[": "【〖〚⟦",
    "]": "】〗〛⟧",
    "/": "⁄∕÷",
    "\\": "∖",
    "*": "×∗⁎★☆※",
    "%": "٪",
}
VIETNAMESE = "ăâđêôơư"
LETTERS = set("abcdefghijklmnopqrstuvwxyz") | set(VIETNAMESE)
TARGETS = {chr(code) for code in range(0x21, 0x7F) if not chr(code).isupper()} | LETTERS


def ranges(text: str) -> set[int]:
    """The code points of ``A-B C ...`` in hexadecimal."""
    codes: set[int] = set()
    for item in text.split():
        first, _, last = item.partition("-")
        codes.update(range(int(first, 16), int(last or first, 16) + 1))
    return codes


def lower(char: str) -> str:
    """The one-character lower case that both cases of a letter share."""
    upper = char.upper() if len(char.upper()) == 1 else char
    return upper.lower() if len(upper.lower()) == 1 else upper.lower()[0]


def base(char: str) -> str:
    """The character without its marks; Vietnamese letters keep the marks that make them letters."""
    decomposed = str(unicodedata.normalize("NFD", char))
    first, marks = decomposed[0], decomposed[1:]
    for mark in "\u031b", *(m for m in marks if m in "\u0302\u0306"):
        letter = str(unicodedata.normalize("NFC", first + mark))
        if mark in marks and letter in VIETNAMESE:
            return letter
    return first


def fold(char: str, same_function: dict[str, str]) -> str | None:
    """The ASCII mark, digit or plain Latin letter that stands for ``char`` in the fallback."""
    char = base(lower(char))
    char = same_function.get(char, char)
    if char in TARGETS:
        return char
    digit = unicodedata.digit(char, None)
    if digit is not None:
        return str(digit)
    compatible = base(unicodedata.normalize("NFKC", char)) if len(unicodedata.normalize("NFKC", char)) == 1 else char
    compatible = same_function.get(compatible, compatible)
    if base(lower(compatible)) in TARGETS:
        return base(lower(compatible))
    name = re.fullmatch(
        r"LATIN (?:SMALL|CAPITAL) LETTER (ETH|AFRICAN D|[A-Z])(?: WITH .*)?", unicodedata.name(char, "")
    )
    if name:
        return "đ" if name[1] in ("ETH", "AFRICAN D") else name[1].lower()
    return None


def kind(code: int, ignorable: set[int], jamo: set[int]) -> str:
    """One letter: Space, Ignorable, Jamo, Mark, Letter or Other."""
    category = unicodedata.category(chr(code))
    if chr(code).isspace():
        return "S"
    if code in ignorable:
        return "I"
    if code in jamo and category[0] == "L":
        return "J"
    return {"M": "M", "L": "L"}.get(category[0], "O")


def main() -> None:
    """Writes the file next to this script."""
    ignorable, jamo = ranges(IGNORABLE), ranges(JAMO)
    same_function = {mark: target for target, marks in SAME_FUNCTION.items() for mark in marks}
    rows = []
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code < 0xE000:
            continue
        letter = kind(code, ignorable, jamo)
        target = fold(chr(code), same_function) if letter in "LO" else None
        rows.append((code, letter, target))
    lines = [
        f"# Unicode {unicodedata.unidata_version}, written by make_characters.py. Columns: first and last code point,",
        "# class (Space, Ignorable, Mark, Jamo vowel or final, Letter, Other), and for each code point of the row the",
        "# character it folds to in the fallback. Code points not listed are of class O and fold to nothing.",
    ]
    runs = groupby(enumerate(rows), key=lambda item: (item[1][0] - item[0], item[1][1], item[1][2] is not None))
    for (_, letter, folded), run in runs:
        items = [row for _, row in run]
        if letter != "O" or folded:
            targets = "".join(target or "" for _, _, target in items)
            lines.append(f"{items[0][0]:04X}\t{items[-1][0]:04X}\t{letter}\t{targets}".rstrip("\t"))
    Path(__file__).with_name("characters.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
