"""The model that a corpus is learned by: PhonemicBERT over syllables, or a plain BERT of the same shape."""

from __future__ import annotations

import math
from typing import Any

import torch
import transformers
from torch import Tensor
from torch.nn import functional
from transformers import BertConfig, PreTrainedModel
from transformers.modeling_outputs import MaskedLMOutput

from phonemic_bert.configuration import PhonemicBertConfig
from phonemic_bert.errors import SettingsError
from phonemic_bert.modeling import COMPONENTS, IGNORE, PhonemicBertForMaskedLM, components
from phonemic_bert.pretraining.settings import Settings
from phonemic_bert.pretraining.symbols import Symbols

#: How much larger sinusoidal position embeddings begin than all other weights: of 1, 4 and 14, 4 left the plateau of
#: the most frequent symbols first (Vietnamese, preset mini).
LOUDER = 4


class BertForMaskedLM(transformers.BertForMaskedLM):
    """transformers' BertForMaskedLM that computes the head at the labelled positions only, as PhonemicBERT does.

    Same weights, same names, and so the same checkpoints; over a vocabulary of tens of thousands it saves most of the
    memory of a step.
    """

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        num_items_in_batch: Tensor | int | None = None,
        **kwargs: Any,
    ) -> Any:
        """The loss is the cross-entropy's mean over the labelled positions; the logits are theirs, (M, V)."""
        if labels is None:
            return super().forward(input_ids, attention_mask, position_ids=position_ids, **kwargs)
        outputs = self.bert(input_ids, attention_mask, position_ids=position_ids, return_dict=True, **kwargs)
        labelled = labels != IGNORE
        logits = self.cls(outputs.last_hidden_state[labelled]).float()
        total = functional.cross_entropy(logits, labels[labelled], reduction="sum")
        count = labelled.sum() if num_items_in_batch is None else torch.as_tensor(num_items_in_batch)
        return MaskedLMOutput(loss=total / count.to(total.device).clamp(min=1), logits=logits)


def make_model(settings: Settings, symbols: Symbols) -> PreTrainedModel:
    """A model with fresh weights, drawn from torch's generator.

    Raises:
        SettingsError: the settings do not fit the corpus.
    """
    wanted = settings.model.lang
    if wanted != "any" and symbols.lang not in (None, wanted):
        raise SettingsError(f"model.lang is {wanted}, but the corpus is {symbols.lang}")
    shape = settings.model
    fields: dict[str, Any] = {
        "num_hidden_layers": shape.layers,
        "hidden_size": shape.hidden_size,
        "num_attention_heads": shape.attention_heads,
        "intermediate_size": shape.intermediate_size,
        "hidden_dropout_prob": shape.dropout,
        "attention_probs_dropout_prob": shape.attention_dropout,
        "initializer_range": shape.initializer_range,
        "max_position_embeddings": settings.sequences.length,
        "attn_implementation": settings.sequences.attention,
    }
    if symbols.phonemic:
        if settings.masking.replacement != "mask":
            raise SettingsError('masking.replacement: H-MLM masks every chosen syllable; only "mask" fits this corpus')
        model: Any = PhonemicBertForMaskedLM(PhonemicBertConfig(symbols.tokenizer["lang"], **fields))
    else:
        model = BertForMaskedLM(
            BertConfig(vocab_size=symbols.size, pad_token_id=symbols.pad, tie_word_embeddings=shape.tied_head, **fields)
        )
    if shape.first_positions == "sinusoidal":
        table = model.bert.embeddings.position_embeddings.weight
        with torch.no_grad():
            table.copy_(sinusoids(*table.shape) * (LOUDER * shape.initializer_range * math.sqrt(2)))
    return model  # type: ignore[no-any-return]


def sinusoids(length: int, width: int) -> Tensor:
    """The position embeddings of the first transformer (Vaswani et al. 2017, section 3.5), (length, width), float32.

    A fixed distance is the same rotation everywhere, so that neighbours need not be learned place by place. Their mean
    square is 1/2.
    """
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, :width]


def parts(logits: Any, labels: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
    """What is predicted at each of M labelled positions: logits (M, V) and targets (M,) of each component.

    Arguments:
        logits: what a model in evaluation mode returns.
        labels: (B, N), -100 where nothing is predicted.
    """
    labelled = labels != IGNORE
    if not isinstance(logits, tuple):
        return {"symbol": (logits, labels[labelled])}
    targets = components(labels[labelled]).unbind(-1)
    return {name: (part[labelled], aim) for name, part, aim in zip(COMPONENTS, logits, targets, strict=True)}
