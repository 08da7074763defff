"""Vietnamese as it is spoken: what a syllable of the spelling sounds like in Hà Nội, Huế and Sài Gòn.

The triples are the spelling's, which keeps apart what some speakers merge (*d* and *gi*, *an* and *ang*). The rules
that merge them are rows of ``lexicon/dialects.tsv``; ``docs/reference/dialects.md`` shows them, with what is contested.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from phonemic.vietnamese import MEDIAL, STOPS

#: The city whose speech is written.
DIALECTS = ("hanoi", "hue", "saigon")

_NASALS = frozenset("mnŋɲ")


class Rule(NamedTuple):
    """A row of the table.

    Attributes:
        part: ``"onset"``, ``"glide"``, ``"rime"`` or ``"tone"``.
        symbol: what it is the sound of; for a glide, the onset before it.
        where: the context in which the row holds instead of the one without: ``"glide"`` behind an onset; ``"open"``,
            ``"nasal"`` or ``"stop"``, the end of a tone's rime; "" anywhere.
        sounds: IPA in the order of :data:`DIALECTS`.
        note: what else is heard, or why the row is there.
    """

    part: str
    symbol: str
    where: str
    sounds: tuple[str, ...]
    note: str


@cache
def rules() -> tuple[Rule, ...]:
    """The table, row by row."""
    text = (files("phonemic") / "lexicon" / "dialects.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return tuple(Rule(part, symbol, where, tuple(sounds), note) for part, symbol, where, *sounds, note in rows[1:])


def check_dialect(dialect: str | None, lang: str) -> None:
    """Checks a dialect that a user names.

    Arguments:
        dialect: one of :data:`DIALECTS`, or None for the spelling's own sounds.
        lang: the language that is written.

    Raises:
        ValueError: there is no such dialect of the language.
    """
    if dialect is None:
        return
    if lang != "vi":
        raise ValueError(f"dialects are Vietnamese (hanoi, hue, saigon); {lang!r} has none")
    if dialect not in DIALECTS:
        raise ValueError(f"unknown dialect {dialect!r}: choose one of {', '.join(DIALECTS)}")


def pronounce(triple: tuple[str, str, str], dialect: str) -> tuple[str, str, str]:
    """The sounds of a syllable in a dialect.

    Arguments:
        triple: onset, rime and tone as symbols.
        dialect: one of :data:`DIALECTS`.

    Returns:
        Onset, rime and tone in IPA; the tone in tone letters, with ʔ where the voice is stopped.

    Raises:
        ValueError: no Vietnamese syllable has one of the symbols, or there is no such dialect.
    """
    check_dialect(dialect, "vi")
    table = _sounds(dialect)
    onset, rime, tone = triple
    ends = "stop" if rime[-1:] in STOPS else "nasal" if rime[-1:] in _NASALS else "open"
    try:
        first = _first(table, ("onset", onset), "glide" if rime.startswith(MEDIAL) else "")
        sound = table["rime", rime, ""]
        last = _first(table, ("tone", tone), ends)
    except KeyError as error:
        raise ValueError(f"no Vietnamese syllable is spelled ({onset}, {rime}, {tone})") from error
    if rime.startswith(MEDIAL) and sound[0] == "w":
        sound = table.get(("glide", onset, ""), "w") + sound[1:]
    return first, sound, last


def _first(table: dict[tuple[str, str, str], str], row: tuple[str, str], where: str) -> str:
    """The sound of a row in its context, or anywhere."""
    found = table.get((*row, where))
    return table[*row, ""] if found is None else found


@cache
def _sounds(dialect: str) -> dict[tuple[str, str, str], str]:
    at = DIALECTS.index(dialect)
    return {(rule.part, rule.symbol, rule.where): rule.sounds[at] for rule in rules()}
