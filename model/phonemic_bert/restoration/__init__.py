"""Give back what was lost: Vietnamese diacritics, and Mandarin characters from their sounds."""

from phonemic_bert.restoration.base import Restorer
from phonemic_bert.restoration.ngrams import Ngrams
from phonemic_bert.restoration.restoring import load, restore, restorer_of
from phonemic_bert.restoration.results import Change, Restored

__all__ = ["Change", "Ngrams", "Restored", "Restorer", "load", "restore", "restorer_of"]
