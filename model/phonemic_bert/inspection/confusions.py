"""Counts of what a model gets right and wrong, and which labels it takes for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from phonemic_bert.inspection.labels import words_of
from phonemic_bert.inspection.predictions import PredictionRecord

CORRECT = "correct"
WRONG_LABEL = "wrong label"
WRONG_BOUNDARY = "wrong boundary"
WRONG_BOTH = "wrong label and boundary"
MISSED = "missed"
SPURIOUS = "spurious"

Span = tuple[int, int, str]

#: Examples that a confusion names.
_EXAMPLES = 3


@dataclass(frozen=True)
class Outcome:
    """One thing that was to be found, or was found, and what became of it.

    Attributes:
        outcome: CORRECT or the kind of error.
        gold: its label; None where it is spurious.
        predicted: the label found; None where it was missed.
        text: the piece of text; "" where the label is of the whole text.
    """

    outcome: str
    gold: str | None
    predicted: str | None
    text: str = ""


@dataclass(frozen=True)
class Confusion:
    """A kind of error with the labels that it mixes up.

    Attributes:
        outcome: the kind of error.
        gold: the right label; None for what is spurious.
        predicted: the one found; None for what was missed.
        count: how often.
        examples: the number of a line and the piece of text, the first three in the file.
    """

    outcome: str
    gold: str | None
    predicted: str | None
    count: int
    examples: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Confusions:
    """The errors of one file.

    Attributes:
        form: of the annotation, see :data:`phonemic_bert.inspection.predictions.FORMS`.
        texts: how many have both a gold and a predicted annotation.
        wrong_texts: how many of them hold an error.
        outcomes: the number of things of each outcome, CORRECT first.
        table: gold label to predicted label to the number of things, right ones among them; the key "" is for nothing:
            spurious things as gold, missed ones as predicted.
        frequent: the errors, the most frequent first.
    """

    form: str
    texts: int
    wrong_texts: int
    outcomes: dict[str, int]
    table: dict[str, dict[str, int]]
    frequent: tuple[Confusion, ...]


def outcomes_of(form: str, record: PredictionRecord) -> list[Outcome]:
    """The outcome of each label of one record, in the order of the text; none where gold or predicted is missing."""
    if not record.has_both:
        return []
    return _OUTCOMES[form](record)


def confusions(form: str, records: Sequence[PredictionRecord]) -> Confusions:
    """Counts the errors of records.

    Arguments:
        form: of their annotation.
        records: those without a gold or a predicted annotation are passed over.
    """
    counts: Counter[str] = Counter({CORRECT: 0})
    table: dict[str, dict[str, int]] = {}
    wrong: dict[tuple[str, str | None, str | None], list[tuple[int, str]]] = {}
    texts = wrong_texts = 0
    for record in records:
        if not record.has_both:
            continue
        texts += 1
        found = outcomes_of(form, record)
        wrong_texts += any(one.outcome != CORRECT for one in found)
        for one in found:
            counts[one.outcome] += 1
            row = table.setdefault(one.gold or "", {})
            row[one.predicted or ""] = row.get(one.predicted or "", 0) + 1
            if one.outcome != CORRECT:
                wrong.setdefault((one.outcome, one.gold, one.predicted), []).append((record.line, one.text))
    frequent = sorted(wrong.items(), key=lambda item: (-len(item[1]), tuple(map(str, item[0]))))
    return Confusions(
        form,
        texts,
        wrong_texts,
        {name: counts[name] for name in sorted(counts, key=lambda name: (name != CORRECT, -counts[name], name))},
        table,
        tuple(Confusion(*key, len(places), tuple(places[:_EXAMPLES])) for key, places in frequent),
    )


def match_spans(gold: Sequence[Span], predicted: Sequence[Span]) -> list[tuple[str, Span | None, Span | None]]:
    """Pairs gold spans with predicted ones, each with one other at most.

    Equal spans are paired first, then those with the same boundaries, then overlapping ones with the same label,
    then the ones that overlap, the larger overlap first; what is left is missed or spurious.

    Arguments:
        gold: (start, end, label), half-open.
        predicted: likewise.

    Returns:
        Outcome, gold span and predicted span of each pair, in the order of the text.
    """
    options = []
    for i, one in enumerate(gold):
        for j, other in enumerate(predicted):
            shared = min(one[1], other[1]) - max(one[0], other[0])
            if shared > 0:
                boundary, label = one[:2] == other[:2], one[2] == other[2]
                outcome = (CORRECT if label else WRONG_LABEL) if boundary else (WRONG_BOUNDARY if label else WRONG_BOTH)
                options.append((_ORDER.index(outcome), -shared, i, j))
    pairs: list[tuple[str, Span | None, Span | None]] = []
    used: tuple[set[int], set[int]] = (set(), set())
    for order, _, i, j in sorted(options):
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            pairs.append((_ORDER[order], gold[i], predicted[j]))
    pairs += [(MISSED, one, None) for i, one in enumerate(gold) if i not in used[0]]
    pairs += [(SPURIOUS, None, one) for j, one in enumerate(predicted) if j not in used[1]]
    return sorted(pairs, key=lambda pair: (pair[1] or pair[2] or (0, 0, ""), _ORDER.index(pair[0])))


_ORDER = (CORRECT, WRONG_LABEL, WRONG_BOUNDARY, WRONG_BOTH, MISSED, SPURIOUS)


def _of_label(record: PredictionRecord) -> list[Outcome]:
    right = record.gold == record.predicted
    return [Outcome(CORRECT if right else WRONG_LABEL, record.gold, record.predicted)]


def _of_answer(record: PredictionRecord) -> list[Outcome]:
    """Right where it is literally one of the accepted ones: the metric of the task may forgive more."""
    accepted = [answer.strip() for answer in record.gold] or [""]  # none is right where there is none
    right = record.predicted.strip() in accepted
    return [Outcome(CORRECT if right else "wrong answer", None, None, "" if right else record.predicted)]


def _of_spans(record: PredictionRecord) -> list[Outcome]:
    found = []
    for outcome, gold, predicted in match_spans(record.gold, record.predicted):
        piece = gold or predicted
        text = record.text[piece[0] : piece[1]] if piece else ""
        if outcome in (WRONG_BOUNDARY, WRONG_BOTH) and predicted:
            text += f" → {record.text[predicted[0] : predicted[1]]}"
        found.append(Outcome(outcome, gold and gold[2], predicted and predicted[2], text))
    return found


def _of_tags(record: PredictionRecord) -> list[Outcome]:
    words = words_of(record)
    return [
        Outcome(CORRECT if gold == predicted else WRONG_LABEL, gold, predicted, words[at] if words else "")
        for at, (gold, predicted) in enumerate(zip(record.gold, record.predicted, strict=True))
    ]


def _of_aspects(record: PredictionRecord) -> list[Outcome]:
    """Equal pairs are right; an aspect of both sides with another sentiment has the wrong label."""
    gold, predicted = Counter(record.gold), Counter(record.predicted)
    found = [Outcome(CORRECT, _name(one), _name(one)) for one in (gold & predicted).elements()]
    missed, spurious = list((gold - predicted).elements()), list((predicted - gold).elements())
    for one in [*missed]:
        other = next((other for other in spurious if other[0] == one[0]), None)
        if other is not None:
            missed.remove(one)
            spurious.remove(other)
            found.append(Outcome(WRONG_LABEL, _name(one), _name(other)))
    found += [Outcome(MISSED, _name(one), None) for one in missed]
    return found + [Outcome(SPURIOUS, None, _name(one)) for one in spurious]


def _name(aspect: tuple[str, str | None]) -> str:
    return aspect[0] if aspect[1] is None else f"{aspect[0]}#{aspect[1]}"


_OUTCOMES: dict[str, Callable[[PredictionRecord], list[Outcome]]] = {
    "label": _of_label,
    "spans": _of_spans,
    "tags": _of_tags,
    "aspects": _of_aspects,
    "answer": _of_answer,
}


def is_correct(form: str | None, record: PredictionRecord) -> bool | None:
    """Whether a record holds no error; None where it has no gold or no predicted annotation."""
    if form is None or not record.has_both:
        return None
    return all(one.outcome == CORRECT for one in outcomes_of(form, record))
