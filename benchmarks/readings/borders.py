"""More places to learn from: borders of words that phrases cross, texts that begin and end anywhere, words alone.

A phrase of two characters that is not a word there misleads: 着手 in 拿着|手机, 行业 in 商品|行业. Running text has
each such border too rarely. So the word next to a labelled character is changed for another one with the same tag that
makes such a border (拿着|书 -> 拿着|手机), if the most probable path of words then has a border there, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from heapq import nlargest

import jieba
import jieba.posseg
import numpy as np
from numpy.typing import NDArray

from benchmarks.readings import features, segments
from benchmarks.readings.features import Places
from benchmarks.readings.train import Examples, Marked

#: Of each character so many words next to it on either side, each so many times; cut texts; how much the former may
#: weigh together, compared with the places themselves; and the weight of one of the latter.
SWAPS, TIMES, CUTS, MOST_SWAPPED, WEIGHT = 1_500, 4, 1_500, 0.7, 0.5
#: Characters of a text on either side; an example's reading must be so probable; the least frequency of a word.
AROUND, SURE, FREQUENT = 6, 0.7, 20
#: Words that begin (or end) with one character, at most; how often a word of a lexicon is framed.
MOST_WORDS, FRAMES = 20, 3


@cache
def _vocabulary() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The frequent words of two characters and more by their first and by their last one, the commonest first."""
    jieba.initialize()
    frequent = {word: number for word, number in jieba.dt.FREQ.items() if number >= FREQUENT and 2 <= len(word) <= 4}
    by_first, by_last = dict[str, list[str]](), dict[str, list[str]]()
    for word in sorted(frequent, key=lambda word: (-frequent[word], word)):
        by_first.setdefault(word[0], []).append(word)
        by_last.setdefault(word[-1], []).append(word)
    return by_first, by_last


@cache
def _tags() -> dict[str, str]:
    """The kinds of words: the first letters of jieba's tags."""
    jieba.posseg.dt.initialize()
    return {word: str(tag)[:1] for word, tag in jieba.posseg.dt.word_tag_tab.items()}


def _tag(word: str) -> str:
    return _tags().get(word, "x")


class Borders:
    """The text next to a character that makes a phrase with it that is read otherwise.

    Arguments:
        phrases: of all lexicons, with readings such as ``hang2/0``.
        names: of the readings, by number.
        without: characters whose reading is told by what the word next to them says; it is not changed.
    """

    def __init__(self, phrases: Mapping[str, Sequence[str]], names: Sequence[str], without: str = "") -> None:
        self.names, self.without = names, without
        self.beside: tuple[dict[str, dict[str, str]], ...] = {}, {}
        for phrase, readings in phrases.items():
            if len(phrase) == 2:
                one, two = (reading.partition("/")[0] for reading in readings)
                if one:
                    self.beside[0].setdefault(phrase[0], {})[phrase[1]] = one
                if two:
                    self.beside[1].setdefault(phrase[1], {})[phrase[0]] = two

    def words(self, side: int, char: str, kinds: Mapping[str, int]) -> list[tuple[str, str]]:
        """The likeliest words that begin behind (0) or end before (1) a character as such a phrase does.

        With each the reading that the phrase has. ``kinds`` says how often words of a kind stand there.
        """

        def likely(word: str) -> int:
            return (jieba.get_FREQ(word) or 0) * kinds.get(_tag(word), 0)

        found = [
            (word, said)
            for other, said in self.beside[side].get(char, {}).items()
            for word in nlargest(MOST_WORDS, _vocabulary()[side].get(other, []), likely)
        ]
        return nlargest(SWAPS, found, lambda row: (likely(row[0]), row))


def changed(text: str, words: NDArray[np.int32], at: int, side: int, word: str) -> tuple[str, int] | None:
    """The text around a character with the word next to it changed, and where the character is then."""
    first, last = map(int, words[:, at])
    begin, end = map(int, words[:, last if side == 0 else first - 1])
    if side == 0:
        left, right = before(text, first), word + behind(text, end)
        marks = {len(left), len(left) + last - first, len(left) + last - first + len(word)}
    else:
        left, right = before(text, begin) + word, behind(text, last)
        marks = {len(left) - len(word), len(left), len(left) + last - first}
    made = left + text[first:last] + right
    return (made, len(left) + at - first) if segments.borders(made) >= marks else None


def before(text: str, at: int) -> str:
    """Return the text before a place in its sentence."""
    return text[max(0, at - AROUND) : at].rpartition("\0")[2]


def behind(text: str, at: int) -> str:
    """Return the text behind a place in its sentence."""
    return text[at : at + AROUND].partition("\0")[0]


def cut(text: str, words: NDArray[np.int32], at: int, dice: random.Random) -> tuple[str, int]:
    """The text around a character, as if it began or ended next to its word or the next one."""
    first, last = map(int, words[:, at])
    left = dice.choice((before(text, first), text[words[0, first - 1] : first].strip("\0"), ""))
    right = dice.choice((behind(text, last), text[last : words[1, last]].strip("\0"), ""))
    return left + text[first:last] + right, len(left) + at - first


def _neighbours(
    text: str, words: NDArray[np.int32], places: Iterable[tuple[int, int, str]], side: int
) -> dict[str, list[tuple[int, int, str]]]:
    """By the kind of the word next to it: the places at the border of a word, with their rows and readings."""
    found = dict[str, list[tuple[int, int, str]]]()
    for row, at, reading in places:
        first, last = words[:, at]
        if (last == at + 1) if side == 0 else (first == at):
            begin, end = words[:, last if side == 0 else first - 1]
            if text[begin] != "\0":
                found.setdefault(_tag(text[begin:end]), []).append((row, at, reading))
    return found


def more(marked: Marked, borders: Borders) -> Iterator[tuple[str, int, int, float]]:
    """Texts, the place in each, the number of the place that it was made of, and its weight."""
    words = marked.where.words
    assert words is not None
    text = marked.where.points.tobytes().decode("utf-32-le")
    chars = marked.where.points[marked.where.at]
    told = marked.readings[np.arange(len(chars)), marked.shares.argmax(1)]
    order = np.random.default_rng(1).permutation(np.flatnonzero(marked.shares.max(1) >= SURE))
    order = order[chars[order].argsort(kind="stable")]
    for rows in np.split(order, np.flatnonzero(np.diff(chars[order])) + 1):
        char, dice = chr(chars[rows[0]]), random.Random(int(chars[rows[0]]))
        places = [(row, int(marked.where.at[row]), borders.names[told[row]]) for row in rows.tolist()]
        if char in borders.without:
            continue
        swapped = list[tuple[str, int, int]]()
        for side in (0, 1):
            beside = _neighbours(text, words, places, side)
            kinds = {kind: len(spots) for kind, spots in beside.items()}
            for word, said in borders.words(side, char, kinds):
                spots = beside.get(_tag(word), [])
                for row, at, reading in dice.sample(spots, min(TIMES, len(spots))):
                    if reading != said and (made := changed(text, words, at, side, word)):
                        swapped.append((*made, row))
        weight = min(1.0, MOST_SWAPPED * len(places) / max(1, len(swapped)))
        yield from ((*one, weight) for one in swapped)
        for row, at, _ in places[:CUTS]:
            yield *cut(text, words, at, dice), row, WEIGHT


def with_more(
    marked: Marked, borders: Borders, keys: Callable[[Places], NDArray[np.int64]]
) -> tuple[Examples, Examples]:
    """The examples of marked places, and of what is made of them."""
    own = marked.examples(keys)
    texts, places, rows, weights = map(list, zip(*more(marked, borders), strict=True))
    where = features.places(texts, places)
    shares = np.array(weights, np.float32)[:, None] * marked.shares[rows]
    return own, Examples(own.chars[rows], keys(where), marked.readings[rows], shares)


def framed(
    words: Mapping[str, Sequence[str]], texts: Iterable[str], chars: frozenset[str]
) -> Iterator[tuple[str, int, str, float]]:
    """Words alone and between the words around other words: text, place, reading, and its weight."""
    dice = random.Random(7)
    lefts, rights = list[str](), list[str]()
    for text in texts:
        marks = sorted(segments.borders(text))
        place = dice.choice(marks)
        lefts.append(text[max(0, place - AROUND) : place])
        place = dice.choice(marks)
        rights.append(text[place : place + AROUND])
    for word, pinyin in words.items():
        places = [at for at, char in enumerate(word) if char in chars]
        yield from ((word, at, pinyin[at], 1.0) for at in places)
        for _ in range(FRAMES if places else 0):
            left, right = dice.choice(lefts), dice.choice(rights)
            text = left + word + right
            if segments.whole(text, len(left), len(left) + len(word)):
                yield from ((text, len(left) + at, pinyin[at], WEIGHT) for at in places)
