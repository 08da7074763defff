"""From ids back to text: spelling, pinyin or IPA."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from phonemic import mandarin, vietnamese
from phonemic.dialects import pronounce
from phonemic.inventory import EMPTY, FALLBACK, NATIVE, SPECIALS, UNKNOWN, Triple, characters_of, packs

#: What an unknown character decodes to; it encodes to [UNK] again.
REPLACEMENT = "\ufffd"


def check_style(style: str) -> None:
    """Raises ValueError where there is no such placement of Vietnamese tone marks."""
    if style not in ("new", "old"):
        raise ValueError(f"no style of tone marks is called {style!r}: choose new (hoà) or old (hòa)")


def speller(lang: str, to: str, style: str, dialect: str | None = None) -> Callable[[Triple], str]:
    """The function that writes one syllable: ``to`` is "spelling", "pinyin" or "ipa", that of a dialect perhaps."""
    if dialect is not None:
        return lambda triple: "".join(pronounce(triple, dialect))
    if to == "ipa":
        return lambda triple: "".join(symbol for symbol in triple if symbol != EMPTY)
    if lang == "zh":
        return mandarin.spell
    return lambda triple: vietnamese.spell(triple, style)


def join(
    positions: Iterable[tuple[Triple, int]],
    spell: Callable[[Triple], str],
    read: Callable[[str], Triple | None],
    skip_special_tokens: bool,
    packed: bool = False,
) -> str:
    """Writes positions, separated by spaces; letters, and digits, of the fallback that follow one another are joined.

    Arguments:
        positions: the symbols of each position, and its kind.
        spell: writes a syllable.
        read: what a run of letters would be read as, so that runs are not joined into a syllable.
        skip_special_tokens: leave out the special symbols other than [UNK].
        packed: the positions are of the packed fallback: what would have found room in the position before it was no
            part of its run.
    """
    pieces: list[str] = []
    run: list[str] = []  # the characters of each position
    for triple, kind in positions:
        characters = characters_of(triple) if kind == FALLBACK else ""
        if run and not (characters and _follows(run[-1], characters[0], packed)):
            pieces += _write_run(run, spell, read)
            run = []
        if characters:
            run.append(characters)
        elif kind == NATIVE:
            pieces.append(_write(triple, spell))
        elif kind == UNKNOWN:
            pieces.append(REPLACEMENT)
        elif not skip_special_tokens:
            pieces.append(triple.onset)
    return " ".join(pieces + _write_run(run, spell, read))


def _follows(characters: str, char: str, packed: bool) -> bool:
    """Whether a character may have stood behind those of the position before, in one run."""
    one = characters[-1]
    if packed and packs(characters + char):
        return False
    return (one.isalpha() and char.isalpha()) or (one.isdigit() and char.isdigit())


def _write(triple: Triple, spell: Callable[[Triple], str]) -> str:
    """A syllable, or the bare symbols of a triple that no syllable has (a model may predict one)."""
    try:
        return spell(triple)
    except ValueError:
        return "".join(symbol for symbol in triple if symbol not in SPECIALS) or REPLACEMENT


def _write_run(run: list[str], spell: Callable[[Triple], str], read: Callable[[str], Triple | None]) -> list[str]:
    """A run of fallback positions; one that would be read as a syllable is cut, or else (*bün*) spelled as that."""
    triple = read("".join(run)) if run else None
    if triple is None:
        return ["".join(run)] if run else []
    return _cut(run, read) or [spell(triple)]


def _cut(run: list[str], read: Callable[[str], Triple | None]) -> list[str] | None:
    """Pieces of a run none of which is read as a syllable, or None; no position is cut."""
    if read("".join(run)) is None:
        return ["".join(run)]
    for cut in range(len(run) - 1, 0, -1):
        rest = _cut(run[cut:], read) if read("".join(run[:cut])) is None else None
        if rest:
            return ["".join(run[:cut]), *rest]
    return None
