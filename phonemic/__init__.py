"""Vietnamese and Mandarin text, syllable by syllable, as an onset, a rime and a tone."""

from phonemic import moved
from phonemic.encoding import Batch, Encoding, Syllable
from phonemic.errors import InputError, PhonemicError, PhraseError, SavedTokenizerError, TableError
from phonemic.inventory import Triple, Vocabulary, pack, unpack
from phonemic.tokenizer import Tokenizer
from phonemic.version import __version__

__all__ = [
    "Batch",
    "Encoding",
    "InputError",
    "PhonemicError",
    "PhraseError",
    "SavedTokenizerError",
    "Syllable",
    "TableError",
    "Tokenizer",
    "Triple",
    "Vocabulary",
    "__version__",
    "pack",
    "unpack",
]

moved.install()
