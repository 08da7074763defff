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


def join(triples: Iterable[Triple], spell: Callable[[Triple], str], skip_specials: bool, is_word: Callable[[str], bool]) -> str:
    """Writes positions, separated by spaces; letters, and digits, of the fallback that follow one another are joined.

    Arguments:
        is_word: whether a string of letters would be read as a syllable: letters are not joined into one, so that the
            text encodes to the same ids again.
    """
    pieces: list[str] = []
    run = ""

    def flush() -> None:
        nonlocal run
        if run:
            pieces.extend([run] if not is_word(run) else _split(run, is_word))
        run = ""

    for triple in triples:
        symbol = triple.onset
        if not triple.onset == triple.rime == triple.tone:
            flush()
            pieces.append(_write(triple, spell))
        elif symbol in SPECIALS:
            flush()
            if symbol == SPECIALS[UNK]:
                pieces.append(REPLACEMENT)
            elif not skip_specials:
                pieces.append(symbol)
        else:
            if run and not (run[-1].isalpha() and symbol.isalpha() or run[-1].isdigit() and symbol.isdigit()):
                flush()
            run += symbol
    flush()
    return " ".join(pieces)


def _write(triple: Triple, spell: Callable[[Triple], str]) -> str:
    """A syllable, or the bare symbols of a triple that no syllable has (a model may predict one)."""
    try:
        return spell(triple)
    except ValueError:
        return "".join(symbol for symbol in triple if symbol not in SPECIALS) or REPLACEMENT


def _split(run: str, is_word: Callable[[str], bool]) -> list[str]:
    """Cuts a run of letters into pieces none of which is read as a syllable, if that can be done."""
    for cut in range(len(run) - 1, 0, -1):
        head, tail = run[:cut], run[cut:]
        if not is_word(head):
            rest = [tail] if not is_word(tail) else _split(tail, is_word)
            if not any(map(is_word, rest)):
                return [head, *rest]
    return list(run)
