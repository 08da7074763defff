"""PhonemicBERT: transformers' BERT with embeddings that read triples, and H-MLM (the paper, section 4)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    BertPreTrainedModel,
)
from transformers.models.bert.modeling_bert import BertEmbeddings
from transformers.utils.generic import ModelOutput

from phonemic_bert.checkpoints import resolve
from phonemic_bert.configuration import PhonemicBertConfig
from phonemic_bert.errors import CheckpointError

#: The label of a position that is not predicted.
IGNORE = -100
COMPONENTS = ("onset", "rime", "tone")


def components(packed: Tensor) -> Tensor:
    """Onset, rime and tone ids of packed ids: (...) to (..., 3), of the same dtype."""
    return torch.stack((packed & 255, packed >> 8 & 255, packed >> 16), dim=-1)


class PhonemicBertEmbeddings(BertEmbeddings):
    """BERT's embeddings over triples.

    One table (V, d) for the three components; their embeddings are concatenated and projected from 3d to d (equation 5
    of the paper). Positions, token types, LayerNorm and dropout are BERT's.
    """

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.projection = nn.Linear(len(COMPONENTS) * config.hidden_size, config.hidden_size)

    def project(self, input_ids: Tensor) -> Tensor:
        """The projected embeddings of packed ids: (B, N) to (B, N, d).

        Raises:
            ValueError: an id is not in the vocabulary (checked on the CPU, outside torch.compile).
        """
        parts = components(input_ids)
        if parts.device.type == "cpu" and not torch.compiler.is_compiling() and parts.numel():
            size = self.word_embeddings.num_embeddings
            if not 0 <= int(parts.min()) <= int(parts.max()) < size:
                raise ValueError(
                    f"input_ids hold components from {int(parts.min())} to {int(parts.max())}, but the vocabulary has "
                    f"{size}: were the ids made by the tokenizer of another language?"
                )
        projected: Tensor = self.projection(self.word_embeddings(parts).flatten(-2))
        return projected

    def forward(
        self,
        input_ids: Tensor | None = None,
        token_type_ids: Any = None,
        position_ids: Any = None,
        inputs_embeds: Any = None,
        past_key_values_length: int = 0,
    ) -> Tensor:
        """Embeds packed ids (B, N), or takes projected embeddings (B, N, d): (B, N, d).

        Raises:
            ValueError: an id is not in the vocabulary.
        """
        if inputs_embeds is None and input_ids is not None:
            inputs_embeds = self.project(input_ids)
        embedded: Tensor = super().forward(
            token_type_ids=token_type_ids,
            position_ids=position_ids,
            inputs_embeds=inputs_embeds,
            past_key_values_length=past_key_values_length,
        )
        return embedded


class PhonemicBertPreTrainedModel(BertPreTrainedModel):
    """What all PhonemicBERT models share: the configuration, and checkpoints that are data only."""

    config: PhonemicBertConfig
    config_class = PhonemicBertConfig
    _no_split_modules = ["PhonemicBertEmbeddings", "BertLayer"]  # noqa: RUF012

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str | os.PathLike[str] | None, *args: Any, **kwargs: Any
    ) -> Any:
        """Loads a checkpoint, from safetensors only: nothing in it is unpickled.

        Arguments:
            pretrained_model_name_or_path: a folder that ``save_pretrained`` wrote, the name of an installed checkpoint
                (``phonemic-bert-small-vi``), or a model's name on a hub.
            args: as for ``transformers.PreTrainedModel.from_pretrained``.
            kwargs: likewise; ``use_safetensors`` may only be True.

        Raises:
            CheckpointError: its vocabulary is not this version's, or ``use_safetensors=False``.
            OSError: a file is missing.
        """
        if not kwargs.setdefault("use_safetensors", True):
            raise CheckpointError("PhonemicBERT checkpoints are safetensors; use_safetensors=False would unpickle")
        return super().from_pretrained(resolve(pretrained_model_name_or_path), *args, **kwargs)

    def resize_token_embeddings(self, new_num_tokens: int | None = None, *args: Any, **kwargs: Any) -> Any:
        """The embedding table; its size is the vocabulary's and cannot change.

        Raises:
            ValueError: another size is asked for.
        """
        if new_num_tokens not in (None, self.config.vocab_size):
            raise ValueError(
                f"the vocabulary is fixed at {self.config.vocab_size} symbols and cannot be resized to {new_num_tokens}"
            )
        return self.get_input_embeddings()


class PhonemicBertModel(PhonemicBertPreTrainedModel, BertModel):
    """The encoder: packed ids (B, N) to hidden states (B, N, d), and the pooled first position (B, d)."""

    def __init__(self, config: PhonemicBertConfig, add_pooling_layer: bool = True) -> None:
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        self.embeddings = PhonemicBertEmbeddings(config)
        self.post_init()

    def forward(self, input_ids: Tensor | None = None, *args: Any, **kwargs: Any) -> Any:
        """BertModel's forward, after a check that the text fits the position table."""
        given = input_ids if input_ids is not None else kwargs.get("inputs_embeds")
        limit = self.config.max_position_embeddings
        if given is not None and given.shape[1] > limit:
            raise ValueError(
                f"a text of {given.shape[1]} positions is longer than the model's {limit}: "
                "tokenize with truncation=True, or in windows with return_overflowing_tokens=True"
            )
        return super().forward(input_ids, *args, **kwargs)


@dataclass
class HolisticMaskedLMOutput(ModelOutput):  # type: ignore[misc,unused-ignore]
    """What PhonemicBertForMaskedLM returns.

    Attributes:
        loss: scalar, where labels were given.
        logits: one tensor each for onset, rime and tone, (B, N, V); while training with labels only the labelled
            positions are computed, and they are (M, V).
        hidden_states: as BERT's, on request.
        attentions: as BERT's, on request.
    """

    loss: Tensor | None = None
    logits: tuple[Tensor, ...] | None = None
    hidden_states: tuple[Tensor, ...] | None = None
    attentions: tuple[Tensor, ...] | None = None


class PhonemicBertForMaskedLM(PhonemicBertPreTrainedModel):
    """Holistic masked language modelling: three independent heads, each over the whole vocabulary."""

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = PhonemicBertModel(config, add_pooling_layer=False)
        self.heads = nn.ModuleDict({name: nn.Linear(config.hidden_size, config.vocab_size) for name in COMPONENTS})
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        num_items_in_batch: Tensor | int | None = None,
        return_dict: bool | None = None,
        **kwargs: Any,
    ) -> HolisticMaskedLMOutput | tuple[Any, ...]:
        """Predicts the components of every position.

        Arguments:
            input_ids: packed ids, (B, N).
            attention_mask: 1 for text, 0 for padding, (B, N).
            token_type_ids: (B, N).
            position_ids: (B, N).
            inputs_embeds: projected embeddings (B, N, d) instead of ids.
            labels: packed ids of the positions to predict, -100 elsewhere, (B, N).
            num_items_in_batch: what the summed loss is divided by, instead of the labelled positions of this batch;
                Trainer gives it under gradient accumulation.
            return_dict: False returns a tuple.
            kwargs: what BertModel takes (``output_attentions``, ``output_hidden_states``).

        Returns:
            The loss is the unweighted sum of the three cross-entropies (nats), each the mean over the labelled
            positions; 0 where there are none.
        """
        outputs = self.bert(
            input_ids,
            attention_mask=attention_mask,
            token_type_ids=token_type_ids,
            position_ids=position_ids,
            inputs_embeds=inputs_embeds,
            return_dict=True,
            **kwargs,
        )
        hidden, loss = outputs.last_hidden_state, None
        if labels is None:
            logits = self.predict(hidden)
        else:
            labelled = labels != IGNORE
            if self.training:
                logits = chosen = self.predict(hidden[labelled])
            else:
                logits = self.predict(hidden)
                chosen = tuple(part[labelled] for part in logits)
            loss = holistic_loss(chosen, labels[labelled], num_items_in_batch)
        output = HolisticMaskedLMOutput(loss, logits, outputs.hidden_states, outputs.attentions)
        return output.to_tuple() if return_dict is False else output

    def predict(self, hidden: Tensor) -> tuple[Tensor, ...]:
        """Logits of onset, rime and tone: (..., d) to three (..., V)."""
        return tuple(self.heads[name](hidden) for name in COMPONENTS)


def holistic_loss(logits: tuple[Tensor, ...], labels: Tensor, num_items: Tensor | int | None = None) -> Tensor:
    """The H-MLM loss (equation 8 of the paper).

    Arguments:
        logits: of onset, rime and tone, (M, V) each.
        labels: packed ids, (M,).
        num_items: what the sum is divided by; None is M.

    Returns:
        A scalar, in nats, at least in single precision.
    """
    precision = torch.promote_types(logits[0].dtype, torch.float32)
    targets = components(labels.long()).unbind(-1)
    parts = zip(logits, targets, strict=True)
    total = sum(functional.cross_entropy(part.to(precision), target, reduction="sum") for part, target in parts)
    count = torch.as_tensor(len(labels) if num_items is None else num_items, device=labels.device)
    mean: Tensor = total / count.clamp(min=1)
    return mean


class PhonemicBertForSequenceClassification(PhonemicBertPreTrainedModel, BertForSequenceClassification):
    """transformers' BertForSequenceClassification over PhonemicBERT."""

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = PhonemicBertModel(config)
        self.post_init()


class PhonemicBertForTokenClassification(PhonemicBertPreTrainedModel, BertForTokenClassification):
    """transformers' BertForTokenClassification over PhonemicBERT."""

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = PhonemicBertModel(config, add_pooling_layer=False)
        self.post_init()


class PhonemicBertForQuestionAnswering(PhonemicBertPreTrainedModel, BertForQuestionAnswering):
    """transformers' BertForQuestionAnswering over PhonemicBERT."""

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = PhonemicBertModel(config, add_pooling_layer=False)
        self.post_init()


class PhonemicBertForMultipleChoice(PhonemicBertPreTrainedModel, BertForMultipleChoice):
    """transformers' BertForMultipleChoice over PhonemicBERT."""

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = PhonemicBertModel(config)
        self.post_init()
