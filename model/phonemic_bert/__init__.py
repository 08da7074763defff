"""PhonemicBERT on torch and transformers. Importing this registers its classes with transformers' Auto classes."""

from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForMultipleChoice,
    AutoModelForPreTraining,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)

from phonemic_bert.configuration import PRESETS, PhonemicBertConfig
from phonemic_bert.errors import CheckpointError
from phonemic_bert.modeling import (
    COMPONENTS,
    HolisticMaskedLMOutput,
    PhonemicBertForMaskedLM,
    PhonemicBertForMultipleChoice,
    PhonemicBertForQuestionAnswering,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
)

__all__ = [
    "COMPONENTS",
    "PRESETS",
    "CheckpointError",
    "HolisticMaskedLMOutput",
    "PhonemicBertConfig",
    "PhonemicBertForMaskedLM",
    "PhonemicBertForMultipleChoice",
    "PhonemicBertForQuestionAnswering",
    "PhonemicBertForSequenceClassification",
    "PhonemicBertForTokenClassification",
    "PhonemicBertModel",
]

AutoConfig.register(PhonemicBertConfig.model_type, PhonemicBertConfig, exist_ok=True)
for auto, model in (
    (AutoModel, PhonemicBertModel),
    (AutoModelForPreTraining, PhonemicBertForMaskedLM),
    (AutoModelForMaskedLM, PhonemicBertForMaskedLM),
    (AutoModelForSequenceClassification, PhonemicBertForSequenceClassification),
    (AutoModelForTokenClassification, PhonemicBertForTokenClassification),
    (AutoModelForQuestionAnswering, PhonemicBertForQuestionAnswering),
    (AutoModelForMultipleChoice, PhonemicBertForMultipleChoice),
):
    auto.register(PhonemicBertConfig, model, exist_ok=True)
