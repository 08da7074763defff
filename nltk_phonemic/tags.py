"""The tags: ``onset|rime|tone`` for a syllable, joined by ``+`` where a token has several positions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from phonemic.encoding import token_of
from phonemic.inventory import EMPTY, FALLBACK, LANGUAGES, NATIVE, SPECIALS, UNK, Triple, vocabulary

#: Between the positions of one token, as in the Brown corpus, where *I'd* is ``PPSS+HVD``.
JOINER = "+"

#: Fallback characters that would be taken for a separator (the joiner; NLTK's ``/``; the ``_`` of other taggers'
#: files) are written full-width.
_WRITTEN = str.maketrans("/+_", "／＋＿")
_FROM_WRITTEN = str.maketrans("／＋＿", "/+_")

#: The capital of ɤ is younger than the Unicode of some Python versions, whose ``lower`` leaves it alone.
_CAPITALS = str.maketrans({"\ua7cb": "ɤ"})


@cache
def _symbols(role: str) -> dict[str, str]:
    """The symbols that may stand in a tag in this role, by their lower-case form; no two share one."""
    absent = {"onset": {"": EMPTY}, "rime": {}, "tone": {"": EMPTY}, "fallback": {"[unk]": SPECIALS[UNK]}}
    return absent[role] | {symbol.lower(): symbol for lang in LANGUAGES for symbol in vocabulary(lang).by_role(role)}


@cache
def position_tag(lang: str, packed: int) -> str:
    """The tag of one position, from its packed id."""
    return _written(vocabulary(lang).unpack(packed))


def _written(triple: Triple) -> str:
    if triple.onset == triple.rime == triple.tone:
        return token_of(triple, FALLBACK).translate(_WRITTEN)
    return token_of(triple, NATIVE)


def format_tag(triples: Iterable[tuple[str, str, str]]) -> str:
    """Writes the positions of one token as a tag.

    A syllable is ``onset|rime|tone``, "" for an absent onset and for the neutral tone; any other position is its
    fallback character, or ``[UNK]``. Several are joined by ``+``. So that a tag holds no separator, the characters
    ``/``, ``+`` and ``_`` are written ``／``, ``＋`` and ``＿``.

    >>> format_tag([("v", "iet", "˧ˀ˩"), ("n", "am", "˧˧")])
    'v|iet|˧ˀ˩+n|am|˧˧'

    Arguments:
        triples: onset, rime and tone symbols of each position, ``"[EMPTY]"`` for an absent one.
    """
    return JOINER.join(_written(Triple(*triple)) for triple in triples)


def parse_tag(tag: str) -> list[Triple]:
    """Reads a tag: the inverse of :func:`format_tag`, also after NLTK's ``str2tuple``, which upper-cases tags.

    >>> parse_tag("V|IET|˧ˀ˩+N|AM|˧˧")
    [Triple(onset='v', rime='iet', tone='˧ˀ˩'), Triple(onset='n', rime='am', tone='˧˧')]
    >>> format_tag(parse_tag("V|IET|˧ˀ˩+N|AM|˧˧"))
    'v|iet|˧ˀ˩+n|am|˧˧'

    Arguments:
        tag: a tag of PhonemicTagger, in any case.

    Returns:
        A triple of symbols for each position, as ``Tokenizer.encode(...).triples`` gives them: a fallback position has
        its character three times, an absent part is ``"[EMPTY]"``. No position for "".

    Raises:
        ValueError: some position is neither a syllable nor a fallback character.
    """
    return [_read(position, tag) for position in tag.split(JOINER)] if tag else []


def _read(position: str, tag: str) -> Triple:
    parts, roles = position.lower().translate(_CAPITALS).split("|"), ("onset", "rime", "tone")
    if len(parts) == 1:
        parts, roles = [parts[0].translate(_FROM_WRITTEN)] * 3, ("fallback",) * 3
    symbols = [_symbols(role).get(part, "") for role, part in zip(roles, parts, strict=False)]
    if len(parts) != 3 or not all(symbols):
        raise ValueError(
            f"{position!r} in the tag {tag!r} is neither onset|rime|tone nor a fallback character; "
            "was it given by another tagger?"
        )
    return Triple(*symbols)
