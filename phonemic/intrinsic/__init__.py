"""The paper's intrinsic evaluation: any tokenizer's measures on any texts, as tables and plots.

from phonemic import intrinsic

tokenizers = intrinsic.tokenizers(["Phonemic", "mBERT"], "vi", "tokenizers")
rows = intrinsic.measure("news", "vi", [["Trời mưa to."]], tokenizers)
print(intrinsic.table(rows, "markdown"))
"""

from phonemic.intrinsic.measure import OURS, available, chunks, measure, tokenizers
from phonemic.intrinsic.statistics import CorpusStatistics, TokenStatistics
from phonemic.intrinsic.tabulation import FORMATS, pivot, table

__all__ = [
    "FORMATS",
    "OURS",
    "CorpusStatistics",
    "TokenStatistics",
    "available",
    "chunks",
    "measure",
    "pivot",
    "table",
    "tokenizers",
]
