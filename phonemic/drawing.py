"""Syllables as HTML: a box each, of onset, rime and tone, with IPA beneath; without style sheet or script."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from phonemic.writing.notations import tone_name

#: Tone -> the colour behind it. High and rising tones are warm, low and falling ones cold.
TONE_COLORS = {
    "˧˧": "#e3e6ea", "˨˩": "#bcd9f5", "˧˥": "#ffd3a8", "˧˩": "#cde8c9", "˧ˀ˥": "#f6c3d6", "˧ˀ˩": "#d6c8f0",
    "˥˥": "#ffe08a", "˨˩˦": "#cde8c9", "˥˩": "#bcd9f5", "": "#eeeeee",
}  # fmt: skip

FONT = "'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', system-ui, sans-serif"
COLOR = "#1c2733"

_PAGE = """<!DOCTYPE html>
<html lang="{lang}">
<head><meta charset="utf-8"><title>{title}</title></head>
<body style="margin: 2em; background: {bg}">
{body}
</body>
</html>
"""
_SYLLABLE = (
    '<span class="syllable" style="display: inline-block; margin: 0 0.1em">'
    '<span style="display: inline-flex; border: 1px solid #b9c2cc; border-radius: 0.3em; overflow: hidden; '
    'font-size: 0.72em">{cells}</span>{ipa}</span>'
)
_CELL = '<span class="{name}" style="min-width: 0.9em; padding: 0.1em 0.4em; {look}">{text}</span>'
_IPA = '<span class="ipa" style="display: block; font-size: 0.62em; color: #66717d">{}</span>'
_LOOKS = {
    "onset": "border-right: 1px solid #b9c2cc",
    "rime": "border-right: 1px solid #b9c2cc; font-weight: 600",
    "tone": "background: {}",
}


def page(body: str, title: str, lang: str, bg: str = "#ffffff") -> str:
    """A whole page.

    Arguments:
        body: HTML.
        title: plain text, which is escaped here.
        lang: the page's language.
        bg: a CSS colour, escaped already.
    """
    return _PAGE.format(lang=lang, title=escape(title), bg=bg, body=body)


def syllable(
    lang: str,
    onset: str,
    rime: str,
    tone: str,
    ipa: str | None = None,
    colors: Mapping[str, str] = TONE_COLORS,
) -> str:
    """The box of one syllable as HTML; the tone's name is next to its letters, which are small.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        onset: plain text, as the others: "" where there is none.
        rime: likewise.
        tone: likewise.
        ipa: what is beneath; None for nothing.
        colors: tone to CSS colour, escaped already.
    """
    named = escape(f"{tone} {tone_name(lang, tone)}".strip())
    texts = (escape(onset), escape(rime), named)
    cells = "".join(
        _CELL.format(name=name, look=_LOOKS[name].format(colors.get(tone, TONE_COLORS[""])), text=text or "&nbsp;")
        for name, text in zip(_LOOKS, texts, strict=True)
    )
    return _SYLLABLE.format(cells=cells, ipa="" if ipa is None else _IPA.format(escape(ipa)))
