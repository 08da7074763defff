"""Files of your own as a dataset: CSV, JSON lines, SQuAD's JSON, CoNLL, CoNLL-U, spaCy's DocBin."""

from phonemic.tasks.custom.dataset import CustomDataSet, data_set, read
from phonemic.tasks.custom.dataset import OwnDataSet as OwnDataSet
from phonemic.tasks.custom.formats import FORMATS

__all__ = ["FORMATS", "CustomDataSet", "data_set", "read"]
