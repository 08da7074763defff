"""The project's own exceptions. Each says what was wrong, where, and what to do."""


class PhonemicError(Exception):
    """Base of all of them."""


class TableError(PhonemicError):
    """A lexicon file is missing, damaged or made for another vocabulary."""


class SavedTokenizerError(PhonemicError, ValueError):
    """A saved tokenizer cannot be loaded."""


class PhraseError(PhonemicError, ValueError):
    """A user phrase is wrong: its pinyin, its length or its characters."""


class InputError(PhonemicError, ValueError):
    """An input file or a line of it cannot be read."""
