"""Vietnamese and Mandarin syllables for NLTK: tokenizers, and a tagger of onset, rime and tone.

>>> from nltk_phonemic import PhonemicTagger, PhonemicTokenizer
>>> PhonemicTokenizer("vi").tokenize("Cái giếng cổ.")
['Cái', 'giếng', 'cổ', '.']
>>> PhonemicTagger("zh").tag(["银行", "行长"])
[('银行', '|in|˧˥+x|aŋ|˧˥'), ('行长', 'x|aŋ|˧˥+t͡ʂ|aŋ|˨˩˦')]

Nothing here needs NLTK's data packages.
"""

from nltk_phonemic.tagger import PhonemicTagger
from nltk_phonemic.tags import format_tag, parse_tag
from nltk_phonemic.tokenizer import OnsetRimeTokenizer, PhonemicTokenizer

__all__ = ["OnsetRimeTokenizer", "PhonemicTagger", "PhonemicTokenizer", "format_tag", "parse_tag"]
