"""One state of each text: that of the first position, or the mean of all."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers.models.bert.modeling_bert import BertPooler

from phonemic_bert.configuration import PhonemicBertConfig


class Pooler(BertPooler):
    """BERT's pooler, of the first position or of the mean of all.

    Arguments:
        config: the configuration, whose ``pooling`` says which.
    """

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.mean = config.pooling == "mean"

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """States (B, N, d) to one of each text, (B, d).

        Arguments:
            hidden_states: of the positions.
            attention_mask: (B, N), 0 where there is padding; None where there is none.
        """
        if self.mean:
            mask = torch.ones_like(hidden_states[..., 0]) if attention_mask is None else attention_mask
            weights = mask[..., None].to(hidden_states.dtype)
            hidden_states = (hidden_states * weights).sum(1, keepdim=True) / weights.sum(1, keepdim=True).clamp(min=1)
        pooled: Tensor = super().forward(hidden_states)
        return pooled
