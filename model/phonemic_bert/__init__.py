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
AutoTokenizer.register(PhonemicBertConfig, slow_tokenizer_class=PhonemicBertTokenizer, exist_ok=True)
