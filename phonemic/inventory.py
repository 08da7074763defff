"""Symbols and their ids, and triples packed into integers.

A position is ``packed = onset | rime << 8 | tone << 16 | form << 24`` in an int32, of which the form, at most 127, says
how it is written (:mod:`phonemic.forms`; 0 says nothing). On a little-endian machine the bytes of that integer are the
triple and the form, so all layouts are views of one array.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[EMPTY]")
PAD, UNK, CLS, SEP, MASK, EMPTY_ID = range(6)
EMPTY = "[EMPTY]"

LANGUAGES = ("vi", "zh")

#: Where the form is in a packed id, and what is left without it.
FORM_SHIFT = 24
TRIPLE = (1 << FORM_SHIFT) - 1
UNKNOWN_ID = UNK * 0x010101

#: The values of ``Tokenizer(fallback=...)``.
FALLBACKS = ("character", "packed")

#: The values of ``Tokenizer(readings=...)``.
READINGS = ("pypinyin", "context")


class PositionKind(IntEnum):
    """The kinds of positions in ``Encoding.kinds`` and ``Batch.kinds``."""

    NATIVE = 0  #: a syllable of the language
    FALLBACK = 1  #: a letter, digit or mark, or up to three of them
    UNKNOWN = 2  #: [UNK]
    SPECIAL = 3  #: [CLS], [SEP], [PAD], [MASK]


NATIVE, FALLBACK, UNKNOWN, SPECIAL = PositionKind
KINDS = tuple(kind.name.lower() for kind in PositionKind)


class Triple(NamedTuple):
    """One position as three symbols. ``onset`` is ``"[EMPTY]"`` where there is none, and so is a neutral ``tone``."""

    onset: str
    rime: str
    tone: str


def packs(characters: str) -> bool:
    """Whether characters of the fallback share a position when it is packed.

    Two or three letters, or digits, do, but not three equal ones: those would be a single character.
    """
    alike = characters.isalpha() or characters.isdigit()
    return alike and len(characters) in (2, 3) and characters != 3 * characters[0]


def fallback_triple(characters: str) -> Triple:
    """The position that holds a character of the fallback, or two or three that are packed.

    (x, x, x) for one, ("[EMPTY]", x, y) for two, (x, y, z) for three. The last symbol is a character, which no syllable
    has there: in both languages that is a tone, or "[EMPTY]".

    Raises:
        ValueError: they do not share a position, see :func:`packs`.
    """
    if len(characters) != 1 and not packs(characters):
        raise ValueError(f"{characters!r} do not share a position: not two or three letters, or digits, or three equal")
    return Triple(*(3 * characters if len(characters) == 1 else [EMPTY, *characters][-3:]))


def characters_of(triple: tuple[str, str, str]) -> str:
    """The characters of a fallback position: the inverse of :func:`fallback_triple`.

    Arguments:
        triple: the position's three symbols.
    """
    onset, rime, tone = triple
    if onset == rime == tone:
        return onset
    return "".join(symbol for symbol in triple if symbol not in SPECIALS)


class Vocabulary(Sequence[str]):
    """The symbols of one language: ``vocab[id]`` is a symbol, ``vocab.id(symbol)`` its id.

    The order is frozen (``data/vocabulary-*.tsv``): specials, onsets, rimes, tones, then the fallback characters that
    are not among them. One string is one entry, also when it names a component and a fallback character (``a``, ``k``).

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
    """

    def __init__(self, lang: str) -> None:
        lines = (Path(__file__).parent / "lexicon" / f"vocabulary-{lang}.tsv").read_text("utf-8").splitlines()
        rows = [line.split("\t") for line in lines]
        self.lang = lang
        self.symbols = tuple(symbol for symbol, _ in rows)
        self._roles = tuple(frozenset(roles.split(",")) for _, roles in rows)
        self._ids = {symbol: number for number, symbol in enumerate(self.symbols)}

    def __len__(self) -> int:
        return len(self.symbols)

    def __getitem__(self, index: Any) -> Any:
        return self.symbols[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.symbols)

    def __contains__(self, symbol: object) -> bool:
        return symbol in self._ids

    def __repr__(self) -> str:
        return f"Vocabulary({self.lang!r}, {len(self)} symbols)"

    def id(self, symbol: str) -> int:
        """The id of a symbol.

        Raises:
            KeyError: there is no such symbol.
        """
        return self._ids[symbol]

    def roles(self, symbol: str | int) -> frozenset[str]:
        """The roles of a symbol (or id): some of special, onset, rime, tone, fallback."""
        return self._roles[symbol if isinstance(symbol, int) else self._ids[symbol]]

    def by_role(self, role: str) -> list[str]:
        """The symbols with a role, in the order of their ids."""
        return [symbol for symbol, roles in zip(self.symbols, self._roles, strict=True) if role in roles]

    @property
    def checksum(self) -> str:
        """CRC-32 of the symbols in order, eight hexadecimal digits: another checksum means other ids."""
        return f"{zlib.crc32(chr(10).join(self.symbols).encode()):08x}"

    def pack(self, triple: tuple[str, str, str]) -> int:
        """The packed id of three symbols.

        Arguments:
            triple: onset, rime and tone; ``"[EMPTY]"`` for an absent part.

        Raises:
            KeyError: one of them is not in the vocabulary.
        """
        onset, rime, tone = (self._ids[symbol] for symbol in triple)
        return onset | rime << 8 | tone << 16

    def unpack(self, packed: int) -> Triple:
        """The three symbols of a packed id."""
        packed = int(packed)
        return Triple(*(self.symbols[packed >> shift & 255] for shift in (0, 8, 16)))


@cache
def vocabulary(lang: str) -> Vocabulary:
    """The vocabulary of ``"vi"`` or ``"zh"``."""
    return Vocabulary(lang)


def pack(components: Any) -> NDArray[np.int32]:
    """Packs triples of ids.

    Arguments:
        components: onset, rime and tone ids, shape (..., 3).

    Returns:
        Packed ids, int32 of shape (...).

    Raises:
        ValueError: the last axis does not have three ids.
    """
    parts = np.asarray(components).astype(np.int32)
    if parts.shape[-1:] != (3,):
        raise ValueError(f"triples need a last axis of 3, not shape {parts.shape}")
    return parts[..., 0] | parts[..., 1] << 8 | parts[..., 2] << 16


def unpack(packed: Any) -> NDArray[np.uint8]:
    """Unpacks ids.

    Arguments:
        packed: packed ids of shape (...).

    Returns:
        Onset, rime and tone ids, uint8 of shape (..., 3); a view where the memory allows it.
    """
    ids = np.asarray(packed, dtype=np.int32)
    if ids.flags.c_contiguous and sys.byteorder == "little":
        return ids.reshape(-1).view(np.uint8).reshape(*ids.shape, 4)[..., :3]
    return np.stack([ids >> shift & 255 for shift in (0, 8, 16)], axis=-1).astype(np.uint8)


def check_ids(ids: Any, vocabulary: Vocabulary) -> None:
    """Checks ids that were not made here: each of their three parts is in the vocabulary.

    Arguments:
        ids: packed ids.
        vocabulary: the symbols that they stand for.

    Raises:
        ValueError: they are not int32 (N,), or one stands for nothing; the message says which.
    """
    if not isinstance(ids, np.ndarray) or ids.dtype != np.int32 or ids.ndim != 1:
        raise ValueError(f"packed ids are an array int32 (N,), not {_described(ids)}")
    wrong = (ids < 0) | (unpack(ids) >= len(vocabulary)).any(axis=1)
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(f"position {at}: the id {ids[at]} is not in the {vocabulary.lang} vocabulary")


def check_spans(spans: Any, ids: NDArray[np.int32], sizes: Any, offsets: Any = (0, -1)) -> None:
    """Checks spans that were not made here.

    Arguments:
        spans: half-open spans of the positions.
        ids: the positions' ids, int32 (N,).
        sizes: the length of their text; of rows, the length of each row's.
        offsets: of rows, where each begins and, last, where the last ends.

    Raises:
        ValueError: they are not int32 (N, 2), or one is outside the text or before the one before it.
    """
    if not isinstance(spans, np.ndarray) or spans.dtype != np.int32 or spans.shape != (len(ids), 2):
        raise ValueError(f"the spans of {len(ids)} positions are int32 ({len(ids)}, 2), not {_described(spans)}")
    if not len(ids):
        return
    starts, ends = spans.T
    least, most = np.append(0, starts[:-1]), np.append(ends[1:], 0)
    sizes, bounds = np.atleast_1d(sizes), np.array(offsets) % (len(ids) + 1)
    filled = np.diff(bounds) > 0
    least[bounds[:-1][filled]], most[bounds[1:][filled] - 1] = 0, sizes[filled]
    wrong = (starts < least) | (ends < starts) | (ends > most)
    if wrong.any():
        at = int(wrong.argmax())
        size = sizes[np.searchsorted(bounds, at, "right") - 1]
        raise ValueError(f"position {at}: the span {spans[at].tolist()} does not follow in a text of {size} characters")


def check_offsets(offsets: Any, rows: int, count: int) -> None:
    """Checks row offsets that were not made here.

    Arguments:
        offsets: where each row begins and, last, where the last ends.
        rows: how many rows there are.
        count: how many positions.

    Raises:
        ValueError: they are not int64 (rows + 1,), or do not go from 0 to ``count`` without a step back.
    """
    if not isinstance(offsets, np.ndarray) or offsets.dtype != np.int64 or offsets.shape != (rows + 1,):
        raise ValueError(f"the offsets of {rows} rows are int64 ({rows + 1},), not {_described(offsets)}")
    if offsets[0] != 0 or offsets[-1] != count or (np.diff(offsets) < 0).any():
        raise ValueError(f"the offsets of {count} positions go from 0 to {count} without a step back")


def check_word_ids(words: Any, ids: NDArray[np.int32]) -> None:
    """Checks word ids that were not made here.

    Arguments:
        words: the word id of each position.
        ids: the positions' ids, int32 (N,).

    Raises:
        ValueError: they are not int32 (N,).
    """
    if not isinstance(words, np.ndarray) or words.dtype != np.int32 or words.shape != ids.shape:
        raise ValueError(f"the word ids of {len(ids)} positions are int32 ({len(ids)},), not {_described(words)}")


def _described(value: object) -> str:
    return f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__


def forms_of(packed: Any) -> NDArray[np.uint8]:
    """The forms of packed ids.

    Arguments:
        packed: packed ids of shape (...).

    Returns:
        uint8 of shape (...); a view where the memory allows it.
    """
    ids = np.asarray(packed, dtype=np.int32)
    if ids.flags.c_contiguous and sys.byteorder == "little":
        return ids.reshape(-1).view(np.uint8).reshape(*ids.shape, 4)[..., 3]
    return (ids >> FORM_SHIFT).astype(np.uint8)


def kinds_of(packed: NDArray[np.int32]) -> NDArray[np.uint8]:
    """NATIVE, FALLBACK, UNKNOWN or SPECIAL for each packed id, whatever its form: uint8 of the same shape."""
    ids = np.asarray(packed, dtype=np.int32) & TRIPLE
    kinds = np.where(_ends_syllable()[ids >> 16 & 255], np.uint8(NATIVE), np.uint8(FALLBACK))
    special = (ids & 255 < len(SPECIALS)) & (ids == (ids & 255) * 0x010101)
    kinds[special] = SPECIAL
    kinds[ids == UNKNOWN_ID] = UNKNOWN
    return kinds


@cache
def _ends_syllable() -> NDArray[np.bool_]:
    """Whether each id may be the last of a syllable: tones and specials are true, bool (256,).

    No id is a tone of one language and a fallback character of the other.
    """
    ends = np.zeros(256, bool)
    ends[: len(SPECIALS)] = True
    for lang in LANGUAGES:
        symbols = vocabulary(lang)
        ends[[symbols.id(tone) for tone in symbols.by_role("tone")]] = True
    return ends
