"""The same ModernBERT over the ids of any other tokenizer, so that PhonemicBERT is compared between equals.

What differs is what a position is: an id of a large vocabulary, with a row of its own and a softmax over all rows. The
encoder, its view of the neighbours and the task heads are those of :mod:`phonemic_bert.modeling`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.modeling_outputs import MaskedLMOutput
from transformers.models.bert.modeling_bert import BertPredictionHeadTransform

from phonemic_bert.configuration import PlainModernBertConfig
from phonemic_bert.modeling.adjacent import Bigrams, ResidualConvolution
from phonemic_bert.modeling.models import (
    IGNORE,
    PhonemicBertForMultipleChoice,
    PhonemicBertForQuestionAnswering,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertPreTrainedModel,
    PhonemicModernBertModel,
    as_asked,
)
from phonemic_bert.modeling.modern import modern_config
from phonemic_bert.tokenization.positions import PLAIN_SPECIALS


class PlainModernBertEmbeddings(nn.Module):
    """A table, bigrams, a norm, dropout and the neighbours."""

    def __init__(self, config: PlainModernBertConfig) -> None:
        super().__init__()
        modern = modern_config(config)
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.norm = nn.LayerNorm(config.hidden_size, eps=modern.norm_eps, bias=modern.norm_bias)
        self.dropout = nn.Dropout(modern.embedding_dropout)
        self.bigrams = Bigrams(config.num_bigram_buckets, config.hidden_size) if config.num_bigram_buckets else None
        ids = {"first": config.first_id, "padding": int(config.pad_token_id or 0)}
        self.neighbours = (
            ResidualConvolution(config.conv_kernel_size, config.hidden_size, **ids) if config.conv_kernel_size else None
        )

    def forward(self, input_ids: Tensor | None = None, inputs_embeds: Tensor | None = None) -> Tensor:
        """Embeds ids (B, N), or takes embeddings (B, N, d): rows of the table, and what bigrams add: (B, N, d)."""
        if inputs_embeds is None:
            assert input_ids is not None
            inputs_embeds = self.word_embeddings(input_ids)
            if self.bigrams is not None:
                inputs_embeds = inputs_embeds + self.bigrams(input_ids, input_ids < len(PLAIN_SPECIALS))
        embedded = self.dropout(self.norm(inputs_embeds))
        states: Tensor = embedded if self.neighbours is None else self.neighbours(embedded, input_ids)
        return states


class PlainModernBertModel(PhonemicModernBertModel):
    """The encoder: ids (B, N) to hidden states (B, N, d), and one pooled state a text (B, d)."""

    config_class = PlainModernBertConfig
    embeddings_class = PlainModernBertEmbeddings


class PlainModernBertForMaskedLM(PhonemicBertPreTrainedModel):
    """Masked language modelling with one softmax over the vocabulary."""

    config_class = PlainModernBertConfig
    _keys_to_ignore_on_load_unexpected = None

    def __init__(self, config: PlainModernBertConfig) -> None:
        super().__init__(config)
        self.bert = PlainModernBertModel(config, add_pooling_layer=False)  # type: ignore[arg-type]
        self.transform = BertPredictionHeadTransform(config)
        shape = (config.vocab_size, config.hidden_size)
        self.weight = None if config.tied_head else nn.Parameter(torch.empty(shape))
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.post_init()

    def _init_weights(self, module: Any) -> None:
        super()._init_weights(module)
        if module is self and self.weight is not None:
            nn.init.normal_(self.weight, std=self.config.initializer_range)

    def predict(self, hidden: Tensor) -> Tensor:
        """Hidden states (..., d) to logits (..., V)."""
        weight = self.bert.embeddings.word_embeddings.weight if self.weight is None else self.weight
        return functional.linear(self.transform(hidden), weight, self.bias)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        num_items_in_batch: Tensor | int | None = None,
        return_dict: bool | None = None,
        **kwargs: Any,
    ) -> MaskedLMOutput | tuple[Any, ...]:
        """The loss is the mean cross-entropy over the M labelled positions; the logits are theirs, none in training."""
        outputs = self.bert(input_ids, attention_mask, position_ids=position_ids, return_dict=True, **kwargs)
        hidden = outputs.last_hidden_state
        more = {"hidden_states": outputs.hidden_states, "attentions": outputs.attentions}
        if labels is None:
            return as_asked(MaskedLMOutput(logits=self.predict(hidden), **more), return_dict, self.config)
        labelled = labels != IGNORE
        chosen, aims = hidden[labelled], labels[labelled]
        total = self.losses(chosen, aims).sum()
        logits = None if self.training else self.predict(chosen).float()
        count = torch.as_tensor(len(aims) if num_items_in_batch is None else num_items_in_batch)
        loss = total / count.to(total.device).clamp(min=1)
        return as_asked(MaskedLMOutput(loss=loss, logits=logits, **more), return_dict, self.config)

    def losses(self, hidden: Tensor, labels: Tensor) -> Tensor:
        """The negative log-probabilities of M ids: states (M, d) and ids (M,) to (M,), nats, float32."""
        return functional.cross_entropy(self.predict(hidden).float(), labels, reduction="none")


class PlainModernBertForSequenceClassification(PhonemicBertForSequenceClassification):
    """The task head of PhonemicBERT over the plain encoder; likewise below."""

    config_class = PlainModernBertConfig
    encoder_class = PlainModernBertModel


class PlainModernBertForTokenClassification(PhonemicBertForTokenClassification):
    """See :class:`PlainModernBertForSequenceClassification`."""

    config_class = PlainModernBertConfig
    encoder_class = PlainModernBertModel


class PlainModernBertForQuestionAnswering(PhonemicBertForQuestionAnswering):
    """See :class:`PlainModernBertForSequenceClassification`."""

    config_class = PlainModernBertConfig
    encoder_class = PlainModernBertModel


class PlainModernBertForMultipleChoice(PhonemicBertForMultipleChoice):
    """See :class:`PlainModernBertForSequenceClassification`."""

    config_class = PlainModernBertConfig
    encoder_class = PlainModernBertModel
