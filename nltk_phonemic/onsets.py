"""Where the letters of an onset end in a written syllable."""

from __future__ import annotations

from functools import cache

from phonemic import mandarin, vietnamese
from phonemic.characters import IGNORABLE, MARK, kind_of
from phonemic.inventory import EMPTY


def onset_end(piece: str, lang: str, native: bool) -> int:
    """The number of characters that the onset takes, with the marks and ignorable characters behind its letters.

    Arguments:
        piece: a Vietnamese syllable, or letters and digits that may be a pinyin syllable; 0 for anything else.
        lang: ``"vi"`` or ``"zh"``.
        native: whether the tokenizer reads the piece as a syllable of the language.
    """
    if native != (lang == "vi"):
        return 0
    letters = [at for at, char in enumerate(piece) if kind_of(char) not in (MARK, IGNORABLE)]
    written = "".join(char for char in piece if kind_of(char) != IGNORABLE)
    count = _vietnamese(written) if lang == "vi" else _pinyin(written, "".join(piece[at] for at in letters))
    return letters[count] if count else 0


def _vietnamese(syllable: str) -> int:
    stripped, triple = vietnamese.strip_tone(syllable), vietnamese.factorize(syllable)
    if stripped is None or triple is None or triple.onset == EMPTY:
        return 0
    return _onset_letters(stripped[0], triple.onset, triple.rime)


@cache
def _onset_letters(spelling: str, onset: str, rime: str) -> int:
    """The longest spelling of the onset that leaves a spelling of the rime. The i of *gi* may be the rime's own."""
    onsets = [*vietnamese.ONSETS.items(), ("g", vietnamese.ONSETS["gi"])]
    fitting = [letters for letters, sound in onsets if sound == onset and spelling.startswith(letters)]
    return max(len(letters) for letters in fitting if _may_spell(spelling[len(letters) :], rime))


def _may_spell(letters: str, rime: str) -> bool:
    readings = [vietnamese.rime_spellings(after_q).get(letters) for after_q in (False, True)]
    return any(vietnamese.rime_of(*parts) == rime for parts in readings if parts)


def _pinyin(syllable: str, letters: str) -> int:
    try:
        triple = mandarin.factorize(syllable)
    except ValueError:
        return 0
    if triple.onset == EMPTY:
        return 0
    return 2 if letters[:2].lower() in mandarin.INITIALS else 1
