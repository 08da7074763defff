"""PhonemicBERT as the token-to-vector layer of spaCy pipelines: the architecture, its component and its listener."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from spacy.attrs import IDX, LENGTH
from spacy.language import Language
from spacy.pipeline.tok2vec import Tok2Vec, Tok2VecListener
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from thinc.api import ArgsKwargs, Model, torch2xp, xp2torch
from thinc.layers.pytorchwrapper import forward as pytorch_forward
from thinc.types import Floats2d, Ints1d

from spacy_phonemic.noise import check_language, misread
from spacy_phonemic.options import EncoderOptions, Layers
from spacy_phonemic.positions import PositionVectors, position_vectors, remember
from spacy_phonemic.reading import reading_of
from spacy_phonemic.requirements import require
from spacy_phonemic.windows import Aligned, align

if TYPE_CHECKING:
    from spacy_phonemic.network import Network, NetworkShim


@registry.architectures("spacy_phonemic.PhonemicBert.v1")
def phonemic_bert(
    checkpoint: str | None = None,
    preset: str = "small",
    lang: str | None = None,
    window: int | None = None,
    stride: int | None = None,
    pooling: str = "mean",
    layers: list[int] | Literal["all"] | None = None,
    max_batch_positions: int = 16384,
    mixed_precision: bool = False,
    grad_checkpointing: bool = False,
    freeze_layers: int = 0,
    learn_rate_factor: float | None = None,
    layer_decay: float = 1.0,
    diacritic_noise: float = 0.0,
    form_dropout: float | None = None,
    form_noise: float | None = None,
    int8_inference: bool = True,
) -> Model[list[Doc], list[Floats2d]]:
    """PhonemicBERT: a vector for every token of a Doc.

    A token's vector is the mean of those positions that share a character with it, whatever the tokenizer. A token
    without any (white space, a zero-width mark) has the zero vector. A document longer than ``window`` is read in
    overlapping windows; where they overlap, the vectors are averaged.

    Arguments:
        checkpoint: a folder that ``save_pretrained`` wrote, of any PhonemicBERT model, or the name of an installed
            checkpoint (``phonemic-bert-mini-zh``); it is read by ``nlp.initialize`` only. None: fresh weights of
            ``preset``.
        preset: the shape of a model without a checkpoint: ``"paper-12"``, ``"paper-6"``, ``"small"``,
            ``"mini-sound"``, ``"mini-vi"``, ``"mini-zh"``, ``"micro"`` or ``"paper-tiny"``.
        lang: ``"vi"`` or ``"zh"``; None: the language that the documents are read in.
        window: positions of text in a window, [CLS] and [SEP] not counted; None: as many as the model has room for.
        stride: positions from the start of a window to that of the next, at most ``window``; None: three quarters of
            the window.
        pooling: ``"mean"`` over a token's positions, or the ``"first"`` of them.
        layers: the layers to mix with learned weights, such as ``[-4, -3, -2, -1]``: 0 is the embeddings, -1 the last
            layer. ``"all"``: the embeddings and every layer. None: the last one.
        max_batch_positions: the largest padded size that is computed at once, in positions.
        mixed_precision: compute in half precision on a GPU.
        grad_checkpointing: compute the layers again in the backward pass: less memory, about a third more time.
        freeze_layers: if above 0, train neither the embeddings nor this many layers above them.
        learn_rate_factor: the encoder's learning rate as a fraction of the optimizer's. None: 1 for fresh weights, 0.3
            for a pretrained encoder of at most 384 dimensions, 0.05 for a wider one; they suit a rate of 0.001.
        layer_decay: each layer's learning rate as a fraction of that of the layer above it; the embeddings are the
            lowest layer. At 1, all have the same.
        diacritic_noise: Vietnamese, in training: the share of the syllables, in half of the Docs, that are written
            without their tone mark, without any mark, or with another tone mark; at least 0 and below 1.
        form_dropout: the share of the positions whose written form a model with forms does not see in training; None:
            as in its pretraining.
        form_noise: the share of the positions whose form is replaced in training by another one of the same syllable;
            None: as in its pretraining.
        int8_inference: on a CPU with AVX2, compute in 8 bits when a trained pipeline reads: 1.4 to 1.5 times as many
            words per second, and vectors that differ by some 2 % from float32. Training and saved files do not change.

    Returns:
        A thinc model; its weights are made or read when it is initialized. Vectors are float32 (tokens, width).

    Raises:
        ImportError: torch or transformers are missing.
        ValueError: an option does not fit.
    """
    options = EncoderOptions(
        checkpoint=checkpoint,
        preset=preset,
        lang=lang,
        window=window,
        stride=stride,
        pooling=pooling,
        layers=layers if isinstance(layers, str) else (-1,) if layers is None else tuple(layers),
        max_batch_positions=max_batch_positions,
        grad_checkpointing=grad_checkpointing,
        freeze_layers=freeze_layers,
        learn_rate_factor=learn_rate_factor,
        layer_decay=layer_decay,
        diacritic_noise=diacritic_noise,
        form_dropout=form_dropout,
        form_noise=form_noise,
        int8_inference=int8_inference,
    )
    try:
        from spacy_phonemic.network import Network, NetworkShim
    except ImportError as error:
        advice = "pip install 'phonemic[model]'"
        raise ImportError(f"PhonemicBERT needs torch and transformers ({error}): {advice}") from error

    return Model(
        "phonemic_bert",
        _forward,
        init=_initialize,
        attrs={"convert_inputs": _convert_inputs, "convert_outputs": _convert_outputs},
        shims=[NetworkShim(Network(options), mixed_precision)],
        dims={"nO": None},
    )


@registry.architectures("spacy_phonemic.PhonemicListener.v1")
def phonemic_listener(width: int | None = None, upstream: str = "*") -> Model[list[Doc], list[Floats2d]]:
    """Passes the vectors of a ``phonemic_transformer`` on to a component, and the component's gradients back.

    Arguments:
        width: the width of the vectors; None: that of the encoder, when the pipeline is initialized.
        upstream: the name of the encoder's component; ``"*"`` is any.

    Returns:
        A thinc model; for each Doc, vectors float32 (tokens, width).
    """
    return PhonemicListener(upstream, width)


class PhonemicListener(Tok2VecListener):
    """spaCy's Tok2VecListener, whose width need not be known before the checkpoint is read.

    Arguments:
        upstream_name: the name of the encoder's component; ``"*"`` is any.
        width: of the vectors; None: that of the encoder, when the pipeline is initialized.
    """

    name = "phonemic-listener"

    def __init__(self, upstream_name: str, width: int | None) -> None:
        super().__init__(upstream_name=upstream_name, width=width)  # type: ignore[arg-type]

    def get_dim(self, name: str) -> int:
        """The size of a dimension.

        Arguments:
            name: ``"nO"`` for the width of the vectors, or another of a thinc model.

        Raises:
            ValueError: the width is not known, because the encoder has no weights.
        """
        if name == "nO" and self.has_dim(name) is None:
            raise ValueError(
                "the phonemic_transformer that this listener is for has no weights, so its width is not known: "
                "initialize it before or with this component, or if it is frozen, source it from a trained pipeline"
            )
        return super().get_dim(name)

    def __getstate__(self) -> Any:
        """The listener without the last batch of the training, whose gradients cannot be pickled."""
        state, slots = cast("tuple[dict[str, Any], dict[str, Any]]", object.__getstate__(self))
        return {**state, "_batch_id": None, "_outputs": None, "_backprop": None}, slots


@Language.factory(
    "phonemic_transformer",
    assigns=["doc.tensor", "doc._.phonemic_positions"],
    default_config={"model": {"@architectures": "spacy_phonemic.PhonemicBert.v1"}},
)
def make_phonemic_transformer(nlp: Language, name: str, model: Model[list[Doc], list[Floats2d]]) -> PhonemicTransformer:
    """The factory of the component; see :class:`PhonemicTransformer`.

    Arguments:
        nlp: the pipeline.
        name: the component's name.
        model: an encoder, ``spacy_phonemic.PhonemicBert.v1`` or ``spacy_phonemic.PhonemicBertAndFeatures.v1``.
    """
    require(nlp, "spacy", "model")
    return PhonemicTransformer(nlp.vocab, model, name)


class PhonemicTransformer(Tok2Vec):
    """spaCy's Tok2Vec: one encoder whose vectors all components with a listener share. They are in ``doc.tensor``.

    Arguments:
        vocab: the pipeline's.
        model: what :func:`phonemic_bert` made.
        name: the component's name in the pipeline.
    """

    def set_annotations(self, docs: Sequence[Doc], tokvecs: Any) -> None:
        """Puts the tokens' vectors into ``doc.tensor``, and has ``doc._.phonemic_positions`` ask this component.

        Arguments:
            docs: the Docs.
            tokvecs: for each, vectors (tokens, width).
        """
        super().set_annotations(docs, tokvecs)
        remember(docs, self)

    def positions(self, docs: Sequence[Doc], layers: Layers = None) -> list[PositionVectors]:
        """The vectors of the positions of Docs, before they are pooled to tokens.

        Arguments:
            docs: the Docs.
            layers: 0 is the embeddings, -1 the last layer; ``"all"``: the embeddings and every layer; None: the last.

        Returns:
            For each Doc its ids, spans and vectors, see :class:`spacy_phonemic.positions.PositionVectors`.

        Raises:
            TypeError: one Doc instead of a list, something else than a Doc, or ``layers`` are not whole numbers.
            ValueError: there are no weights yet, there is no such layer, or a Doc is of another language.
        """
        given: object = docs
        if isinstance(given, Doc) or not all(isinstance(doc, Doc) for doc in docs):
            raise TypeError("positions takes a list of Docs: positions([nlp(text)])")
        nodes = (node for node in self.model.walk() if node.name == "phonemic_bert")
        network = _network(next(nodes))
        _check_weights(network)
        return position_vectors(network, docs, layers)

    def initialize(self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None) -> None:
        """Reads the checkpoint, or makes the weights, and tells the listeners how wide the vectors are.

        Arguments:
            get_examples: gives the training examples.
            nlp: the pipeline.

        Raises:
            ValueError: a listener has another width than the encoder.
        """
        super().initialize(get_examples, nlp=nlp)
        for listener in self.listeners:
            self._tell_width(listener)

    def add_listener(self, listener: Tok2VecListener, component_name: str) -> None:
        """Adds a listener; one of an encoder that has weights is told at once how wide the vectors are.

        So a new component can be trained with an encoder that is frozen, which is not initialized.

        Arguments:
            listener: the listener.
            component_name: the component that it is part of.

        Raises:
            ValueError: it has another width than the encoder.
        """
        super().add_listener(listener, component_name)
        if self.model.has_dim("nO"):
            self._tell_width(listener)

    def _tell_width(self, listener: Tok2VecListener) -> None:
        width = self.model.get_dim("nO")
        if listener.has_dim("nO") and listener.get_dim("nO") != width:
            raise ValueError(
                f"a listener has width {listener.get_dim('nO')}, but {self.name!r} gives vectors of {width}: "
                "leave the listener's width out (null)"
            )
        listener.set_dim("nO", width)


def _shim(model: Model[Any, Any]) -> NetworkShim:
    return cast("NetworkShim", model.shims[0])


def _network(model: Model[Any, Any]) -> Network:
    return cast("Network", _shim(model)._model)


def _initialize(model: Model[Any, Any], X: Sequence[Doc] | None = None, Y: Any = None) -> None:  # noqa: N803
    network = _network(model)
    lang = network.options.lang
    if lang is None:
        if not X:
            raise ValueError("lang is not given, and there are no documents to infer it from: set lang to 'vi' or 'zh'")
        lang = reading_of(X[0]).encoding.vocabulary.lang
    check_language(network.options.diacritic_noise, X)
    heard = reading_of(X[0]).way.tokenizer.options if X else None
    device = _shim(model).device
    network.create(lang, heard)
    network.to(device)
    model.set_dim("nO", network.bert.config.hidden_size, force=True)


def _forward(model: Model[Any, Any], X: Sequence[Doc], is_train: bool) -> tuple[Any, Callable[..., Any]]:  # noqa: N803
    network = _network(model)
    _check_weights(network)
    if is_train and network.options.diacritic_noise:
        X = misread(X, network.options.diacritic_noise)  # noqa: N806
    return pytorch_forward(model, X, is_train)


def _check_weights(network: Network) -> None:
    if network.bert is None:
        raise ValueError("the encoder has no weights yet: call nlp.initialize(), or load a trained pipeline")


def _convert_inputs(
    model: Model[Any, Any], docs: Sequence[Doc], is_train: bool
) -> tuple[ArgsKwargs, Callable[..., Any]]:
    network = _network(model)
    options, lang = network.options, network.bert.config.lang
    aligned = [_aligned(doc, lang) for doc in docs]
    batches, *pooled = network.plan(aligned, options.pooling, is_train)
    to_torch: Any = partial(xp2torch, device=_shim(model).device)
    tensors = [tuple(map(to_torch, batch)) for batch in batches]
    return ArgsKwargs((tensors, *map(to_torch, pooled)), {}), _no_gradient


def _no_gradient(gradients: Any) -> list[Any]:
    return []


def _aligned(doc: Doc, lang: str) -> Aligned:
    encoding = reading_of(doc).encoding
    if encoding.vocabulary.lang != lang:
        raise ValueError(
            f"the encoder was made for {lang!r}, but this document is read as {encoding.vocabulary.lang!r}: "
            f"{doc.text[:40]!r}"
        )
    bounds = doc.to_array([IDX, LENGTH]).astype(np.int64).reshape(-1, 2)
    return Aligned(encoding.ids, *align(encoding.spans, bounds[:, 0], bounds.sum(axis=1)))


def _convert_outputs(
    model: Model[Any, Any], inputs_outputs: tuple[Sequence[Doc], Any], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], ArgsKwargs]]:
    docs, output = inputs_outputs

    def to_torch(gradients: list[Floats2d]) -> ArgsKwargs:
        gradient = xp2torch(model.ops.xp.vstack(gradients), device=_shim(model).device)
        return ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (gradient,)})

    vectors, lengths = cast(Floats2d, torch2xp(output)), cast(Ints1d, np.array([len(doc) for doc in docs]))
    return model.ops.unflatten(vectors, lengths), to_torch
