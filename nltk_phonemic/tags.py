"""The tags: ``onset|rime|tone`` for a syllable, joined by ``+`` where a token has several positions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from phonemic.encoding import token_of
from phonemic.inventory import (
    EMPTY,
    LANGUAGES,
    NATIVE,
    SPECIALS,
    UNK,
    Triple,
    characters_of,
    fallback_triple,
    packs,
    vocabulary,
)

#: Between the positions of one token, as in the Brown corpus, where *I'd* is ``PPSS+HVD``.
JOINER = "+"

#: Between the characters of one position of the packed fallback, so that *NN* is still another tagger's tag.
PACKED = "~"

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
    if triple.tone not in _symbols("fallback").values():
        return token_of(triple, NATIVE)
    characters = characters_of(triple)
    return (PACKED.join(characters) if packs(characters) else characters).translate(_WRITTEN)


def format_tag(triples: Iterable[tuple[str, str, str]]) -> str:
    """Writes the positions of one token as a tag.

    A syllable is ``onset|rime|tone``, "" for an absent onset and for the neutral tone; any other position is its
    fallback character, or ``[UNK]``; what the packed fallback put into one position is joined by ``~``. Several
    positions are joined by ``+``. So that a tag holds no separator, the characters ``/``, ``+`` and ``_`` are written
    ``／``, ``＋`` and ``＿``.

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
        its character three times (or up to three characters), an absent part is ``"[EMPTY]"``. No position for "".

    Raises:
        ValueError: some position is neither a syllable nor a fallback character.
    """
    return [_read(position, tag) for position in tag.split(JOINER)] if tag else []


def _read(position: str, tag: str) -> Triple:
    parts = position.lower().translate(_CAPITALS).split("|")
    triple = _fallback(parts[0].translate(_FROM_WRITTEN)) if len(parts) == 1 else _syllable(parts)
    if triple is None:
        raise ValueError(
            f"{position!r} in the tag {tag!r} is neither onset|rime|tone nor a fallback character; "
            "was it given by another tagger?"
        )
    return triple


def _syllable(parts: list[str]) -> Triple | None:
    symbols = [_symbols(role).get(part, "") for role, part in zip(("onset", "rime", "tone"), parts, strict=False)]
    return Triple(*symbols) if len(parts) == 3 and all(symbols) else None


def _fallback(text: str) -> Triple | None:
    known = _symbols("fallback")
    if text in known:
        return Triple(*[known[text]] * 3)
    characters = text.split(PACKED)
    if not packs("".join(characters)) or not all(char in known for char in characters):
        return None
    return fallback_triple("".join(characters))
