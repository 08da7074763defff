"""The project's own exceptions. Each says what was wrong, where, and what to do."""

import os
import unicodedata


class PhonemicError(Exception):
    """Base of all of them."""


class TableError(PhonemicError):
    """A lexicon file is missing, damaged or made for another vocabulary."""


class SavedTokenizerError(PhonemicError, ValueError):
    """A saved tokenizer cannot be loaded."""


class OtherTablesWarning(UserWarning):
    """A warning that a saved object was made with other tables: some texts are now read otherwise."""


class SavedIndexError(PhonemicError, ValueError):
    """A saved index of names cannot be loaded."""


class PhraseError(PhonemicError, ValueError):
    """A user phrase is wrong: its pinyin, its length or its characters."""


class PinyinError(PhonemicError, ValueError):
    """A text is not pinyin."""


class DecodingError(PhonemicError, ValueError):
    """Ids are of no text; the message says which position is wrong, and why.

    Attributes:
        row: of several rows the one that it is in, counted from 0.
    """

    row: int = 0


class OutputError(PhonemicError):
    """An output already exists, or is also an input."""


class InputError(PhonemicError, ValueError):
    """An input file or a line of it cannot be read."""


def printable(text: str, keep: str = "\n\t") -> str:
    """Text from a file as it may go to a terminal: control characters are written out.

    They could move the cursor, set the window's title or make text look like other text.

    Arguments:
        text: the text.
        keep: the ones that stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if shows(char, keep) else repr(char)[1:-1] for char in text)


def shows(char: str, keep: str = "\n\t") -> bool:
    """Whether a character is one to be seen: no control, no format character, no half of a pair, no line separator."""
    return char in keep or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def message(error: Exception) -> str:
    """An error as a person reads it."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    return str(error) or type(error).__name__
