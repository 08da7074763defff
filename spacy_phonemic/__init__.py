"""phonemic in spaCy: attributes on tokens, a syllable tokenizer, names found by sound, pictures, rhymes.

spaCy is imported when a name of these is first asked for: ``python -m spacy_phonemic`` parses its options before that.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy_phonemic.component import Phonemic
    from spacy_phonemic.matcher import PhonemicMatcher
    from spacy_phonemic.pictures import render
    from spacy_phonemic.tokenizer import SyllableTokenizer
    from spacy_phonemic.verse import Rhyme, rhymes

__all__ = ["Phonemic", "PhonemicMatcher", "Rhyme", "SyllableTokenizer", "render", "rhymes"]

#: Where the names lie.
_MODULES = {
    "Phonemic": "component",
    "PhonemicMatcher": "matcher",
    "Rhyme": "verse",
    "SyllableTokenizer": "tokenizer",
    "render": "pictures",
    "rhymes": "verse",
}


def __getattr__(name: str) -> object:
    """A name of ``__all__``, whose module is imported now."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
