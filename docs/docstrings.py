"""Docstrings as Markdown: an extension of Griffe, which reads them for the documentation site."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?([\w.]+)`")
DOCTEST = re.compile(r"^( *)>>> .*\n?(?:\1\S.*\n?)*", re.MULTILINE)
PACKAGES = ("phonemic", "spacy_phonemic", "nltk_phonemic", "phonemic_bert")


class Docstrings(griffe.Extension):
    """Makes links of Sphinx roles with full names, code of short ones, and blocks of code of doctests."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrites the docstring of a module, class, function or attribute."""
        if obj.docstring:
            text = DOCTEST.sub(
                lambda found: f"{found[1]}```pycon\n{found[0].rstrip()}\n{found[1]}```\n", obj.docstring.value
            )
            obj.docstring.value = ROLE.sub(_linked, text)


def _linked(found: re.Match[str]) -> str:
    """A link, where the site has a page of the name."""
    name = found[1]
    code = f"<code>{name.rpartition('.')[2]}</code>"
    return f'<autoref identifier="{name}" optional>{code}</autoref>' if name.partition(".")[0] in PACKAGES else code
