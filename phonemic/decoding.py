"""From ids back to text: spelling, pinyin or IPA."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from phonemic import mandarin, vietnamese
from phonemic.inventory import EMPTY, SPECIALS, UNK, Triple

#: What an unknown character decodes to; it encodes to [UNK] again.
REPLACEMENT = "\ufffd"


def speller(lang: str, to: str, style: str) -> Callable[[Triple], str]:
    """The function that writes one syllable: ``to`` is "spelling", "pinyin" or "ipa"."""
    if to == "ipa":
        return lambda triple: "".join(symbol for symbol in triple if symbol != EMPTY)
    if lang == "zh":
        return mandarin.spell
    return lambda triple: vietnamese.spell(triple, style)


def join(
    triples: Iterable[Triple],
    spell: Callable[[Triple], str],
    read: Callable[[str], Triple | None],
    skip_special_tokens: bool,
) -> str:
    """Writes positions, separated by spaces; letters, and digits, of the fallback that follow one another are joined.

    Arguments:
        triples: the symbols of each position.
        spell: writes a syllable.
        read: what a run of letters would be read as, so that runs are not joined into a syllable.
        skip_special_tokens: leave out the special symbols other than [UNK].
    """
    pieces: list[str] = []
    run = ""
    for triple in triples:
        symbol = triple.onset
        in_fallback = symbol == triple.rime == triple.tone and symbol not in SPECIALS
        if run and not (in_fallback and _joins(run[-1], symbol)):
            pieces += _write_run(run, spell, read)
            run = ""
        if in_fallback:
            run += symbol
        elif symbol != triple.tone or symbol != triple.rime:
            pieces.append(_write(triple, spell))
        elif symbol == SPECIALS[UNK]:
            pieces.append(REPLACEMENT)
        elif not skip_special_tokens:
            pieces.append(symbol)
    return " ".join(pieces + _write_run(run, spell, read))


def _joins(one: str, other: str) -> bool:
    return (one.isalpha() and other.isalpha()) or (one.isdigit() and other.isdigit())


def _write(triple: Triple, spell: Callable[[Triple], str]) -> str:
    """A syllable, or the bare symbols of a triple that no syllable has (a model may predict one)."""
    try:
        return spell(triple)
    except ValueError:
        return "".join(symbol for symbol in triple if symbol not in SPECIALS) or REPLACEMENT


def _write_run(run: str, spell: Callable[[Triple], str], read: Callable[[str], Triple | None]) -> list[str]:
    """A run of fallback characters; one that would be read as a syllable is cut, or else (*bün*) spelled as that."""
    triple = read(run) if run else None
    if triple is None:
        return [run] if run else []
    return _cut(run, read) or [spell(triple)]


def _cut(run: str, read: Callable[[str], Triple | None]) -> list[str] | None:
    """Pieces of a run none of which is read as a syllable, or None."""
    if read(run) is None:
        return [run]
    for cut in range(len(run) - 1, 0, -1):
        rest = _cut(run[cut:], read) if read(run[:cut]) is None else None
        if rest:
            return [run[:cut], *rest]
    return None
