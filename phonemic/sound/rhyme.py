"""When two rimes rhyme: tables of each language's verse."""

from __future__ import annotations

from functools import cache

from phonemic import mandarin, vietnamese

#: The level tones of each language (*bằng*, 平), and the oblique ones (*trắc*, 仄): a rhyme keeps to one of the two. A
#: neutral tone rhymes with either.
LEVEL = {"vi": ("˧˧", "˨˩"), "zh": ("˥˥", "˧˥")}

#: Vietnamese nuclei of one series: with the same coda they make a near rhyme (*vần thông*: nhau and dâu).
SERIES = ("i e ɛ ie", "a ă ɘ ɘ̆ ɯ ɯɘ", "u o oː ɔ ɔː uo")

#: The fourteen rhyme classes of modern Mandarin verse (中华新韵), as full finals of ``mandarin.FINALS``.
CLASSES = {
    "麻": "a ia ua", "波": "o e uo io", "皆": "ie üe ê", "开": "ai uai", "微": "ei uei", "豪": "ao iao",
    "尤": "ou iou", "寒": "an ian uan üan", "文": "en in uen ün", "唐": "ang iang uang",
    "庚": "eng ing ong iong ueng", "齐": "i er ü", "支": "-i(z) -i(zh)", "姑": "u",
}  # fmt: skip


@cache
def rhyme_key(lang: str, rime: str, near: bool = False) -> str:
    """The key that two rimes share if they rhyme: nucleus and coda, or the name of the class.

    Raises:
        ValueError: the language has no such rime.
    """
    key = _vietnamese_keys(near).get(rime) if lang == "vi" else _mandarin_keys().get(rime)
    if key is None:
        raise ValueError(f"{rime!r} is not a rime of {lang!r}")
    return key


@cache
def _vietnamese_keys(near: bool) -> dict[str, str]:
    series = {nucleus: name.split()[0] for name in SERIES for nucleus in name.split()}
    keys = {}
    for nucleus in set(vietnamese.NUCLEI.values()):
        for coda in {"", *vietnamese.CODAS.values()}:
            for medial in ("", vietnamese.MEDIAL):
                keys[medial + nucleus + coda] = f"{series[nucleus] if near else nucleus} {coda}".strip()
    return keys


@cache
def _mandarin_keys() -> dict[str, str]:
    classes = {final: name for name, finals in CLASSES.items() for final in finals.split()}
    return {rime: classes.get(final, rime) for final, rime in mandarin.FINALS.items()}


def tones_agree(lang: str, one: str, other: str) -> bool:
    """Whether two tones, "" for the neutral one, are both level or both oblique."""
    return not (one and other) or (one in LEVEL[lang]) == (other in LEVEL[lang])
