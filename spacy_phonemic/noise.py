"""Docs with errors in their text: the words that they have then, and errors in training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from phonemic import Tokenizer
from phonemic.noise import Misspellings
from phonemic.noise.base import Change
from spacy_phonemic.reading import key_of, leave_to, reading_of

#: The share of the Docs that are changed in training.
_CHANGED = 0.5


def changed_words(doc: Doc, changes: Iterable[Change]) -> list[str]:
    """The words of a Doc with changes of its text; each stays a word.

    Arguments:
        doc: the Doc.
        changes: what :meth:`phonemic.noise.Noise.apply` changed in ``doc.text``, in its order.

    Returns:
        As many words as the Doc has tokens.
    """
    text = doc.text  # made anew each time that it is requested
    left = iter([*changes, None])
    change, made = next(left), []
    for token in doc:
        end, parts, at = token.idx + len(token.text), [], token.idx
        while change is not None and change.start < end:
            parts += [text[at : change.start], change.new]
            at, change = change.end, next(left)
        made.append("".join(parts) + text[at:end])
    return made


def check_share(name: str, share: float) -> None:
    """Refuses what is not a share.

    Raises:
        ValueError: it is below 0, or at least 1.
    """
    if not 0 <= share < 1:
        raise ValueError(f"{name}={share}: must be at least 0 and below 1")


def check_language(share: float, docs: Sequence[Doc] | None) -> None:
    """Refuses errors in diacritics for what is read as Chinese, before anything is trained.

    Raises:
        ValueError: ``share`` is above 0, and the first Doc is Chinese.
    """
    if share and docs:
        _mark_errors(reading_of(docs[0]).way.tokenizer)


def drawn(count: int) -> NDArray[np.bool_]:
    """Which of so many Docs are changed in a step of training: half of them, (count,), drawn by spaCy's seed."""
    return np.random.random(count) < _CHANGED  # noqa: NPY002 - what spaCy's seed sets


def with_mark_errors(docs: Sequence[Doc], share: float, changed: NDArray[np.bool_]) -> list[Doc]:
    """Docs, of which some are copies with wrong marks: as many tokens, read as their pipeline reads.

    Arguments:
        docs: Vietnamese Docs.
        share: of the syllables of the ones that are changed: they lose their tone mark or all marks, or have another
            tone mark.
        changed: which of the Docs, (len(docs),).

    Raises:
        ValueError: one of them is Chinese.
    """
    return [_misspelt(doc, share) if change else doc for doc, change in zip(docs, changed.tolist(), strict=True)]


def misread(docs: Sequence[Doc], share: float) -> list[Doc]:
    """Docs as a step of training is shown them: :func:`with_mark_errors` in the ones that are :func:`drawn`."""
    return with_mark_errors(docs, share, drawn(len(docs)))


def _misspelt(doc: Doc, share: float) -> Doc:
    name = key_of(doc.vocab)
    way = reading_of(doc, name).way
    key = int(np.random.randint(1 << 31))  # noqa: NPY002
    words = changed_words(doc, _mark_errors(way.tokenizer).apply(doc.text, share, key).changes)
    written = Doc(doc.vocab, words=words, spaces=[bool(token.whitespace_) for token in doc])
    leave_to(way, written, name)
    return written


@lru_cache(maxsize=4)
def _mark_errors(tokenizer: Tokenizer) -> Misspellings:
    if tokenizer.lang != Misspellings.lang:
        raise ValueError("diacritic_noise is for Vietnamese: set it to 0 where the pipeline reads Chinese")
    return Misspellings(["missing-diacritics", "wrong-tone"], tokenizer)
