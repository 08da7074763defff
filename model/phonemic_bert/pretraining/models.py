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

from phonemic.inventory import TRIPLE
from phonemic_bert.configuration import COMPONENTS, PhonemicBertConfig, PlainModernBertConfig
from phonemic_bert.errors import SettingsError
from phonemic_bert.modeling import IGNORE, PhonemicBertForMaskedLM
from phonemic_bert.modeling.composition import Composing, components
from phonemic_bert.modeling.plain import PlainModernBertForMaskedLM
from phonemic_bert.pretraining.settings import Settings
from phonemic_bert.pretraining.symbols import Symbols
from phonemic_bert.shapes import CHOICES, NUMBERS

#: How much larger sinusoidal position embeddings begin than all other weights: of 1, 4 and 14, 4 left the plateau of
#: the most frequent symbols first (Vietnamese, preset mini-sound).
SINUSOID_SCALE = 4


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
        """The loss is the mean cross-entropy over the M labelled positions; the logits are theirs, none in training."""
        if labels is None:
            return super().forward(input_ids, attention_mask, position_ids=position_ids, **kwargs)
        outputs = self.bert(input_ids, attention_mask, position_ids=position_ids, return_dict=True, **kwargs)
        labelled = labels != IGNORE
        chosen, aims = outputs.last_hidden_state[labelled], labels[labelled]
        total = self.losses(chosen, aims).sum()
        logits = None if self.training else self.cls(chosen).float()
        count = torch.as_tensor(len(aims) if num_items_in_batch is None else num_items_in_batch)
        return MaskedLMOutput(loss=total / count.to(total.device).clamp(min=1), logits=logits)

    def losses(self, hidden: Tensor, labels: Tensor) -> Tensor:
        """The negative log-probabilities of M ids: states (M, d) and ids (M,) to (M,), nats, float32."""
        return functional.cross_entropy(self.cls(hidden).float(), labels, reduction="none")


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
        "num_hidden_layers": shape.num_hidden_layers,
        "hidden_size": shape.hidden_size,
        "num_attention_heads": shape.num_attention_heads,
        "intermediate_size": shape.intermediate_size,
        "hidden_dropout_prob": shape.hidden_dropout_prob,
        "attention_probs_dropout_prob": shape.attention_probs_dropout_prob,
        "initializer_range": shape.initializer_range,
        "max_position_embeddings": settings.sequences.max_seq_length,
        "attn_implementation": settings.sequences.attn_implementation,
    }
    if symbols.phonemic:
        if settings.masking.replacement != "mask":
            raise SettingsError('masking.replacement: H-MLM masks every chosen syllable; only "mask" fits this corpus')
        if shape.forms != "none" and not symbols.form:
            raise SettingsError(
                f"model.forms = {shape.forms!r}, but the corpus does not say how its text is written: prepare it again "
                "with --form"
            )
        beyond = {name: getattr(shape, name) for name in (*CHOICES, *NUMBERS)}
        model: Any = PhonemicBertForMaskedLM(PhonemicBertConfig(symbols.tokenizer["lang"], **beyond, **fields))
    else:
        plain: dict[str, Any] = {"vocab_size": symbols.size, "pad_token_id": symbols.pad}
        if shape.backbone == "modernbert":
            own: dict[str, Any] = {
                "conv_kernel_size": shape.conv_kernel_size,
                "num_bigram_buckets": shape.num_bigram_buckets,
                "first_id": symbols.cls,
                "tied_head": shape.tied_head,
                "pooling": shape.pooling,
            }
            model = PlainModernBertForMaskedLM(PlainModernBertConfig(**plain, **own, **fields))
        elif given := next((name for name in ("conv_kernel_size", "num_bigram_buckets") if getattr(shape, name)), None):
            raise SettingsError(
                f"model.{given} = {getattr(shape, given)}: a plain model has them with model.backbone = "
                "'modernbert' only; with 'bert' it is transformers' own"
            )
        else:
            model = BertForMaskedLM(BertConfig(tie_word_embeddings=shape.tied_head, **plain, **fields))
    if shape.position_init == "sinusoidal":
        _initialize_with_sinusoids(model.bert.embeddings, shape.initializer_range)
    return model  # type: ignore[no-any-return]


@torch.no_grad()
def _initialize_with_sinusoids(embeddings: Any, deviation: float) -> None:
    """Makes sinusoids of the position embeddings, and what is composed of onset, rime and tone as loud as they are."""
    table = embeddings.position_embeddings.weight
    table.copy_(sinusoids(*table.shape) * (SINUSOID_SCALE * deviation * math.sqrt(2)))
    if isinstance(embeddings, Composing):
        embeddings.scale_composition(SINUSOID_SCALE)


def sinusoids(length: int, width: int) -> Tensor:
    """The position embeddings of the first transformer (Vaswani et al. 2017, section 3.5), (length, width), float32.

    A fixed distance is the same rotation everywhere, so that neighbours need not be learned place by place. Their mean
    square is 1/2.
    """
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, :width]


def measured(output: Any, labels: Tensor) -> dict[str, Tensor]:
    """The figures of a model in evaluation mode for M labelled positions, summed over them.

    Arguments:
        output: what it returned.
        labels: (B, N), -100 where nothing is predicted.

    Returns:
        ``loss`` (nats) and ``accuracy`` of the whole symbol; of PhonemicBERT also ``loss_onset``, ``accuracy_onset``
        and so on, with forms, which are a part of the symbol, ``loss_syllable`` and ``accuracy_syllable``; and
        ``count``, M.
    """
    labelled = labels != IGNORE
    targets = labels[labelled]
    count = labelled.sum()
    if not isinstance(output.logits, tuple):
        right = (output.logits.argmax(-1) == targets).sum()
        return {"loss": _nats(output.logits, targets), "accuracy": right, "count": count}
    whole = targets & TRIPLE if output.sounds is None else targets
    sums = {"loss": output.losses.sum(), "accuracy": (output.best == whole).sum(), "count": count}
    if output.sounds is not None:
        losses, best = output.sounds
        sums |= {"loss_syllable": losses.sum(), "accuracy_syllable": (best == targets & TRIPLE).sum()}
    for name, logits, aims in zip(COMPONENTS, output.logits, components(targets).unbind(-1), strict=True):
        part = logits[labelled] if logits.dim() == 3 else logits
        sums |= {f"loss_{name}": _nats(part, aims), f"accuracy_{name}": (part.argmax(-1) == aims).sum()}
    return sums


def _nats(logits: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(logits.float(), targets, reduction="sum")
