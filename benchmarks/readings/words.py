"""Words that decide, as lines of ``phonemic/lexicon/readings-words.tsv``: lexicons have them, and we misread them.

``python -m benchmarks.readings.words DATA`` after ``benchmarks.readings.make``, with tables compiled from its models
and a list without words (``benchmarks.readings.rebuild`` does all of it). A word has two to four characters. It is
taken if we read it otherwise in raw text, and its characters stand side by side there without being that word (头发 in
街头发生) and read otherwise far less often; or if we read it otherwise alone, or, a longer one, between what may stand
around any word. CPP's development set and the sentences of ``everyday`` and ``names`` must not say otherwise. Of two
words that stand around a character alike and read it otherwise (审时度势, 揆时度势) the commoner one is taken.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import jieba

from benchmarks.readings import everyday, names
from benchmarks.readings.cpp import cases
from benchmarks.readings.disagreements import held
from benchmarks.readings.judge import context_reader
from benchmarks.readings.labels import LEXICONS, LONGEST_WORD, Pinyin, agreed, lexicon
from benchmarks.readings.rivals import RAW, raw
from phonemic.characters import DATA
from phonemic.reading.context import WINDOWS
from phonemic.reading.models import DECIDING, MOST_READINGS, Feature, Model, reading_data, reviewed, windows

#: Characters of each file; and how many times more often a word must be misread than mistaken.
SIZE, TIMES = 1_500_000, 5
#: Looked at and left out: the lexicons have a reading of them that is wrong, old, or of another sense.
NOT_TAKEN = frozenset(
    """没药 总行 口角炎 石鼓区 敦朴 醇朴 曲张 吸着 蓦地 扎染 胸闷 那曲 那曲地区 把子 一把子 拜把子 为重 分当 苦处 错处
    下处 罗盛教 一晃 其中 长性 得失 美发 作假 筠连县 跑堂儿的
    幺麽小丑 石鼓 严实 得出 要约 重臣 分说 分头 进行""".split()
)
#: What a word is tried between: alone, and behind and before what leads models astray (看了如指掌, 他们只身的).
BEFORE, AFTER = ("", "他们", "看", "工作", "不", "一个"), ("", "了", "的", "，", "很")


def _differ(word: str, heard: Iterable[str], pinyin: Pinyin, chars: frozenset[str]) -> bool:
    pairs = zip(word, heard, pinyin, strict=False)
    return any(char in chars and one.replace("ü", "v") != two for char, one, two in pairs)


def misread_between(word: str, pinyin: Pinyin, chars: frozenset[str]) -> bool:
    """Whether we read a word otherwise between something of BEFORE and of AFTER."""
    return any(
        _differ(word, context_reader(before + word + after)[len(before) :], pinyin, chars)
        for before in BEFORE
        for after in AFTER
    )


def apart(words: Iterable[str], says: Mapping[str, Pinyin], simplified: Mapping[str, str]) -> set[str]:
    """The words but those that decide what a reviewed or a commoner one reads otherwise, or that do not decide."""
    taken: dict[tuple[str, Feature], str] = {}
    kept = []
    rows: list[tuple[str, Sequence[str]]] = [*reviewed().items()]
    rows += [(word, says[word]) for word in sorted(words, key=lambda word: (-(jieba.get_FREQ(word) or 0), word))]
    for word, pinyin in rows:
        plain = "".join(simplified.get(char, char) for char in word)
        claims = {(char, windows(plain, at)): pinyin[at] for at, char in enumerate(word)}
        if all(taken.get(claim, reading) == reading for claim, reading in claims.items()):
            taken |= claims
            kept.append((word, plain, pinyin))
    return {
        word
        for word, plain, pinyin in kept
        if word in says and all(_decided(word, plain, at, taken) == pinyin[at] for at in range(len(word)))
    }


def _decided(word: str, plain: str, at: int, taken: Mapping[tuple[str, Feature], str]) -> str:
    """Return the decision of the first window that contains one of the words."""
    seen = [
        [ord(plain[at + place]) if 0 <= at + place < len(plain) else 0 for place in window]
        for window in WINDOWS[:DECIDING]
    ]
    features = ((slot, row[0], row[1] if row[1:] else 0) for slot, row in enumerate(seen))
    return next(taken[word[at], feature] for feature in features if (word[at], feature) in taken)


def spoken(word: str, pinyin: Pinyin, lexicons: Mapping[str, Mapping[str, Sequence[str]]]) -> Pinyin:
    """The pinyin, its neutral tones as pypinyin or, in longer words, zdic has them; 不 as it is alone."""
    asked = ("pypinyin", "zdic_cibs") if len(word) > 2 else ("pypinyin",)
    for other in (lexicons[name][word] for name in asked if word in lexicons[name]):
        pairs = zip(pinyin, other, strict=True)
        pinyin = tuple(two if one[-1:] == "5" and one[:-1] == two[:-1] else one for one, two in pairs)
    return tuple("bu4" if one == "bu5" else one for one in pinyin)


def misread(rows: Iterable[str], words: Mapping[str, Pinyin], chars: frozenset[str]) -> tuple[Counter[str], ...]:
    """How often jieba finds each word, how often we read it otherwise there, and how often where it is no word.

    Arguments:
        rows: texts.
        words: with their pinyin.
        chars: those that count.
    """
    inside, wrong, mistaken = Counter[str](), Counter[str](), Counter[str]()
    for row in rows:
        ours = context_reader(row)
        spans = {(begin, end) for _, begin, end in jieba.tokenize(row, mode="search", HMM=False)}
        for length in range(2, LONGEST_WORD + 1):
            for begin in range(len(row) - length + 1):
                word = row[begin : begin + length]
                if word in words:
                    found = (begin, begin + length) in spans
                    inside[word] += found
                    if _differ(word, ours[begin : begin + length], words[word], chars):
                        (wrong if found else mistaken)[word] += 1
    return inside, wrong, mistaken


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


def _hidden(word: str, pinyin: Pinyin, kept: set[str], says: Mapping[str, Pinyin]) -> bool:
    """Whether a word of the list stands in a longer one that has another reading (学生 in 大学生)."""
    spans = [(at, at + size) for size in range(2, len(word)) for at in range(len(word) - size + 1)]
    return any(says[word[a:b]] != pinyin[a:b] for a, b in spans if word[a:b] in kept)


def room(word: str, pinyin: Pinyin, models: Mapping[str, Model]) -> bool:
    """Whether each model of its characters has the reading, or can take one more."""
    pairs = ((models[char].readings, reading) for char, reading in zip(word, pinyin, strict=True) if char in models)
    return all(reading in known or len(known) < MOST_READINGS - 1 for known, reading in pairs)


def main() -> None:
    """Writes the words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--more", action="store_true", help="add what the words of the list spoil (充分利用 by 分利)")
    arguments = parser.parse_args()
    data = reading_data()
    models = data.models
    chars = frozenset(models) - frozenset("一不")
    lexicons = {name: lexicon(name, chars) for name in LEXICONS}
    words = agreed(lexicons)
    for word in reviewed().keys() | NOT_TAKEN | contradicted(words, arguments.data):
        words.pop(word, None)
    says = {word: spoken(word, pinyin, lexicons) for word, (pinyin, _) in words.items()}
    alone = {word for word, pinyin in says.items() if _differ(word, context_reader(word), pinyin, chars)}
    between = {word for word, pinyin in says.items() if misread_between(word, pinyin, chars)}
    rows = [row for name in RAW for row in raw(arguments.data, name, SIZE) if not held(row)]
    inside, wrong, mistaken = misread(rows, says, chars)
    kept = {word for word, times in wrong.items() if times >= TIMES * mistaken[word]}
    kept |= {word for word in alone if inside[word] and inside[word] >= TIMES * mistaken[word]}
    kept |= {word for word in between if len(word) > 2 and not mistaken[word]}
    # One of two characters that the text has not got is taken if three lexicons have it so.
    unseen = {word for word in alone if not inside[word] and not mistaken[word]}
    kept |= {word for word in unseen if len(word) > 2 or len(words[word][1]) > 2}
    kept |= {word for word, pinyin in says.items() if len(word) > 2 and _hidden(word, pinyin, kept, says)}
    kept = {word for word in kept if room(word, says[word], models)}
    if arguments.more:
        full = {word for word in kept if not {"一", "不"} & {*word} and "5" not in "".join(says[word])}
        kept = full | (reviewed("readings-words").keys() & says.keys())
    kept = apart(kept, says, data.simplified)
    path = DATA / "readings-words.tsv"
    head = [line for line in path.read_text("utf-8").splitlines() if line.startswith("#")]
    lines = [f"{word}\t{' '.join(says[word])}\t{'; '.join(words[word][1])}" for word in sorted(kept)]
    path.write_text("\n".join([*head, *lines, ""]), "utf-8")
    found = f"{len(alone)} alone, {len(between)} between, {len(wrong)} in text"
    print(f"{len(words)} words; misread: {found}; {len(kept)} kept")


if __name__ == "__main__":
    main()
