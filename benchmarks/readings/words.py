"""Lexicon overrides, as lines of ``phonemic/lexicon/readings-words.tsv``: words that the models misread.

``python -m benchmarks.readings.words DATA WORK`` after ``benchmarks.readings.make``. A reviewed word
(``phonemic/lexicon/readings.tsv``) that is misread alone or between what may stand around any word decides; one of two
to four characters that lexicons agree on decides if it is misread so, and if among all labelled places
(``benchmarks.readings.evidence``) it makes more right than wrong. A word of two characters does not decide where other
words meet in it: then the characters on both sides of the border, a row of three, have the last word.
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import jieba
import numpy as np

from benchmarks.readings import everyday, names, prepare
from benchmarks.readings.common import EARLIER, HERE
from benchmarks.readings.cpp import cases
from benchmarks.readings.evidence import Evidence, Verdict
from benchmarks.readings.labels import LEXICONS, LONGEST_WORD, Pinyin, agreed, lexicon
from benchmarks.readings.rules import CHARS
from benchmarks.readings.train import Examples, some
from phonemic.characters import DATA
from phonemic.reading.context import Reader
from phonemic.reading.models import (
    BY_SANDHI,
    LEFT,
    MOST_READINGS,
    SCRIPTS,
    Feature,
    Model,
    ReadingData,
    joined,
    reviewed,
    windows,
)

#: Looked at and left out: the lexicons have a reading of them that is wrong, old, or of another sense.
NOT_TAKEN = frozenset(
    """没药 总行 口角炎 石鼓区 敦朴 醇朴 曲张 吸着 蓦地 扎染 胸闷 那曲 那曲地区 把子 一把子 拜把子 为重 分当 苦处 错处
    下处 罗盛教 一晃 其中 长性 得失 美发 作假 筠连县 跑堂儿的
    幺麽小丑 石鼓 严实 得出 要约 重臣 分说 分头 进行""".split()
)
#: The files of examples, and the weight of made examples compared with those of texts.
NAMES, MADE = ("examples", "tagged", "framed"), 0.2
#: How many times more than wrong a reviewed word must make right, by its length: labels may be wrong. Longer ones are
#: windows of three that nobody has reviewed.
TRUSTED = {2: 0.1, 3: 0.0}
#: The contexts that a word is tried in: alone, and next to words that lead models astray (看了如指掌, 他们只身的).
BEFORE, AFTER = ("", "他们", "看", "工作", "不", "一个"), ("", "了", "的", "，", "很")


def spoken(word: str, pinyin: Pinyin, lexicons: Mapping[str, Mapping[str, Sequence[str]]]) -> Pinyin:
    """The pinyin, its neutral tones as pypinyin or, in longer words, zdic has them; 不 as it is alone."""
    asked = ("pypinyin", "zdic_cibs") if len(word) > 2 else ("pypinyin",)
    for other in (lexicons[name][word] for name in asked if word in lexicons[name]):
        pairs = zip(pinyin, other, strict=True)
        pinyin = tuple(two if one[-1:] == "5" and one[:-1] == two[:-1] else one for one, two in pairs)
    return tuple("bu4" if one == "bu5" else one for one in pinyin)


def contradicted(words: Mapping[str, tuple[Pinyin, list[str]]], data: Path) -> set[str]:
    """The words that CPP's development set, or what people say every day, reads otherwise as often as not."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for case in cases(data / "zh" / "cpp"):
        at = 0
        for word in jieba.cut(case.text, HMM=False):
            if at <= case.at < at + len(word) and word in words:
                (right if words[word][0][case.at - at] == case.reading else wrong)[word] += 1
            at += len(word)
    for case in [*everyday.cases(), *names.sentences()]:
        for size in range(2, LONGEST_WORD + 1):
            for start in range(max(0, case.at - size + 1), min(case.at, len(case.text) - size) + 1):
                word = case.text[start : start + size]
                if word in words:
                    (right if words[word][0][case.at - start] == case.reading else wrong)[word] += 1
    return {word for word, times in wrong.items() if times >= max(1, right[word])}


def listed(data: Path, chars: frozenset[str]) -> dict[str, Pinyin]:
    """The words that lexicons agree on, without the ones that have proved to be wrong."""
    lexicons = {name: lexicon(name, chars) for name in LEXICONS}
    words = agreed(lexicons)
    for word in reviewed().keys() | NOT_TAKEN | contradicted(words, data):
        words.pop(word, None)
    return {word: spoken(word, pinyin, lexicons) for word, (pinyin, _) in words.items()}


def misread(reader: Reader, word: str, pinyin: Sequence[str], framed: bool) -> list[int]:
    """Which characters of a word are read otherwise, alone or, on request, between something of BEFORE and AFTER."""
    frames = [(before, after) for before in BEFORE for after in AFTER] if framed else [("", "")]
    texts = [(before + word + after, len(before)) for before, after in frames]
    return [
        at
        for at, reading in enumerate(pinyin)
        if any(reader.read(text, begin + at) != reading for text, begin in texts)
    ]


Claims = dict[tuple[str, Feature], tuple[str, str, int]]


def claims(reader: Reader, words: Mapping[str, Sequence[str]], framed: int | None, taken: Claims) -> Claims:
    """(character, window) -> reading, word, place: what words would decide; of words with equal claims the commonest.

    Arguments:
        reader: the models without lists.
        words: with their pinyin.
        framed: words of so many characters are also read between others; None: all claim, misread or not.
        taken: what has been claimed before.
    """
    found: Claims = {}
    for word in sorted(words, key=lambda word: (-(jieba.get_FREQ(word) or 0), word)):
        pinyin = words[word]
        plain = "".join(reader.data.simplified.get(char, char) for char in word)
        wrong = misread(reader, word, pinyin, len(word) >= framed) if framed else range(len(word))
        for at in wrong:
            if framed and word[at] in BY_SANDHI:
                continue
            claim = word[at], windows(plain, at)
            known = word[at] in reader.data.models or (framed is None and reader.data.alone.get(word[at]) != pinyin[at])
            if known and claim not in taken and room(word[at], pinyin[at], reader.data.models):
                found.setdefault(claim, (pinyin[at], word, at))
    return found


def room(char: str, reading: str, models: Mapping[str, Model]) -> bool:
    """Whether the model of a character has the reading, or can take one more."""
    known = models[char].readings if char in models else []
    return reading in known or len(known) < MOST_READINGS - 1


def judged(evidence: Evidence, data: ReadingData, claimed: Claims) -> dict[tuple[str, Feature], Verdict]:
    """A verdict for each claim."""
    by_char = dict[str, dict[Feature, str]]()
    for (char, feature), (reading, _, _) in claimed.items():
        by_char.setdefault(char, {})[feature] = reading
    return {
        (char, feature): verdict
        for char, told in by_char.items()
        for feature, verdict in (
            evidence.verdicts(data.simplified.get(char, char), data.models[char], told)
            if char in data.models and char not in SCRIPTS
            else {feature: Verdict(1, 0, {}) for feature in told}
        ).items()
    }


def worth(verdict: Verdict, times: float = 1.0) -> bool:
    """Whether a word makes so many times more right than wrong."""
    return verdict.right >= times * verdict.wrong


def _sources() -> dict[str, str]:
    """Return the counts of the reviewed words."""
    rows = [line.split("\t") for line in (DATA / "readings.tsv").read_text("utf-8").splitlines() if line[0] != "#"]
    return {word: source for word, _, source in rows}


def rows_of(claimed: Claims, sources: Mapping[str, str]) -> Iterator[tuple[str, list[str], str]]:
    """Word, pinyin with LEFT for what the models read, source."""
    words = dict[str, list[str]]()
    for reading, word, at in claimed.values():
        words.setdefault(word, [LEFT] * len(word))[at] = reading
    yield from ((word, pinyin, sources[word]) for word, pinyin in words.items())


def kept_rows(
    claimed: Claims, verdicts: Mapping[tuple[str, Feature], Verdict], spelled: Sequence[str]
) -> Iterator[tuple[str, list[str], str]]:
    """The rows of three characters in which words do not decide."""
    for (char, feature), (_, word, _) in claimed.items():
        for (slot, first, second), reading in verdicts[char, feature].kept.items():
            pair = chr(first) + chr(second)
            row = char + pair if slot else pair + char
            if min(first, second) > ord("一"):
                pinyin = [spelled[reading], LEFT, LEFT] if slot else [LEFT, LEFT, spelled[reading]]
                yield row, pinyin, f"not {word}"


def examples(work: Path) -> list[Examples]:
    """The places that models were fitted to before they were moved: of CHARS the ones that words and tags label.

    Those that were made of others weigh MADE of what they weighed there.
    """
    teachers, tagged, framed = (pickle.loads((work / f"{name}.pkl").read_bytes()) for name in NAMES)
    others = [some(part, np.flatnonzero(~np.isin(part.chars, [*map(ord, CHARS)]))) for part in teachers]
    found = [others[0], tagged[0], framed]
    return found + [part._replace(shares=part.shares * np.float32(MADE)) for part in (others[1], tagged[1])]


def lines_of(path: Path) -> Iterator[list[str]]:
    """The columns of a list: word, pinyin, sources."""
    yield from (line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#"))


def write(name: str, rows: Mapping[str, tuple[Sequence[str], str]]) -> None:
    """Writes a list of ``phonemic/lexicon`` under the head that it has."""
    path = DATA / f"{name}.tsv"
    head = [line for line in path.read_text("utf-8").splitlines() if line.startswith("#")]
    lines = [f"{word}\t{' '.join(pinyin)}\t{source}" for word, (pinyin, source) in sorted(rows.items())]
    path.write_text("\n".join([*head, *lines, ""]), "utf-8")


def main() -> None:
    """Writes the words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    arguments = parser.parse_args()
    made = prepare.setting(arguments.work / "setting.pkl")
    evidence, data = (
        Evidence(examples(arguments.work), made.names, made.against[0].keys() | made.against[1].keys()),
        joined(),
    )
    reader, chars = Reader(data), frozenset(data.models) - frozenset(BY_SANDHI)
    by_hand = claims(reader, reviewed(), None, {})
    by_lexicons = claims(reader, listed(arguments.data, chars), 3, by_hand)
    verdicts = judged(evidence, data, by_hand | by_lexicons)
    for claim, (reading, word, _) in by_hand.items():
        if verdicts[claim].wrong > verdicts[claim].right:
            print(f"{word} {claim[0]} {reading}: right {verdicts[claim].right:.1f}, wrong {verdicts[claim].wrong:.1f}")
    told = {claim: row for claim, row in by_hand.items() if worth(verdicts[claim], TRUSTED.get(len(row[1]), 1.0))}
    told |= {claim: row for claim, row in by_lexicons.items() if worth(verdicts[claim])}
    lexicons = {name: lexicon(name, chars) for name in LEXICONS}
    sources = {word: "; ".join(names) for word, (_, names) in agreed(lexicons).items()} | _sources()
    told = {claim: row for claim, row in told.items() if claim[0] not in EARLIER}
    kept = {row: (pinyin, source) for row, pinyin, source in kept_rows(told, verdicts, made.names)}
    rows = {row: (pinyin, source) for row, pinyin, source in rows_of(told, sources)}
    for row, pinyin, source in lines_of(HERE / "earlier.tsv"):
        known = (kept if source.startswith("not ") else rows).setdefault(row, ([LEFT] * len(row), source))[0]
        known[:] = [one if one != LEFT else other for one, other in zip(pinyin.split(), known, strict=True)]
    write("readings-words", rows)
    write("readings-borders", {row: told for row, told in kept.items() if row not in rows})
    print(f"{len(told)} of {len(by_hand)} by hand and {len(by_lexicons)} by lexicons, {len(rows)} rows")


if __name__ == "__main__":
    main()
