"""Write forms-zh.tsv, forms-vi.tsv: which characters a symbol or a syllable is written with, the commonest first.

Run from the repository, with ``pip install opencc pypinyin``: ``python -m phonemic.compiling.make_forms DATA``.
Afterwards the files are frozen, because trained weights depend on them: a form is a place in their rows.

Characters are counted in the ``raw`` and ``more`` folders of DATA (``vi`` and ``zh``), read with
both ``readings``; Mandarin text a second time as OpenCC converts it to traditional characters (``s2t``). A
character that the text does not have follows in the order of GB 2312, Big5, then Unicode.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from phonemic import Tokenizer, characters, mandarin, vietnamese
from phonemic.characters import normalize
from phonemic.compiling.tables import fallback_symbols
from phonemic.errors import PhonemicError
from phonemic.files.texts import read_lines
from phonemic.inventory import READINGS, UNK, vocabulary
from phonemic.lexicon.forms import MOST_CHARACTERS, MOST_SPELLINGS, MOST_VARIANTS


def blocks(folder: Path) -> Iterator[list[str]]:
    """Read the lines of all texts of a language, a block at a time."""
    paths = sorted([*(folder / "raw").glob("*.txt.xz"), *(folder / "more").glob("*.txt.xz")])
    if not paths:
        raise SystemExit(f"{folder}: no raw/*.txt.xz; give the folder that has vi/raw and zh/raw")
    for path in paths:
        yield from read_lines(str(path))


def count_characters(folder: Path) -> Counter[str]:
    """Count each character of the text."""
    counts: Counter[str] = Counter()
    for block in blocks(folder):
        codes, numbers = np.unique(
            np.frombuffer("".join(block).encode("utf-32-le", "surrogatepass"), np.uint32), return_counts=True
        )
        counts.update(dict(zip(map(chr, codes.tolist()), numbers.tolist(), strict=True)))
    return counts


def count_readings(folder: Path) -> Counter[tuple[int, str]]:
    """Count each character with each of its packed readings, in both ways of reading and both scripts."""
    import opencc

    convert = opencc.OpenCC("s2t").convert
    counts: Counter[tuple[int, str]] = Counter()
    for block in blocks(folder):
        for lines in (block, convert("\n".join(block)).split("\n")):
            codes = np.frombuffer("".join(lines).encode("utf-32-le"), np.uint32).astype(np.int64)
            begins = np.cumsum([0, *map(len, lines)])[:-1]
            for name in READINGS:
                batch = Tokenizer("zh", readings=name).encode_batch(lines, spans=True)
                places = batch.spans[:, 0] + np.repeat(begins, np.diff(batch.offsets))
                keys, numbers = np.unique(batch.ids.astype(np.int64) << 32 | codes[places], return_counts=True)
                for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
                    counts[key >> 32, chr(key & 0xFFFFFFFF)] += number
    return counts


def variants(lang: str, counts: Counter[str]) -> Iterator[list[str]]:
    """Give the rows of a language's fallback: the symbol, then letters in both cases, or marks or digits alone."""
    vocab = vocabulary(lang)
    symbols = fallback_symbols(lang)
    han = mandarin.lexicon().han
    for symbol in vocab.by_role("fallback"):
        groups: dict[str, None] = {}
        folded = [chr(code) for code in np.flatnonzero(symbols == vocab.id(symbol)).tolist()]
        for char in [symbol, *folded]:
            if characters.kind_of(char) in (characters.LETTER, characters.OTHER) and not han.match(char):
                groups.setdefault(paired(char, folded))
        order = sorted(groups, key=lambda group: (-sum(counts[char] for char in group), group))
        order.remove(paired(symbol, folded))
        yield ["symbol", symbol, *[paired(symbol, folded), *order][:MOST_VARIANTS]]


def count_spellings(folder: Path) -> Counter[str]:
    """Count each run of letters, in lower case, NFC and without its tone."""
    counts: Counter[str] = Counter()
    for block in blocks(folder):
        counts.update(re.findall(r"[^\W\d_]+", normalize("NFC", "\n".join(block)).lower()))
    bare: Counter[str] = Counter()
    for word, number in counts.items():
        marks = [mark for _, mark in vietnamese.TONES.values()]
        letters = normalize("NFD", word) if len(word) <= vietnamese.MAX_LENGTH else word
        bare[normalize("NFC", "".join(char for char in letters if char not in marks))] += number
    return bare


def spellings(counts: Counter[str]) -> Iterator[list[str]]:
    """Give the rows of Vietnamese syllables that are written in several ways: the standard one, that with the other of
    i and y ("-" where there is none), and the others, the commonest first.
    """
    for standard, others in vietnamese.alternatives().items():
        swapped = standard.translate(str.maketrans("iy", "yi"))
        others.sort(key=lambda text: (-counts[text], text))
        first = swapped if swapped in others else "-"
        rest = [text for text in others if text != swapped]
        if others:
            yield ["syllable", standard, first, *rest[:MOST_SPELLINGS]]


def paired(char: str, folded: list[str]) -> str:
    """Pair a letter's lower and upper case; the character alone where the other does not fold to the same symbol."""
    lower, upper = char.lower(), char.upper()
    pair = len(lower) == len(upper) == 1 and lower != upper and lower.upper() == upper and upper.lower() == lower
    return lower + upper if pair and lower in folded and upper in folded else char


def readings() -> set[tuple[int, str]]:
    """Find every packed reading of every character that pypinyin has, alone or in a phrase."""
    from pypinyin.constants import PINYIN_DICT

    lexicon, pack = mandarin.lexicon(), vocabulary("zh").pack
    written = [(chr(code), pinyin) for code, texts in PINYIN_DICT.items() for pinyin in texts.split(",")]
    written += [pair for phrase, texts in lexicon.phrases.items() for pair in zip(phrase, texts, strict=True)]
    same = mandarin.compatibility_ideographs()
    written += [(char, lexicon.characters[other]) for char, other in same.items() if other in lexicon.characters]
    found: set[tuple[int, str]] = set()
    for char, pinyin in set(written):
        try:
            found.add((pack(mandarin.factorize(pinyin)), char))
        except ValueError:
            continue  # of several readings pypinyin has some that no syllable of Mandarin is
    return found


def syllables(counts: Counter[tuple[int, str]]) -> Iterator[list[str]]:
    """Give the rows of Mandarin syllables: pinyin with the number of its tone, and the characters."""
    vocab = vocabulary("zh")
    lexicon = mandarin.lexicon()
    rows: dict[int, list[str]] = {}
    seen = {pair for pair in counts if mandarin.lexicon().han.match(pair[1]) and pair[0] != UNK * 0x010101}
    for packed, char in readings() | seen:
        rows.setdefault(packed, []).append(char)
    for packed in sorted(rows):
        triple = vocab.unpack(packed)

        def place(char: str, packed: int = packed, triple: tuple[str, str, str] = triple) -> tuple[object, ...]:
            default = lexicon.characters.get(char)
            usual = default is not None and mandarin.factorize(default) == triple
            return -counts[packed, char], not usual, not encodes(char, "gb2312"), not encodes(char, "big5"), char

        yield [
            "syllable",
            mandarin.spell(triple, numbers=True),
            "".join(sorted(rows[packed], key=place)[:MOST_CHARACTERS]),
        ]


def encodes(char: str, charset: str) -> bool:
    """Tell whether a character set has a character."""
    try:
        return bool(char.encode(charset))
    except UnicodeEncodeError:
        return False


def main(data: Path) -> None:
    """Write both files."""
    folder = Path(__file__).parent
    for lang in ("vi", "zh"):
        rows = list(variants(lang, count_characters(data / lang)))
        rows += syllables(count_readings(data / lang)) if lang == "zh" else spellings(count_spellings(data / lang))
        text = "".join("\t".join(row) + "\n" for row in rows)
        (folder / f"forms-{lang}.tsv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except (IndexError, PhonemicError) as error:
        raise SystemExit(f"usage: python -m phonemic.compiling.make_forms DATA ({error})") from error
