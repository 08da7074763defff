"""Words that share a character: the cheapest path of words through a text, and the readings that it decides."""

import random
from itertools import pairwise, product
from pathlib import Path

import pytest

pytest.importorskip("pypinyin", reason="the reference needs pypinyin")

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.readings import boundaries
from phonemic import Tokenizer, mandarin, reference
from phonemic.reading.context import Reader, reader
from phonemic.reading.models import reviewed
from phonemic.reading.segmentation import SILENT, UNKNOWN, Span, Words, words

CONTEXT = Tokenizer("zh", readings="context")
PHRASES = Path(__file__).resolve().parents[1] / "benchmarks" / "readings"
LETTERS = "甲乙丙丁"


def phrases():
    return [case.text for name in ("independent", "unseen") for case in boundaries.cases(PHRASES / f"{name}.txt")]


def said(text, tokenizer=CONTEXT):
    return tokenizer.decode(tokenizer.encode(text).ids, to="numbers")


def cuts(length):
    """Every way to cut a text into words of one to three characters: the places of the borders."""
    for borders in product([False, True], repeat=max(0, length - 1)):
        places = [0, *(place for place, border in enumerate(borders, 1) if border), length]
        if all(end - begin <= 3 for begin, end in pairwise(places)):
            yield places


@given(
    st.dictionaries(st.text(LETTERS, min_size=1, max_size=3), st.integers(1, 60), max_size=12),
    st.text(LETTERS, min_size=1, max_size=7),
    st.data(),
)
def test_a_path_costs_as_much_as_the_cheapest_of_all(listed, text, data):
    at = data.draw(st.integers(0, len(text) - 1))
    costs = {}
    for places in cuts(len(text)):
        spans = [Span(*pair) for pair in pairwise(places)]
        own = [
            listed.get(text[span.begin : span.end], UNKNOWN if span.end - span.begin == 1 else None) for span in spans
        ]
        if None not in own:
            (around,) = (span for span in spans if span.begin <= at < span.end)
            costs[around] = min(costs.get(around, 1 << 20), sum(own))
    found = Words(dict(sorted(listed.items(), key=lambda row: row[1]))).spans([*map(ord, text)], at)
    assert found == costs
    assert [*found] == sorted(found)


def test_words_are_found_and_others_are_not():
    known, dice = words(), random.Random(0)
    kept = [word for bucket in known.buckets for word in bucket.values()]
    assert len(kept) > 0.95 * len(known.numbers)
    assert all(known.word([*map(ord, word)]) == word for word in kept[::7])
    others = ["".join(map(chr, dice.sample(range(0x4E00, 0x9FA6), 2))) for _ in range(20_000)]
    found = [word for word in others if word not in known.numbers and known.word([*map(ord, word)])]
    assert len(found) < 20  # one in 10,000 has the key of a word


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("如何处理", "ru2 he2 chu3 li3"),
        ("他就要求进攻", "ta1 jiu4 yao1 qiu2 jin4 gong1"),
        ("无一不要求", "wu2 yi1 bu4 yao1 qiu2"),
        ("身处长春", "shen1 chu3 chang2 chun1"),
        ("城市零星空地", "cheng2 shi4 ling2 xing1 kong4 di4"),
        ("井下作业", "jing3 xia4 zuo4 ye4"),
        ("今年寒假如何", "jin1 nian2 han2 jia4 ru2 he2"),
        ("受到处分", "shou4 dao4 chu3 fen4"),
        ("處理", "chu3 li3"),
        ("如何處理", "ru2 he2 chu3 li3"),
    ],
)
def test_the_likelier_words_decide(text, pinyin):
    """As dictionaries have these words. The core reads what the reference does."""
    assert said(text) == pinyin
    assert " ".join(reader().read(text, at) for at in range(len(text))) == pinyin


def test_what_decides_is_told():
    assert reader().decider("如何处理", 2) == "处理"
    assert reader().decider("处理", 0) is None
    assert reader().decider("他就要求进攻", 2) == "要求"


def test_without_words_models_decide():
    text, at = "如何处理", 2
    assert Reader(reader().data, Words({})).read(text, at) == "chu4"
    numbers = dict(words().numbers)
    assert Reader(reader().data, Words(numbers)).read(text, at) == "chu3"
    numbers["处理"] |= SILENT
    assert Reader(reader().data, Words(numbers)).read(text, at) == "chu4"
    assert Reader(reader().data, Words(dict(words().numbers), margin=60)).read(text, at) == "chu4"


def test_a_reviewed_word_of_three_characters_stays():
    for word in ("背着手", "晚上将", "先生还"):
        assert said(word).split() == reviewed()[word], word


def test_the_core_reads_phrases_with_shared_characters_as_the_reference_does():
    for text in phrases():
        encoding = CONTEXT.encode(text)
        read = [reader().read(text, start) for start, _ in encoding.spans.tolist()]
        assert [mandarin.factorize(one) for one in read] == encoding.triples, text


def test_what_only_has_the_key_of_a_word_shares_nothing():
    known, dice = words(), random.Random(2)
    varying = [word for word in known.numbers if len(word) == 2 and word[1] in reader().data.models]
    texts = []
    while len(texts) < 20:
        word, behind = dice.choice(varying), chr(dice.randrange(0x4E00, 0x9FA6))
        pair = word[1] + behind
        if not known.has([*map(ord, pair)]) and known.word([*map(ord, pair)]):
            texts.append(word + behind)
    for text in texts:
        assert reader().decider(text, 1) is None, text
        assert CONTEXT.encode(text).triples[1] == mandarin.factorize(reader().read(text, 1)), text
    assert reader().number_alone("不", 1) == 0  # longer than the word that it is taken for


def test_marks_between_characters_change_nothing():
    dice = random.Random(1)
    for text in dice.sample(phrases(), 100):
        marked = "".join(char + dice.choice(["", "\ufe00", "\u200d", "\u0301"]) for char in text)
        assert CONTEXT.encode(marked).triples == CONTEXT.encode(text).triples, ascii(marked)
        expected = [position.triple for position in reference.encode(marked, "zh", readings="context")]
        assert CONTEXT.encode(marked).triples == expected, ascii(marked)


def test_a_users_phrase_wins():
    own = Tokenizer("zh", readings="context", phrases={"何处": "he2 chu4"})
    assert said("如何处理", own) == "ru2 he2 chu4 li3"
