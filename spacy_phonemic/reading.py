"""How a Doc is read: once, when it is first asked, with the options that its vocab carries.

Nothing is written into the Doc. Its reading is kept beside it as long as it lives, so a Doc that comes from somewhere
else (``Span.as_doc``, ``Doc.from_docs``, ``DocBin``, another process) is read anew and can never have a wrong one.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.vocab import Vocab

from phonemic import Batch, Encoding, Tokenizer
from phonemic.encoding import syllable_of
from phonemic.inventory import LANGUAGES, NATIVE, kinds_of, vocabulary

#: The name of the attribute that holds a Doc's encoding, and of the table in ``vocab.lookups`` that holds the options.
KEY = "phonemic"


class Parts(NamedTuple):
    """What a syllable sounds like; "" for an absent onset or tone."""

    onset: str
    rime: str
    tone: str
    ipa: str


class Reading:
    """The encoding of a Doc's text, ready to be asked by character offset."""

    __slots__ = ("_ends", "_parts", "_starts", "encoding")

    def __init__(self, encoding: Encoding) -> None:
        lang = encoding.vocabulary.lang
        self.encoding = encoding
        self._starts: list[int] = encoding.spans[:, 0].tolist()
        self._ends: list[int] = encoding.spans[:, 1].tolist()
        self._parts = [_parts(lang, packed) for packed in encoding.ids.tolist()]

    def between(self, start: int, end: int) -> slice:
        """The positions that begin at a character from ``start`` up to ``end``."""
        first = bisect_left(self._starts, start)
        return slice(first, bisect_left(self._starts, end, first))

    def parts(self, start: int, end: int) -> list[Parts]:
        """The syllables that begin between two characters; what is no syllable is left out."""
        return [parts for parts in self._parts[self.between(start, end)] if parts]

    def is_syllable(self, start: int, end: int) -> bool:
        """Whether the text between two characters is one syllable and nothing else."""
        at = bisect_left(self._starts, start)
        if at == len(self._starts) or self._parts[at] is None:
            return False
        return self._starts[at] == start and self._ends[at] == end


@cache
def _parts(lang: str, packed: int) -> Parts | None:
    if kinds_of(np.array([packed], np.int32))[0] != NATIVE:
        return None
    return Parts(*syllable_of(vocabulary(lang).unpack(packed), True, "", 0, 0)[1:5])


_readings: dict[str, WeakKeyDictionary[Doc, Reading]] = {}


def reading_of(doc: Doc, key: str = KEY) -> Reading:
    """The reading of a Doc.

    Arguments:
        doc: any Doc.
        key: the name under which the component keeps its options and arrays.

    Raises:
        ValueError: nothing says what language the Doc is to be read in.
    """
    kept = _readings.get(key)
    reading = None if kept is None else kept.get(doc)
    if reading is None:
        reading = keep(doc, _stored(doc, key) or tokenizer_of(doc.vocab, key).encode(doc.text), key)
    return reading


def keep(doc: Doc, encoding: Encoding, key: str = KEY) -> Reading:
    """Makes this the reading of a Doc."""
    reading = Reading(encoding)
    _readings.setdefault(key, WeakKeyDictionary())[doc] = reading
    return reading


def tokenizer_of(vocab: Vocab, key: str = KEY) -> Tokenizer:
    """The tokenizer with a vocab's options; without any, the plain one of its language.

    Raises:
        ValueError: there are no options, and the language is neither Vietnamese nor Chinese.
    """
    table: Any = vocab.lookups.get_table(key, None)
    if table is None:
        return _plain(vocab.lang)
    made = getattr(table, "tokenizer", None)  # rebuilt where the table was read from a file
    if made is None:
        names = "lang", "strict", "word_joiner", "phrases", "fallback"
        options = {name: table[name] for name in names if name in table}
        options["word_joiner"] = options.get("word_joiner") or None
        made = table.tokenizer = Tokenizer.restore(options, f"the lookups {key!r} of a saved vocab")
    return made


@cache
def _plain(lang: str) -> Tokenizer:
    if lang not in LANGUAGES:
        raise ValueError(
            f"this Doc's pipeline has no 'phonemic' component and its language is {lang!r}, so nothing says how to "
            "read it: add one, nlp.add_pipe('phonemic', config={'lang': 'vi'}) or 'zh'"
        )
    return Tokenizer(lang)


def make_tokenizer(
    lang: str, strict: bool, word_joiner: str | None, phrases: str | dict[str, str] | None, fallback: str
) -> tuple[Tokenizer, str | None]:
    """The tokenizer of a component's options, and the file of phrases if it is not there.

    A pipeline that is being loaded brings the readings of a file that may be gone, so its absence is no error yet.
    """
    missing = phrases if isinstance(phrases, str) and not Path(phrases).exists() else None
    return Tokenizer(lang, strict, word_joiner, None if missing else phrases, fallback), missing


def check_phrases(missing: str | None) -> None:
    """Raises FileNotFoundError where a pipeline is to run without its file of phrases."""
    if missing:
        raise FileNotFoundError(f"the file of phrases {missing!r} does not exist")


def set_tokenizer(vocab: Vocab, tokenizer: Tokenizer, key: str = KEY) -> None:
    """Gives a vocab the options with which its Docs are read; they are saved with it."""
    if vocab.lookups.has_table(key):
        vocab.lookups.remove_table(key)
    table: Any = vocab.lookups.add_table(key)
    table.set("lang", tokenizer.lang)
    table.set("strict", tokenizer.strict)
    table.set("word_joiner", tokenizer.word_joiner or "")
    table.set("phrases", tokenizer.phrases)
    table.set("fallback", tokenizer.fallback)
    table.tokenizer = tokenizer


def store(docs: Sequence[Doc], batch: Batch, key: str = KEY) -> None:
    """Writes the encodings of Docs into their ``user_data``, so that they travel with them.

    The value is a dict: ``lang``; ``positions``, int32 (N, 3), a packed id and its span a row; ``crc`` of the text.

    Arguments:
        docs: the Docs.
        batch: their texts, encoded with spans.
        key: the name under which the component keeps its arrays.
    """
    positions = np.column_stack([batch.ids, batch.spans])
    bounds, lang, name = pairwise(batch.offsets.tolist()), batch.vocabulary.lang, _user_data_key(key)
    for doc, text, (start, stop) in zip(docs, batch.texts, bounds, strict=True):
        user_data: dict[Any, Any] = doc.user_data
        user_data[name] = {"lang": lang, "crc": _crc(text), "positions": positions[start:stop].copy()}


def _stored(doc: Doc, key: str) -> Encoding | None:
    """What :func:`store` wrote, if it is there and is of this text."""
    user_data: dict[Any, Any] = doc.user_data
    kept = user_data.get(_user_data_key(key))
    if not isinstance(kept, dict) or not {"lang", "crc", "positions"} <= kept.keys():
        return None
    positions: NDArray[np.int32] = np.asarray(kept["positions"])
    text = doc.text
    right = positions.ndim == 2 and positions.shape[1] == 3 and positions.dtype == np.int32
    if not right or kept["lang"] not in LANGUAGES or _crc(text) != kept["crc"]:
        return None
    return Encoding(text, positions[:, 0].copy(), positions[:, 1:], None, vocabulary(kept["lang"]))


def _crc(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _user_data_key(key: str) -> tuple[str, str, None, None]:
    return ("._.", key, None, None)
