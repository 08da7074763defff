"""Two layers of vectors made one: PhonemicBERT's beside those of an embedding that small data suffices for."""

from __future__ import annotations

from typing import Any

from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Linear, Model, chain, concatenate, list2ragged, ragged2list, with_array
from thinc.types import Floats2d


@registry.architectures("spacy_phonemic.PhonemicBertAndFeatures.v1")
def phonemic_bert_and_features(
    width: int, encoder: Model[list[Doc], list[Floats2d]], features: Model[list[Doc], list[Floats2d]]
) -> Model[list[Doc], list[Floats2d]]:
    """The vectors of two layers side by side, through one linear layer: for ``phonemic_transformer``.

    Arguments:
        width: of the vectors that come out.
        encoder: ``spacy_phonemic.PhonemicBert.v1``; its options, learning rate and checkpoint are its own.
        features: a layer that learns from little data, such as ``spacy.Tok2Vec.v2`` with
            ``spacy_phonemic.PhonemicHashEmbed.v1``.

    Returns:
        A thinc model from Docs to float32 (tokens, width) for each.
    """
    together: Model[Any, Any] = concatenate(encoder, features)
    return chain(together, list2ragged(), with_array(Linear(width)), ragged2list())
