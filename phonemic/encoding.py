"""Results of a tokenizer: one text's positions (Encoding) or many texts' in one flat array (Batch)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from phonemic.characters import plain
from phonemic.inventory import (
    CLS,
    EMPTY,
    FORM_SHIFT,
    NATIVE,
    SEP,
    TRIPLE,
    UNKNOWN_ID,
    Triple,
    Vocabulary,
    characters_of,
    check_ids,
    check_offsets,
    check_spans,
    check_word_ids,
    forms_of,
    kinds_of,
    unpack,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: ``[CLS]`` and ``[SEP]`` at a position of their own.
PACKED_CLS, PACKED_SEP = CLS * 0x010101, SEP * 0x010101


class Syllable(NamedTuple):
    """One position as people read it.

    ``onset``, ``rime``, ``tone`` and ``ipa`` are "" where the position is not a syllable (fallback, unknown), and each
    component is "" where the syllable has none. ``start`` and ``end`` are code points of the text.
    """

    text: str
    onset: str
    rime: str
    tone: str
    ipa: str
    start: int
    end: int

    @property
    def is_native(self) -> bool:
        """Whether this is a syllable of the language, not fallback."""
        return bool(self.rime)


#: The character that merges with the syllable before it under ``erhua=True``.
_RHOTIC = frozenset("儿兒")


def syllable_of(triple: Triple, native: bool, text: str, start: int, end: int) -> Syllable:
    """A Syllable from symbols; ``text`` is the whole text."""
    onset, rime, tone = ("" if symbol == EMPTY or not native else symbol for symbol in triple)
    own, ipa = text[start:end], onset + rime + tone
    if native and not _RHOTIC.isdisjoint(own[1:]):
        from phonemic.writing.notations import with_erhua

        ipa = with_erhua(ipa, "ipa")
    return Syllable(own, onset, rime, tone, ipa, start, end)


def token_of(triple: Triple, kind: int) -> str:
    """``onset|rime|tone`` for a syllable ("" for an absent part); the characters or special symbol for the others."""
    if kind != NATIVE:
        return characters_of(triple)
    return "|".join("" if symbol == EMPTY else symbol for symbol in triple)


def special_room(max_length: int, special_tokens: bool) -> int:
    """How many positions of text fit ``max_length``.

    Raises:
        ValueError: not even the special tokens fit.
    """
    room = max_length - 2 * special_tokens
    if room < 0 or max_length < 1:
        raise ValueError(f"max_length={max_length} leaves no room; it must be at least {2 if special_tokens else 1}")
    return room


class _Positions:
    """The part that an Encoding and a Batch share: views of the packed ids."""

    ids: NDArray[np.int32]

    @property
    def components(self) -> NDArray[np.uint8]:
        """Onset, rime and tone ids: uint8 (N, 3), a view of ``ids``."""
        return unpack(self.ids)

    @property
    def forms(self) -> NDArray[np.uint8]:
        """The written form of each position, 0 without ``form=True``: uint8 (N,), a view of ``ids``.

        :func:`phonemic.forms.form_of` has what a form means.
        """
        return forms_of(self.ids)

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """The :class:`PositionKind` of each position: uint8 (N,)."""
        return kinds_of(self.ids)


class Encoding(_Positions):
    """The positions of one text, as :meth:`phonemic.Tokenizer.encode` gives them.

    Arguments:
        text: the text as given.
        ids: packed ids, int32 (N,).
        spans: half-open spans in code points of ``text``, int32 (N, 2), or None.
        words: word ids, int32 (N,), or None.
        vocabulary: the symbols that the ids stand for.

    Raises:
        ValueError: the ids are not in the vocabulary, or the spans not in the text.
    """

    __slots__ = ("_block", "_ids", "_spans", "_words", "is_part", "text", "vocabulary")

    #: Whether it is a part of what the text has: a slice, or truncated.
    is_part: bool

    def __init__(
        self,
        text: str,
        ids: NDArray[np.int32],
        spans: NDArray[np.int32] | None,
        words: NDArray[np.int32] | None,
        vocabulary: Vocabulary,
    ) -> None:
        check_ids(ids, vocabulary)
        if spans is not None:
            check_spans(spans, ids, len(text))
        self._hold(text, ids, spans, words, vocabulary)

    def _hold(
        self,
        text: str,
        ids: NDArray[np.int32],
        spans: NDArray[np.int32] | None,
        words: NDArray[np.int32] | None,
        vocabulary: Vocabulary,
        is_part: bool = False,
    ) -> Encoding:
        self.text = text
        self.vocabulary = vocabulary
        self.is_part = is_part
        self._block: NDArray[np.int32] | None = None
        self._ids = ids
        self._spans = spans
        self._words = words
        return self

    @classmethod
    def of_block(cls, text: str, block: NDArray[np.int32], vocabulary: Vocabulary) -> Encoding:
        """An Encoding of what ``Core.encode`` returns, cut when asked.

        Arguments:
            text: the text as given.
            block: int32 (4 N,): N ids, N word ids and N spans.
            vocabulary: the symbols that the ids stand for.
        """
        made = cls.__new__(cls)
        made.is_part = False
        made.text = text
        made.vocabulary = vocabulary
        made._block = block
        return made

    @property
    def ids(self) -> NDArray[np.int32]:  # type: ignore[override]
        """Packed ids, int32 (N,): ``onset | rime << 8 | tone << 16``."""
        block = self._block
        return self._ids if block is None else block[: len(block) >> 2]

    @property
    def spans(self) -> NDArray[np.int32]:
        """Half-open spans in code points of ``text``, int32 (N, 2).

        Raises:
            ValueError: this is a row of a batch that was encoded without spans.
        """
        block = self._block
        return _asked_for(self._spans, "spans") if block is None else block[len(block) >> 1 :].reshape(-1, 2)

    @property
    def has_spans(self) -> bool:
        """Whether it knows its spans: a row of a batch that was encoded without them does not."""
        return self._block is not None or self._spans is not None

    @property
    def word_ids(self) -> NDArray[np.int32]:
        """The whitespace-delimited unit of each position, as an index into ``text.split()``: int32 (N,).

        Raises:
            ValueError: this is a row of a batch that was encoded without word ids.
        """
        block = self._block
        return _asked_for(self._words, "word_ids") if block is None else block[len(block) >> 2 : len(block) >> 1]

    @property
    def triples(self) -> list[Triple]:
        """The symbols of each position."""
        return [self.vocabulary.unpack(packed) for packed in self.ids.tolist()]

    @property
    def tokens(self) -> list[str]:
        """One string a position: ``onset|rime|tone`` for a syllable, characters or special symbol for the others."""
        return [token_of(triple, kind) for triple, kind in zip(self.triples, self.kinds.tolist(), strict=True)]

    @property
    def syllables(self) -> list[Syllable]:
        """One Syllable a position."""
        rows = zip(self.triples, self.kinds.tolist(), self.spans.tolist(), strict=True)
        return [syllable_of(triple, kind == NATIVE, self.text, start, end) for triple, kind, (start, end) in rows]

    @property
    def continues(self) -> NDArray[np.bool_]:
        """Whether a position is a byte of what the position before it is of (``form=True``): bool (N,)."""
        ids, spans = self.ids, self.spans
        found: NDArray[np.bool_] = ((ids & TRIPLE) == UNKNOWN_ID) & (ids != UNKNOWN_ID)
        found[:1] = False
        found[1:] &= (spans[1:] == spans[:-1]).all(axis=1)
        return found

    @property
    def form_words(self) -> list[str]:
        """The form of each position in words, as ``First, space before``; empty where no position has a form."""
        if not self.forms.any():
            return []
        from phonemic.forms import form_of

        found = (form_of(packed, self.vocabulary.lang) for packed in self.ids.tolist())
        return ["impossible" if form is None else form.words for form in found]

    def truncate(self, max_length: int) -> Encoding:
        """The first ``max_length`` positions, as a view; fewer where the cut would fall among the bytes of a character
        or between a position and the bytes of how it is written (``form=True``).
        """
        return self[: _whole(self.ids, special_room(max_length, special_tokens=False))]

    def pad(self, max_length: int | None = None, special_tokens: bool = True) -> dict[str, NDArray[np.int32]]:
        """``input_ids`` and ``attention_mask``, int32 (N,): a padded batch of one, see :meth:`Batch.pad`."""
        offsets = np.array([0, len(self)], np.int64)
        padded = Batch.made([self.text], self.ids, offsets, None, None, self.vocabulary).pad(max_length, special_tokens)
        return {name: array[0] for name, array in padded.items()}

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Syllable]:
        return iter(self.syllables)

    @overload
    def __getitem__(self, index: int) -> Syllable: ...
    @overload
    def __getitem__(self, index: slice) -> Encoding: ...
    def __getitem__(self, index: int | slice) -> Syllable | Encoding:
        if isinstance(index, slice):
            block = self._block
            spans = self.spans if block is not None else self._spans
            words = self.word_ids if block is not None else self._words
            ids = self.ids[index]
            is_part = self.is_part or len(ids) < len(self)
            made = Encoding.__new__(Encoding)
            return made._hold(self.text, ids, _part(spans, index), _part(words, index), self.vocabulary, is_part)
        start, end = self.spans[index].tolist()
        triple = self.vocabulary.unpack(self.ids[index])
        return syllable_of(triple, bool(self.kinds[index] == NATIVE), self.text, start, end)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return self.text == other.text and np.array_equal(self.ids, other.ids)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = " ".join(self.tokens[:12]) + (" …" if len(self) > 12 else "")
        return f"Encoding({len(self)} positions of {self.vocabulary.lang}: {shown})"

    def _repr_html_(self) -> str:
        from html import escape

        if not self.has_spans:
            return f"<p>{escape(repr(self))}</p>"
        rows: dict[str, list[str]] = {"text": [], "onset": [], "rime": [], "tone": [], "IPA": []}
        for syllable, again in zip(self.syllables[:200], self.continues.tolist(), strict=False):
            for name, cell in zip(rows, syllable[:5], strict=True):
                rows[name].append("" if again else cell)
        if words := self.form_words:
            rows["form"] = words[:200]
        body = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            + "".join(f"<td style='text-align:center'>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
            for name, cells in rows.items()
        )
        more = f"<p>… and {len(self) - 200} more positions</p>" if len(self) > 200 else ""
        return f"<table class='phonemic'>{body}</table>{more}"


class Batch(_Positions, Sequence[Encoding]):
    """The positions of many texts: one flat array and row offsets, no Python object a text.

    :meth:`phonemic.Tokenizer.encode_batch` gives it.

    Arguments:
        texts: the texts as given.
        ids: packed ids of all texts, int32 (N,).
        offsets: row i is ``ids[offsets[i]:offsets[i + 1]]``; int64 (B + 1,).
        spans: half-open spans, each into its own text, int32 (N, 2), or None.
        words: word ids, each in its own text, int32 (N,), or None.
        vocabulary: the symbols that the ids stand for.

    Raises:
        ValueError: the ids are not in the vocabulary, the offsets not of these texts and ids, or the spans not in the
            texts.
    """

    #: Whether each row is a part of what its text has; None where none is.
    _parts: NDArray[np.bool_] | None

    def __init__(
        self,
        texts: Sequence[str],
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        spans: NDArray[np.int32] | None,
        words: NDArray[np.int32] | None,
        vocabulary: Vocabulary,
    ) -> None:
        check_ids(ids, vocabulary)
        check_offsets(offsets, len(texts), len(ids))
        if spans is not None:
            check_spans(spans, ids, [len(text) for text in texts], offsets)
        if words is not None:
            check_word_ids(words, ids)
        self._hold(texts, ids, offsets, spans, words, vocabulary)

    @classmethod
    def made(
        cls,
        texts: Sequence[str],
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        spans: NDArray[np.int32] | None,
        words: NDArray[np.int32] | None,
        vocabulary: Vocabulary,
        parts: NDArray[np.bool_] | None = None,
    ) -> Batch:
        """A Batch of arrays that were made here: nothing is checked.

        Arguments: as those of the class.
            parts: whether each row is a part of what its text has, bool (B,); None: none is.
        """
        return cls.__new__(cls)._hold(texts, ids, offsets, spans, words, vocabulary, parts)

    def _hold(
        self,
        texts: Sequence[str],
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        spans: NDArray[np.int32] | None,
        words: NDArray[np.int32] | None,
        vocabulary: Vocabulary,
        parts: NDArray[np.bool_] | None = None,
    ) -> Batch:
        self.texts = texts
        self.ids = ids
        self.offsets = offsets
        self._spans = spans
        self._words = words
        self._parts = parts
        self.vocabulary = vocabulary
        return self

    @property
    def spans(self) -> NDArray[np.int32]:
        """Half-open spans of all positions, each into its own text: int32 (N, 2).

        Raises:
            ValueError: the batch was encoded without spans.
        """
        return _asked_for(self._spans, "spans")

    @property
    def word_ids(self) -> NDArray[np.int32]:
        """Word ids of all positions, each in its own text: int32 (N,).

        Raises:
            ValueError: the batch was encoded without word ids.
        """
        return _asked_for(self._words, "word_ids")

    @property
    def parts(self) -> NDArray[np.bool_]:
        """Whether each row is a part of what its text has, because it was truncated: bool (B,)."""
        return np.zeros(len(self), bool) if self._parts is None else self._parts

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Positions of each text: int64 (B,)."""
        return np.diff(self.offsets)

    def truncate(self, max_length: int) -> Batch:
        """The first ``max_length`` positions of each text; see :meth:`Encoding.truncate`."""
        lengths = self._cut_lengths(special_room(max_length, special_tokens=False))
        keep, ends = _first(self.lengths, lengths), lengths.cumsum()
        spans = None if self._spans is None else self._spans[keep]
        words = None if self._words is None else self._words[keep]
        parts, offsets = self.parts | (self.lengths > max_length), np.concatenate([[0], ends])
        return Batch.made(self.texts, self.ids[keep], offsets, spans, words, self.vocabulary, parts)

    def pad(self, max_length: int | None = None, special_tokens: bool = True) -> dict[str, NDArray[np.int32]]:
        """Rows of one length for a model.

        Arguments:
            max_length: the length of every row, special tokens included; longer texts are cut. None: that of the
                longest text.
            special_tokens: put [CLS] before and [SEP] behind each text.

        Returns:
            ``input_ids`` int32 (B, N), padded with 0, and ``attention_mask`` int32 (B, N).

        Raises:
            ValueError: max_length leaves no room for the special tokens.
        """
        if max_length is None:
            max_length = max(int(self.lengths.max(initial=0)) + 2 * special_tokens, 1)
        room = special_room(max_length, special_tokens)
        lengths = self._cut_lengths(room)
        input_ids = np.zeros((len(self), max_length), np.int32)
        columns = np.arange(max_length)
        shift = int(special_tokens)
        flat = self.ids if lengths.sum() == len(self.ids) else self.ids[_first(self.lengths, lengths)]
        input_ids[(columns >= shift) & (columns < lengths[:, None] + shift)] = flat
        if special_tokens:
            input_ids[:, 0] = PACKED_CLS
            input_ids[np.arange(len(self)), lengths + 1] = PACKED_SEP
        mask = columns < lengths[:, None] + 2 * shift
        return {"input_ids": input_ids, "attention_mask": mask.astype(np.int32)}

    def _cut_lengths(self, limit: int) -> NDArray[np.int64]:
        """How many positions are left of each text."""
        lengths: NDArray[np.int64] = np.minimum(self.lengths, limit)
        for row in np.flatnonzero(self.lengths > limit).tolist():
            lengths[row] = _whole(self.ids[self.offsets[row] : self.offsets[row + 1]], limit)
        return lengths

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Encoding: ...
    @overload
    def __getitem__(self, index: slice) -> Batch: ...
    def __getitem__(self, index: int | slice) -> Encoding | Batch:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError("a slice of a Batch is a view, so its step must be 1")
            first, last = (int(self.offsets[at]) for at in (start, max(start, stop)))
            offsets = self.offsets[start : max(start, stop) + 1] - first
            ids, spans, words = self._cut(first, last)
            parts = None if self._parts is None else self._parts[start:stop]
            return Batch.made(self.texts[start:stop], ids, offsets, spans, words, self.vocabulary, parts)
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of a batch of {len(self)} texts")
        index %= len(self)
        ids, spans, words = self._cut(int(self.offsets[index]), int(self.offsets[index + 1]))
        is_part = self._parts is not None and bool(self._parts[index])
        row = Encoding.__new__(Encoding)
        return row._hold(plain(self.texts[index]), ids, spans, words, self.vocabulary, is_part)

    def __iter__(self) -> Iterator[Encoding]:
        return (self[index] for index in range(len(self)))

    def _cut(
        self, first: int, last: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32] | None, NDArray[np.int32] | None]:
        rows = slice(first, last)
        return self.ids[rows], _part(self._spans, rows), _part(self._words, rows)

    def __repr__(self) -> str:
        return f"Batch({len(self)} texts, {len(self.ids)} positions of {self.vocabulary.lang})"

    def _repr_html_(self) -> str:
        if self._spans is None:
            return f"<p>{self!r}</p>"
        return f"<p>{self!r}</p>" + "".join(encoding._repr_html_() for encoding in self[:5])


def _asked_for(array: NDArray[Any] | None, name: str) -> NDArray[Any]:
    if array is None:
        raise ValueError(f"this batch was encoded without {name}; call encode_batch(..., {name}=True)")
    return array


def _part(array: NDArray[np.int32] | None, index: slice) -> NDArray[np.int32] | None:
    return None if array is None else array[index]


def _whole(ids: NDArray[np.int32], limit: int) -> int:
    """:func:`phonemic.forms.whole`, which is not imported where ids have no forms."""
    if limit >= len(ids) or ids[limit] >> FORM_SHIFT == 0:
        return limit
    from phonemic.forms import whole

    return whole(ids, limit)


def _first(lengths: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which positions of a flat array, of rows of these lengths, are among the first ``kept`` of their row."""
    starts = np.repeat(lengths.cumsum() - lengths, lengths)
    first: NDArray[np.bool_] = np.arange(len(starts)) - starts < np.repeat(kept, lengths)
    return first
