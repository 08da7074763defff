"""Two layers of vectors made one: PhonemicBERT's next to those of an embedding that small data suffices for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Linear, Model, chain, concatenate, list2ragged, ragged2list, with_array
from thinc.types import Floats2d

from spacy_phonemic.noise import check_language, check_share, misread


@registry.architectures("spacy_phonemic.PhonemicBertAndFeatures.v1")
def phonemic_bert_and_features(
    width: int,
    encoder: Model[list[Doc], list[Floats2d]],
    features: Model[list[Doc], list[Floats2d]],
    diacritic_noise: float = 0.0,
) -> Model[list[Doc], list[Floats2d]]:
    """The vectors of two layers side by side, through one linear layer: for ``phonemic_transformer``.

    Arguments:
        width: the width of the vectors that come out.
        encoder: a ``spacy_phonemic.PhonemicBert.v1`` with options, learning rate and checkpoint of its own.
        features: a layer that learns from little data, such as ``spacy.Tok2Vec.v2`` with
            ``spacy_phonemic.PhonemicHashEmbed.v1``.
        diacritic_noise: Vietnamese, in training: the share of the syllables, in half of the Docs, that both layers see
            without their tone mark, without any mark, or with another tone mark; at least 0 and below 1. The same
            option of ``encoder`` or of ``PhonemicHashEmbed`` shows such errors to that layer alone.

    Returns:
        A thinc model from Docs to float32 (tokens, width) for each.

    Raises:
        ValueError: ``diacritic_noise`` is not a share.
    """
    check_share("diacritic_noise", diacritic_noise)
    together: Model[Any, Any] = concatenate(encoder, features)
    read = misreading(together, diacritic_noise) if diacritic_noise else together
    return chain(read, list2ragged(), with_array(Linear(width)), ragged2list())


def misreading(layer: Model[Any, Any], diacritic_noise: float) -> Model[Any, Any]:
    """A layer that, in training, is given Docs with wrong marks; see :func:`phonemic_bert_and_features`."""
    return Model("misreading", _forward, init=_initialize, layers=[layer], attrs={"diacritic_noise": diacritic_noise})


def _forward(model: Model[Any, Any], docs: Sequence[Doc], is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    if is_train:
        docs = misread(docs, model.attrs["diacritic_noise"])
    return model.layers[0](docs, is_train)


def _initialize(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:  # noqa: N803
    check_language(model.attrs["diacritic_noise"], X)
    model.layers[0].initialize(X, Y)
