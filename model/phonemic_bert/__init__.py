"""PhonemicBERT on torch and transformers, whose Auto classes know its classes once this is imported.

Neither torch nor transformers is imported before a class that needs them is requested.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from phonemic_bert import registration
from phonemic_bert.checkpoints import checkpoint_names, checkpoint_path
from phonemic_bert.errors import CheckpointError
from phonemic_bert.fill_mask import Filling, fill_mask
from phonemic_bert.shapes import COMPONENTS, PRESETS

if TYPE_CHECKING:
    from phonemic_bert.collation import HolisticCollator
    from phonemic_bert.configuration import PhonemicBertConfig
    from phonemic_bert.modeling import (
        HolisticMaskedLMOutput,
        PhonemicBertForMaskedLM,
        PhonemicBertForMultipleChoice,
        PhonemicBertForQuestionAnswering,
        PhonemicBertForSequenceClassification,
        PhonemicBertForTokenClassification,
        PhonemicBertModel,
    )
    from phonemic_bert.restoration import restore
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
    "restore",
]

#: Where names lie that are imported when they are requested; every other one of ``__all__`` is in the modelling.
_LAZY = {
    "HolisticCollator": "collation",
    "PhonemicBertConfig": "configuration",
    "PhonemicBertTokenizer": "tokenization",
    "restore": "restoration",
}
_MODULES = {"collation", "configuration", "modeling", "tokenization"}


def __getattr__(name: str) -> object:
    """A name of ``__all__`` that needs torch or transformers, which are imported now; or the module that holds some."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_LAZY.get(name, 'modeling')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


registration.install()
