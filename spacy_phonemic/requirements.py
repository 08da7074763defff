"""Requirements of a packaged pipeline where it is installed."""

from __future__ import annotations

from packaging.requirements import Requirement
from spacy.language import Language
from spacy.util import get_minor_version_range

from phonemic.version import __version__

NAME = "phonemic"


def require(nlp: Language, *extras: str) -> None:
    """Writes into a pipeline's meta that it needs phonemic with some extras, for ``spacy package``.

    spaCy finds out by itself that a pipeline needs phonemic, but not with which extras. A version that the meta asks
    for already is kept.

    Arguments:
        nlp: the pipeline.
        extras: of the distribution, such as ``"model"``.
    """
    found = [Requirement(each) for each in nlp.meta.get("requirements", [])]
    ours = [each for each in found if each.name == NAME] or [Requirement(NAME + get_minor_version_range(__version__))]
    ours[0].extras |= set(extras)
    others = [each for each in found if each.name != NAME]
    nlp.meta["requirements"] = [str(each) for each in [*others, ours[0]]]
