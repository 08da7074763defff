"""Mandarin in zhuyin (bopomofo), the phonetic script of Taiwan: its symbols as data."""

from __future__ import annotations

from functools import cache

from phonemic import mandarin
from phonemic.inventory import EMPTY

#: Pinyin initial -> symbol.
INITIALS = {
    "b": "ㄅ", "p": "ㄆ", "m": "ㄇ", "f": "ㄈ", "d": "ㄉ", "t": "ㄊ", "n": "ㄋ", "l": "ㄌ", "g": "ㄍ", "k": "ㄎ",
    "h": "ㄏ", "j": "ㄐ", "q": "ㄑ", "x": "ㄒ", "zh": "ㄓ", "ch": "ㄔ", "sh": "ㄕ", "r": "ㄖ", "z": "ㄗ",
    "c": "ㄘ", "s": "ㄙ",
}  # fmt: skip

#: Full final (see ``mandarin.FINALS``) -> symbols; the apical vowels are not written.
FINALS = {
    "a": "ㄚ", "o": "ㄛ", "e": "ㄜ", "ê": "ㄝ", "ai": "ㄞ", "ei": "ㄟ", "ao": "ㄠ", "ou": "ㄡ", "an": "ㄢ", "en": "ㄣ",
    "ang": "ㄤ", "eng": "ㄥ", "ong": "ㄨㄥ", "er": "ㄦ",
    "i": "ㄧ", "ia": "ㄧㄚ", "ie": "ㄧㄝ", "iao": "ㄧㄠ", "iou": "ㄧㄡ", "ian": "ㄧㄢ", "in": "ㄧㄣ", "iang": "ㄧㄤ",
    "ing": "ㄧㄥ", "iong": "ㄩㄥ",
    "u": "ㄨ", "ua": "ㄨㄚ", "uo": "ㄨㄛ", "uai": "ㄨㄞ", "uei": "ㄨㄟ", "uan": "ㄨㄢ", "uen": "ㄨㄣ", "uang": "ㄨㄤ",
    "ueng": "ㄨㄥ",
    "ü": "ㄩ", "üe": "ㄩㄝ", "üan": "ㄩㄢ", "ün": "ㄩㄣ",
    "-i(z)": "", "-i(zh)": "",
    "m": "ㄇ", "n": "ㄣ", "ng": "ㄫ", "io": "ㄧㄛ",
}  # fmt: skip

#: Tone symbol -> mark; the first tone has none, and the neutral tone's is before the syllable.
_MARKS = {"˥˥": "", "˧˥": "ˊ", "˨˩˦": "ˇ", "˥˩": "ˋ", EMPTY: "˙"}


@cache
def _letters() -> tuple[dict[str, str], dict[str, str]]:
    onsets = {onset: INITIALS[initial] for initial, onset in mandarin.INITIALS.items()}
    return onsets | {EMPTY: ""}, {rime: FINALS[final] for final, rime in mandarin.FINALS.items()}


def spell(triple: tuple[str, str, str]) -> str:
    """Writes a triple in zhuyin.

    Arguments:
        triple: onset, rime and tone as symbols.

    Returns:
        The symbols, with the tone's mark behind them, or before them for the neutral tone (``˙ㄉㄜ``).

    Raises:
        ValueError: no Mandarin syllable has these three symbols.
    """
    mandarin.spell(triple)
    onset, rime, tone = triple
    onsets, rimes = _letters()
    text = onsets[onset] + rimes[rime]
    return _MARKS[tone] + text if tone == EMPTY else text + _MARKS[tone]
