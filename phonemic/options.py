"""The options of a tokenizer, from which spaCy's, NLTK's, transformers' and the commands' are derived.

A new option is a field here, an argument in :class:`OptionArguments`, and whatever reads it.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
from types import MappingProxyType
from typing import Any, TypedDict, TypeVar, get_type_hints

from phonemic.characters import plain
from phonemic.errors import SavedTokenizerError
from phonemic.inventory import FALLBACKS, LANGUAGES, READINGS

Function = TypeVar("Function", bound=Callable[..., Any])

#: The types of ``phrases``: readings, or the path of a file with some. A str is neither: what comes from JSON or TOML
#: is never a path.
PhraseSource = Mapping[str, str | Sequence[str]] | os.PathLike[str]


class OptionArguments(TypedDict, total=False):
    """The options as keyword arguments, for those who pass them on (``**options: Unpack[OptionArguments]``)."""

    strict: bool
    word_joiner: str | None
    phrases: PhraseSource | None
    fallback: str
    readings: str
    sandhi: bool
    erhua: bool
    form: bool


#: The options that are for one language, and what is said of them where a text is of the other.
_ONLY = {"strict": "vi", "phrases": "zh", "readings": "zh", "sandhi": "zh", "erhua": "zh"}
_REFUSAL = {
    "vi": "Mandarin (lang='zh'); Vietnamese spelling tells how it is read",
    "zh": "Vietnamese (lang='vi'); a character has no spelling to keep to",
}


def _option(default: Any, description: str, hashed: bool = True, **more: Any) -> Any:
    return field(default=default, hash=hashed, metadata={"help": description, **more})


@dataclass(frozen=True)
class TokenizerOptions:
    """How a text is read. Immutable, comparable, hashable; all but ``lang`` by keyword.

    Attributes:
        lang: ``"vi"`` or ``"zh"``.
        strict: Vietnamese: reject syllables that the orthography does not allow (*hoc* without its mark, *ka*, *ge*);
            they go to the character fallback.
        word_joiner: the character that joins the syllables of a word in segmented text (``"_"`` in ``sinh_viên``):
            it separates syllables and makes no position.
        phrases: Mandarin: your own readings, a dict ``{"行长": "hang2 zhang3"}`` or the ``Path`` of a file with a line
            ``行长<TAB>hang2 zhang3`` a phrase, of 64 characters at most. They win over the lexicon: where one of yours
            begins, the longest of yours is taken. A single character's reading replaces its default reading. Latin
            letters and digits stand for themselves (``{"A股": "A gu3"}``; not with the packed fallback). Kept as a
            read-only mapping from phrase to pinyin with tone numbers.
        fallback: what becomes of text that is not a syllable. ``"character"``: a position a character, as in the paper.
            ``"packed"``: letters that touch, and digits that touch, share positions, up to three to one, so that
            *covid* takes two positions instead of five; any other character has its own, as by default.
        readings: Mandarin: how characters are read. ``"pypinyin"``: by the longest phrase, exactly as pypinyin does and
            the paper has it. ``"context"``: a character with several readings by the characters around it, and
            traditional text as the same text in simplified characters; your own ``phrases`` still win. One character
            of ``phrases`` is then always read so.
        sandhi: Mandarin: write the tones of 一 and 不, a third tone before a third tone, and the neutral tones of
            listed words as they are said (*bú qù*, *ní hǎo*, *péng you*); :mod:`phonemic.reading.speech` has the
            rules. Readings of ``phrases`` of two characters or more stay.
        erhua: Mandarin: 儿 that is not a syllable of its own (花儿, but not 女儿) is part of the syllable before it:
            one position, with that syllable's triple and a span of both characters.
        form: the highest byte of each id says how the position is written, and white space and what no symbol is
            for have positions of their own, so that decoding gives the text back (:mod:`phonemic.forms`). Not with
            ``sandhi``, ``erhua`` or the packed fallback.

    Raises:
        TypeError: ``strict``, ``sandhi``, ``erhua`` or ``form`` is not a bool, or ``phrases`` neither a dict nor a
            ``Path``.
        ValueError: unknown language, fallback or readings, a joiner that is not a single mark, phrases, readings in
            context, sandhi or erhua for Vietnamese, strict for Mandarin, form with what it excludes.
        PhraseError: a phrase is wrong; the message names the line.
    """

    lang: str
    _: KW_ONLY
    strict: bool = _option(False, "Vietnamese: reject syllables that the orthography does not allow.", json=bool)
    word_joiner: str | None = _option(
        None, 'The character that joins the syllables of a word, as "_" in sinh_viên.', metavar="CHAR", json=str | None
    )
    phrases: Mapping[str, str] = _option(
        None,
        "Your own Mandarin readings, one PHRASE<TAB>PINYIN per line.",
        hashed=False,
        metavar="FILE",
        json=dict | None,
    )
    fallback: str = _option(
        FALLBACKS[0],
        "Outside syllables: one position per character, or up to three letters or digits per position.",
        choices=FALLBACKS,
        json=str,
    )
    readings: str = _option(
        READINGS[0],
        "Mandarin: pypinyin's readings, or readings by context.",
        choices=READINGS,
        json=str,
    )
    sandhi: bool = _option(False, "Mandarin: write tones as they change in speech: bú qù, ní hǎo, péng you.", json=bool)
    erhua: bool = _option(
        False, "Mandarin: make 儿, where it is not a syllable of its own, part of the syllable before it.", json=bool
    )
    form: bool = _option(
        False, "Store how each position is written in its id, so that decoding gives the text back.", json=bool
    )

    def __post_init__(self) -> None:
        if self.lang not in LANGUAGES:
            raise ValueError(f"unknown language {self.lang!r}: choose one of {', '.join(LANGUAGES)}")
        for name in ("strict", "sandhi", "erhua", "form"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.fallback not in FALLBACKS:
            raise ValueError(f"unknown fallback {self.fallback!r}: choose one of {', '.join(FALLBACKS)}")
        if self.readings not in READINGS:
            raise ValueError(f"unknown readings {self.readings!r}: choose one of {', '.join(READINGS)}")
        joiner = self.word_joiner or None
        if not (joiner is None or _can_join(joiner)):
            raise ValueError(
                f"word_joiner must be one character that is not a letter, digit or space, not {self.word_joiner!r}"
            )
        self._set(lang=plain(self.lang), fallback=plain(self.fallback), readings=plain(self.readings))
        self._set(word_joiner=joiner and plain(joiner))
        for name in self._changed():
            if _ONLY.get(name, self.lang) != self.lang:
                verb = "are" if name in ("phrases", "readings") else "is"
                raise ValueError(f"{name} {verb} for {_REFUSAL[self.lang]}")
        if self.form:
            for name in ("sandhi", "erhua"):
                if getattr(self, name):
                    raise ValueError(
                        f"form and {name} exclude each other: with {name} a syllable is not its character's own, whose "
                        "form would say another"
                    )
            if self.fallback != FALLBACKS[0]:
                raise ValueError(f"form needs fallback={FALLBACKS[0]!r}: a packed position has no room for three forms")
        self._set(phrases=MappingProxyType({}) if self.phrases is None else _checked_phrases(self.phrases))
        self._check_letters()

    def _check_letters(self) -> None:
        """Refuses phrases with letters where letters share positions."""
        lettered = next((phrase for phrase in self.phrases if any(map(str.isascii, phrase))), None)
        if lettered and self.fallback != FALLBACKS[0]:
            raise ValueError(f"phrase {lettered!r} needs fallback={FALLBACKS[0]!r}: packed letters share positions")

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_json(self) -> dict[str, Any]:
        """The language, and the options that are not as by default: a dict of what JSON can hold."""
        changed = self._changed()
        return {"lang": self.lang} | {
            name: dict(value) if isinstance(value, Mapping) else value for name, value in changed.items()
        }

    def _changed(self) -> dict[str, Any]:
        """The options that are not as by default."""
        values = {name: (getattr(self, name), default) for name, default in option_defaults().items()}
        return {name: value for name, (value, default) in values.items() if (value or None) != (default or None)}

    @classmethod
    def from_json(cls, value: object, where: object) -> TokenizerOptions:
        """Reads what :meth:`to_json` gave. Nothing that it names is opened: phrases are a dict.

        Arguments:
            value: the dict; what else is in it is passed over, and an option that is not there is as by default.
            where: names the file in errors.

        Raises:
            SavedTokenizerError: it does not hold the options of a tokenizer.
        """
        from phonemic.files.jsons import checked

        lang = checked(value, {"lang": str}, where, SavedTokenizerError)["lang"]
        options = cls.check_json(value, where)
        try:
            return cls(lang, **options)
        except ValueError as error:
            raise SavedTokenizerError(f"{where}: {error}") from error

    @staticmethod
    def check_json(value: object, where: object) -> dict[str, Any]:
        """Finds the options, without ``lang``, among what a file holds.

        Arguments:
            value: a dict; what else is in it is passed over.
            where: names the file in errors.

        Raises:
            SavedTokenizerError: it is not a dict, or an option is of another type than a file holds it in.
        """
        from phonemic.files.jsons import checked

        types = {each.name: each.metadata["json"] for each in _fields()}
        found = checked(value, types, where, SavedTokenizerError, optional=True)
        return {name: found[name] for name in types if name in found}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(), "pickled options of a tokenizer")

    def __repr__(self) -> str:
        options = [f"{name}={value!r}" for name, value in self.to_json().items() if name not in ("lang", "phrases")]
        options += [f"phrases=<{len(self.phrases)}>"] if self.phrases else []
        return f"{type(self).__name__}({', '.join([repr(self.lang), *options])})"


#: The options that decide which syllable a text is heard as, and what its positions say; the others decide where
#: syllables are.
HEARD = ("readings", "sandhi", "erhua", "form")


def heard_otherwise(one: TokenizerOptions, other: TokenizerOptions) -> str:
    """The options by which the first hears syllables otherwise than the second, as ``readings='context', sandhi=True``.

    Arguments:
        one: options of a tokenizer.
        other: of another of the same language.

    Returns:
        "" where both hear the same.
    """
    names = [name for name in HEARD if getattr(one, name) != getattr(other, name)]
    return ", ".join(f"{name}={getattr(one, name)!r}" for name in names)


def _fields() -> list[Any]:
    """The options' fields, without ``lang``."""
    return [each for each in fields(TokenizerOptions) if each.default is not MISSING]


def option_names() -> tuple[str, ...]:
    """The names of the options, without ``lang``."""
    return tuple(each.name for each in _fields())


def option_defaults() -> dict[str, Any]:
    """The options' defaults by name, without ``lang``, as a config holds them."""
    return {each.name: each.default for each in _fields()}


def option_metadata(name: str) -> Mapping[str, Any]:
    """The facts of an option for a command: ``help``, and ``metavar`` or ``choices`` where it has them."""
    return next(each.metadata for each in _fields() if each.name == name)


def spell_out(function: Function) -> Function:
    """Gives a function with ``**options`` a signature with every option, for those who read it from there.

    spaCy makes the schema of a config from the signature of the function that the config names. It would make a
    ``Path`` of a str, so it is not told the types of ``phrases``.
    """
    found = inspect.signature(function)
    kinds, defaults = get_type_hints(OptionArguments) | {"phrases": Any}, option_defaults()
    own = [each for each in found.parameters.values() if each.kind is not each.VAR_KEYWORD]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kinds[name])
        for name, default in defaults.items()
    ]
    function.__signature__ = found.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return function


def _checked_phrases(phrases: Any) -> Mapping[str, str]:
    from phonemic.lexicon.user_phrases import read_phrases

    return MappingProxyType(read_phrases(phrases))


def _can_join(joiner: object) -> bool:
    """Whether something is one mark, and not half a surrogate pair: a byte that is not UTF-8 is read as one."""
    return (
        isinstance(joiner, str)
        and len(joiner) == 1
        and not (joiner.isalnum() or joiner.isspace() or "\ud800" <= joiner <= "\udfff")
    )
