"""How many parameters each part of a model has."""

from __future__ import annotations

from typing import Any

import torch

from phonemic_bert.configuration import COMPONENTS, PhonemicBertConfig
from phonemic_bert.modeling import PhonemicBertForMaskedLM, PhonemicBertModel

#: The paper's figures for its Vietnamese 12-layer model (section 7.1.4), in millions.
PAPER_MILLIONS = 87.94

#: Parts of the encoder: what is printed, and how the names of their parameters begin.
ENCODER: dict[str, str | tuple[str, ...]] = {
    "component embeddings (V x d)": "bert.embeddings.word_embeddings",
    "projection (3d to d)": "bert.embeddings.projection",
    "product of components": "bert.embeddings.product",
    "syllable embedding table": "bert.embeddings.table",
    "written forms": "bert.embeddings.forms",
    "bigrams": "bert.embeddings.bigrams",
    "bigrams with forms": "bert.embeddings.form_bigrams",
    "position embeddings": "bert.embeddings.position_embeddings",
    "token-type embeddings": "bert.embeddings.token_type_embeddings",
    "embedding LayerNorm": ("bert.embeddings.LayerNorm", "bert.embeddings.norm"),
    "convolution": "bert.embeddings.neighbours",
    "encoder layers": "bert.encoder.",
}

#: Parts of the head, likewise.
HEAD: dict[str, str | tuple[str, ...]] = {
    **{f"{component} head": f"heads.{component}" for component in COMPONENTS},
    "joint head": tuple(
        f"heads.{name}" for name in ("transform", "tables", "free", "biases", "form_biases", "outside")
    ),
}

_POOLER = "pooler"


def count_parameters(config: PhonemicBertConfig) -> dict[str, int]:
    """Parameters of each part that the model has: those of the encoder, then the pooler and the head.

    A task may need neither the pooler nor the head. The models are built without memory for their weights.
    """
    with torch.device("meta"):
        model = PhonemicBertForMaskedLM(config)
        pooler: Any = PhonemicBertModel(config).pooler
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}

    def counted(table: dict[str, str | tuple[str, ...]]) -> dict[str, int]:
        sums = {part: sum(sizes[name] for name in sizes if name.startswith(start)) for part, start in table.items()}
        return {part: count for part, count in sums.items() if count}

    own = sum(parameter.numel() for parameter in pooler.parameters())
    return {**counted(ENCODER), _POOLER: own, **counted(HEAD)}


def totals(parts: dict[str, int]) -> dict[str, int]:
    """The sums that people mean by a model's size."""
    encoder = sum(count for part, count in parts.items() if part in ENCODER)
    heads = sum(count for part, count in parts.items() if part in HEAD)
    return {
        "encoder": encoder,
        "encoder with pooler (for fine-tuning)": encoder + parts[_POOLER],
        "encoder with heads (for pretraining)": encoder + heads,
        "encoder with pooler and heads": encoder + parts[_POOLER] + heads,
    }
