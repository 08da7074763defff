"""The shapes of PhonemicBERT as data: its components, its options and the presets."""

from __future__ import annotations

from typing import Any

#: The slots of a triple, in their order.
COMPONENTS = ("onset", "rime", "tone")

#: The values of options beyond the paper; the first is the paper's.
CHOICES = {
    "backbone": ("bert", "modernbert"),
    "composition": ("linear", "product", "table", "both"),
    "head": ("independent", "joint"),
    "output_embeddings": ("composed", "untied", "tied"),
    "syllable_inventory": ("full", "attested"),
    "forms": ("none", "joint", "conditional"),
    "pooling": ("first", "mean"),
}

#: The names of the ones that are numbers; 0 is the paper's but for ``component_scale``, where it is 1.
NUMBERS = (
    "component_scale",
    "conv_kernel_size",
    "num_bigram_buckets",
    "form_dropout",
    "form_noise",
    "num_form_bigram_buckets",
)

#: The width of the vectors of bigrams, before they are projected.
BIGRAM_SIZE = 64

#: The design that learns best where there are hours and not weeks: see docs/concepts/design-choices.md.
_BEYOND = {
    "backbone": "modernbert",
    "composition": "both",
    "head": "joint",
    "output_embeddings": "tied",
    "syllable_inventory": "attested",
    "component_scale": 0.1,
    "conv_kernel_size": 3,
}
#: With bigrams, which cost parameters (2.1M) and hardly time.
_BEYOND_WITH_BIGRAMS = {**_BEYOND, "num_bigram_buckets": 32768}

_MINI = {"num_hidden_layers": 3, "hidden_size": 192, "num_attention_heads": 6, "intermediate_size": 768}

#: Encoders: the two of the paper (Table 1), and smaller ones. Those of the pretraining presets are the same.
PRESETS: dict[str, dict[str, Any]] = {
    "paper-12": {"num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072},
    "paper-6": {"num_hidden_layers": 6, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072},
    "small": {
        "num_hidden_layers": 6,
        "hidden_size": 384,
        "num_attention_heads": 6,
        "intermediate_size": 1536,
        **_BEYOND_WITH_BIGRAMS,
    },
    "mini-sound": {**_MINI, **_BEYOND_WITH_BIGRAMS},
    "mini-vi": {
        "num_hidden_layers": 3,
        "hidden_size": 256,
        "num_attention_heads": 8,
        "intermediate_size": 1024,
        **_BEYOND,
        "num_bigram_buckets": 24576,
        "forms": "conditional",
        "form_dropout": 0.15,
    },
    "mini-zh": {
        "num_hidden_layers": 3,
        "hidden_size": 288,
        "num_attention_heads": 9,
        "intermediate_size": 1152,
        **_BEYOND,
        "num_bigram_buckets": 16384,
        "forms": "joint",
        "form_dropout": 0.15,
        "form_noise": 0.05,
        "num_form_bigram_buckets": 16384,
        "pooling": "mean",
    },
    "micro": {
        "num_hidden_layers": 2,
        "hidden_size": 128,
        "num_attention_heads": 4,
        "intermediate_size": 512,
        **_BEYOND,
    },
    "paper-tiny": {"num_hidden_layers": 2, "hidden_size": 128, "num_attention_heads": 2, "intermediate_size": 512},
}
