"""Files of your own as a data set: CSV, JSON lines, SQuAD's JSON, CoNLL, CoNLL-U, spaCy's DocBin."""

from phonemic.tasks.custom.dataset import OwnDataSet, data_set, read
from phonemic.tasks.custom.formats import FORMATS

__all__ = ["FORMATS", "OwnDataSet", "data_set", "read"]
