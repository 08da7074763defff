"""Phrase tables: a trie whose transitions lie in one hash table, for the lexicon and for a user's own phrases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CODE_BITS = 13
MAX_NODES = 1 << 19
HASH = 0x9E3779B1


def pair_set(pairs: Iterable[tuple[int, int]], bits: int) -> NDArray[np.uint64]:
    """A set of pairs of numbers as 2 ** bits bits; a few pairs that are not in it seem to be."""
    words = np.zeros(1 << bits - 6, np.uint64)
    for first, second in pairs:
        slot = (first * 0x9E3779B1 + second * 0x85EBCA6B) % (1 << 32) >> 32 - bits
        words[slot >> 6] |= np.uint64(1 << (slot & 63))
    return words


@dataclass(frozen=True)
class PhraseTable:
    """Phrases and the packed readings of their characters.

    A character of a phrase has a code (1, 2, ...; 0 is no code). The node of a one-character prefix is its code; longer
    prefixes have the nodes above. A cell is 64 bits: ``node << 13 | code`` below, and above it the next node << 3,
    bit 2 for the end of a phrase that changes a reading, bit 1 for a node with children, bit 0 for the end of a phrase.
    Where cells stand in each other's way, the one with the larger key comes first (Amble and Knuth's ordered hash
    table): a search for what is not there is short, too.
    """

    code_index: NDArray[np.uint16]  # (4352,): page of a code point
    code_pages: NDArray[np.uint16]  # (pages * 256,): code of a code point
    cells: NDArray[np.uint64]  # a power of two of them; 0 is empty
    values: NDArray[np.uint32]  # by node: 1 + where the readings of the phrase that ends there begin in pool
    pool: NDArray[np.int32]  # packed readings

    def sections(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays under their names: ``name.cells`` and so on."""
        return {f"{name}.{field}": array for field, array in vars(self).items()}

    @classmethod
    def build(
        cls,
        phrases: Mapping[str, Sequence[int]],
        aliases: Mapping[str, str] | None = None,
        changing: Collection[str] = (),
    ) -> PhraseTable:
        """Builds the table.

        Arguments:
            phrases: phrase -> one packed reading per character.
            aliases: character -> the character whose code it shares.
            changing: the phrases that change a reading.

        Raises:
            ValueError: more than 8,191 different characters or 524,287 prefixes.
        """
        codes = {char: number for number, char in enumerate(sorted(set().union(*phrases)), start=1)}
        transitions: dict[tuple[int, int], int] = {}
        ends: dict[int, int] = {}
        pool: list[int] = []
        change: set[int] = set()
        nodes = len(codes) + 1
        for phrase, readings in phrases.items():
            node = codes[phrase[0]]
            for char in phrase[1:]:
                following = transitions.setdefault((node, codes[char]), nodes)
                nodes += following == nodes
                node = following
            ends[node] = len(pool) + 1
            change |= {node} if phrase in changing else set()
            pool.extend(readings)
        if len(codes) >= 1 << CODE_BITS or nodes >= MAX_NODES:
            raise ValueError(f"too many phrases: {len(codes)} characters (8,191 fit), {nodes} prefixes (524,287 fit)")
        values = np.zeros(nodes, np.uint32)
        values[list(ends)] = list(ends.values())
        pages, index = cls._code_pages(codes, aliases or {})
        return cls(index, pages, cls._cells(transitions, ends.keys(), change), values, np.array(pool, np.int32))

    @staticmethod
    def _code_pages(codes: dict[str, int], aliases: Mapping[str, str]) -> tuple[NDArray[Any], NDArray[Any]]:
        flat = np.zeros(0x110000, np.uint16)
        flat[[ord(char) for char in codes]] = list(codes.values())
        flat[[ord(char) for char in aliases]] = [codes.get(char, 0) for char in aliases.values()]
        used = flat.reshape(-1, 256).any(axis=1)
        index = np.where(used, np.cumsum(used), 0).astype(np.uint16)
        pages = np.concatenate([np.zeros((1, 256), np.uint16), flat.reshape(-1, 256)[used]])
        return pages.reshape(-1), index

    @staticmethod
    def _cells(
        transitions: dict[tuple[int, int], int], ends: Collection[int], change: Collection[int]
    ) -> NDArray[np.uint64]:
        bits = max(4, (3 * len(transitions) // 2).bit_length())  # at most two thirds full
        cells = [0] * (1 << bits)
        parents = {node for node, _ in transitions}
        for (node, code), following in transitions.items():
            flags = (following in change) << 2 | (following in parents) << 1 | (following in ends)
            cell = node << CODE_BITS | code | (following << 3 | flags) << 32
            slot = _slot(cell, bits)
            while cells[slot]:
                if cells[slot] % (1 << 32) < cell % (1 << 32):
                    cells[slot], cell = cell, cells[slot]
                slot = (slot + 1) % len(cells)
            cells[slot] = cell
        return np.array(cells, np.uint64)


def _slot(cell: int, bits: int) -> int:
    return cell * HASH % (1 << 32) >> 32 - bits


def phrases_of(tables: Mapping[str, NDArray[Any]], name: str = "lexicon") -> dict[str, list[int]]:
    """The phrases of a compiled table, each with a packed reading a character; the inverse of ``PhraseTable.build``.

    Arguments:
        tables: the sections that hold the table.
        name: the name of the table in them.
    """
    index, pages, values, pool = (tables[f"{name}.{part}"] for part in ("code_index", "code_pages", "values", "pool"))
    chars: dict[int, str] = {}
    for page in np.flatnonzero(index).tolist():
        for low, code in enumerate(pages[int(index[page]) << 8 :][:256].tolist()):
            if code:
                chars.setdefault(code, chr(page << 8 | low))
    cells = tables[f"{name}.cells"]
    parents = {cell >> 35: cell % (1 << 32) for cell in cells[cells != 0].tolist()}
    found = {}
    for node in np.flatnonzero(values).tolist():
        at, phrase = node, ""
        while at in parents:
            phrase = chars[parents[at] % (1 << CODE_BITS)] + phrase
            at = parents[at] >> CODE_BITS
        phrase = chars[at] + phrase
        start = int(values[node]) - 1
        found[phrase] = pool[start : start + len(phrase)].tolist()
    return found
