"""Hashed columns of a token: its spelling, its sounds, and its sounds together with its neighbours'."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ID, IDX, LENGTH, NORM, intify_attr
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.vocab import Vocab

from phonemic.characters import normalize
from phonemic.encoding import Encoding
from phonemic.noise.respelling import without_diacritics
from spacy_phonemic.reading import reading_of
from spacy_phonemic.windows import align

#: The bits of a packed id that each component is.
MASKS = {
    "onset": 0x0000FF,
    "rime": 0x00FF00,
    "tone": 0xFF0000,
    "toneless": 0x00FFFF,
    "syllable": 0xFFFFFF,
}

#: The syllable together with the one next to it: homophones of a word of several characters share it.
BIGRAM = "bigram"

#: Features that are not in an id: the letters of the first and of the last syllable of a token without any mark, *đ* as
#: *d*.
UNDIACRITIZED = "undiacritized"

#: Rows of a component's table, four of which make a vector; a table has the most that its language can use, but for
#: those of bigrams.
ROWS = {
    "onset": 200,
    "rime": 1000,
    "tone": 100,
    "toneless": 4000,
    "syllable": 8000,
    BIGRAM: 8000,
    UNDIACRITIZED: 4000,
}

#: The letters of words by the hash of the word's norm, and how many are remembered.
_LETTERS: dict[int, tuple[int, int]] = {}
_REMEMBERED = 1 << 16

#: Makes one value of several: odd, so that nothing of any is lost.
MIX = np.uint64(0x9E3779B97F4A7C15)


def token_columns(doc: Doc, attrs: Sequence[str], components: Sequence[str]) -> NDArray[np.uint64]:
    """The values that are hashed: uint64 (tokens, columns), the attributes first, then each component's two.

    A component's value is 0 where the token has no position, else the packed id's part and 1 above it, or the hash of
    its letters. A bigram's are of the first syllable and the one before it, and of the last and the one after it,
    whatever white space is between; at the ends of the Doc there is none next to.

    Arguments:
        doc: the Doc; it is read as its pipeline reads.
        attrs: names of attributes.
        components: names of :data:`ROWS`.
    """
    made = np.zeros((len(doc), len(attrs) + 2 * len(components)), np.uint64)
    places = {name: number for number, name in enumerate(components)}
    masked = [name for name in components if name in MASKS]
    encoding = reading_of(doc).plain if masked or BIGRAM in places else None
    in_nfc = composed(doc, doc.text if encoding is None else encoding.text)
    made[:, : len(attrs)] = _spelling(doc, in_nfc, attrs)
    sounds = made[:, len(attrs) :].reshape(len(doc), len(components), 2)
    if encoding is not None:
        syllables, there = _syllables(doc, encoding)
        masks = np.array([MASKS[name] for name in masked], np.uint64)
        parts = (syllables[:, None] & masks[:, None]) + np.uint64(1)
        sounds[:, [places[name] for name in masked]] = np.where(there[:, None, None], parts, 0)
        if BIGRAM in places:
            sounds[:, places[BIGRAM]] = _with_neighbours(syllables + np.uint64(1), there)
    if UNDIACRITIZED in places:
        sounds[:, places[UNDIACRITIZED]] = _letters_of(doc.vocab, _spelling(doc, in_nfc, [NORM])[:, 0])
    return made


def _syllables(doc: Doc, encoding: Encoding) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The packed ids of each token's first and last position, uint64 (tokens, 2), and whether it has any."""
    bounds = doc.to_array([IDX, LENGTH]).astype(np.int64).reshape(-1, 2)
    first, last = align(encoding.spans, bounds[:, 0], bounds.sum(axis=1))
    ids = np.append(encoding.ids, 0).astype(np.uint64)
    there = first < last
    return ids[np.where(there, (first, last - 1), len(ids) - 1)].T, there


def _with_neighbours(own: NDArray[np.uint64], there: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """One value of each token's first and what is last before it, another of its last and what is first after it.

    Arguments:
        own: what is first and what is last in each token, uint64 (tokens, 2), not 0 where there is something.
        there: where there is something, bool (tokens,); the other tokens are passed over, and have 0.
    """
    kept = own[there]
    beside = np.zeros_like(kept)
    beside[1:, 0], beside[:-1, 1] = kept[:-1, 1], kept[1:, 0]
    made = np.zeros_like(own)
    made[there] = beside * MIX + kept
    return made


def composed(doc: Doc, text: str) -> Doc | None:
    """The words of a Doc in NFC, where its text is not."""
    if unicodedata.is_normalized("NFC", text):
        return None
    return Doc(doc.vocab, [normalize("NFC", token.text) for token in doc], [False] * len(doc))


def _spelling(doc: Doc, in_nfc: Doc | None, attrs: Sequence[int | str]) -> NDArray[np.uint64]:
    """The attributes of a Doc's tokens, those of the words as they are in NFC: uint64 (tokens, attributes)."""
    if not attrs:
        return np.zeros((len(doc), 0), np.uint64)
    made = doc.to_array(list(attrs)).reshape(len(doc), len(attrs))
    if in_nfc is not None:
        written = np.array([one.orth != other.orth for one, other in zip(doc, in_nfc, strict=True)], bool)
        lexical = np.array([_is_lexical(name) for name in attrs])
        made = np.where(written[:, None] & lexical, in_nfc.to_array(list(attrs)).reshape(made.shape), made)
    return cast("NDArray[np.uint64]", made)


def _is_lexical(name: int | str) -> bool:
    """Whether an attribute is one of the word itself: a flag such as IS_ALPHA, or from ORTH to LENGTH."""
    number = intify_attr(name)
    return number is not None and number <= LENGTH and number != ID


def _letters_of(vocab: Vocab, norms_of: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The hashes of the letters of each word's first and last syllable, without marks: uint64 (tokens, 2).

    Arguments:
        vocab: knows the norms.
        norms_of: of the words, uint64 (tokens,).
    """
    norms = norms_of.tolist()
    for norm in norms:
        if norm not in _LETTERS:
            _LETTERS[norm] = _letters(vocab.strings[norm])
    made = np.array([_LETTERS[norm] for norm in norms], np.uint64).reshape(-1, 2)
    if len(_LETTERS) > _REMEMBERED:
        _LETTERS.clear()
    return made


def _letters(word: str) -> tuple[int, int]:
    syllables = word.replace("_", " ").split()
    if not syllables:
        return 0, 0
    first, last = (get_string_id(without_diacritics(syllable)[0]) for syllable in (syllables[0], syllables[-1]))
    return first, last
