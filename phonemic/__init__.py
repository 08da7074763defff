"""Vietnamese and Mandarin text, syllable by syllable, as an onset, a rime and a tone."""

try:
    from phonemic import moved
    from phonemic.encoding import Batch, Encoding, Syllable
    from phonemic.errors import InputError, PhonemicError, PhraseError, PinyinError, SavedTokenizerError, TableError
    from phonemic.inventory import Triple, Vocabulary, pack, unpack
    from phonemic.options import TokenizerOptions
    from phonemic.pinyin import from_pinyin
    from phonemic.tokenizer import Tokenizer
    from phonemic.version import __version__
except ModuleNotFoundError as error:
    if (error.name or "").rpartition(".")[2] not in ("_batch", "_core"):
        raise
    raise ModuleNotFoundError(
        f"{error}: {__path__[0]} holds phonemic's sources without their compiled extensions. Run `pip install -e .` in "
        "the folder above it, or start Python in another folder to use the installed package",
        name=error.name,
    ) from error

__all__ = [
    "Batch",
    "Encoding",
    "InputError",
    "PhonemicError",
    "PhraseError",
    "PinyinError",
    "SavedTokenizerError",
    "Syllable",
    "TableError",
    "Tokenizer",
    "TokenizerOptions",
    "Triple",
    "Vocabulary",
    "__version__",
    "from_pinyin",
    "pack",
    "unpack",
]

moved.install()
