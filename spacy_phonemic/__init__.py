"""phonemic in spaCy: attributes on tokens, a syllable tokenizer, names found by sound, pictures, rhymes."""

from spacy_phonemic.component import Phonemic
from spacy_phonemic.matcher import PhonemicMatcher
from spacy_phonemic.render import render
from spacy_phonemic.tokenizer import SyllableTokenizer
from spacy_phonemic.verse import Rhyme, rhymes

__all__ = ["Phonemic", "PhonemicMatcher", "Rhyme", "SyllableTokenizer", "render", "rhymes"]
