"""Predictions of a fine-tuned classifier or tagger for texts."""

from __future__ import annotations

from typing import Any

import torch

from phonemic_bert.finetuning.alignment import spans_of
from phonemic_bert.modeling import PhonemicBertForSequenceClassification, PhonemicBertForTokenClassification
from phonemic_bert.tokenization import PhonemicBertTokenizer


@torch.no_grad()
def classify(
    model: PhonemicBertForSequenceClassification,
    tokenizer: PhonemicBertTokenizer,
    text: str,
    text_b: str | None = None,
) -> dict[str, float]:
    """The probability of each label for a text or a pair, the likeliest first; what does not fit is cut off."""
    encoded = tokenizer(text, text_b, truncation=True, max_length=_limit(model), return_tensors="pt")
    shares = model(**encoded.to(model.device)).logits[0].float().softmax(-1).cpu()
    order = shares.argsort(descending=True, stable=True).tolist()
    names = _labels(model)
    return {names[at]: shares[at].item() for at in order}


@torch.no_grad()
def tag(model: PhonemicBertForTokenClassification, tokenizer: PhonemicBertTokenizer, text: str) -> list[str]:
    """The likeliest label of each position; "" for those behind the model's limit."""
    length = len(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    encoded = tokenizer(text, truncation=True, max_length=_limit(model), return_tensors="pt")
    best = model(**encoded.to(model.device)).logits[0, 1:-1].argmax(-1).tolist()
    names = _labels(model)
    return [names[at] for at in best] + [""] * (length - len(best))


def tagged_spans(
    model: PhonemicBertForTokenClassification, labels: list[str], spans: list[tuple[int, int]]
) -> list[tuple[int, int, str]] | None:
    """The spans that a tagger's labels stand for; None where its labels are those of words, not IOB2."""
    iob = any(name.startswith("B-") for name in _labels(model).values())
    if not iob:
        return None
    return [(span.start, span.end, span.label) for span in spans_of([name or None for name in labels], spans)]


def _labels(model: Any) -> dict[int, str]:
    names: dict[int, str] = model.config.id2label
    return names


def _limit(model: Any) -> int:
    return int(model.config.max_position_embeddings)
