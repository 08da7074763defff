"""A user's own Mandarin phrases: read, checked against pinyin, compiled."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from phonemic import mandarin
from phonemic.characters import plain
from phonemic.errors import PhraseError
from phonemic.inventory import vocabulary
from phonemic.lexicon.entries import PACKED, ZH_EXACT, ZH_HAN, ZH_MODEL, Tables, entry, with_entries
from phonemic.lexicon.phrases import PhraseTable
from phonemic.lexicon.tables import tables_of

#: Characters of a phrase. A text of beginnings of phrases is read at a cost of length times this, at most.
LONGEST_PHRASE = 64
#: From ASCII to the same in full width.
_WIDE = 0xFEE0


def read_phrases(source: Mapping[str, str | Sequence[str]] | os.PathLike[str]) -> dict[str, str]:
    """Phrases from a dict or a file, checked.

    Arguments:
        source: ``{"行长": "hang2 zhang3"}`` (a list of syllables will do, and tone marks) or the path of a UTF-8 file
            with a line ``行长<TAB>hang2 zhang3`` a phrase; empty lines and lines that begin with # are passed over. A
            Latin letter or a digit of a phrase stands for itself in its pinyin: ``{"A股": "A gu3"}``.

    Returns:
        phrase -> pinyin with tone numbers, one syllable a character; letters in upper case.

    Raises:
        TypeError: it is neither; a str, too, which might come from a file.
        PhraseError: wrong pinyin, a length mismatch, no Han character, or one that is neither Han, letter nor digit;
            the message names the line.
    """
    if isinstance(source, Mapping):
        rows: Iterable[tuple[str, str, str | Sequence[str]]]
        rows = ((f"phrase {number}", phrase, pinyin) for number, (phrase, pinyin) in enumerate(source.items(), start=1))
    elif isinstance(source, os.PathLike):
        rows = _lines(Path(source))
    else:
        raise TypeError(
            f"phrases must be a dict of readings, or a file of them as pathlib.Path(...), not {source!r:.80} "
            f"({type(source).__name__})"
        )
    same = mandarin.compatibility_ideographs()
    checked = {}
    for where, phrase, pinyin in rows:
        if not (isinstance(phrase, str) and any(map(is_han, phrase)) and all(is_han(c) or latin(c) for c in phrase)):
            raise PhraseError(
                f"{where}: a phrase must be one or more Han characters, with Latin letters and digits or without, not "
                f"{phrase!r}"
            )
        checked["".join(latin(char) or same.get(char, char) for char in plain(phrase))] = _check(where, phrase, pinyin)
    return checked


def is_han(char: str) -> bool:
    """Whether a character has readings."""
    return bool(entry(tables_of("zh"), char) & ZH_HAN)


def latin(char: str) -> str:
    """The upper case of an ASCII letter or digit, of either width; empty for any other character."""
    narrow = chr(ord(char) - _WIDE) if "\uff00" < char < "\uff5f" else char
    return narrow.upper() if narrow.isascii() and narrow.isalnum() else ""


def _written(latins: Iterable[str]) -> dict[str, str]:
    """The other ways to write letters and digits: in lower case, and in full width."""
    forms = {form: char for char in latins for form in (char, char.lower())}
    wide = {chr(ord(form) + _WIDE): char for form, char in forms.items()}
    return {form: char for form, char in (forms | wide).items() if form != char}


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PhraseError(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            phrase, tab, pinyin = line.partition("\t")
            if not tab:
                raise PhraseError(f"{path}, line {number}: {line!r} has no tab; write PHRASE<TAB>PINYIN")
            yield f"{path}, line {number}", phrase.strip(), pinyin


def _check(where: str, phrase: str, pinyin: str | Sequence[str]) -> str:
    if not isinstance(pinyin, str | Sequence):
        raise PhraseError(f"{where}: {phrase!r}: its pinyin is a str or a list of them, not {type(pinyin).__name__}")
    if len(phrase) > LONGEST_PHRASE:
        raise PhraseError(
            f"{where}: {phrase[:8]!r}... has {len(phrase)} characters; a phrase has at most {LONGEST_PHRASE}, because "
            "each character of a text may be the first of one: cut it into words"
        )
    syllables = plain(pinyin).split() if isinstance(pinyin, str) else list(pinyin)
    if len(syllables) != len(phrase):
        raise PhraseError(f"{where}: {phrase!r} has {len(phrase)} characters but {len(syllables)} pinyin syllables")
    try:
        return " ".join(map(_spelled, phrase, syllables))
    except (ValueError, AttributeError, TypeError) as error:
        raise PhraseError(f"{where}: {phrase!r}: {error}") from error


def _spelled(char: str, syllable: str) -> str:
    """The syllable with its tone's number; a letter or digit as it is."""
    own = latin(char)
    if not own:
        return mandarin.spell(mandarin.factorize(syllable), numbers=True)
    if "".join(map(latin, syllable)) != own:
        raise ValueError(f"{char!r} stands for itself in the pinyin, not {syllable!r}")
    return own


def _traditional(tables: Tables, phrases: Iterable[str]) -> dict[str, str]:
    """The traditional characters that readings in context see as characters of the phrases, which have not got them."""
    if "looks.bmp" not in tables:
        return {}
    seen = tables["looks.bmp"] & 0xFFFF
    own = {ord(char) for phrase in phrases for char in phrase if not latin(char)}
    others = np.flatnonzero((seen != np.arange(len(seen))) & np.isin(seen, [*own])).tolist()
    return {chr(code): chr(seen[code]) for code in others if code not in own}


def with_phrases(tables: Tables, phrases: Mapping[str, str]) -> Tables:
    """The lexicon's tables with checked phrases in front.

    In the tables of readings in context a phrase in simplified characters is found in traditional text, too.
    """
    pack, same = vocabulary("zh").pack, mandarin.compatibility_ideographs()
    packed = {
        phrase: [
            entry(tables, char) & PACKED if latin(char) else pack(mandarin.factorize(text))
            for char, text in zip(phrase, pinyin.split(), strict=True)
        ]
        for phrase, pinyin in phrases.items()
    }
    same = same | _written({char for phrase in phrases for char in phrase if latin(char)})
    first = {phrase[0] for phrase in phrases}
    changes = {char: entry(tables, char) | ZH_EXACT for char in first}
    own = ~(PACKED | ZH_MODEL) if "models" in tables else ~PACKED
    changes |= {phrase: changes[phrase] & own | ids[0] for phrase, ids in packed.items() if len(phrase) == 1}
    changes |= {char: changes[other] for char, other in same.items() if other in first}
    longer = {phrase: ids for phrase, ids in packed.items() if len(phrase) > 1}
    written = _traditional(tables, longer)
    begins = {phrase[0] for phrase in longer}
    changes = {char: entry(tables, char) | ZH_EXACT for char, other in written.items() if other in begins} | changes
    return (
        with_entries(tables, changes)
        | {f"default.{name}": tables[name] for name in ("bmp", "astral", "astral_index")}
        | (PhraseTable.build(longer, same | written).sections("user") if longer else {})
    )
