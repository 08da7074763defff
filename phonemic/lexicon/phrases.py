"""Phrase tables: a trie in one array, for the lexicon and for a user's own phrases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from itertools import groupby
from operator import and_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from phonemic.lexicon.entries import PACKED, entry
from phonemic.mandarin import compatibility_ideographs

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The lower bits of a unit are the number of its parent, the upper 32 its base or where its record is.
UNIT_BITS = 20
MOST_UNITS = 1 << UNIT_BITS
END, CHANGES, LEAF, TAIL = (1 << UNIT_BITS + bit for bit in range(4))


def pair_set(pairs: Iterable[tuple[int, int]], bits: int) -> NDArray[np.uint64]:
    """A set of pairs of numbers as 2 ** bits bits; a few pairs that are not in it seem to be."""
    words = np.zeros(1 << bits - 6, np.uint64)
    for first, second in pairs:
        slot = (first * 0x9E3779B1 + second * 0x85EBCA6B) % (1 << 32) >> 32 - bits
        words[slot >> 6] |= np.uint64(1 << (slot & 63))
    return words


class _Phrase(NamedTuple):
    """The codes of a phrase's characters, and the numbers of their readings where it changes one."""

    codes: tuple[int, ...]
    numbers: list[int]


@dataclass
class _Node:
    """A prefix of phrases: the phrase that ends there, or the only one that is left, and what follows by its code."""

    depth: int
    phrase: _Phrase | None
    children: dict[int, _Node]
    base: int = 0

    @property
    def labels(self) -> list[int]:
        """The codes that need units; code 0 is for the readings of a phrase that others go on from."""
        return [*self.children, *([0] if self.phrase and self.phrase.numbers else [])] if self.children else []


def _nodes(rows: Iterable[_Phrase], depth: int) -> dict[int, _Node]:
    """The nodes of the prefixes of ``depth`` codes by their last one, with all below them; the rows are sorted."""
    nodes = {}
    for code, group in groupby(rows, key=lambda row: row.codes[depth - 1]):
        first, *others = group
        ends = not others or len(first.codes) == depth
        below = others if ends else [first, *others]
        nodes[code] = _Node(depth, first if ends else None, _nodes(below, depth + 1))
    return nodes


@dataclass(frozen=True)
class PhraseTable:
    """Phrases and the readings of their characters.

    A character of a phrase has a code (1, 2, ...; 0 is not a code). The trie is a double array (Aoe 1989): the unit of
    a one-character prefix is its code's, and that of a longer one the base of the unit before it plus the code of its
    last character. A unit says which is its parent, so that one look tells whether there is such a prefix. From where a
    phrase is alone, its other characters do not have units but a record.

    A unit is 64 bits: its parent, END where a phrase ends, CHANGES where that phrase changes a reading, LEAF where
    only one phrase is left, TAIL where that one has more characters; and above these 32 bits the base, or of a LEAF
    where its record begins. A record is: of a TAIL how many more characters there are, and their codes; if the phrase
    changes a reading, the numbers of all its readings. Where END and CHANGES stand without LEAF, the unit of base + 0
    has the record.
    """

    codes: NDArray[np.uint16]  # (65536,): of the characters of the basic plane
    astral_codes: NDArray[np.uint16]  # (pages * 256,): of the others
    astral_index: NDArray[np.uint16]  # (4096,): their pages
    units: NDArray[np.uint64]
    records: NDArray[np.uint16]
    readings: NDArray[np.int32]  # packed reading of a number

    def sections(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays under their names: ``name.units`` and so on."""
        return {f"{name}.{field}": array for field, array in vars(self).items()}

    @classmethod
    def build(
        cls,
        phrases: Mapping[str, Sequence[int]],
        aliases: Mapping[str, str] | None = None,
        changing: Collection[str] | None = None,
    ) -> PhraseTable:
        """Builds the table.

        Arguments:
            phrases: phrase of two characters or more -> one packed reading a character.
            aliases: character -> the character whose code it shares.
            changing: the phrases that change a reading, None for all. Readings of the others are not kept.

        Raises:
            ValueError: more than 65,535 different characters or 1,048,575 units.
        """
        codes = {char: number for number, char in enumerate(sorted(set().union(*phrases)), start=1)}
        changing = phrases if changing is None else changing
        packed = sorted({reading for phrase in changing for reading in phrases[phrase]})
        numbers = {reading: number for number, reading in enumerate(packed)}
        rows = sorted(
            _Phrase(
                tuple(codes[char] for char in phrase),
                [numbers[reading] for reading in readings] if phrase in changing else [],
            )
            for phrase, readings in phrases.items()
        )
        roots = _nodes(rows, 1)
        size = _place(roots, len(codes))
        if len(codes) >= 1 << 16 or size > MOST_UNITS:
            raise ValueError(f"too many phrases: {len(codes)} characters (65,535 fit), {size} units ({MOST_UNITS} fit)")
        basic, astral, index = _code_pages(codes, aliases or {})
        units, records = _fill(roots, size)
        return cls(basic, astral, index, units, records, np.array(packed, np.int32))


def _code_pages(
    codes: dict[str, int], aliases: Mapping[str, str]
) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]:
    flat = np.zeros(0x110000, np.uint16)
    flat[[ord(char) for char in codes]] = list(codes.values())
    flat[[ord(char) for char in aliases]] = [codes.get(char, 0) for char in aliases.values()]
    astral = flat[0x10000:].reshape(-1, 256)
    used = astral.any(axis=1)
    pages = np.concatenate([np.zeros(256, np.uint16), astral[used].reshape(-1)])
    return flat[:0x10000], pages, np.where(used, np.cumsum(used), 0).astype(np.uint16)


def _place(roots: dict[int, _Node], codes: int) -> int:
    """Gives each node the first base for which the units of its labels are free, the largest families first.

    Returns:
        How many units there must be, whichever code is added to a base.
    """
    nodes = list(roots.values())
    for node in nodes:
        nodes.extend(node.children.values())
    free, highest = -2 << codes, 0  # a bit for each unit, without end; those of single characters are taken
    for node in sorted(nodes, key=lambda node: -len(node.children)):
        if labels := node.labels:
            fits = reduce(and_, (free >> label for label in labels))
            node.base = (fits & -fits).bit_length() - 1
            free ^= sum(1 << label for label in labels) << node.base
            highest = max(highest, node.base)
    return highest + codes + 1


def _fill(roots: dict[int, _Node], size: int) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """The units and the records of nodes that have their bases."""
    units, records = [0] * size, [0]
    todo = [(code, 0, node) for code, node in roots.items()]
    for place, parent, node in todo:
        flags, where = 0, node.base
        if node.phrase:
            codes, numbers = node.phrase
            flags = END | (CHANGES if numbers else 0)
            if not node.children:
                tail = codes[node.depth :]
                flags |= LEAF | (TAIL if tail else 0)
                where = len(records)
                records += [len(tail), *tail] if tail else []
            elif numbers:
                units[node.base] = place | len(records) << 32
            records += numbers
        units[place] = parent | flags | where << 32
        todo.extend((node.base + code, place, child) for code, child in node.children.items())
    return np.array(units, np.uint64), np.array(records, np.uint16)


def phrases_of(tables: Mapping[str, NDArray[Any]], name: str = "lexicon") -> dict[str, list[int]]:
    """The phrases of a compiled table, each with a packed reading a character; the inverse of ``PhraseTable.build``.

    Arguments:
        tables: the sections that hold the table, and the characters' own readings.
        name: the name of the table in them.
    """
    columns = (tables[f"{name}.{field.name}"] for field in fields(PhraseTable))
    codes, pages, index, *others = columns
    flat = np.concatenate([codes, pages.reshape(-1, 256)[index].reshape(-1)])
    points = [(chr(point), int(flat[point])) for point in np.flatnonzero(flat)]
    aliases = compatibility_ideographs()
    chars = {code: char for char, code in points if char not in aliases}
    units, records, readings = (column.tolist() for column in others)
    found = {}
    for place, unit in enumerate(units):
        if not unit & END:
            continue
        at, phrase = place, ""
        while parent := units[at] % (1 << UNIT_BITS):
            phrase = chars[at - (units[parent] >> 32)] + phrase
            at = parent
        phrase = chars[at] + phrase
        where = unit >> 32 if unit & LEAF else units[unit >> 32] >> 32
        if unit & TAIL:
            begin, where = where + 1, where + 1 + records[where]
            phrase += "".join(chars[code] for code in records[begin:where])
        if unit & CHANGES:
            found[phrase] = [readings[number] for number in records[where : where + len(phrase)]]
        else:
            found[phrase] = [entry(tables, char) & PACKED for char in phrase]
    return found
