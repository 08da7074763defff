"""From ids back to text: the positions alone, or put into the text that they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from phonemic.encoding import Batch, Encoding
from phonemic.inventory import FALLBACK, NATIVE, SPECIALS, UNKNOWN, Triple, Vocabulary, characters_of, packs
from phonemic.notations import cased, is_erhua, with_erhua

#: What an unknown character decodes to; it encodes to [UNK] again.
REPLACEMENT = "\ufffd"


def packed_ids(ids: Any, vocabulary: Vocabulary) -> list[int]:
    """Packed ids of whatever ``Tokenizer.decode`` takes.

    Raises:
        ValueError: an id is not in the vocabulary, or the ids are of another language or shape.
    """
    lang = vocabulary.lang
    if isinstance(ids, Encoding) and ids.vocabulary.lang != lang:
        raise ValueError(f"an Encoding of {ids.vocabulary.lang} cannot be decoded by a tokenizer of {lang}")
    if isinstance(ids, Batch):
        raise ValueError("decode takes one row of a batch: decode(batch[i])")
    array = np.asarray(ids.ids if isinstance(ids, Encoding) else ids)
    if array.size == 0:
        return []
    if array.ndim == 2 and array.shape[1] == 3 and array.dtype.kind in "iu":
        parts = array.astype(np.int64)
    elif array.ndim == 1 and array.dtype.kind in "iu":
        wide = array.astype(np.int64)
        parts = np.stack([wide & 255, wide >> 8 & 255, wide >> 16], axis=-1)
    else:
        raise ValueError(f"decode takes packed ids (N,) or triples (N, 3), not shape {array.shape} of {array.dtype}")
    wrong = np.flatnonzero(((parts < 0) | (parts >= len(vocabulary))).any(axis=1))
    if len(wrong):
        raise ValueError(f"position {wrong[0]}: {parts[wrong[0]].tolist()} is not in the {lang} vocabulary")
    return [int(o | r << 8 | t << 16) for o, r, t in parts.tolist()]


def erhua_of(ids: Any, name: str) -> list[str | None]:
    """Of each position of an Encoding the notation in which 儿 is added to it, None where none is; or nothing.

    Arguments:
        ids: whatever ``Tokenizer.decode`` takes; ids alone do not tell.
        name: the notation.
    """
    if not isinstance(ids, Encoding) or not ids.has_spans:
        return []
    lang = ids.vocabulary.lang
    return [name if is_erhua(lang, ids.text[start:end]) else None for start, end in ids.spans.tolist()]


def spaced(encoding: Encoding, spell: Callable[[Triple], str], name: str) -> str:
    """A text, or the part of it that an Encoding is, with its syllables written anew and all else as it stood.

    Arguments:
        encoding: of the text, with spans.
        spell: writes a syllable.
        name: the notation. Vietnamese spelling takes the case of the letters that it stands for; any other is parted by
            a space from letters, digits and syllables that touch it.

    Raises:
        ValueError: the positions do not follow one another.
    """
    as_spelled, lang = name == "spelling", encoding.vocabulary.lang
    pieces: list[str] = []
    text, spans = encoding.text, encoding.spans.tolist()
    at, last = 0, len(text)
    if encoding.is_part:
        at, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    before = ""  # what kind of piece is before
    for triple, kind, (start, end) in zip(encoding.triples, encoding.kinds, spans, strict=True):
        if start < at:
            raise ValueError("the positions do not follow one another in their text, so its spacing cannot be kept")
        native = bool(kind == NATIVE)
        own = text[start:end]
        written = _write(triple, spell, name if is_erhua(lang, own) else None) if native else own
        word = native or own[:1].isalnum()
        if not as_spelled and at == start and before and word and (native or before == "syllable"):
            pieces.append(" ")
        pieces += [text[at:start], cased(written, own) if as_spelled and native else written]
        at, before = end, "syllable" if native else "word" if word else ""
    return "".join([*pieces, text[at:last]])


def join(
    positions: Iterable[tuple[Triple, int, str | None]],
    spell: Callable[[Triple], str],
    read: Callable[[str], Triple | None],
    skip_special_tokens: bool,
    packed: bool = False,
) -> str:
    """Writes positions, separated by spaces; letters, and digits, of the fallback that follow one another are joined.

    Arguments:
        positions: the symbols of each position, its kind, and the notation in which 儿 is added to it, or None.
        spell: writes a syllable.
        read: what a run of letters would be read as, so that runs are not joined into a syllable.
        skip_special_tokens: leave out the special symbols other than [UNK].
        packed: the positions are of the packed fallback: what would have found room in the position before it was no
            part of its run.
    """
    pieces: list[str] = []
    run: list[str] = []  # the characters of each position
    for triple, kind, erhua in positions:
        characters = characters_of(triple) if kind == FALLBACK else ""
        if run and not (characters and _follows(run[-1], characters[0], packed)):
            pieces += _write_run(run, spell, read)
            run = []
        if characters:
            run.append(characters)
        elif kind == NATIVE:
            pieces.append(_write(triple, spell, erhua))
        elif kind == UNKNOWN:
            pieces.append(REPLACEMENT)
        elif not skip_special_tokens:
            pieces.append(triple.onset)
    return " ".join(pieces + _write_run(run, spell, read))


def _follows(characters: str, char: str, packed: bool) -> bool:
    """Whether a character may have stood behind those of the position before, in one run."""
    one = characters[-1]
    if packed and packs(characters + char):
        return False
    return (one.isalpha() and char.isalpha()) or (one.isdigit() and char.isdigit())


def _write(triple: Triple, spell: Callable[[Triple], str], erhua: str | None) -> str:
    """A syllable, or the bare symbols of a triple that no syllable has (a model may predict one)."""
    try:
        return with_erhua(spell(triple), erhua) if erhua else spell(triple)
    except ValueError:
        return "".join(symbol for symbol in triple if symbol not in SPECIALS) or REPLACEMENT


def _write_run(run: list[str], spell: Callable[[Triple], str], read: Callable[[str], Triple | None]) -> list[str]:
    """A run of fallback positions; one that would be read as a syllable is cut, or else (*bün*) spelled as that."""
    triple = read("".join(run)) if run else None
    if triple is None:
        return ["".join(run)] if run else []
    return _cut(run, read) or [spell(triple)]


def _cut(run: list[str], read: Callable[[str], Triple | None]) -> list[str] | None:
    """Pieces of a run none of which is read as a syllable, or None; no position is cut."""
    if read("".join(run)) is None:
        return ["".join(run)]
    for cut in range(len(run) - 1, 0, -1):
        rest = _cut(run[cut:], read) if read("".join(run[:cut])) is None else None
        if rest:
            return ["".join(run[:cut]), *rest]
    return None
