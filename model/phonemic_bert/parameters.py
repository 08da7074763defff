"""How many parameters each part of a model has."""

from __future__ import annotations

import torch

from phonemic_bert.configuration import PhonemicBertConfig
from phonemic_bert.modeling import COMPONENTS, PhonemicBertForMaskedLM, PhonemicBertModel

#: What the paper gives for its Vietnamese 12-layer model (section 7.1.4), in millions.
PAPER_MILLIONS = 87.94

#: Parts of the encoder: what is printed, and how the names of their parameters begin.
PARTS = {
    "component embeddings (V x d)": "embeddings.word_embeddings",
    "projection (3d to d)": "embeddings.projection",
    "position embeddings": "embeddings.position_embeddings",
    "token-type embeddings": "embeddings.token_type_embeddings",
    "embedding LayerNorm": "embeddings.LayerNorm",
    "encoder layers": "encoder.",
}


def count_parameters(config: PhonemicBertConfig) -> dict[str, int]:
    """Parameters of each part: those of the encoder, then the pooler and the three heads, which a task may not need.

    The models are built without memory for their weights.
    """
    with torch.device("meta"):
        model = PhonemicBertModel(config)
        heads = PhonemicBertForMaskedLM(config).heads
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    parts = {part: sum(size for name, size in sizes.items() if name.startswith(start)) for part, start in PARTS.items()}
    parts["pooler"] = sum(size for name, size in sizes.items() if name.startswith("pooler"))
    for component in COMPONENTS:
        parts[f"{component} head"] = sum(parameter.numel() for parameter in heads[component].parameters())
    return parts


def totals(parts: dict[str, int]) -> dict[str, int]:
    """The sums that people mean by a model's size."""
    encoder = sum(parts[part] for part in PARTS)
    heads = sum(parts[f"{component} head"] for component in COMPONENTS)
    return {
        "encoder": encoder,
        "encoder with pooler (for fine-tuning)": encoder + parts["pooler"],
        "encoder with heads (for pretraining)": encoder + heads,
        "encoder with pooler and heads": encoder + parts["pooler"] + heads,
    }
