"""The ways in which a syllable is written: spelling, pinyin, zhuyin, IPA."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from phonemic import mandarin, vietnamese
from phonemic.inventory import EMPTY, Triple
from phonemic.writing import zhuyin
from phonemic.writing.dialects import check_dialect, pronounce

#: Language -> its notations, the usual one first. ``"numbers"`` is pinyin with tone numbers.
NOTATIONS = {"vi": ("spelling", "ipa"), "zh": ("pinyin", "numbers", "zhuyin", "ipa")}

#: Language -> its tones' names.
_TONE_NAMES = {
    "vi": {symbol: name for name, (symbol, _) in vietnamese.TONES.items()},
    "zh": {symbol: str(number) for number, symbol in mandarin.TONES.items()},
}

#: A function that writes a syllable.
Write = Callable[[Triple], str]


def check_style(style: str) -> None:
    """Raises ValueError where there is no such placement of Vietnamese tone marks."""
    if style not in ("new", "old"):
        raise ValueError(f"no style of tone marks is called {style!r}: choose new (hoà) or old (hòa)")


def notation(lang: str, to: str | None = None, dialect: str | None = None) -> str:
    """The name of the notation that is requested.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        to: one of ``NOTATIONS[lang]``; None: the usual one, or IPA where there is a dialect.
        dialect: see :mod:`phonemic.writing.dialects`.

    Raises:
        ValueError: the language is not written so.
    """
    check_dialect(dialect, lang)
    name = to or ("ipa" if dialect else NOTATIONS[lang][0])
    if name not in NOTATIONS[lang]:
        raise ValueError(f"cannot decode {lang} to {to!r}: choose one of {', '.join(NOTATIONS[lang])}")
    if dialect is not None and name != "ipa":
        raise ValueError(f"a dialect is written in IPA: decode(to='ipa', dialect={dialect!r})")
    return name


def speller(lang: str, to: str | None = None, style: str = "new", dialect: str | None = None) -> Write:
    """The function that writes one syllable, and raises ValueError where three symbols are none.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        to: see :func:`notation`.
        style: Vietnamese tone-mark placement, ``"new"`` (*hoà*) or ``"old"`` (*hòa*).
        dialect: the city whose Vietnamese is written.

    Raises:
        ValueError: one of them does not fit.
    """
    name = notation(lang, to, dialect)
    check_style(style)
    if dialect is not None:
        return lambda triple: "".join(pronounce(triple, dialect))
    if name == "ipa":
        return lambda triple: "".join(symbol for symbol in triple if symbol != EMPTY)
    writers: dict[str, Write] = {
        "spelling": partial(vietnamese.spell, style=style),
        "pinyin": mandarin.spell,
        "numbers": partial(mandarin.spell, numbers=True),
        "zhuyin": zhuyin.spell,
    }
    return writers[name]


def is_erhua(lang: str, text: str) -> bool:
    """Whether the text of one syllable ends with the 儿 of ``erhua=True``."""
    return lang == "zh" and any(char in "儿兒" for char in text[1:])


def with_erhua(written: str, name: str) -> str:
    """The spelling of a syllable that 儿 merges with: *huār*, ``huar1``, ㄏㄨㄚㄦ, and in IPA with a rhotic hook.

    Arguments:
        written: the syllable without 儿.
        name: a notation of Mandarin.
    """
    if name == "numbers":
        return f"{written[:-1]}r{written[-1]}"
    if name == "ipa":
        at = next((at for at, char in enumerate(written) if char in "˥˦˧˨˩"), len(written))
        return f"{written[:at]}˞{written[at:]}"
    return written + ("ㄦ" if name == "zhuyin" else "r")


def cased(letters: str, model: str) -> str:
    """Letters in upper case, with a capital, or as they are, like the model; one capital alone is not upper case."""
    if model.isupper() and len(model) > 1:
        return letters.upper()
    return letters[:1].upper() + letters[1:] if model[:1].isupper() else letters


def tone_name(lang: str, tone: str) -> str:
    """A tone's name as people call it: *huyền*, or the number of a Mandarin tone.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        tone: the symbol; "" is Mandarin's neutral tone, as [EMPTY] is.

    Returns:
        The name; "" for what is not a tone of the language.
    """
    return _TONE_NAMES[lang].get(tone or EMPTY, "")
