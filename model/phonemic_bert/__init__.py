"""PhonemicBERT on torch and transformers. Importing this registers its classes with transformers' Auto classes."""

from typing import Any

from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForMultipleChoice,
    AutoModelForPreTraining,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
)

from phonemic_bert.checkpoints import checkpoint_names, checkpoint_path
from phonemic_bert.collation import HolisticCollator
from phonemic_bert.configuration import COMPONENTS, PRESETS, PhonemicBertConfig
from phonemic_bert.errors import CheckpointError
from phonemic_bert.fill_mask import Filling, fill_mask
from phonemic_bert.modeling import (
    HolisticMaskedLMOutput,
    PhonemicBertForMaskedLM,
    PhonemicBertForMultipleChoice,
    PhonemicBertForQuestionAnswering,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
)
from phonemic_bert.modeling.plain import (
    PlainModernBertConfig,
    PlainModernBertForMaskedLM,
    PlainModernBertForMultipleChoice,
    PlainModernBertForQuestionAnswering,
    PlainModernBertForSequenceClassification,
    PlainModernBertForTokenClassification,
    PlainModernBertModel,
)
from phonemic_bert.tokenization import PhonemicBertTokenizer

__all__ = [
    "COMPONENTS",
    "PRESETS",
    "CheckpointError",
    "Filling",
    "HolisticCollator",
    "HolisticMaskedLMOutput",
    "PhonemicBertConfig",
    "PhonemicBertForMaskedLM",
    "PhonemicBertForMultipleChoice",
    "PhonemicBertForQuestionAnswering",
    "PhonemicBertForSequenceClassification",
    "PhonemicBertForTokenClassification",
    "PhonemicBertModel",
    "PhonemicBertTokenizer",
    "checkpoint_names",
    "checkpoint_path",
    "fill_mask",
]

_MODELS: dict[Any, tuple[Any, ...]] = {
    PhonemicBertConfig: (
        PhonemicBertModel,
        PhonemicBertForMaskedLM,
        PhonemicBertForSequenceClassification,
        PhonemicBertForTokenClassification,
        PhonemicBertForQuestionAnswering,
        PhonemicBertForMultipleChoice,
    ),
    PlainModernBertConfig: (
        PlainModernBertModel,
        PlainModernBertForMaskedLM,
        PlainModernBertForSequenceClassification,
        PlainModernBertForTokenClassification,
        PlainModernBertForQuestionAnswering,
        PlainModernBertForMultipleChoice,
    ),
}
for config, models in _MODELS.items():
    AutoConfig.register(config.model_type, config, exist_ok=True)
    encoder, masked, *tasks = models
    for auto, model in (
        (AutoModel, encoder),
        (AutoModelForPreTraining, masked),
        (AutoModelForMaskedLM, masked),
        *zip(
            (
                AutoModelForSequenceClassification,
                AutoModelForTokenClassification,
                AutoModelForQuestionAnswering,
                AutoModelForMultipleChoice,
            ),
            tasks,
            strict=True,
        ),
    ):
        auto.register(config, model, exist_ok=True)
AutoTokenizer.register(PhonemicBertConfig, slow_tokenizer_class=PhonemicBertTokenizer, exist_ok=True)
