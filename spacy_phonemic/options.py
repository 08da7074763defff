"""The options of the encoder, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

from phonemic.inventory import LANGUAGES
from spacy_phonemic.noise import check_share

POOLINGS = ("mean", "first")

#: The hidden size up to which a pretrained encoder wants a higher learning rate.
SMALL = 384

#: A part of the optimizer's learning rate below which fresh weights learn next to nothing in a run of usual length.
TOO_LOW = 0.2

#: A learning rate below which they learn next to nothing.
TOO_SLOW = 2e-4

#: The layers of an encoder: by their numbers, ``"all"``, or None for the last.
Layers = Sequence[int] | Literal["all"] | None


@dataclass(frozen=True)
class EncoderOptions:
    """The arguments of ``spacy_phonemic.PhonemicBert.v1``; see :func:`spacy_phonemic.encoder.phonemic_bert`.

    Raises:
        ValueError: one of them does not fit, whatever the model.
    """

    checkpoint: str | None
    preset: str
    lang: str | None
    window: int | None
    stride: int | None
    pooling: str
    layers: tuple[int, ...] | Literal["all"]
    max_batch_positions: int
    grad_checkpointing: bool
    freeze_layers: int
    learn_rate_factor: float | None
    layer_decay: float = 1.0
    diacritic_noise: float = 0.0
    form_dropout: float | None = None
    form_noise: float | None = None
    int8_inference: bool = True

    def __post_init__(self) -> None:
        if self.lang is not None and self.lang not in LANGUAGES:
            languages = ", ".join(LANGUAGES)
            raise ValueError(f"lang={self.lang!r}: choose one of {languages}, or null for the documents' language")
        self._check_windows(self.window, self.stride)
        if self.pooling not in POOLINGS:
            raise ValueError(f"pooling={self.pooling!r}: choose one of {', '.join(POOLINGS)}")
        if isinstance(self.layers, str) and self.layers != "all":
            raise ValueError(f'layers={self.layers!r}: name the layers to mix, "all", or null for the last')
        if not self.layers:
            raise ValueError('layers is empty: name the layers to mix, "all", or null for the last')
        for name, least in (("max_batch_positions", 1), ("freeze_layers", 0), ("learn_rate_factor", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}={value}: must be at least {least}")

        if not 0 < self.layer_decay <= 1:
            raise ValueError(f"layer_decay={self.layer_decay}: must be above 0 and at most 1")
        check_share("diacritic_noise", self.diacritic_noise)
        for name, share in self.form_shares.items():
            check_share(name, share)

    @property
    def form_shares(self) -> dict[str, float]:
        """The shares of the forms to drop and exchange that are given."""
        given = {"form_dropout": self.form_dropout, "form_noise": self.form_noise}
        return {name: share for name, share in given.items() if share is not None}

    def rate_factor(self, width: int) -> float:
        """The encoder's learning rate as a part of the optimizer's, for a model of this hidden size."""
        if self.learn_rate_factor is not None:
            return self.learn_rate_factor
        if self.checkpoint is None:
            return 1.0
        return 0.3 if width <= SMALL else 0.05

    def chosen_layers(self, count: int) -> tuple[int, ...]:
        """The layers to mix of a model that has so many: 0 is the embeddings, -1 the last layer.

        Raises:
            ValueError: the model lacks one of them.
        """
        return chosen_layers(self.layers, count)

    def windows(self, room: int) -> tuple[int, int]:
        """Window and stride for a model with room for this many positions between [CLS] and [SEP].

        Raises:
            ValueError: they do not fit the model.
        """
        window = room if self.window is None else self.window
        if window > room:
            raise ValueError(
                f"window={window}, but the model has room for {room} positions between [CLS] and [SEP]; "
                f"set window to {room} or less, and stride below it, or both to null"
            )
        stride = max(1, window * 3 // 4) if self.stride is None else self.stride
        self._check_windows(window, stride)
        return window, stride

    @staticmethod
    def _check_windows(window: int | None, stride: int | None) -> None:
        if (window is not None and window < 1) or (stride is not None and not 1 <= stride <= (window or stride)):
            raise ValueError(
                f"stride={stride}, window={window}: both must be at least 1, and the stride at most the window"
            )


def chosen_layers(layers: Layers, count: int) -> tuple[int, ...]:
    """The numbers of some layers of a model that has so many.

    Arguments:
        layers: 0 is the embeddings, -1 the last layer; ``"all"``: the embeddings and every layer; None: the last.
        count: how many layers the model has, embeddings not counted.

    Raises:
        TypeError: they are not whole numbers in a list.
        ValueError: the model lacks one of them, or none is named.
    """
    if isinstance(layers, str):
        if layers != "all":
            raise ValueError(f'layers={layers!r}: name the layers, "all", or null for the last')
        return tuple(range(count + 1))
    chosen = (-1,) if layers is None else tuple(layers) if isinstance(layers, Iterable) else None
    if chosen is None or not all(isinstance(layer, Integral) for layer in chosen):
        raise TypeError(
            f'layers={layers!r}: give a list of whole numbers, such as [0, -1], "all", or null for the last'
        )
    if not chosen or not all(-count - 1 <= layer <= count for layer in chosen):
        raise ValueError(f"layers={list(chosen)}: the model has the layers 0 (embeddings) to {count}")
    return chosen
