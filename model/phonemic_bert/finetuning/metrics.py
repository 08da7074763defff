"""The metrics of the paper's tasks, each by the rules of those who defined it."""

from __future__ import annotations

import re
import string
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import Any

from phonemic import InputError
from phonemic.files import require
from phonemic.tasks.examples import Span

#: Punctuation by the official CMRC 2018 script, which leaves it out.
_CMRC_PUNCTUATION = frozenset("-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")
#: A Chinese character; a word or number of other characters, with inner points (``3.5kg``, ``1,000``); or a sign.
_CMRC_PIECE = re.compile(r"[\u4e00-\u9fa5]|[^\W\u4e00-\u9fa5]+(?:\.[^\W\u4e00-\u9fa5]+|,\d+)*|[^\w\s]")
_PUNCTUATION = str.maketrans("", "", string.punctuation)

Scores = dict[str, float]


def score(metric: str, gold: Sequence[Any], predicted: Sequence[Any], *, lang: str) -> Scores:
    """Compares what was predicted with the gold annotation.

    ``accuracy`` and ``macro-f1`` are scikit-learn's; macro-F1 averages over every label that is in gold or predicted.
    ``span-f1`` is seqeval's micro-average in strict mode: a span counts if both ends and the label are right. Since
    spans are in characters, encoders with different tokenizers are comparable. ``exact-match`` and ``answer-f1`` are
    the best over the accepted answers. Vietnamese: SQuAD's rules without its English articles (lower case, ASCII
    punctuation left out, a bag of tokens between whitespace). Chinese: the rules of the official CMRC 2018 script
    (its punctuation left out; the longest common run of characters, and of words of other scripts, which are cut here
    without NLTK). A question without an answer is answered rightly by an empty one. A ratio that is 0 / 0, such as
    that of no spans, is 0.

    Arguments:
        metric: a dataset's ``metric``.
        gold: one item an example. ``accuracy`` and ``macro-f1``: a label, or the index of a choice. ``macro-f1`` and
            ``token-macro-f1`` of tagging: the tags of the example. ``macro-f1`` of aspect sentiment: its (aspect,
            sentiment) pairs. ``span-f1``: its spans, which may lie in one another. ``exact-match``, ``answer-f1``: the
            texts of the accepted answers.
        predicted: one item an example, in the same order and of the same form; for questions one text.
        lang: ``"vi"`` or ``"zh"``, which says by which rules answers are compared.

    Returns:
        Scores from 0 to 1: the metric under its own name first, then what belongs next to it.

    Raises:
        InputError: spans are empty or reversed.
        PhonemicError: scikit-learn or seqeval is not installed.
        ValueError: there is nothing to score; not as many predictions as gold items, or tags; an example without gold;
            the metric or the language is unknown.
    """
    if metric not in _METRICS:
        raise ValueError(f"unknown metric {metric!r}: choose one of {', '.join(_METRICS)}")
    if lang not in _ANSWERS:
        raise ValueError(f"unknown language {lang!r}: choose one of {', '.join(_ANSWERS)}")
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold items, but {len(predicted)} predictions")
    if not gold:
        raise ValueError("nothing to score: there is no example with gold labels")
    for what, items in (("gold label", gold), ("prediction", predicted)):
        missing = next((at for at, item in enumerate(items) if item is None), None)
        if missing is not None:
            raise ValueError(f"example {missing} has no {what}: leave out unlabelled examples")
    scores = _METRICS[metric](gold, predicted, lang)
    return {metric: scores[metric]} | scores


# --- labels and tags


def _labels(gold: Sequence[Any], predicted: Sequence[Any], lang: str) -> Scores:
    """Accuracy and macro-F1 of labels, of tags or of (aspect, sentiment) pairs."""
    if isinstance(gold[0], int):
        return {"accuracy": _sklearn("accuracy_score", gold, predicted)}
    if not isinstance(gold[0], str):
        if any(isinstance(value, tuple) for value in chain.from_iterable((*gold, *predicted))):
            return _aspects(gold, predicted)
        gold, predicted = _flat(gold, predicted)
    macro = _sklearn("f1_score", gold, predicted, average="macro", zero_division=0)
    return {"accuracy": _sklearn("accuracy_score", gold, predicted), "macro-f1": macro}


def _aspects(gold: Sequence[Any], predicted: Sequence[Any]) -> Scores:
    """Macro-F1 over the (aspect, sentiment) pairs, each a class of its own, and over the aspects alone."""
    scores = {}
    for name, of in (("macro-f1", tuple), ("aspect-macro-f1", lambda pair: pair[0])):
        sides = [[{of(pair) for pair in pairs} for pairs in side] for side in (gold, predicted)]
        classes = sorted(set().union(*chain(*sides)), key=str)
        rows = [[[int(one in pairs) for one in classes] for pairs in side] for side in sides]
        scores[name] = _sklearn("f1_score", *map(_matrix, rows), average="macro", zero_division=0)
    return scores


def _matrix(rows: list[list[int]]) -> Any:
    """Several yes-or-no labels a row, in the form that scikit-learn takes for that even with one column."""
    return require("scipy.sparse", "finetune").csr_matrix(rows)


def _tags(gold: Sequence[Any], predicted: Sequence[Any], lang: str) -> Scores:
    scores = _labels(*_flat(gold, predicted), lang)
    return {"token-macro-f1": scores["macro-f1"], "accuracy": scores["accuracy"]}


def _flat(gold: Sequence[Any], predicted: Sequence[Any]) -> tuple[list[str], list[str]]:
    """The tags of all examples, one after the other."""
    for at, (right, found) in enumerate(zip(gold, predicted, strict=True)):
        if len(right) != len(found):
            raise ValueError(f"example {at}: {len(right)} gold tags, but {len(found)} predicted")
    tags = list(chain.from_iterable(gold))
    if not tags:
        raise ValueError("nothing to score: no example has a tag")
    return tags, list(chain.from_iterable(predicted))


def _sklearn(name: str, *arguments: Any, **options: Any) -> float:
    metrics = require("sklearn.metrics", "finetune")
    with warnings.catch_warnings():
        # It guesses that few examples of many labels are numbers to regress on.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        return float(getattr(metrics, name)(*arguments, **options))


# --- spans


def _spans(gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]], lang: str) -> Scores:
    """By seqeval over IOB2 tags; a position is a stretch of characters in which no span begins or ends.

    Spans that overlap lie in rows of their own: only equal spans, which share a row, count as found.
    """
    measure = require("seqeval.metrics.v1", "finetune").precision_recall_fscore_support
    numbers: dict[str, int] = {}  # seqeval strips hyphens from labels, and takes numbers as well
    sides: tuple[list[list[str]], list[list[str]]] = ([], [])
    for at, pair in enumerate(zip(gold, predicted, strict=True)):
        found = tuple(frozenset(spans) for spans in pair)
        for row in _rows(found[0] | found[1], f"example {at}"):
            edges = sorted({edge for span in row for edge in (span.start, span.end)})
            for side, spans in zip(sides, found, strict=True):
                side.append(_iob2(row & spans, edges, numbers))
    strict = require("seqeval.scheme", "finetune").IOB2
    precision, recall, f1, _ = measure(*sides, average="micro", mode="strict", scheme=strict, zero_division=0)
    return {"span-f1": float(f1), "span-precision": float(precision), "span-recall": float(recall)}


def _rows(spans: Iterable[Span], place: str) -> list[set[Span]]:
    """The spans in rows, in none of which two overlap; at least one row."""
    rows: list[set[Span]] = [set()]
    ends = [0]
    for span in sorted(spans, key=lambda span: (span.start, span.end, span.label)):
        if not 0 <= span.start < span.end:
            raise InputError(f"{place}: a span from {span.start} to {span.end} holds no character")
        free = next((at for at, end in enumerate(ends) if end <= span.start), None)
        if free is None:
            free = len(rows)
            rows.append(set())
            ends.append(0)
        rows[free].add(span)
        ends[free] = span.end
    return rows


def _iob2(spans: Iterable[Span], edges: Sequence[int], numbers: dict[str, int]) -> list[str]:
    where = {edge: at for at, edge in enumerate(edges)}
    tags = ["O"] * max(len(edges) - 1, 1)  # seqeval takes no empty sequence
    for span in spans:
        number = numbers.setdefault(span.label, len(numbers))
        for at in range(where[span.start], where[span.end]):
            tags[at] = f"I-{number}"
        tags[where[span.start]] = f"B-{number}"
    return tags


# --- answers


def _answers(gold: Sequence[Sequence[str]], predicted: Sequence[str], lang: str) -> Scores:
    exact, overlap = _ANSWERS[lang]
    pairs = [(tuple(accepted) or ("",), answer) for accepted, answer in zip(gold, predicted, strict=True)]
    return {
        name: sum(max(float(measure(text, answer)) for text in accepted) for accepted, answer in pairs) / len(pairs)
        for name, measure in (("exact-match", exact), ("answer-f1", overlap))
    }


def _squad_exact(gold: str, answer: str) -> bool:
    return _squad_tokens(gold) == _squad_tokens(answer)


def _squad_f1(gold: str, answer: str) -> float:
    """SQuAD's overlap: of the bags of tokens."""
    right, found = _squad_tokens(gold), _squad_tokens(answer)
    return _f1((Counter(right) & Counter(found)).total(), len(right), len(found))


def _squad_tokens(text: str) -> list[str]:
    return text.lower().translate(_PUNCTUATION).split()


def _cmrc_exact(gold: str, answer: str) -> bool:
    return _cmrc_text(gold) == _cmrc_text(answer)


def _cmrc_f1(gold: str, answer: str) -> float:
    """CMRC's overlap: the longest run of pieces that both hold."""
    right, found = _CMRC_PIECE.findall(_cmrc_text(gold)), _CMRC_PIECE.findall(_cmrc_text(answer))
    common = SequenceMatcher(None, right, found, autojunk=False).find_longest_match()
    return _f1(common.size, len(right), len(found))


def _cmrc_text(text: str) -> str:
    return "".join(char for char in text.lower().strip() if char not in _CMRC_PUNCTUATION)


def _f1(common: int, gold: int, found: int) -> float:
    if not gold or not found:
        return float(gold == found)
    return 2 * common / (gold + found)


#: By language: does an answer match, and how much of it.
_ANSWERS: dict[str, tuple[Callable[[str, str], bool], Callable[[str, str], float]]] = {
    "vi": (_squad_exact, _squad_f1),
    "zh": (_cmrc_exact, _cmrc_f1),
}
_METRICS: dict[str, Callable[[Sequence[Any], Sequence[Any], str], Scores]] = {
    "accuracy": _labels,
    "macro-f1": _labels,
    "exact-match": _answers,
    "answer-f1": _answers,
    "span-f1": _spans,
    "token-macro-f1": _tags,
}
