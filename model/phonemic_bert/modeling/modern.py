"""transformers' ModernBERT as the encoder: rotary positions, and norms before the layers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import ModernBertConfig, ModernBertModel

from phonemic_bert.configuration import PhonemicBertConfig
from phonemic_bert.modeling.composition import Composing


def modern_config(config: Any, **fields: Any) -> ModernBertConfig:
    """ModernBERT's configuration in the shape of BERT's.

    All layers attend to the whole text: packed sequences come with masks of their own, into which no window is cut.

    Arguments:
        config: BERT's fields.
        fields: of ModernBERT, which win.
    """
    shape: dict[str, Any] = {
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "num_hidden_layers": config.num_hidden_layers,
        "num_attention_heads": config.num_attention_heads,
        "intermediate_size": config.intermediate_size,
        "max_position_embeddings": config.max_position_embeddings,
        "initializer_range": config.initializer_range,
        "attention_dropout": config.attention_probs_dropout_prob,
        "embedding_dropout": config.hidden_dropout_prob,
        "mlp_dropout": config.hidden_dropout_prob,
        "pad_token_id": config.pad_token_id,
        "bos_token_id": None,
        "eos_token_id": None,
        "cls_token_id": None,
        "sep_token_id": None,
        "global_attn_every_n_layers": 1,
        "reference_compile": False,  # transformers 4 would compile parts of the model by itself
    }
    return ModernBertConfig(**{**shape, **fields})


class TransformersInitialization:
    """Mixed into classes whose first weights are transformers' own.

    Of classes that it takes for custom code, transformers 5 does not draw the first weights of modules whose parameters
    are all in their children, such as ModernBERT's layers.
    """

    @classmethod
    def is_custom_code(cls) -> bool:
        """Whether first weights are drawn module by module only."""
        return False


class PackedModernBertModel(TransformersInitialization, ModernBertModel):
    """ModernBERT that takes the masks of packed documents in transformers 4 too."""

    def _update_attention_mask(self, attention_mask: Tensor, output_attentions: bool) -> Any:
        """Gives what transformers 4 wants: a mask (B, N, N) of truth values as the two that are added to the scores."""
        if attention_mask.dim() == 2:
            return super()._update_attention_mask(attention_mask, output_attentions)  # type: ignore[misc,unused-ignore]
        added = torch.zeros(attention_mask.shape, dtype=self.dtype, device=attention_mask.device)
        added = added.masked_fill_(~attention_mask.bool(), torch.finfo(self.dtype).min)[:, None]
        return added, added


class ModernEncoder(PackedModernBertModel):
    """ModernBERT, given embeddings that are composed elsewhere."""

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__(config)
        self.embeddings: Any = _Given()

    def get_input_embeddings(self) -> nn.Module:
        """The module in the place of ModernBERT's own table."""
        given: nn.Module = self.embeddings
        return given


class _Given(nn.Module):
    """Stands where ModernBERT has its embeddings."""

    def forward(self, input_ids: Tensor | None = None, inputs_embeds: Tensor | None = None) -> Tensor:
        assert inputs_embeds is not None
        return inputs_embeds


class PhonemicModernBertEmbeddings(Composing, nn.Module):
    """ModernBERT's embeddings over triples: a norm and dropout, without positions."""

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__()
        modern = modern_config(config)
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.norm = nn.LayerNorm(config.hidden_size, eps=modern.norm_eps, bias=modern.norm_bias)
        self.dropout = nn.Dropout(modern.embedding_dropout)
        self.add_composition(config)

    def forward(self, input_ids: Tensor | None = None, inputs_embeds: Tensor | None = None) -> Tensor:
        """Embeds packed ids (B, N), or takes what :meth:`embed` makes of them (B, N, d): (B, N, d).

        Raises:
            ValueError: an id is not in the vocabulary.
        """
        if inputs_embeds is None:
            assert input_ids is not None
            inputs_embeds = self.embed(input_ids)
        embedded: Tensor = self.dropout(self.norm(inputs_embeds))
        return embedded if self.neighbours is None else self.neighbours(embedded, input_ids)
