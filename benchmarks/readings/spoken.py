"""Writes phonemic/lexicon/speech-words.tsv: the words that ``sandhi=True`` and ``erhua=True`` go by.

``python -m benchmarks.readings.spoken`` (needs pypinyin-dict and jieba)

* ``erhua``: 儿 is not a syllable in CC-CEDICT, or in two of the other lexicons.
* ``linked``: two syllables of the third tone in CC-CEDICT and in another lexicon, a word to jieba.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.readings.labels import LEXICONS, lexicon
from phonemic.reading.models import reading_data
from phonemic.reading.spoken import hand_written

OUTPUT = Path(__file__).parents[2] / "phonemic" / "lexicon" / "speech-words.tsv"
NAMES = {
    "pypinyin": "pypinyin",
    "large_pinyin": "phrase-pinyin-data large",
    "cc_cedict": "CC-CEDICT",
    "zdic_cibs": "zdic",
}
#: Foreign names, in which 儿 is a syllable; words in which it is one when read aloud; words that other words end with.
NOT_MERGED = (
    "塔塔儿 塔塔儿人 克蕾儿 巴儿思 朵儿别 忽剌巴儿 子儿 孩儿 不儿 告儿 情儿 场儿 吃儿 侄儿 会儿 人儿 哥儿".split()
)


def _merges(phrase: str, pinyin: Sequence[str]) -> bool:
    return any(at and char == "儿" and pinyin[at] == "er5" for at, char in enumerate(phrase))


def _linked(phrase: str, pinyin: Sequence[str]) -> bool:
    return len(phrase) == 2 and pinyin[0].endswith("3") and pinyin[1].endswith("3")


def _known() -> set[str]:
    import jieba

    return {line.split(" ")[0] for line in (Path(jieba.__file__).parent / "dict.txt").read_text("utf-8").splitlines()}


def main() -> None:
    """Writes the file."""
    every = frozenset(map(chr, range(0x3400, 0xA000)))
    lexicons: dict[str, Mapping[str, list[str]]] = {name: lexicon(name, every) for name in LEXICONS}
    known, rows = _known(), {}
    simplified = reading_data().simplified
    phrases = sorted({phrase for found in lexicons.values() for phrase in found} - set(hand_written()))
    for phrase in phrases:
        if any(simplified.get(char, char) != char for char in phrase):
            continue
        say = {name: found[phrase] for name, found in lexicons.items() if phrase in found}
        merging = [name for name, pinyin in say.items() if _merges(phrase, pinyin)]
        linking = [name for name, pinyin in say.items() if _linked(phrase, pinyin)]
        if ("cc_cedict" in merging or len(merging) > 1) and phrase not in NOT_MERGED:
            rows[phrase] = ("erhua", merging)
        elif "cc_cedict" in linking and len(linking) > 1 and phrase in known:
            rows[phrase] = ("linked", linking)
    head = "# Words that speech goes by, written by benchmarks/readings/spoken.py. Columns: word, what, lexicons.\n"
    lines = [f"{word}\t{what}\t{'; '.join(NAMES[name] for name in names)}\n" for word, (what, names) in rows.items()]
    OUTPUT.write_text(head + "".join(lines), "utf-8")


if __name__ == "__main__":
    main()
