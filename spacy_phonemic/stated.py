"""How single occurrences are read, as stated on a Doc's spans.

Each is in ``doc.user_data`` as spaCy has the attributes of a span, ``("._.", name, start, end): pinyin``, in code
points of the text. So ``Span.as_doc(copy_user_data=True)``, ``Doc.from_docs``, ``DocBin`` and ``Doc.to_bytes`` keep it.
"""

from __future__ import annotations

import warnings
from typing import Any

from spacy.tokens import Doc

from phonemic import Encoding
from phonemic.errors import PinyinError
from phonemic.reading.markup import Stated, with_readings


def state(doc: Doc, place: tuple[int, int], pinyin: str, key: str) -> None:
    """Writes into a Doc how a place of its text is read; the last word counts where two overlap.

    Arguments:
        doc: the Doc.
        place: (start, end) in code points.
        pinyin: a syllable for each character there.
        key: the name under which the component keeps its options and arrays.
    """
    user_data: dict[Any, Any] = doc.user_data
    name = "._.", _name(key), *place
    user_data.pop(name, None)
    user_data[name] = pinyin


def stated_in(doc: Doc, key: str) -> Stated:
    """The readings that a Doc states of places in its text, in the order in which they were stated.

    Arguments:
        doc: the Doc; readings of places outside its text, left from a Doc that it was a part of, do not count.
        key: the name under which the component keeps its options and arrays.
    """
    user_data: dict[Any, Any] = doc.user_data
    name = _name(key)
    found: Stated = {}
    for of, pinyin in user_data.items():
        if isinstance(of, tuple) and len(of) == 4 and of[1] == name and isinstance(pinyin, str):
            found[of[2], of[3]] = pinyin
    length = len(doc.text) if found else 0
    return {(start, end): pinyin for (start, end), pinyin in found.items() if 0 <= start < end <= length}


def with_stated(doc: Doc, encoding: Encoding, key: str) -> Encoding:
    """The encoding of a Doc's text with the readings that the Doc states; a warning for each that does not fit it."""
    if not (stated := stated_in(doc, key)):
        return encoding
    try:
        return with_readings(encoding, stated)
    except (PinyinError, ValueError):
        return _with_each(encoding, stated)


def _with_each(encoding: Encoding, stated: Stated) -> Encoding:
    for place, pinyin in stated.items():
        try:
            encoding = with_readings(encoding, {place: pinyin})
        except (PinyinError, ValueError) as error:
            warnings.warn(f"a stated reading of this Doc is left out: {error}", stacklevel=4)
    return encoding


def _name(key: str) -> str:
    return f"{key}_reading"
