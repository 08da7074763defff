"""Writes equivalents.tsv: characters that stand for a Han character, as text from PDFs and lists has them.

Run with unicodedata2 installed, on EquivalentUnifiedIdeograph.txt of the Unicode Character Database:
``python phonemic/compiling/make_equivalents.py EquivalentUnifiedIdeograph.txt``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import unicodedata2 as unicodedata

#: CJK radicals and Kangxi radicals.
RADICALS = range(0x2E80, 0x2FE0)
#: The blocks of compatibility ideographs, which NFC makes the characters that they are equal to.
CANONICAL = {*range(0xF900, 0xFB00), *range(0x2F800, 0x2FA20)}
#: Signs that enclose a character: ㈠ is (一), 🉀 is 〔本〕.
_ENCLOSED = re.compile(r"[(〔]?(\w)[)〕]?")


def radicals(path: Path) -> dict[int, str]:
    """Radical -> the character that looks like it; those of other blocks (strokes) are left out."""
    found: dict[int, str] = {}
    for line in path.read_text("utf-8").splitlines():
        if row := re.match(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*([0-9A-F]+)", line):
            codes = range(int(row[1], 16), int(row[2] or row[1], 16) + 1)
            found |= {code: chr(int(row[3], 16)) for code in codes if code in RADICALS}
    return found


def compatible() -> dict[int, str]:
    """Character -> the one Han character in its compatibility mapping, enclosed or not."""
    found = {}
    for code in range(0x80, sys.maxunicode + 1):
        one = _ENCLOSED.fullmatch(unicodedata.normalize("NFKC", chr(code)))
        if one and one[1] != chr(code) and unicodedata.name(one[1], "").startswith("CJK UNIFIED IDEOGRAPH"):
            found[code] = one[1]
    return {code: char for code, char in found.items() if code not in CANONICAL}


def main(path: Path) -> None:
    """Writes the file next to this script."""
    found = compatible() | radicals(path)
    lines = [
        f"# Unicode {unicodedata.unidata_version}, written by make_equivalents.py: code point, and the Han character",
        "# that it stands for: radicals by EquivalentUnifiedIdeograph.txt, all others by their compatibility mapping.",
        *(f"{code:04X}\t{char}" for code, char in sorted(found.items())),
    ]
    Path(__file__).with_name("equivalents.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
