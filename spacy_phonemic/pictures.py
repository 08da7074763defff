"""Pictures of Docs: each token over its onset, rime and tone, in the manner of displaCy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from spacy.tokens import Doc, Span, Token
from spacy.util import is_in_jupyter

from phonemic import drawing
from phonemic.drawing import COLOR, FONT, TONE_COLORS
from spacy_phonemic.reading import KEY, Parts, reading_of

OPTIONS = {
    "colors": {},  # tone -> CSS colour, over TONE_COLORS
    "ipa": True,  # IPA beneath each syllable
    "font": FONT,
    "size": "18px",  # of the text; all else is relative to it
    "color": COLOR,
    "bg": "#ffffff",
}

_BOX = (
    '<div class="phonemic" lang="{lang}" style="font: {size}/1.3 {font}; color: {color}; background: {bg}; '
    'padding: 0.8em">{title}{body}</div>'
)
_TITLE = '<h2 style="margin: 0 0 0.6em; font-size: 1.2em">{}</h2>'
_TOKEN = (
    '<span class="token" style="display: inline-block; vertical-align: top; text-align: center; '
    'margin: 0 0.25em 0.9em">'
    '<span style="display: block; margin-bottom: 0.15em; white-space: pre">{text}</span>{syllables}</span>'
)


def render(
    docs: Doc | Span | Iterable[Doc | Span],
    page: bool = False,
    jupyter: bool | None = None,
    options: Mapping[str, Any] | None = None,
    key: str = KEY,
) -> str | None:
    """Draws Docs or Spans as HTML: each token over the onset, rime and tone of its syllables, with IPA beneath.

    A title is taken from ``doc.user_data["title"]``, as displaCy does.

    Arguments:
        docs: one or more.
        page: make a whole page, not a fragment.
        jupyter: display it, not return it; None: where it runs in Jupyter.
        options: style: ``colors`` (tone -> CSS colour), ``ipa`` (False leaves it out), ``font``, ``size``, ``color``,
            ``bg``.
        key: the name of the attribute that holds the encoding, where a component renamed it.

    Returns:
        The HTML; None where it was displayed.

    Raises:
        ValueError: an unknown option, or nothing says in what language a Doc is to be read.
        TypeError: something that is neither a Doc nor a Span.
    """
    style = _style(options or {})
    items = [docs] if isinstance(docs, Doc | Span) else list(docs)
    for item in items:
        if not isinstance(item, Doc | Span):
            raise TypeError(f"render draws Docs and Spans, not {type(item).__name__}")
    html = "\n".join(_box(item, style, key) for item in items)
    if page:
        title = _title(items[0]) if items else ""
        lang = reading_of(_doc(items[0]), key).encoding.vocabulary.lang if items else ""
        html = drawing.page(html, title or "phonemic", lang, style["bg"])
    if jupyter or (jupyter is None and is_in_jupyter()):
        from IPython.display import HTML, display

        display(HTML(f'<span class="tex2jax_ignore">{html}</span>'))
        return None
    return html


def _style(options: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r}: the options are {', '.join(OPTIONS)}")
    style = {**OPTIONS, **options}
    for name, value in style.items():
        if name not in ("colors", "ipa"):
            style[name] = escape(str(value), quote=True)
    colors = {**TONE_COLORS, **style["colors"]}
    return {**style, "colors": {tone: escape(str(color), quote=True) for tone, color in colors.items()}}


def _box(item: Doc | Span, style: Mapping[str, Any], key: str) -> str:
    reading = reading_of(_doc(item), key)
    lang = reading.encoding.vocabulary.lang
    body = "".join(
        _token(token, lang, reading.parts(token.idx, token.idx + len(token)), style)
        if not token.is_space
        else _space(token)
        for token in item
    )
    title = _TITLE.format(escape(_title(item))) if _title(item) else ""
    return _BOX.format(**style, lang=lang, title=title, body=body)


def _space(token: Token) -> str:
    return "<br>" * token.text.count("\n")


def _token(token: Token, lang: str, parts: list[Parts], style: Mapping[str, Any]) -> str:
    syllables = "".join(_syllable(lang, part, style) for part in parts)
    return _TOKEN.format(text=escape(token.text), syllables=syllables)


def _syllable(lang: str, parts: Parts, style: Mapping[str, Any]) -> str:
    return drawing.syllable(lang, *parts[:3], parts.ipa if style["ipa"] else None, style["colors"])


def _doc(item: Doc | Span) -> Doc:
    return item.doc if isinstance(item, Span) else item


def _title(item: Doc | Span) -> str:
    return str(_doc(item).user_data.get("title") or "")
