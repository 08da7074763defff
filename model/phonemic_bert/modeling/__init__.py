"""PhonemicBERT's network: embeddings that read triples, encoders, heads; and plain models with the same encoder."""

from phonemic_bert.modeling.models import (
    IGNORE,
    HolisticMaskedLMOutput,
    PhonemicBertEmbeddings,
    PhonemicBertForMaskedLM,
    PhonemicBertForMultipleChoice,
    PhonemicBertForQuestionAnswering,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
    PhonemicBertPreTrainedModel,
    PhonemicModernBertModel,
)

__all__ = [
    "IGNORE",
    "HolisticMaskedLMOutput",
    "PhonemicBertEmbeddings",
    "PhonemicBertForMaskedLM",
    "PhonemicBertForMultipleChoice",
    "PhonemicBertForQuestionAnswering",
    "PhonemicBertForSequenceClassification",
    "PhonemicBertForTokenClassification",
    "PhonemicBertModel",
    "PhonemicBertPreTrainedModel",
    "PhonemicModernBertModel",
]
