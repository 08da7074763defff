"""Written forms in plain, slow Python: what ``native/written.pxd`` computes.

It tries every form that a position may have, and takes the first that writes what is in the text; the core's tables
are not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from phonemic import reference
from phonemic.characters import IGNORABLE, JAMO, MARK, SPACE, kind_of
from phonemic.forms import (
    END_OF_ESCAPE,
    ESCAPED,
    SEQUENCES,
    WHITE,
    WHITE_SPACE,
    byte_form,
    utf8_of,
    written,
)
from phonemic.inventory import FORM_SHIFT, SPECIALS, UNK, Triple, vocabulary
from phonemic.reference import Position

_UNKNOWN = Triple(*(SPECIALS[UNK],) * 3)


@cache
def ways(triple: Triple, lang: str) -> dict[str, int]:
    """Every text that a triple writes by a form of its own, and the first such form."""
    packed, found = vocabulary(lang).pack(triple), dict[str, int]()
    for form in range(1, ESCAPED):
        text = written(packed | form << FORM_SHIFT, lang)
        if text is not None:
            found.setdefault(text, form)
    return found


def byte_forms(text: str) -> list[int]:
    """The forms of the bytes of a text."""
    made: list[int] = []
    for char in text:
        data = bytes(utf8_of(char))
        found = next((form for form, sequence in SEQUENCES.items() if data.startswith(sequence)), None)
        if found:
            made.append(found)
            data = data.removeprefix(SEQUENCES[found])
        made += map(byte_form, data)
    return made


class _Walk:
    """Where the text has come to: what is between positions."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.word, self.gap = text, 0, -1, True
        self.space: int | None = None

    def held_space(self) -> Iterator[Position]:
        """The position of a space that nothing takes along."""
        if self.space is not None:
            yield Position(_UNKNOWN, self.space, self.space + 1, -1, WHITE)
            self.space = None

    def between(self, end: int) -> Iterator[Position]:
        """Positions for what is before ``end`` and belongs to no position: white space, joiners, stray marks."""
        for at in range(self.at, end):
            char = self.text[at]
            yield from self.held_space()
            if kind_of(char) == SPACE:
                self.gap = True
                if char == " ":
                    self.space = at
                elif char in WHITE_SPACE:
                    yield Position(_UNKNOWN, at, at + 1, -1, WHITE + WHITE_SPACE.index(char))
                else:
                    yield from (Position(_UNKNOWN, at, at + 1, -1, form) for form in byte_forms(char))
            else:
                self.word += self.gap
                self.gap = False
                yield from (Position(_UNKNOWN, at, at + 1, self.word, form) for form in byte_forms(char))

    def enter(self, position: Position) -> None:
        """Goes on behind a position."""
        self.word += self.gap
        self.gap = False
        self.at = position.end


def _written(own: str, triple: Triple, lang: str, space: str) -> tuple[int, int]:
    """The form that writes the beginning of ``own``, and how many characters that is; what is left are marks."""
    for size in range(len(own), 0, -1):
        form = ways(triple, lang).get(space + own[:size])
        if form and all(kind_of(char) in (IGNORABLE, MARK, JAMO) for char in own[size:]):
            return form, size
    return 0, 0


def with_forms(text: str, positions: list[Position], lang: str) -> list[Position]:
    """The positions of a text with forms, and with those of all that has none by itself.

    Arguments:
        text: the text.
        positions: its positions without forms.
        lang: ``"vi"`` or ``"zh"``.
    """
    walk, made = _Walk(text), list[Position]()
    for position in positions:
        made += walk.between(position.start)
        walk.enter(position)
        own, triple = text[position.start : position.end], position.triple
        size = 0
        if triple != _UNKNOWN:
            form, size = _written(own, triple, lang, " " if walk.space is not None else "")
            if form:
                walk.space = None
            else:
                made += walk.held_space()
                form, size = _written(own, triple, lang, "")
            if form:
                made.append(position._replace(form=form))
            else:
                native = not triple.onset == triple.rime == triple.tone
                size = len(own) if native and lang == "vi" else 1
                made.append(position._replace(form=ESCAPED))
                made += _bytes(position, own[:size])
                made.append(position._replace(triple=_UNKNOWN, form=END_OF_ESCAPE))
        made += walk.held_space()
        made += _bytes(position, own[size:])
    made += walk.between(len(text))
    return made + list(walk.held_space())


def _bytes(position: Position, text: str) -> list[Position]:
    return [position._replace(triple=_UNKNOWN, form=form) for form in byte_forms(text)]


def encode(text: str, lang: str, **options: Any) -> list[Position]:
    """Encodes a text as ``Tokenizer.encode`` with ``form=True`` does.

    Arguments:
        text: any str.
        lang: ``"vi"`` or ``"zh"``.
        options: see :func:`phonemic.reference.encode`.
    """
    return with_forms(text, reference.encode(text, lang, **options), lang)
