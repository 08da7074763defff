"""An embedding layer of spaCy's own kind, for what a token looks like and for what it sounds like. Needs no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import intify_attr
from spacy.ml.staticvectors import StaticVectors
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import (
    HashEmbed,
    Maxout,
    Model,
    NumpyOps,
    chain,
    concatenate,
    list2ragged,
    ragged2list,
    with_array,
    zero_init,
)
from thinc.layers.chain import forward as forward_chain
from thinc.layers.chain import init as initialize_chain
from thinc.types import Floats2d

from spacy_phonemic.columns import BIGRAM, MASKS, MIX, ROWS, composed, token_columns
from spacy_phonemic.noise import check_language, check_share, drawn, with_mark_errors

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
    homophone_noise: float = 0.25,
    diacritic_noise: float = 0.0,
) -> Model[list[Doc], list[Floats2d]]:
    """The ``MultiHashEmbed`` of spaCy with columns for the sounds of a token: an ``embed`` for ``spacy.Tok2Vec.v2``.

    A token has the columns of ``attrs``, and those of ``components`` for its first and for its last syllable, which are
    read in the context of the Doc. A Vietnamese word is often two syllables, a Chinese one two characters; of a token
    of one syllable, both are that one. A token that is not a syllable has its symbols of the vocabulary there, one
    without any position (white space) a value of its own. A token is spelled as in Unicode's form NFC, however it is
    written.

    ``"bigram"`` is the first syllable together with the one before it, and the last with the one after it: a syllable
    of Mandarin is written in many ways, two of them in few, and homophones of a word's characters leave both as they
    are. ``"undiacritized"``, for Vietnamese, is what stays of a syllable whose tone mark, or all of whose marks, are
    lost: its letters. *tieng* and *viet* are not syllables, so no id can tell that they are *tiếng* and *Việt*.

    During training, half of the Docs stay as they are. In the others, a token's spelling is at times that of another
    token, and so, less often, are its onset, its rime and so on (``homophone_noise``): the layers above learn what to
    trust where a word is written as another of the same sound, though they never see one. Or a syllable's marks are
    lost or wrong (``diacritic_noise``), and all of its columns with them.

    Arguments:
        width: the width of the vectors that come out, and of a spelling's column; a sound's column has a third of it.
        attrs: the columns of spelling, as ``MultiHashEmbed`` takes them: ``["NORM", "PREFIX", "SUFFIX", "SHAPE"]``.
        rows: the number of rows in the table of each of ``attrs``.
        include_static_vectors: make the word vectors of the vocab, looked up in NFC, a further column.
        components: the columns of sound, for a token's first and last syllable: ``"onset"``, ``"rime"``, ``"tone"``,
            ``"toneless"`` (onset and rime), ``"syllable"``, ``"bigram"`` (with the syllable before or after; for
            Mandarin names) and ``"undiacritized"`` (letters without diacritics; for Vietnamese).
        homophone_noise: in training, the share of the tokens in half of the Docs whose spelling is replaced by that of
            another token, at least 0 and below 1. A component is replaced a quarter as often.
        diacritic_noise: Vietnamese, in training: the share of the syllables, in half of the Docs, that are written
            without their tone mark, without any mark, or with another tone mark; at least 0 and below 1.

    Returns:
        A thinc model from Docs to float32 (tokens, width) for each.

    Raises:
        ValueError: an argument does not fit.
    """
    _check(attrs, rows, components, {"homophone_noise": homophone_noise, "diacritic_noise": diacritic_noise})
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
        Model(
            "phonemic_columns",
            _forward,
            init=_initialize,
            attrs=read | {"homophone_noise": homophone_noise, "diacritic_noise": diacritic_noise},
        ),
        cast("Model[Any, Any]", list2ragged()),
        with_array(concatenate(*tables) if len(tables) > 1 else tables[0]),
    )
    wide = sum(size for size, _ in shapes)
    if include_static_vectors:
        vectors: Model[Any, Any] = chain(Model("phonemic_composed", _compose), StaticVectors(width, dropout=0.0))
        columns, wide = concatenate(columns, vectors), wide + width
    mixed: Model[Any, Any] = with_array(Maxout(width, wide, nP=3, dropout=0.0, normalize=True))
    whole: Model[list[Doc], list[Floats2d]] = chain(columns, mixed, ragged2list())
    if include_static_vectors or BIGRAM in components:
        return whole
    dims = {name: whole.maybe_get_dim(name) for name in whole.dim_names}
    return Model(whole.name, _forward_distinct, init=initialize_chain, dims=dims, layers=whole.layers)


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


def _compose(
    model: Model[Any, Any], docs: Sequence[Doc], is_train: bool
) -> tuple[list[Doc], Callable[[Any], Sequence[Doc]]]:
    """The Docs, in NFC where they are not: what vectors are looked up for."""
    return [composed(doc, doc.text) or doc for doc in docs], lambda gradients: []


def _initialize(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:  # noqa: N803
    check_language(model.attrs["diacritic_noise"], X)


def _forward(
    model: Model[Any, Any], docs: Sequence[Doc], is_train: bool
) -> tuple[list[Any], Callable[[Any], Sequence[Doc]]]:
    attrs, components = model.attrs["attrs"], model.attrs["components"]
    homophone_noise, diacritic_noise = model.attrs["homophone_noise"], model.attrs["diacritic_noise"]
    training = is_train and bool(docs) and bool(homophone_noise or diacritic_noise)
    changed = drawn(len(docs) if training else 0)
    if training and diacritic_noise:
        docs = with_mark_errors(docs, diacritic_noise, changed)
    found = [token_columns(doc, attrs, components) for doc in docs]
    if training and homophone_noise:
        found = _exchanged(found, len(attrs), homophone_noise, changed)
    return [model.ops.asarray(cast("Any", columns), dtype="uint64") for columns in found], lambda gradients: []


def _forward_distinct(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[Any], Any]]:
    """A chain's; where nothing is trained, tokens with the same columns, as a word has each time, are embedded once."""
    if is_train or not docs or not isinstance(model.ops, NumpyOps):
        return forward_chain(model, docs, is_train)
    columns, mixed = model.layers[:2]
    read, _, tables = columns.layers
    found = read.predict(docs)
    rows = np.concatenate(found)
    first, where = _distinct(rows)
    vectors = mixed.predict(tables.predict(rows[first]))[where]
    apart = np.split(vectors, np.cumsum([len(one) for one in found])[:-1])
    return cast("list[Floats2d]", apart), lambda gradients: []


def _distinct(rows: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of rows that differ from each other, and which of these each row is."""
    numbers = rows @ np.cumprod(np.full(rows.shape[1], MIX))
    _, first, where = np.unique(numbers, return_index=True, return_inverse=True)
    if np.array_equal(rows[first[where]], rows):
        return first, where
    return np.arange(len(rows)), np.arange(len(rows))  # two that differ make one number


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
