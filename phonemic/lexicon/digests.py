"""The digests of the tables that a text's ids depend on: saved things name them, and tell where they are others."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from phonemic.errors import OtherTablesWarning, SavedTokenizerError
from phonemic.lexicon.tables import tables_digest

if TYPE_CHECKING:
    from phonemic.options import TokenizerOptions

#: Tables on which a text's ids may depend.
NAMES = ("vi", "zh", "zh-context", "zh-speech", "vi-forms", "zh-forms")
#: Digits of a short digest.
SHORT = 8


def digests(options: TokenizerOptions) -> dict[str, str]:
    """The digests of the tables that a text's ids depend on, for what is saved with ids of them or made of these.

    Arguments:
        options: those of the tokenizer that reads the text.
    """
    names = [options.lang]
    if options.readings == "context":
        names.append("zh-context")
    if options.sandhi or options.erhua:
        names.append("zh-speech")
    if options.form:
        names.append(f"{options.lang}-forms")
    return {name: tables_digest(name) for name in names}


def short_digests(options: TokenizerOptions) -> dict[str, str]:
    """The first digits of :func:`digests`, for what names them with every text."""
    return {name: digest[:SHORT] for name, digest in digests(options).items()}


def warn_of_other_tables(saved: object, options: TokenizerOptions | None, where: object) -> None:
    """Warns where the tables by which texts were read are not the ones that are installed: ids mean the same, but some
    texts are read otherwise. Files that name none were written before there were names.

    Arguments:
        saved: the digests that are named, as :func:`digests` or :func:`short_digests` gave them; None: none.
        options: those of the tokenizer; None where only the named tables are to be compared.
        where: names what was saved.

    Raises:
        SavedTokenizerError: ``saved`` is not that.
    """
    if saved is None:
        return
    if not isinstance(saved, dict) or not all(isinstance(each, str) for each in saved.values()):
        raise SavedTokenizerError(f"{where}: damaged (its tables are not named by their digests)")
    now = digests(options) if options else {name: tables_digest(name) for name in NAMES if name in saved}
    if other := sorted(name for name in {*now, *saved} if not _is_same(now.get(name), saved.get(name))):
        warnings.warn(
            f"{where}: was saved with other tables ({', '.join(other)}), so some texts are read otherwise than then; "
            "use the phonemic version that wrote it where ids must be the same, or save it again",
            OtherTablesWarning,
            stacklevel=3,
        )


def _is_same(now: str | None, saved: str | None) -> bool:
    return now is not None and saved is not None and len(saved) >= SHORT and now.startswith(saved)
