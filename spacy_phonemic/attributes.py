"""The extension attributes: getters, and their registration under names that no other plugin owns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span, Token

from phonemic import Encoding, Syllable
from phonemic.reading.markup import with_readings
from spacy_phonemic.reading import KEY, Parts, keep, reading_of
from spacy_phonemic.stated import state
from spacy_phonemic.verse import Rhyme, rhymes_of_lines


def token_onset(key: str, token: Token) -> str:
    """The onsets of the token's syllables, joined by one space; "" for a syllable without one."""
    return " ".join([parts.onset for parts in _parts(key, token)])


def token_rime(key: str, token: Token) -> str:
    """The rimes of the token's syllables, joined by one space."""
    return " ".join([parts.rime for parts in _parts(key, token)])


def token_tone(key: str, token: Token) -> str:
    """The tones of the token's syllables, joined by one space; "" for the neutral tone."""
    return " ".join([parts.tone for parts in _parts(key, token)])


def token_ipa(key: str, token: Token) -> str:
    """The token's syllables in IPA, joined by one space."""
    return " ".join([parts.ipa for parts in _parts(key, token)])


def token_is_syllable(key: str, token: Token) -> bool:
    """Whether the token is one syllable and nothing else."""
    start = token.idx
    return reading_of(token.doc, key).is_syllable(start, start + len(token))


def token_syllables(key: str, token: Token) -> list[Syllable]:
    """One Syllable for each position that begins in the token."""
    return _syllables(key, token.doc, token.idx, token.idx + len(token))


def span_syllables(key: str, span: Span) -> list[Syllable]:
    """One Syllable for each position that begins in the span."""
    return _syllables(key, span.doc, span.start_char, span.end_char)


def span_ipa(key: str, span: Span) -> str:
    """The span's syllables in IPA, joined by one space."""
    parts = reading_of(span.doc, key).parts(span.start_char, span.end_char)
    return " ".join([part.ipa for part in parts])


def span_reading(key: str, span: Span) -> str:
    """How the span is read, as the tokenizer decodes it: pinyin, or Vietnamese spelling."""
    reading = reading_of(span.doc, key)
    return reading.way.tokenizer.decode(reading.plain[reading.between(span.start_char, span.end_char)])


def set_span_reading(key: str, span: Span, pinyin: str) -> None:
    """Have a Mandarin span of this Doc read as stated, one syllable for each character."""
    doc, place, reading = span.doc, (span.start_char, span.end_char), reading_of(span.doc, key)
    keep(doc, with_readings(reading.encoding, {place: pinyin}), reading.way, key)
    state(doc, place, pinyin, key)


def refuse(name: str, of: Any, value: Any) -> None:
    """Refuse to set an attribute that is read from the text.

    Arguments:
        name: the attribute's own name.
        of: the Token, Span or Doc.
        value: what it was to be.

    Raises:
        AttributeError: always; the message says how a reading is changed.
    """
    kind = type(of).__name__.lower()
    raise AttributeError(
        f"{kind}._.{name} is read from the text and cannot be set. In Mandarin, state how an occurrence is read on its "
        'span, span._.reading = "háng"; for every occurrence give the component phonemic phrases, or dialect and the '
        "other options that it reads by"
    )


def doc_phonemic(key: str, doc: Doc) -> Encoding:
    """The encoding of the Doc's text: ids, components, spans."""
    return reading_of(doc, key).encoding


def doc_syllables(key: str, doc: Doc) -> list[Syllable]:
    """One Syllable for each position of the Doc."""
    return reading_of(doc, key).plain.syllables


def doc_ipa(key: str, doc: Doc) -> str:
    """The Doc's syllables in IPA, joined by one space."""
    encoding = reading_of(doc, key).encoding
    return " ".join([part.ipa for part in reading_of(doc, key).parts(0, len(encoding.text))])


def doc_rhymes(key: str, doc: Doc) -> list[Rhyme]:
    """The rhymes of verse, one line per line of text; see :func:`spacy_phonemic.verse.rhymes_of_lines`."""
    encoding = reading_of(doc, key).plain
    return rhymes_of_lines(encoding.text, encoding.syllables, encoding.vocabulary.lang)


def _parts(key: str, token: Token) -> list[Parts]:
    start = token.idx
    return reading_of(token.doc, key).parts(start, start + len(token))


def _syllables(key: str, doc: Doc, start: int, end: int) -> list[Syllable]:
    reading = reading_of(doc, key)
    return reading.plain[reading.between(start, end)].syllables


GETTERS: dict[type, dict[str, Callable[[str, Any], Any]]] = {
    Token: {
        "onset": token_onset,
        "rime": token_rime,
        "tone": token_tone,
        "ipa": token_ipa,
        "syllables": token_syllables,
        "is_syllable": token_is_syllable,
    },
    Span: {"syllables": span_syllables, "ipa": span_ipa, "reading": span_reading},
    Doc: {KEY: doc_phonemic, "syllables": doc_syllables, "ipa": doc_ipa, "rhymes": doc_rhymes},
}
SETTERS: dict[str, Callable[[str, Any, Any], None]] = {"reading": set_span_reading}
NAMES = sorted({name for getters in GETTERS.values() for name in getters})


def check_names(attrs: Mapping[str, str]) -> None:
    """Checks ``attrs``: known attribute -> the name that it is to have.

    Raises:
        ValueError: an unknown attribute, a name that is not an identifier, or one name for two attributes.
    """
    for name, own in attrs.items():
        if name not in NAMES:
            raise ValueError(f"attrs: there is no attribute {name!r}; the attributes are {', '.join(NAMES)}")
        if not own.isidentifier():
            raise ValueError(f"attrs: {own!r}, the name for {name!r}, is not an identifier")
    names = [attrs.get(name, name) for name in NAMES]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"attrs: {', '.join(twice)} would name two attributes")


def register(attrs: Mapping[str, str] | None = None) -> None:
    """Registers the attributes, under other names where ``attrs`` gives some; the ones that are there already stay.

    Raises:
        ValueError: another plugin owns a name; the message says how to choose another.
    """
    attrs = attrs or {}
    check_names(attrs)
    for kind, getters in GETTERS.items():
        for name in getters:
            own = attrs.get(name, name)
            if _is_foreign(kind, own):
                raise ValueError(
                    f"{kind.__name__.lower()}._.{own} is registered by another plugin; choose another name: "
                    f"nlp.add_pipe('phonemic', config={{'attrs': {{'{name}': 'phonemic_{name}'}}}})"
                )
    register_free(attrs)


def register_free(attrs: Mapping[str, str]) -> None:
    """Registers the attributes whose names no other plugin owns."""
    key = attrs.get(KEY, KEY)
    for kind, getters in GETTERS.items():
        for name, function in getters.items():
            own = attrs.get(name, name)
            if _is_foreign(kind, own) or _is(kind, own, function, key):
                continue
            setter = partial(SETTERS[name], key) if name in SETTERS else partial(refuse, own)
            kind.set_extension(own, getter=partial(function, key), setter=setter, force=True)  # type: ignore[attr-defined]


def _getter(kind: type, name: str) -> Any:
    return kind.get_extension(name)[2] if kind.has_extension(name) else None  # type: ignore[attr-defined]


def _is_foreign(kind: type, name: str) -> bool:
    """Whether a name is registered, and not by this package (perhaps loaded before a reload)."""
    getter = _getter(kind, name)
    ours = isinstance(getter, partial) and getter.func.__module__ == __name__
    return kind.has_extension(name) and not ours  # type: ignore[attr-defined]


def _is(kind: type, name: str, function: Callable[[str, Any], Any], key: str) -> bool:
    getter = _getter(kind, name)
    return isinstance(getter, partial) and getter.func is function and getter.args == (key,)
