"""What is changed in a text, as the words of a Doc."""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc

from phonemic.noise.base import Change


def changed_words(doc: Doc, changes: Iterable[Change]) -> list[str]:
    """The words of a Doc with changes of its text; each stays a word.

    Arguments:
        doc: the Doc.
        changes: what :meth:`phonemic.noise.Noise.apply` changed in ``doc.text``, in its order.

    Returns:
        As many words as the Doc has tokens.
    """
    left = iter([*changes, None])
    change, made = next(left), []
    for token in doc:
        end, parts, at = token.idx + len(token.text), [], token.idx
        while change is not None and change.start < end:
            parts += [doc.text[at : change.start], change.new]
            at, change = change.end, next(left)
        made.append("".join(parts) + doc.text[at:end])
    return made
