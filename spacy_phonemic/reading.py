"""How a Doc is read: once, when it is first asked, with the options of the component that it went through.

A Doc that went through none is read with the options that its vocab carries.

Nothing but stated readings is written into the Doc. Its reading is kept next to it as long as it lives, so a Doc that
comes from somewhere else (``Span.as_doc``, ``Doc.from_docs``, ``DocBin``, another process) is read anew and can never
have a wrong one.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Unpack, cast
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from phonemic import Batch, Encoding, Tokenizer
from phonemic.encoding import syllable_of
from phonemic.errors import SavedTokenizerError
from phonemic.files.jsons import checked, damaged
from phonemic.inventory import LANGUAGES, NATIVE, kinds_of, vocabulary
from phonemic.lexicon.digests import short_digests, warn_of_other_tables
from phonemic.options import OptionArguments
from phonemic.units import without_bytes
from phonemic.writing.dialects import check_dialect, pronounce
from phonemic.writing.notations import is_erhua
from spacy_phonemic.stated import with_stated

#: The options as lookups held them one by one, before they held them as one value.
_NAMES = ("lang", "strict", "word_joiner", "phrases", "fallback")

#: The name of the attribute that holds a Doc's encoding, and of the table in ``vocab.lookups`` that holds the options.
KEY = "phonemic"


class Parts(NamedTuple):
    """The sounds of a syllable; "" for an absent onset or tone."""

    onset: str
    rime: str
    tone: str
    ipa: str


class Way(NamedTuple):
    """How a Doc is read: with what tokenizer, and in what Vietnamese dialect its IPA is written (None: none)."""

    tokenizer: Tokenizer
    dialect: str | None = None

    def __str__(self) -> str:
        return f"{self.tokenizer}, IPA of {self.dialect}" if self.dialect else str(self.tokenizer)


class Reading:
    """The encoding of a Doc's text, ready to be asked by character offset."""

    def __init__(self, encoding: Encoding, way: Way) -> None:
        self.encoding, self.way = encoding, way

    @cached_property
    def plain(self) -> Encoding:
        """The encoding without forms, and without the positions that only these have: what attributes are made of."""
        encoding = self.encoding
        if not encoding.forms.any():
            return encoding
        offsets = np.array([0, len(encoding)], np.int64)
        batch = Batch.made([encoding.text], encoding.ids, offsets, encoding.spans, None, encoding.vocabulary)
        return without_bytes(batch, self.way.tokenizer.word_joiner)[0]

    @cached_property
    def _starts(self) -> list[int]:
        return cast("list[int]", self.plain.spans[:, 0].tolist())

    @cached_property
    def _ends(self) -> list[int]:
        return cast("list[int]", self.plain.spans[:, 1].tolist())

    @cached_property
    def _parts(self) -> list[Parts | None]:
        lang, dialect = self.encoding.vocabulary.lang, self.way.dialect
        texts = (self.plain.text[start:end] for start, end in self.plain.spans.tolist())
        pairs = zip(self.plain.ids.tolist(), texts, strict=True)
        return [_parts(lang, packed, dialect, text if is_erhua(lang, text) else "") for packed, text in pairs]

    def between(self, start: int, end: int) -> slice:
        """The positions of ``plain`` that begin at a character from ``start`` up to ``end``."""
        first = bisect_left(self._starts, start)
        return slice(first, bisect_left(self._starts, end, first))

    def parts(self, start: int, end: int) -> list[Parts]:
        """The syllables that begin between two characters; what is not a syllable is left out."""
        return [parts for parts in self._parts[self.between(start, end)] if parts]

    def is_syllable(self, start: int, end: int) -> bool:
        """Whether the text between two characters is one syllable and nothing else."""
        at = bisect_left(self._starts, start)
        if at == len(self._starts) or self._parts[at] is None:
            return False
        return self._starts[at] == start and self._ends[at] == end


@cache
def _parts(lang: str, packed: int, dialect: str | None, merged: str) -> Parts | None:
    """The sounds of a position; ``merged`` is its text where 儿 is part of it."""
    if kinds_of(np.array([packed], np.int32))[0] != NATIVE:
        return None
    triple = vocabulary(lang).unpack(packed)
    parts = Parts(*syllable_of(triple, True, merged, 0, len(merged))[1:5])
    return parts if dialect is None or lang != "vi" else parts._replace(ipa="".join(pronounce(triple, dialect)))


#: The reading of each Doc, or the reader that will make it, by the component's name for it.
_readings: dict[str, WeakKeyDictionary[Doc, Reading | Way]] = {}


def reading_of(doc: Doc, key: str | None = None) -> Reading:
    """The reading of a Doc: with the options of the component that it went through, or else of its vocab.

    Arguments:
        doc: any Doc.
        key: the name under which the component keeps its options and arrays; None: :func:`key_of` the Doc's vocab.

    Raises:
        ValueError: nothing says in what language, or with which of several components, the Doc is to be read.
    """
    key = key_of(doc.vocab) if key is None else key
    kept = _readings.get(key)
    reading = None if kept is None else kept.get(doc)
    if isinstance(reading, Reading):
        if reading.encoding.text or not len(doc):
            return reading
        reading = reading.way  # it was empty, and has been filled since (Doc.from_bytes)
    stored = _stored(doc, key)
    if stored is None:
        way = reading or way_of(doc.vocab, key)
        return keep(doc, with_stated(doc, way.tokenizer.encode(doc.text), key), way, key)
    try:
        way = reading or way_of(doc.vocab, key)
    except ValueError:  # what was stored needs no more options
        way = _plain(stored.vocabulary.lang)
    return keep(doc, with_stated(doc, stored, key), way, key)


def keep(doc: Doc, encoding: Encoding, way: Way, key: str = KEY) -> Reading:
    """Makes this the reading of a Doc."""
    reading = Reading(encoding, way)
    _readings.setdefault(key, WeakKeyDictionary())[doc] = reading
    return reading


def leave_to(way: Way, doc: Doc, key: str = KEY) -> None:
    """Has a Doc read this way when it is asked; a reading that was made so already is kept."""
    kept = _readings.setdefault(key, WeakKeyDictionary())
    reading = kept.get(doc)
    if not isinstance(reading, Reading) or reading.way != way:
        kept[doc] = way


class Reader(Protocol):
    """A reader of Docs in a way of its own: a component, or the pipeline's tokenizer."""

    @property
    def way(self) -> Way:
        """How it reads."""


def keys_of(vocab: Vocab) -> list[str]:
    """The names of the attributes under which the components of a vocab read its Docs; :data:`KEY` without any."""
    tables = {name: vocab.lookups.get_table(name) for name in vocab.lookups.tables}
    return [name for name, table in tables.items() if _is_read_with(table)] or [KEY]


def key_of(vocab: Vocab) -> str:
    """The name under which a vocab's Docs are read by whatever is told none, such as an encoder.

    Raises:
        ValueError: two components read them, each under another name than :data:`KEY`.
    """
    names = keys_of(vocab)
    if KEY in names:
        return KEY
    if len(names) > 1:
        raise ValueError(
            f"this pipeline reads its Docs as {' and as '.join(map(repr, names))}, and none of these is the usual "
            f"{KEY!r}: leave {KEY!r} out of the attrs of the component that encoders and rhymes are to follow"
        )
    return names[0]


def _is_read_with(table: Any) -> bool:
    """Whether a table of lookups holds the options of a component, not of the pipeline's tokenizer alone."""
    if isinstance(readers := getattr(table, "readers", None), _Readers) and readers.components:
        return True
    return "options" in table and isinstance(table["options"], dict) and table.get("of") != "tokenizer"


def has_component(vocab: Vocab, key: str) -> bool:
    """Whether a component, which lives, reads a vocab's Docs under a name."""
    table: Any = vocab.lookups.get_table(key, None)
    return table is not None and bool(_readers(table).components)


def read_with(vocab: Vocab, reader: Reader, key: str = KEY, *, is_component: bool = True) -> None:
    """Lets a vocab's Docs be read with a reader's options, which are saved with the vocab.

    Arguments:
        vocab: the vocab.
        reader: asked for its ``way`` whenever a Doc is to be read, as long as it lives.
        key: the name under which the component keeps its options and arrays.
        is_component: a component's options are taken before those of the pipeline's tokenizer.
    """
    table: Any = vocab.lookups.get_table(key, None)
    if table is None:
        table = vocab.lookups.add_table(key)
    readers = _readers(table)
    (readers.components if is_component else readers.tokenizers).add(reader)
    if is_component or not readers.components:
        table.set("options", {**reader.way.tokenizer.to_json(), "dialect": reader.way.dialect})
        table.set("of", "component" if is_component else "tokenizer")


def way_of(vocab: Vocab, key: str = KEY) -> Way:
    """How a vocab's Docs are read where nothing has read them yet; without any options, as its language is.

    Raises:
        ValueError: two components read with different options, or there are none, and the language is neither
            Vietnamese nor Chinese.
    """
    table: Any = vocab.lookups.get_table(key, None)
    if table is None:
        return _plain(vocab.lang)
    readers = _readers(table)
    found = {reader.way for reader in readers.components or readers.tokenizers}
    if len(found) > 1:
        raise ValueError(
            f"two components of this vocab read Docs as {key!r} in different ways ({', '.join(map(str, found))}), and "
            "this Doc has been through neither: call one of them on it, or give the second other names with attrs, "
            f"nlp.add_pipe('phonemic', config={{'attrs': {{{key!r}: 'other'}}}})"
        )
    return found.pop() if found else _saved(table, key)


class _Readers:
    """The living components and pipelines' tokenizers that read with a vocab's options; none, once pickled."""

    def __init__(self) -> None:
        self.components: WeakSet[Reader] = WeakSet()
        self.tokenizers: WeakSet[Reader] = WeakSet()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Readers, ()


def _readers(table: Any) -> _Readers:
    if not hasattr(table, "readers"):
        table.readers = _Readers()
    found: _Readers = table.readers
    return found


def _saved(table: Any, key: str) -> Way:
    """The way that a table's options describe."""
    options = table["options"] if "options" in table else {name: table[name] for name in _NAMES if name in table}
    kept: tuple[Any, Way] | None = getattr(table, "made", None)
    if kept is None or kept[0] != options:
        kept = table.made = options, restore(options, f"the lookups {key!r} of a saved vocab")
    return kept[1]


def restore(state: object, where: str) -> Way:
    """The way that saved options describe.

    Raises:
        SavedTokenizerError: they do not describe one.
    """
    tokenizer = Tokenizer.restore(state, where)
    fields = checked(state, {"dialect": str | None}, where, SavedTokenizerError, optional=True)
    with damaged(where, SavedTokenizerError):
        check_dialect(fields.get("dialect"), tokenizer.lang)
    return Way(tokenizer, fields.get("dialect"))


@cache
def _plain(lang: str) -> Way:
    if lang not in LANGUAGES:
        raise ValueError(
            f"this Doc's pipeline has no 'phonemic' component and its language is {lang!r}, so nothing says how to "
            "read it: add one, nlp.add_pipe('phonemic', config={'lang': 'vi'}) or 'zh'"
        )
    return Way(Tokenizer(lang))


def make_tokenizer(lang: str, **options: Unpack[OptionArguments]) -> Tokenizer:
    """The tokenizer of a component's options.

    Raises:
        TypeError: ``phrases`` is not a dict; no file that a config names is opened.
        ValueError: an option does not fit.
    """
    if not isinstance(phrases := options.get("phrases"), Mapping | None):
        raise TypeError(
            f"a config holds readings as phrases, not a file of them ({str(phrases)!r}): "
            f"config={{'phrases': dict(phonemic.Tokenizer('zh', phrases=pathlib.Path({str(phrases)!r})).phrases)}}"
        )
    return Tokenizer(lang, **options)


def store(docs: Sequence[Doc], batch: Batch, tokenizer: Tokenizer, key: str = KEY) -> None:
    """Writes the encodings of Docs into their ``user_data``, so that they travel with them.

    The value is a dict: ``lang``; ``positions``, int32 (N, 3), a packed id and its span a row; ``crc`` of the text;
    and ``tables``, see :func:`phonemic.lexicon.digests.short_digests`.

    Arguments:
        docs: the Docs.
        batch: their texts, encoded with spans.
        tokenizer: what encoded them.
        key: the name under which the component keeps its arrays.
    """
    positions = np.column_stack([batch.ids, batch.spans])
    bounds, name = pairwise(batch.offsets.tolist()), _user_data_key(key)
    common: dict[str, Any] = {"lang": batch.vocabulary.lang, "tables": short_digests(tokenizer.options)}
    for doc, text, (start, stop) in zip(docs, batch.texts, bounds, strict=True):
        user_data: dict[Any, Any] = doc.user_data
        user_data[name] = {**common, "crc": _crc(text), "positions": positions[start:stop].copy()}


def _stored(doc: Doc, key: str) -> Encoding | None:
    """The encoding that :func:`store` wrote, if it is there, can be that, and is of this text."""
    user_data: dict[Any, Any] = doc.user_data
    kept = user_data.get(_user_data_key(key))
    if not isinstance(kept, dict) or not {"lang", "crc", "positions"} <= kept.keys():
        return None
    positions, lang, text = kept["positions"], kept["lang"], doc.text
    shaped = isinstance(positions, np.ndarray) and positions.ndim == 2 and positions.shape[1] == 3
    if not shaped or not isinstance(lang, str) or lang not in LANGUAGES or _crc(text) != kept["crc"]:
        return None
    try:
        found = Encoding(text, positions[:, 0].copy(), positions[:, 1:], None, vocabulary(lang))
        warn_of_other_tables(kept.get("tables"), None, "a Doc's stored positions")
    except (ValueError, SavedTokenizerError):  # a Doc from elsewhere holds what it likes
        return None
    return found


def _crc(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _user_data_key(key: str) -> tuple[str, str, None, None]:
    return ("._.", key, None, None)
