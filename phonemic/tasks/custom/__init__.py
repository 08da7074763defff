"""Files of your own as a dataset: CSV, JSON lines, SQuAD's JSON, CoNLL, CoNLL-U, spaCy's DocBin."""

from phonemic.tasks.custom.files import CustomDataset, dataset, read
from phonemic.tasks.custom.formats import FORMATS

__all__ = ["FORMATS", "CustomDataset", "dataset", "read"]
