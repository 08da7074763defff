"""Looking into PhonemicBERT: texts syllable by syllable, errors, neighbours, and the learned embeddings."""

from phonemic_bert.inspection.confusions import Confusions, confusions
from phonemic_bert.inspection.embeddings import Panel, Separation, component_vectors, panels
from phonemic_bert.inspection.masking import Masked, mask_each
from phonemic_bert.inspection.nearest import Neighbour, Neighbours
from phonemic_bert.inspection.predictions import PredictionRecord, read_predictions
from phonemic_bert.inspection.predictions import Record as Record

__all__ = [
    "Confusions",
    "Masked",
    "Neighbour",
    "Neighbours",
    "Panel",
    "PredictionRecord",
    "Separation",
    "component_vectors",
    "confusions",
    "mask_each",
    "panels",
    "read_predictions",
]
