"""One judgement from several teachers: how far to trust the network and each lexicon, learnt from CPP's dev set."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache

import jieba
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.readings.features import Places, Voter
from phonemic import mandarin

#: The lexicons that vote: pypinyin's own, and what pypinyin-dict has besides.
LEXICONS = ("pypinyin", "large_pinyin", "cc_cedict", "zdic_cibs")
SOURCES = {
    "pypinyin": "pypinyin",
    "large_pinyin": "phrase-pinyin-data large",
    "cc_cedict": "CC-CEDICT",
    "zdic_cibs": "zdic",
}
#: Of the words that are taken from them as they are, in characters.
LONGEST_WORD = 4
Pinyin = tuple[str, ...]
#: Looked at and left out: the lexicons have the reading of another sense, of a rare one, or an old one.
LEFT_OUT = frozenset(
    "所得 相片 查查 落下 发卡 禁用 多个 单个 教会 反过来 不予 极差 两边 多难 端的 破的 标的 穿着 身着 下载 待会 "
    "把儿".split()
)
_SURE = (160, 225, 250, 255)
MOST = 5  # different readings that may be voted for


@cache
def numbered(pinyin: str) -> str:
    """``háng`` as ``hang2`` and ``lǜ`` as ``lv4``; anything that is not a syllable as nothing."""
    try:
        return mandarin.spell(mandarin.factorize(pinyin), numbers=True).replace("ü", "v")
    except ValueError:
        return ""


def lexicon(name: str, chars: frozenset[str]) -> dict[str, list[str]]:
    """The phrases of a lexicon of LEXICONS that hold one of ``chars``, with numbered pinyin."""
    if name == "pypinyin":
        found: Mapping[str, Sequence[str]] = mandarin.lexicon().phrases
    else:
        table = importlib.import_module(f"pypinyin_dict.phrase_pinyin_data.{name}").phrases_dict
        found = {phrase: [choices[0] for choices in texts] for phrase, texts in table.items()}
    return {
        phrase: [numbered(text) for text in texts]
        for phrase, texts in found.items()
        if len(phrase) == len(texts) and not chars.isdisjoint(phrase)
    }


#: How often jieba has the words that nobody uses, at most.
RARE_WORD = 3
#: Words of four characters that pypinyin has wrong, or as nobody says them.
NOT_AS_PYPINYIN = frozenset(
    """塞内加尔 阿塞拜疆 不切实际 释迦牟尼 洪都拉斯 桑给巴尔 含含糊糊 气息奄奄 怪模怪样 皮包骨头 骨头架子
    糊糊涂涂 狗血喷头 急人之难 坑蒙拐骗 常年累月 整年累月 言之过早 罪行累累 当耳边风 当耳旁风 持正不阿
    横征苛敛 横征苛役 横征暴赋 量时度力 详情度理 揆时度势 谋臣猛将 舍车保帅 翻肠倒肚 神差鬼遣 毛发倒竖
    橡皮钉子 横倒竖卧 格格不纳 格格不吐 朱颜鹤发 机不容发 尽其所有 宁死不辱 三差五错 彼唱此和 彼倡此和
    勉勉强强 等差级数""".split()
)


def ambiguous() -> set[str]:
    """The words that CC-CEDICT has several readings of."""
    table = importlib.import_module("pypinyin_dict.phrase_pinyin_data.cc_cedict").phrases_dict
    return {word for word, choices in table.items() if any(len(texts) > 1 for texts in choices)}


def _full(reading: str, others: Sequence[str]) -> str:
    """A neutral tone that only one lexicon has as the tone that another has."""
    if not reading.endswith("5") or reading in others:
        return reading
    return next((other for other in others if other[:-1] == reading[:-1]), reading)


def agreed(lexicons: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, tuple[Pinyin, list[str]]]:
    """Word of jieba's -> its pinyin, and who says so: CC-CEDICT, or where it lacks the word pypinyin and zdic.

    Of four characters, idioms for the most part, pypinyin has the best readings (刁难 *nàn*, 绝处 *chù*, 横征 apart).
    Else CC-CEDICT alone is enough: the others have *piàn* of 照片 and *zhuǎn* of 运转 wrong in the same way. A
    neutral tone needs two lexicons.
    """
    jieba.initialize()
    found, skipped = {}, ambiguous() | LEFT_OUT
    for word in lexicons["cc_cedict"].keys() | lexicons["pypinyin"].keys():
        if 1 < len(word) <= LONGEST_WORD and word not in skipped and jieba.get_FREQ(word):
            say = {name: tuple(known[word]) for name, known in lexicons.items() if word in known}
            idiom = len(word) > 3 and "pypinyin" in say and word not in NOT_AS_PYPINYIN
            first = say["pypinyin"] if idiom else say.get("cc_cedict") or say["pypinyin"]
            others = [pinyin for name, pinyin in say.items() if name != "cc_cedict"]
            first = tuple(_full(one, [other[at] for other in others]) for at, one in enumerate(first))
            agree = [name for name in LEXICONS if say.get(name) == first]
            known = "cc_cedict" in say or (idiom and jieba.get_FREQ(word) > RARE_WORD)
            if all(first) and (known or (not idiom and "zdic_cibs" in agree)):
                found[word] = first, [SOURCES[name] for name in agree]
    return found


#: How far each lexicon decides what a phrase is read as, where they differ; and the tier of the phrases it has first.
_WEIGHTS = {"pypinyin": (3.0, 0), "cc_cedict": (1.5, 1), "zdic_cibs": (1.0, 1), "large_pinyin": (0.5, 2)}
#: How often jieba has the words of each part of a tier; and how many tiers there are.
_COMMON = (2_000, 200, 10)
TIERS = 3 * (len(_COMMON) + 1)


def _part(phrase: str) -> int:
    """How rare a word is, from 0."""
    return sum((jieba.get_FREQ(phrase) or 0) < least for least in _COMMON)


def merged(lexicons: Mapping[str, Mapping[str, Sequence[str]]], numbers: Mapping[str, int]) -> dict[str, list[str]]:
    """All phrases of all lexicons; a reading is followed by its tier: of its lexicon, then of how common it is."""
    jieba.initialize()
    scores: dict[str, list[dict[str, float]]] = {}
    tiers: dict[str, int] = {}
    for name, (weight, tier) in _WEIGHTS.items():
        for phrase, readings in lexicons[name].items():
            tiers.setdefault(phrase, tier * (len(_COMMON) + 1) + _part(phrase))
            for votes, reading in zip(scores.setdefault(phrase, [{} for _ in phrase]), readings, strict=True):
                if reading in numbers:
                    votes[reading] = votes.get(reading, 0) + weight
    return {
        phrase: [f"{max(votes, key=votes.__getitem__)}/{tiers[phrase]}" if votes else "" for votes in columns]
        for phrase, columns in scores.items()
    }


def opinions(
    where: Places, classes: NDArray[np.int32], sure: NDArray[np.uint8], voters: Sequence[Voter]
) -> NDArray[np.int32]:
    """Return the reading of each teacher, (places, teachers): the network by its certainty, a lexicon by its length."""
    bucket = np.digitize(sure, _SURE)
    columns = [np.where(bucket == number, classes, -1) for number in range(len(_SURE) + 1)]
    for voter in voters:
        vote, length = voter.longest(where)
        columns += [np.where(length == 2, vote, -1), np.where(length == 3, vote, -1), np.where(length > 3, vote, -1)]
    return np.stack(columns, 1)


def candidates(told: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The different readings that are voted for, (places, MOST), -1 behind them; and who votes for which."""
    ordered = np.sort(told, 1)
    ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = -1
    readings = -np.sort(-ordered, 1)[:, :MOST]
    return readings, (told[:, None, :] == readings[:, :, None]) & (readings[:, :, None] >= 0)


def trust(told: NDArray[np.int32], gold: NDArray[np.int32]) -> NDArray[np.float64]:
    """A weight for each teacher, by logistic regression on what people read."""
    readings, votes = candidates(told)
    there = (readings == gold[:, None]).any(1)
    votes, readings, gold = votes[there].astype(float), readings[there], gold[there]
    right = (readings == gold[:, None]).argmax(1)
    rows = np.arange(len(right))

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        share = shares(votes @ weights, readings)
        value = -np.log(share[rows, right]).sum() + 0.05 * weights @ weights
        share[rows, right] -= 1
        return value, np.einsum("nk,nkj->j", share, votes) + 0.1 * weights

    found: NDArray[np.float64] = minimize(loss, np.ones(told.shape[1]), jac=True, method="L-BFGS-B").x
    return found


def shares(scores: NDArray[np.float64], readings: NDArray[np.int32]) -> NDArray[np.float64]:
    """Scores as probabilities, over the readings that there are."""
    scores = np.where(readings < 0, -np.inf, scores)
    scores = np.exp(scores - scores.max(1, keepdims=True))
    probable: NDArray[np.float64] = scores / scores.sum(1, keepdims=True)
    return probable
