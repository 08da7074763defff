"""The vectors of a Doc's positions, layer by layer: what is beneath the vectors of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from spacy_phonemic.options import Layers, chosen_layers
from spacy_phonemic.reading import reading_of
from spacy_phonemic.windows import Aligned

if TYPE_CHECKING:
    from spacy_phonemic.network import Network

#: The attribute of a Doc.
NAME = "phonemic_positions"


class PositionVectors(NamedTuple):
    """The encoder's vectors of the positions of a text; [CLS] and [SEP] are left out.

    Attributes:
        ids: packed ids, int32 (N,).
        spans: the characters of each, half-open, int32 (N, 2).
        layers: which layers; 0 is the embeddings, -1 the last.
        vectors: float32 (len(layers), N, d); where windows overlap, the mean over them.
    """

    ids: NDArray[np.int32]
    spans: NDArray[np.int32]
    layers: tuple[int, ...]
    vectors: NDArray[np.float32]


def position_vectors(network: Network, docs: Sequence[Doc], layers: Layers) -> list[PositionVectors]:
    """Reads Docs and encodes their positions.

    Arguments:
        network: the encoder, with weights.
        docs: the Docs, in its language.
        layers: see :func:`spacy_phonemic.options.chosen_layers`.

    Raises:
        TypeError: ``layers`` is not a list of whole numbers.
        ValueError: there is no such layer, or a Doc is of another language.
        RuntimeError: the encoder is on a GPU, and this is a forked process.
    """
    import torch

    from spacy_phonemic.network import spare_forked_threads

    count, lang = network.bert.config.num_hidden_layers, network.bert.config.lang
    chosen = chosen_layers(layers, count)
    readings = [reading_of(doc).encoding for doc in docs]
    for encoding in readings:
        if encoding.vocabulary.lang != lang:
            raise ValueError(f"the encoder was made for {lang!r}, but this document is read as another language")
    places = [np.arange(len(encoding.ids), dtype=np.int64) for encoding in readings]
    aligned = [Aligned(encoding.ids, at, at + 1) for encoding, at in zip(readings, places, strict=True)]
    batches, *pooled = network.plan(aligned, "mean")
    device = next(network.parameters()).device
    spare_forked_threads(device)
    training = network.training
    network.eval()
    try:
        with torch.no_grad():
            tensors: list[Any] = [tuple(torch.from_numpy(array).to(device) for array in batch) for batch in batches]
            rows, weights, offsets = (torch.from_numpy(array).to(device) for array in pooled)
            found = network.layers_of(tensors, rows, weights, offsets, chosen).cpu().numpy()
    finally:
        network.train(training)
    bounds = np.cumsum([0, *(len(encoding.ids) for encoding in readings)])
    return [
        PositionVectors(encoding.ids, encoding.spans, chosen, found[:, start:end])
        for encoding, start, end in zip(readings, bounds[:-1], bounds[1:], strict=True)
    ]


class Encoder(Protocol):
    """A component that gives the vectors of positions, as ``phonemic_transformer`` does."""

    def positions(self, docs: Sequence[Doc], /) -> list[PositionVectors]:
        """The vectors of the positions of Docs."""


#: The component that each Doc went through.
_encoders: WeakKeyDictionary[Doc, ref[Encoder]] = WeakKeyDictionary()


def remember(docs: Sequence[Doc], encoder: Encoder) -> None:
    """Notes which component Docs went through."""
    for doc in docs:
        _encoders[doc] = ref(encoder)


def of_doc(doc: Doc) -> PositionVectors:
    """The last layer's vectors of a Doc's positions, computed now: the getter of ``doc._.phonemic_positions``.

    Raises:
        ValueError: the Doc went through no ``phonemic_transformer`` that still lives.
    """
    known = _encoders.get(doc)
    encoder = None if known is None else known()
    if encoder is None:
        raise ValueError(
            "this Doc has not been through a phonemic_transformer in this process: pass it through a pipeline that has "
            "one, or call nlp.get_pipe('phonemic_transformer').positions([doc])"
        )
    return encoder.positions([doc])[0]


if not Doc.has_extension(NAME):
    Doc.set_extension(NAME, getter=of_doc)
