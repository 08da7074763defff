"""An embedding layer of spaCy's own kind, for what a token looks like and for what it sounds like. Needs no torch."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ID, IDX, LENGTH, NORM, intify_attr
from spacy.ml.staticvectors import StaticVectors
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import HashEmbed, Maxout, Model, chain, concatenate, list2ragged, ragged2list, with_array, zero_init
from thinc.types import Floats2d

from phonemic.noise.respelling import without_diacritics
from spacy_phonemic.noise import check_share, drawn, with_mark_errors
from spacy_phonemic.reading import reading_of
from spacy_phonemic.windows import align

#: What of a packed id each component is.
MASKS = {
    "onset": 0x0000FF,
    "rime": 0x00FF00,
    "tone": 0xFF0000,
    "toneless": 0x00FFFF,
    "syllable": 0xFFFFFF,
}

#: Rows of a component's table, four of which make a vector; a table has the most that its language can use.
ROWS = {"onset": 200, "rime": 1000, "tone": 100, "toneless": 4000, "syllable": 8000, "undiacritized": 4000}

#: What no id tells: the letters of the first and of the last syllable of a token without any mark, *đ* as *d*.
UNDIACRITIZED = "undiacritized"

#: The letters of words by the hash of the word's norm, and how many are remembered.
_LETTERS: dict[int, tuple[int, int]] = {}
_REMEMBERED = 1 << 16

#: How often a component is exchanged in training for once that a spelling is.
_COMPONENTS_SHARE = 0.25

#: A component's vector is narrower than that of a spelling: there are two of each, and they tell the same in part.
_NARROWER = 3


@registry.architectures("spacy_phonemic.PhonemicHashEmbed.v1")
def phonemic_hash_embed(
    width: int,
    attrs: list[str],
    rows: list[int],
    include_static_vectors: bool = False,
    components: Sequence[str] = tuple(MASKS),
    mishearing: float = 0.25,
    mark_errors: float = 0.0,
) -> Model[list[Doc], list[Floats2d]]:
    """The ``MultiHashEmbed`` of spaCy with columns for the sounds of a token: an ``embed`` for ``spacy.Tok2Vec.v2``.

    A token has the columns of ``attrs``, and those of ``components`` for its first and for its last syllable, which are
    read in the context of the Doc. A Vietnamese word is often two syllables, a Chinese one two characters; of a token
    of one syllable, both are that one. A token that is not a syllable has its symbols of the vocabulary there, one
    without any position (white space) a value of its own. A token is spelled as in Unicode's form NFC, however it is
    written.

    ``"undiacritized"``, for Vietnamese, is what stays of a syllable whose tone mark, or all of whose marks, are lost:
    its letters. *tieng* and *viet* are not syllables, so no id can tell that they are *tiếng* and *Việt*.

    During training, half of the Docs stay as they are. In the others, a token's spelling is at times that of another
    token, and so, less often, are its onset, its rime and so on (``mishearing``): the layers above learn what to trust
    where a word is written as another that sounds alike, though they never see one. Or a syllable's marks are lost or
    wrong (``mark_errors``), and all of its columns with them.

    Arguments:
        width: of the vectors that come out, and of a spelling's column; a sound's column has a third of it.
        attrs: the columns of spelling, as ``MultiHashEmbed`` takes them: ``["NORM", "PREFIX", "SUFFIX", "SHAPE"]``.
        rows: the rows of the table of each of ``attrs``.
        include_static_vectors: whether the word vectors of the vocab are a column too, looked up in NFC.
        components: any of ``"onset"``, ``"rime"``, ``"tone"``, ``"toneless"`` (onset and rime), ``"syllable"`` and
            ``"undiacritized"``.
        mishearing: how often a spelling is exchanged in those Docs: a share of the tokens, at least 0 and below 1. A
            component is exchanged a quarter as often.
        mark_errors: for Vietnamese: the share of the syllables of those Docs that are written without their tone mark,
            without any mark, or with another tone mark, at least 0 and below 1.

    Returns:
        A thinc model from Docs to float32 (tokens, width) for each.

    Raises:
        ValueError: an argument does not fit.
    """
    _check(attrs, rows, components, {"mishearing": mishearing, "mark_errors": mark_errors})
    if width < 1:
        raise ValueError(f"width={width}: must be at least 1")
    narrow = max(1, width // _NARROWER)
    shapes = [(width, count) for count in rows]
    shapes += [(narrow, ROWS[name]) for name in components for _ in ("first", "last")]
    # Each column has a seed of its own: the same value is hashed otherwise in each. The sounds begin with zeros, so
    # that a pipeline begins as one of spelling alone.
    first = [None] * len(attrs) + [zero_init if attrs else None] * (len(shapes) - len(attrs))
    tables: list[Model[Any, Any]] = [
        HashEmbed(size, count, column=column, seed=column + 1, dropout=0.0, initializer=first[column])
        for column, (size, count) in enumerate(shapes)
    ]
    read: dict[str, Any] = {"attrs": attrs, "components": components}
    columns: Model[Any, Any] = chain(
        Model("phonemic_columns", _forward, attrs=read | {"mishearing": mishearing, "mark_errors": mark_errors}),
        cast("Model[Any, Any]", list2ragged()),
        with_array(concatenate(*tables) if len(tables) > 1 else tables[0]),
    )
    wide = sum(size for size, _ in shapes)
    if include_static_vectors:
        vectors: Model[Any, Any] = chain(Model("phonemic_composed", _compose), StaticVectors(width, dropout=0.0))
        columns, wide = concatenate(columns, vectors), wide + width
    mixed: Model[Any, Any] = with_array(Maxout(width, wide, nP=3, dropout=0.0, normalize=True))
    return chain(columns, mixed, ragged2list())


def _check(attrs: Sequence[str], rows: Sequence[int], components: Sequence[str], shares: dict[str, float]) -> None:
    if len(attrs) != len(rows) or min(rows, default=1) < 1:
        raise ValueError(f"rows={list(rows)}: give one number, 1 or more, for each of the {len(attrs)} attrs")
    for name in attrs:
        if intify_attr(name) is None:
            raise ValueError(f"attrs: {name!r} is not an attribute of a token, such as 'NORM'")
    unknown = [name for name in components if name not in ROWS]
    if unknown or len(set(components)) < len(components):
        raise ValueError(f"components={list(components)}: choose some of {', '.join(ROWS)}, each once")
    if not attrs and not components:
        raise ValueError("there are no columns: name some attrs or some components")
    for name, share in shares.items():
        check_share(name, share)


def token_columns(doc: Doc, attrs: Sequence[str], components: Sequence[str]) -> NDArray[np.uint64]:
    """The values that are hashed: uint64 (tokens, columns), the attributes first, then each component's two.

    A component's value is 0 where the token has no position, else the packed id's part and 1 above it; or the hash of
    its letters.

    Arguments:
        doc: the Doc; it is read as its pipeline reads.
        attrs: names of attributes.
        components: names of :data:`ROWS`.
    """
    made = np.zeros((len(doc), len(attrs) + 2 * len(components)), np.uint64)
    heard = [number for number, name in enumerate(components) if name in MASKS]
    encoding = reading_of(doc).encoding if heard else None
    composed = _composed(doc, doc.text if encoding is None else encoding.text)
    made[:, : len(attrs)] = _spelling(doc, composed, attrs)
    sounds = made[:, len(attrs) :].reshape(len(doc), len(components), 2)
    if UNDIACRITIZED in components:
        sounds[:, components.index(UNDIACRITIZED)] = _letters_of(doc.vocab, _spelling(doc, composed, [NORM])[:, 0])
    if encoding is not None:
        masks = np.array([MASKS[components[number]] for number in heard], np.uint64)
        bounds = doc.to_array([IDX, LENGTH]).astype(np.int64).reshape(-1, 2)
        first, last = align(encoding.spans, bounds[:, 0], bounds.sum(axis=1))
        ids = np.append(encoding.ids, 0).astype(np.uint64)
        places = np.where(first < last, (first, last - 1), len(ids) - 1)
        parts = (ids[places].T[:, None] & masks[:, None]) + np.uint64(1)
        sounds[:, heard] = np.where((first < last)[:, None, None], parts, 0)
    return made


def _composed(doc: Doc, text: str) -> Doc | None:
    """The words of a Doc in NFC, where its text is not."""
    if unicodedata.is_normalized("NFC", text):
        return None
    return Doc(doc.vocab, [unicodedata.normalize("NFC", token.text) for token in doc], [False] * len(doc))


def _compose(
    model: Model[Any, Any], docs: Sequence[Doc], is_train: bool
) -> tuple[list[Doc], Callable[[Any], Sequence[Doc]]]:
    """The Docs, in NFC where they are not: what vectors are looked up for."""
    return [_composed(doc, doc.text) or doc for doc in docs], lambda gradients: []


def _spelling(doc: Doc, composed: Doc | None, attrs: Sequence[int | str]) -> NDArray[np.uint64]:
    """The attributes of a Doc's tokens, those of the words as they are in NFC: uint64 (tokens, attributes)."""
    if not attrs:
        return np.zeros((len(doc), 0), np.uint64)
    made = doc.to_array(list(attrs)).reshape(len(doc), len(attrs))
    if composed is not None:
        written = np.array([one.orth != other.orth for one, other in zip(doc, composed, strict=True)], bool)
        lexical = np.array([_is_lexical(name) for name in attrs])
        made = np.where(written[:, None] & lexical, composed.to_array(list(attrs)).reshape(made.shape), made)
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


def _forward(
    model: Model[Any, Any], docs: Sequence[Doc], is_train: bool
) -> tuple[list[Any], Callable[[Any], Sequence[Doc]]]:
    attrs, components = model.attrs["attrs"], model.attrs["components"]
    mishearing, mark_errors = model.attrs["mishearing"], model.attrs["mark_errors"]
    training = is_train and bool(docs) and bool(mishearing or mark_errors)
    changed = drawn(len(docs) if training else 0)
    if training and mark_errors:
        docs = with_mark_errors(docs, mark_errors, changed)
    found = [token_columns(doc, attrs, components) for doc in docs]
    if training and mishearing:
        found = _exchanged(found, len(attrs), mishearing, changed)
    return [model.ops.asarray(cast("Any", columns), dtype="uint64") for columns in found], lambda gradients: []


def _exchanged(
    found: list[NDArray[np.uint64]], spelling: int, share: float, changed: NDArray[np.bool_]
) -> list[NDArray[np.uint64]]:
    """The same columns; in the Docs that are ``changed``, some values are those of another token of the batch.

    The first ``spelling`` columns are exchanged together, as a token is written otherwise as a whole; then each two.
    """
    rows, lengths = np.concatenate(found), [len(columns) for columns in found]
    count, columns = rows.shape
    groups = np.concatenate([np.zeros(spelling, int), 1 + np.arange(columns - spelling) // 2])
    shares = np.where(np.arange(groups[-1] + 1) == 0, share, share * _COMPONENTS_SHARE)
    chosen = np.repeat(changed, lengths)[:, None] & (np.random.random((count, len(shares))) < shares)  # noqa: NPY002
    others = np.random.randint(0, max(1, count), chosen.shape)[:, groups]  # noqa: NPY002
    exchanged = np.where(chosen[:, groups], np.take_along_axis(rows, others, 0), rows)
    return np.split(exchanged, np.cumsum(lengths)[:-1])
