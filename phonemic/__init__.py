"""Vietnamese and Mandarin text, syllable by syllable, as an onset, a rime and a tone."""

from importlib import import_module
from typing import TYPE_CHECKING

try:
    from phonemic.encoding import Batch, Encoding, Syllable
    from phonemic.errors import (
        DecodingError,
        InputError,
        OtherTablesWarning,
        PhonemicError,
        PhraseError,
        PinyinError,
        SavedIndexError,
        SavedTokenizerError,
        TableError,
    )
    from phonemic.inventory import PositionKind, Triple, Vocabulary, pack, unpack
    from phonemic.options import TokenizerOptions
    from phonemic.reading.polyphones import readings_of
    from phonemic.tokenizer import Tokenizer
    from phonemic.version import __version__
    from phonemic.writing.pinyin import from_pinyin
except ModuleNotFoundError as error:
    if (error.name or "").rpartition(".")[2] not in ("_batch", "_core"):
        raise
    raise ModuleNotFoundError(
        f"{error}: {__path__[0]} holds phonemic's sources without their compiled extensions. Run `pip install -e .` in "
        "the folder above it, or start Python in another folder to use the installed package",
        name=error.name,
    ) from error

if TYPE_CHECKING:
    from phonemic import sound as sound
    from phonemic.sound import Index, Match, distance

__all__ = [
    "Batch",
    "DecodingError",
    "Encoding",
    "Index",
    "InputError",
    "Match",
    "OtherTablesWarning",
    "PhonemicError",
    "PhraseError",
    "PinyinError",
    "PositionKind",
    "SavedIndexError",
    "SavedTokenizerError",
    "Syllable",
    "TableError",
    "Tokenizer",
    "TokenizerOptions",
    "Triple",
    "Vocabulary",
    "__version__",
    "distance",
    "from_pinyin",
    "pack",
    "readings_of",
    "unpack",
]

#: Names that are imported when they are first used, with the modules that they are in.
_SOUND = ("Index", "Match", "distance")


def __getattr__(name: str) -> object:
    if name not in ("sound", *_SOUND):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    sound = import_module("phonemic.sound")  # "from phonemic import" would ask here again
    if name == "sound":
        return sound
    found: object = getattr(sound, name)
    globals()[name] = found
    return found
