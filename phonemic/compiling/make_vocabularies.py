"""Writes vocabulary-vi.tsv and vocabulary-zh.tsv, once: their order is frozen, because trained weights depend on it.

Run from the repository: ``python -m phonemic.compiling.make_vocabularies``. Afterwards the files are the truth, and
tests/test_vocabulary.py holds the tables and the files together.
"""

from __future__ import annotations

import string
from pathlib import Path

from phonemic import mandarin, vietnamese
from phonemic.inventory import EMPTY, SPECIALS

#: The marks that real text uses most, after folding; as many as the vocabulary's size leaves room for.
PUNCTUATION = {"vi": ",.\"-():/;%'?!&+=[]_*@>", "zh": ",.\":;?!()-/%'[]"}


def components(lang: str) -> tuple[list[str], list[str], list[str]]:
    """Onsets, rimes and tones of a language, each in the order of its tables."""
    if lang == "zh":
        tones = [tone for tone in mandarin.TONES.values() if tone != EMPTY]
        return list(mandarin.INITIALS.values()), list(mandarin.FINALS.values()), tones
    plain = [vietnamese.rime_of(*parts) for parts in vietnamese.rime_spellings().values()]
    after_q = [vietnamese.rime_of(*parts) for parts in vietnamese.rime_spellings(after_q=True).values()]
    return list(vietnamese.ONSETS.values()), plain + after_q, [tone for tone, _ in vietnamese.TONES.values()]


def vocabulary(lang: str) -> dict[str, set[str]]:
    """Symbol -> roles, in the order of the ids."""
    onsets, rimes, tones = components(lang)
    letters = "ăâđêôơư" if lang == "vi" else ""
    fallback = list(string.ascii_lowercase + letters + string.digits + PUNCTUATION[lang])
    roles = {"special": list(SPECIALS), "onset": onsets, "rime": rimes, "tone": tones, "fallback": fallback}
    symbols: dict[str, set[str]] = {}
    for role, members in roles.items():
        for symbol in members:
            symbols.setdefault(symbol, set()).add(role)
    return symbols


def main() -> None:
    """Writes both files."""
    for lang, size in (("vi", 256), ("zh", 112)):
        symbols = vocabulary(lang)
        if len(symbols) != size:
            raise SystemExit(f"{lang}: {len(symbols)} symbols, not {size}")
        lines = [f"{symbol}\t{','.join(sorted(roles))}" for symbol, roles in symbols.items()]
        Path(__file__).with_name(f"vocabulary-{lang}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
