"""From ids back to text: the positions alone, or put into the text that they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from phonemic.characters import plain
from phonemic.encoding import Batch, Encoding
from phonemic.errors import DecodingError
from phonemic.forms import without_forms
from phonemic.inventory import (
    FALLBACK,
    FORM_SHIFT,
    NATIVE,
    SPECIALS,
    TRIPLE,
    UNKNOWN,
    UNKNOWN_ID,
    Triple,
    Vocabulary,
    characters_of,
    forms_of,
    kinds_of,
    pack,
    packs,
    unpack,
)
from phonemic.vietnamese import ALPHABET
from phonemic.writing.notations import cased, is_erhua, notation, speller, with_erhua
from phonemic.writing.pieces import DIGIT, LETTER, PLAIN, SKIPPED, SLOW, Piece, Pieces
from phonemic.writing.written import REPLACEMENT, Writer, form_piece

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic._core import Core
    from phonemic.options import TokenizerOptions


class Source(Protocol):
    """The tokenizer whose ids are decoded."""

    #: The writers that were made for it.
    writers: dict[tuple[Any, ...], Any]

    @property
    def options(self) -> TokenizerOptions:
        """All options."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The symbols that the ids stand for."""

    @property
    def core(self) -> Core:
        """The compiled loops over its tables."""

    def factorize(self, unit: str) -> Triple | None:
        """The symbols of one written syllable, None where it is not one."""


_RHOTIC = frozenset("儿兒")

#: Letters of each case that native/_spaced.pyx tells.
_CASES = ("a", "A", "AA")


def packed_ids(ids: Any, lang: str) -> NDArray[np.int32]:
    """Packed ids of whatever ``Tokenizer.decode`` takes, contiguous.

    Raises:
        ValueError: they are of another language or shape, or none of 32 bits.
    """
    if isinstance(ids, Encoding) and ids.vocabulary.lang != lang:
        raise ValueError(f"an Encoding of {ids.vocabulary.lang} cannot be decoded by a tokenizer of {lang}")
    if isinstance(ids, Batch):
        raise ValueError("decode takes one row of a batch: decode(batch[i]), or decode_batch(batch)")
    array = np.asarray(ids.ids if isinstance(ids, Encoding) else ids)
    if array.size == 0:
        return np.zeros(0, np.int32)
    if array.dtype.kind not in "iu" or not (array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 3)):
        raise ValueError(f"decode takes packed ids (N,) or triples (N, 3), not shape {array.shape} of {array.dtype}")
    if array.ndim == 2:
        wrong = np.flatnonzero(((array < 0) | (array > 255)).any(axis=1))
        if len(wrong):
            raise ValueError(f"position {wrong[0]}: {array[wrong[0]].tolist()} is not in the {lang} vocabulary")
        return pack(array)
    if array.dtype != np.int32:
        wrong = np.flatnonzero((array < -(1 << 31)) | (array > 0x7FFFFFFF))
        if len(wrong):
            raise DecodingError(f"position {wrong[0]}: id {array[wrong[0]]} is not a packed id")
    return np.ascontiguousarray(array, np.int32)


def check_vocabulary(packed: NDArray[np.int32], vocabulary: Vocabulary) -> None:
    """Checks ids without forms.

    Raises:
        DecodingError: an id is not in the vocabulary, or has a form.
    """
    for position, number in enumerate(packed.tolist()):
        parts = [number & 255, number >> 8 & 255, number >> 16]
        if number >> FORM_SHIFT and number > 0:
            raise DecodingError(
                f"position {position}: id {number:#x} has a form: decode it by a Tokenizer(form=True), or mask the ids "
                "with 0xFFFFFF"
            )
        if number < 0 or max(parts) >= len(vocabulary):
            raise DecodingError(f"position {position}: {parts} is not in the {vocabulary.lang} vocabulary")


def unit_piece(
    vocabulary: Vocabulary, spell: Callable[[Triple], str], skip_special_tokens: bool, packed: bool
) -> Callable[[int], Piece]:
    """A function that gives the piece of an id without a form, as :func:`join` writes it.

    Arguments:
        vocabulary: the symbols.
        spell: writes a syllable.
        skip_special_tokens: leave out the special symbols other than [UNK].
        packed: the positions are of the packed fallback.
    """
    codes = {letter: number for number, letter in enumerate(ALPHABET, start=1)}

    def piece(number: int) -> Piece:
        if not 0 <= number <= TRIPLE or max(number >> 16, number >> 8 & 255, number & 255) >= len(vocabulary):
            return Piece("", SLOW)
        triple = vocabulary.unpack(number)
        kind = kinds_of(np.array([number], np.int32))[0]
        if kind == NATIVE:
            return Piece(_write(triple, spell, None))
        if kind == UNKNOWN:
            return Piece(REPLACEMENT)
        if kind != FALLBACK:
            return Piece("", SKIPPED) if skip_special_tokens else Piece(triple.onset)
        text = characters_of(triple)
        joined = text.isalpha() or text.isdigit()
        if len(text) > 1 or (packed and joined):
            return Piece("", SLOW)
        return Piece(text, (LETTER if text.isalpha() else DIGIT) if joined else PLAIN, codes.get(text, 0))

    return piece


def packed_rows(ids: Any, offsets: Any, lang: str) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Packed ids of whatever ``Tokenizer.decode_batch`` takes, in one array, with checked offsets.

    Raises:
        ValueError: they are of another language or shape, or the offsets are not of these ids.
    """
    if isinstance(ids, Batch):
        if ids.vocabulary.lang != lang:
            raise ValueError(f"a Batch of {ids.vocabulary.lang} cannot be decoded by a tokenizer of {lang}")
        ids, offsets = ids.ids, ids.offsets
    if offsets is None:
        rows = []
        for number, row in enumerate(ids):
            try:
                rows.append(packed_ids(row, lang))
            except ValueError as error:
                raise type(error)(f"row {number}: {error}") from error
        offsets = np.cumsum([0, *map(len, rows)])
        ids = np.concatenate([*rows, np.zeros(0, np.int32)])
    packed, bounds = packed_ids(ids, lang), np.ascontiguousarray(offsets)
    if bounds.ndim != 1 or bounds.dtype.kind not in "iu" or not len(bounds):
        raise ValueError(f"offsets are integers of shape (B + 1,), not {bounds.dtype} of shape {bounds.shape}")
    bounds = bounds.astype(np.int64)
    if bounds[0] < 0 or bounds[-1] > len(packed) or (np.diff(bounds) < 0).any():
        raise ValueError(f"offsets run upwards from 0 to at most the {len(packed)} ids; these do not")
    return packed, bounds


class Decoder:
    """Writes rows of ids in one way.

    Arguments:
        tokenizer: whose ids they are.
        to, style, skip_special_tokens, dialect, errors: see ``Tokenizer.decode``.
    """

    def __init__(
        self, tokenizer: Source, to: str | None, style: str, skip_special_tokens: bool, dialect: str | None,
        errors: str,
    ) -> None:  # fmt: skip
        if errors not in ("strict", "replace"):
            raise ValueError(f"errors is 'strict' or 'replace', not {errors!r}")
        lang, form = tokenizer.options.lang, tokenizer.options.form
        self.spell, self.name = speller(lang, to, style, dialect), notation(lang, to, dialect)
        self._vocabulary, self._options = tokenizer.vocabulary, tokenizer.options
        self._skip, self._replaces = skip_special_tokens, errors == "replace"
        self._read = tokenizer.factorize if lang == "vi" else _never
        self._packed = tokenizer.options.fallback == "packed"
        core = tokenizer.core if lang == "vi" else None
        piece = unit_piece(self._vocabulary, self.spell, skip_special_tokens, self._packed)
        self._units = Pieces(piece, False, core)
        self._syllables: dict[int, str | None] = {}
        self._kept_pieces: dict[bool, Pieces] = {}
        self._forms = None
        self._drops = form and (to is not None or dialect is not None)
        if form and not self._drops:
            self._forms = Pieces(form_piece(lang, skip_special_tokens), True, None)
            unit = lambda number: self._join(np.array([number], np.int32))  # noqa: E731
            self._writer = Writer(self._vocabulary, unit, skip_special_tokens, self._replaces)

    def rows(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[str]:
        """The texts of rows of ids; see :func:`packed_rows`."""
        if self._forms is not None:
            return self._forms.write(ids, offsets, self._write_forms)
        if self._drops:
            joiner, lang = self._options.word_joiner, self._vocabulary.lang
            rows = [without_forms(ids[start:end], lang, joiner) for start, end in pairwise(offsets.tolist())]
            ids, offsets = np.concatenate([*rows, np.zeros(0, np.int32)]), np.cumsum([0, *map(len, rows)])
        return self._units.write(ids, offsets, self._join)

    def _write_forms(self, ids: NDArray[np.int32]) -> str:
        if not (ids >> FORM_SHIFT).any():
            return self._units.write(ids, np.array([0, len(ids)], np.int64), self._join)[0]
        return self._writer.write(ids)

    def _join(self, ids: NDArray[np.int32], erhua: list[str | None] | None = None) -> str:
        if self._replaces:
            outside = (unpack(ids) >= len(self._vocabulary)).any(axis=1) | (forms_of(ids) > 0)
            ids = np.where(outside, np.int32(UNKNOWN_ID), ids)
        check_vocabulary(ids, self._vocabulary)
        positions = zip(
            map(self._vocabulary.unpack, ids.tolist()), kinds_of(ids).tolist(), erhua or [None] * len(ids), strict=True
        )
        return join(positions, self.spell, self._read, self._skip, self._packed)

    def merged(self, encoding: Encoding) -> str:
        """An Encoding some of whose syllables have 儿 merged with them."""
        return self._join(encoding.ids, erhua_of(encoding, self.name))

    def spaced(self, rows: Encoding | Batch) -> list[str]:
        """The texts of an Encoding, or of each row of a Batch, with their syllables written anew; see :func:`spaced`.

        Raises:
            ValueError: there are no spans, or the positions do not follow one another in their text.
        """
        lang = self._vocabulary.lang
        if isinstance(rows, Encoding):
            ids, offsets = packed_ids(rows, lang), np.array([0, len(rows)], np.int64)
            texts, parts = [rows.text], np.array([rows.is_part])
            row_of: Callable[[int], Encoding] = lambda row: rows  # noqa: E731
        else:
            ids, offsets = packed_rows(rows, None, lang)
            texts, parts = [plain(text) for text in rows.texts], rows.parts
            row_of = rows.__getitem__
        spans = np.ascontiguousarray(rows.spans, np.int32)
        if spans.shape != (len(ids), 2) or not len(texts) == len(parts) == len(offsets) - 1:
            raise ValueError("the texts, offsets and spans are not of these ids: encode the texts with spans=True")
        return self._kept(bool(forms_of(ids).any())).write_into(
            texts,
            ids,
            offsets,
            spans,
            parts.astype(np.uint8),
            lambda row: self._spaced(row_of(row)),
            cased=self.name == "spelling",
            merging=lang == "zh",
        )

    def _kept(self, forms: bool) -> Pieces:
        """The pieces of syllables; what is none is kept."""
        if forms not in self._kept_pieces:
            self._kept_pieces[forms] = Pieces(self._kept_piece, forms, None)
        return self._kept_pieces[forms]

    def _kept_piece(self, number: int) -> Piece:
        triple, case = number & TRIPLE, number >> FORM_SHIFT
        if max(triple >> 16, triple >> 8 & 255, triple & 255) >= len(self._vocabulary):
            return Piece("", SLOW)
        written = self._syllable(triple)
        if written is None:
            return Piece("", SKIPPED)
        return Piece(cased(written, _CASES[case]) if self.name == "spelling" else written)

    def _spaced(self, encoding: Encoding) -> str:
        if encoding.forms.any() and len(encoding):
            spans = encoding.spans  # bytes have the span of what they belong to
            first = np.concatenate([[True], (spans[1:] != spans[:-1]).any(axis=1)])
            part = Encoding(encoding.text, encoding.ids[first] & TRIPLE, spans[first], None, encoding.vocabulary)
            part.is_part = encoding.is_part
            encoding = part
        return spaced(encoding, self._syllable, self.name)

    def _syllable(self, number: int) -> str | None:
        """The spelling of a packed id that is a syllable."""
        try:
            return self._syllables[number]
        except KeyError:
            native = kinds_of(np.array([number], np.int32))[0] == NATIVE
            written = _write(self._vocabulary.unpack(number), self.spell, None) if native else None
            self._syllables[number] = written
            return written


def decoder(tokenizer: Source, *way: Any) -> Decoder:
    """A writer of a tokenizer's ids in one notation, kept with the pieces that it has learnt.

    Raises:
        ValueError: there is no such way.
    """
    found: Decoder | None = tokenizer.writers.get(way)
    if found is None:
        found = tokenizer.writers[way] = Decoder(tokenizer, *way)
    return found


def spaced_texts(write: Decoder, ids: Any, lang: str) -> list[str]:
    """The text of an Encoding, or of each row of a Batch, with its syllables written anew.

    Raises:
        ValueError: it is neither, of another language, or without spans.
    """
    if not isinstance(ids, Encoding | Batch):
        raise ValueError("preserve_text=True needs an Encoding, which knows its text, or a Batch; ids alone do not")
    if ids.vocabulary.lang != lang:
        raise ValueError(f"{type(ids).__name__} of {ids.vocabulary.lang}: a tokenizer of {lang} cannot decode it")
    return write.spaced(ids)


def has_erhua(ids: Any) -> bool:
    """Whether it is an Encoding in which 儿 may be merged with the syllable before it."""
    return (
        isinstance(ids, Encoding) and ids.vocabulary.lang == "zh" and ids.has_spans
        and not _RHOTIC.isdisjoint(ids.text) and any(erhua_of(ids, "pinyin"))
    )  # fmt: skip


def erhua_of(ids: Any, name: str) -> list[str | None]:
    """The notation in which 儿 is added to each position of an Encoding, None where none is; or nothing.

    Arguments:
        ids: whatever ``Tokenizer.decode`` takes; ids alone do not tell.
        name: the notation.
    """
    if not isinstance(ids, Encoding) or not ids.has_spans:
        return []
    lang = ids.vocabulary.lang
    return [name if is_erhua(lang, ids.text[start:end]) else None for start, end in ids.spans.tolist()]


def spaced(encoding: Encoding, write: Callable[[int], str | None], name: str) -> str:
    """A text, or the part of it that an Encoding is, with its syllables written anew and all else as it stood.

    Arguments:
        encoding: of the text, with spans.
        write: writes the syllable that a packed id is; None where it is none.
        name: the notation. Vietnamese spelling takes the case of the letters that it stands for; any other is parted by
            a space from letters, digits and syllables that touch it.

    Raises:
        ValueError: the positions do not follow one another.
    """
    as_spelled, lang = name == "spelling", encoding.vocabulary.lang
    pieces: list[str] = []
    text, spans = encoding.text, encoding.spans.tolist()
    at, last = 0, len(text)
    if encoding.is_part:
        at, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    before = ""  # what kind of piece is before
    for number, (start, end) in zip(encoding.ids.tolist(), spans, strict=True):
        if start < at:
            raise ValueError("the positions do not follow one another in their text, so its spacing cannot be kept")
        own, written = text[start:end], write(number)
        if written is None:
            word, touches = own[:1].isalnum(), before == "syllable"
        else:
            word = touches = True
            if end - start > 1 and is_erhua(lang, own):
                written = with_erhua(written, name)
            if as_spelled:
                written = cased(written, own)
        if at == start and before and word and touches and not as_spelled:
            pieces.append(" ")
        pieces += [text[at:start], own if written is None else written]
        at, before = end, "syllable" if written is not None else "word" if word else ""
    return "".join([*pieces, text[at:last]])


def join(
    positions: Iterable[tuple[Triple, int, str | None]],
    spell: Callable[[Triple], str],
    read: Callable[[str], Triple | None],
    skip_special_tokens: bool,
    packed: bool = False,
) -> str:
    """Writes positions, separated by spaces; letters, and digits, of the fallback that follow one another are joined.

    Arguments:
        positions: the symbols of each position, its kind, and the notation in which 儿 is added to it, or None.
        spell: writes a syllable.
        read: what a run of letters would be read as, so that runs are not joined into a syllable.
        skip_special_tokens: leave out the special symbols other than [UNK].
        packed: the positions are of the packed fallback: what would have found room in the position before it was no
            part of its run.
    """
    pieces: list[str] = []
    run: list[str] = []  # the characters of each position
    for triple, kind, erhua in positions:
        characters = characters_of(triple) if kind == FALLBACK else ""
        if run and not (characters and _follows(run[-1], characters[0], packed)):
            pieces += _write_run(run, spell, read)
            run = []
        if characters:
            run.append(characters)
        elif kind == NATIVE:
            pieces.append(_write(triple, spell, erhua))
        elif kind == UNKNOWN:
            pieces.append(REPLACEMENT)
        elif not skip_special_tokens:
            pieces.append(triple.onset)
    return " ".join(pieces + _write_run(run, spell, read))


def _never(run: str) -> None:
    """Letters in Mandarin text are not syllables."""


def _follows(characters: str, char: str, packed: bool) -> bool:
    """Whether a character may have stood behind those of the position before, in one run."""
    one = characters[-1]
    if packed and packs(characters + char):
        return False
    return (one.isalpha() and char.isalpha()) or (one.isdigit() and char.isdigit())


def _write(triple: Triple, spell: Callable[[Triple], str], erhua: str | None) -> str:
    """A syllable, or the bare symbols of a triple that no syllable has (a model may predict one)."""
    try:
        return with_erhua(spell(triple), erhua) if erhua else spell(triple)
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
