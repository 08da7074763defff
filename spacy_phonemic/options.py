"""The options of the encoder, checked."""

from __future__ import annotations

from dataclasses import dataclass

from phonemic.inventory import LANGUAGES

POOLINGS = ("mean", "first")


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
    layers: tuple[int, ...]
    max_batch_positions: int
    grad_checkpointing: bool
    freeze_layers: int
    learn_rate_factor: float

    def __post_init__(self) -> None:
        if self.lang is not None and self.lang not in LANGUAGES:
            languages = ", ".join(LANGUAGES)
            raise ValueError(f"lang={self.lang!r}: choose one of {languages}, or null for the documents' language")
        self._check_windows(self.window, self.stride)
        if self.pooling not in POOLINGS:
            raise ValueError(f"pooling={self.pooling!r}: choose one of {', '.join(POOLINGS)}")
        if not self.layers:
            raise ValueError("layers is empty: name the layers to mix, or null for the last")
        for name, least in (("max_batch_positions", 1), ("freeze_layers", 0), ("learn_rate_factor", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least {least}")

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
                f"stride={stride}, window={window}: both are at least 1, and the stride at most the window"
            )
