"""The options of the encoder, checked."""

from __future__ import annotations

from dataclasses import dataclass

from phonemic.inventory import LANGUAGES

POOLINGS = ("mean", "first")


@dataclass(frozen=True)
class Options:
    """The arguments of ``spacy_phonemic.PhonemicBert.v1``; see :func:`spacy_phonemic.encoder.phonemic_bert`.

    Raises:
        ValueError: one of them does not fit, whatever the model.
    """

    checkpoint: str | None
    preset: str
    lang: str | None
    window: int
    stride: int
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
        if not 1 <= self.stride <= self.window:
            raise ValueError(
                f"stride={self.stride}, window={self.window}: the stride must be at least 1 and at most the window"
            )
        if self.pooling not in POOLINGS:
            raise ValueError(f"pooling={self.pooling!r}: choose one of {', '.join(POOLINGS)}")
        if not self.layers:
            raise ValueError("layers is empty: name the layers to mix, or null for the last")
        for name, least in (("max_batch_positions", 1), ("freeze_layers", 0), ("learn_rate_factor", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least {least}")
