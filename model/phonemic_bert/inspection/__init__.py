"""Looking into PhonemicBERT: texts syllable by syllable, errors, nearest syllables, and the learned embeddings."""

from importlib import import_module
from typing import TYPE_CHECKING

from phonemic_bert.inspection.confusions import Confusions, confusions
from phonemic_bert.inspection.predictions import PredictionRecord, read_predictions

if TYPE_CHECKING:
    from phonemic_bert.inspection.embeddings import Panel, Separation, component_vectors, panels
    from phonemic_bert.inspection.masking import Masked, mask_each
    from phonemic_bert.inspection.nearest import NearestSyllable, NearestSyllables

__all__ = [
    "Confusions",
    "Masked",
    "NearestSyllable",
    "NearestSyllables",
    "Panel",
    "PredictionRecord",
    "Separation",
    "component_vectors",
    "confusions",
    "mask_each",
    "panels",
    "read_predictions",
]

#: Where the names lie that need torch, which is imported when one is requested.
_LAZY = {
    **dict.fromkeys(("Panel", "Separation", "component_vectors", "panels"), "embeddings"),
    **dict.fromkeys(("Masked", "mask_each"), "masking"),
    **dict.fromkeys(("NearestSyllable", "NearestSyllables"), "nearest"),
}


def __getattr__(name: str) -> object:
    """A name of ``__all__`` that needs torch."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    return found
