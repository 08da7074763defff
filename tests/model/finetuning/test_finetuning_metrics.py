"""The metrics: examples worked by hand, the libraries that define them, and what must hold for any input."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn", reason="the metrics need scikit-learn: phonemic[finetune]")
pytest.importorskip("seqeval", reason="the metrics need seqeval: phonemic[finetune]")
pytest.importorskip("torch", reason="phonemic_bert needs torch: phonemic[model]")

from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from phonemic import InputError
from phonemic.tasks import Span
from phonemic_bert.finetuning.metrics import score


def spans(*places: tuple[int, int, str]) -> tuple[Span, ...]:
    return tuple(Span(*place) for place in places)


# --- labels


def test_accuracy() -> None:
    scores = score("accuracy", ["a", "a", "b", "c"], ["a", "b", "b", "c"], lang="zh")
    # F1: a 2*1/(2+1) = 2/3, b 2*1/(1+2) = 2/3, c 1
    assert scores == {"accuracy": 0.75, "macro-f1": pytest.approx((2 / 3 + 2 / 3 + 1) / 3)}
    assert list(scores) == ["accuracy", "macro-f1"]


def test_macro_f1_comes_first_where_it_is_the_metric() -> None:
    assert list(score("macro-f1", ["a"], ["a"], lang="vi")) == ["macro-f1", "accuracy"]


def test_a_class_that_gold_lacks_counts_as_zero() -> None:
    # a: precision 1, recall 1/2, F1 2/3; b is predicted only, F1 0
    assert score("macro-f1", ["a", "a"], ["a", "b"], lang="vi")["macro-f1"] == pytest.approx(1 / 3)


def test_choices_have_an_accuracy_only() -> None:
    assert score("accuracy", [0, 1, 3, 2], [0, 1, 2, 2], lang="zh") == {"accuracy": 0.75}


def test_many_labels_and_few_examples() -> None:
    labels = [str(number) for number in range(100)]
    assert score("accuracy", labels, labels, lang="zh") == {"accuracy": 1.0, "macro-f1": 1.0}


def test_aspects() -> None:
    gold = [(("CAMERA", "Positive"), ("OTHERS", None)), (("CAMERA", "Negative"),)]
    predicted = [(("CAMERA", "Positive"),), (("CAMERA", "Positive"),)]
    # pairs: CAMERA+ 2/3 (one of two right, none missed), CAMERA- 0, OTHERS 0; aspects: CAMERA 1, OTHERS 0
    scores = score("macro-f1", gold, predicted, lang="vi")
    assert scores == {"macro-f1": pytest.approx(2 / 9), "aspect-macro-f1": 0.5}


# --- tags


def test_tags_of_all_examples_are_counted_together() -> None:
    gold, predicted = [["N", "V"], ["N"]], [["N", "N"], ["N"]]
    # N: precision 2/3, recall 1, F1 0.8; V: 0
    expected = {"macro-f1": pytest.approx(0.4), "accuracy": pytest.approx(2 / 3)}
    assert score("macro-f1", gold, predicted, lang="vi") == expected


def test_token_macro_f1() -> None:
    gold, predicted = [["O", "B-T", "I-T"], [], ["O"]], [["O", "B-T", "O"], [], ["O"]]
    # O: precision 2/3, recall 1, F1 0.8; B-T: 1; I-T: 0
    scores = score("token-macro-f1", gold, predicted, lang="vi")
    assert scores == {"token-macro-f1": pytest.approx(0.6), "accuracy": 0.75}


# --- spans


def test_span_f1() -> None:
    gold = [spans((0, 3, "PER"), (3, 5, "LOC")), spans((2, 4, "PER"))]
    predicted = [spans((0, 3, "PER"), (3, 6, "LOC")), spans((2, 4, "LOC"), (5, 6, "PER"))]
    # one of four predicted is right, of three gold
    scores = score("span-f1", gold, predicted, lang="zh")
    assert scores == {
        "span-f1": pytest.approx(2 / 7),
        "span-precision": 0.25,
        "span-recall": pytest.approx(1 / 3),
    }


def test_adjacent_spans_of_one_label_stay_two() -> None:
    assert score("span-f1", [spans((0, 2, "A"), (2, 4, "A"))], [spans((0, 4, "A"))], lang="zh")["span-f1"] == 0


@pytest.mark.parametrize("predicted", [(), spans((0, 1, "A"))])
def test_span_f1_without_gold_spans_is_zero(predicted: tuple[Span, ...]) -> None:
    assert score("span-f1", [()], [predicted], lang="zh")["span-f1"] == 0


def test_span_f1_without_predictions_is_zero() -> None:
    assert score("span-f1", [spans((0, 1, "A"))], [()], lang="zh")["span-f1"] == 0


def test_spans_within_others() -> None:
    """As 《招商银行：…》 in CLUENER: a book, and a company in its name."""
    gold = [spans((0, 12, "book"), (1, 5, "company"), (7, 11, "company")), spans((0, 3, "A"), (2, 4, "B"))]
    found = [spans((0, 12, "book"), (1, 5, "company"), (7, 10, "company")), spans((0, 3, "A"), (0, 3, "B"))]
    scores = score("span-f1", gold, found, lang="zh")
    assert scores == {name: pytest.approx(3 / 5) for name in ("span-f1", "span-precision", "span-recall")}
    assert score("span-f1", gold, gold, lang="zh")["span-f1"] == 1


def test_empty_spans_are_refused() -> None:
    with pytest.raises(InputError, match="example 0: a span from 2 to 2 holds no character"):
        score("span-f1", [()], [spans((2, 2, "A"))], lang="zh")


LABELS = st.sampled_from(["A", "B", "-", "SER&ACC", "C-"])


@st.composite
def annotations(draw: st.DrawFn) -> tuple[Span, ...]:
    edges = sorted(draw(st.sets(st.integers(0, 12), max_size=7)))
    kept = [(start, end) for start, end in pairwise(edges) if draw(st.booleans())]
    return tuple(Span(start, end, draw(LABELS)) for start, end in draw(st.permutations(kept)))


def characters(annotation: tuple[Span, ...]) -> list[str]:
    """IOB2 a character, as seqeval's users write it; hyphens, which it strips, as words."""
    tags = ["O"] * 12
    for span in annotation:
        label = span.label.replace("-", "hyphen")
        tags[span.start : span.end] = [f"B-{label}"] + [f"I-{label}"] * (span.end - span.start - 1)
    return tags


@given(st.lists(st.tuples(annotations(), annotations()), min_size=1, max_size=5))
def test_span_f1_is_that_of_sets_and_of_seqeval_by_characters(pairs: list[tuple[tuple[Span, ...], ...]]) -> None:
    gold, predicted = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    scores = score("span-f1", gold, predicted, lang="vi")
    right = sum(len(set(one) & set(other)) for one, other in pairs)
    total = sum(len(one) + len(other) for one, other in pairs)
    assert scores["span-f1"] == pytest.approx(2 * right / total if total else 0)
    sides = [characters(one) for one in gold], [characters(one) for one in predicted]
    for name, measure in (("f1", f1_score), ("precision", precision_score), ("recall", recall_score)):
        assert scores[f"span-{name}"] == pytest.approx(measure(*sides, mode="strict", scheme=IOB2, zero_division=0))


SPANS = st.lists(
    st.builds(lambda start, size, label: Span(start, start + size, label), st.integers(0, 6), st.integers(1, 6), LABELS)
)


@given(st.lists(st.tuples(SPANS, SPANS), min_size=1, max_size=4))
def test_span_f1_of_spans_that_overlap_is_that_of_sets(pairs: list[tuple[list[Span], list[Span]]]) -> None:
    gold, predicted = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    right = sum(len(set(one) & set(other)) for one, other in pairs)
    total = sum(len(set(one)) + len(set(other)) for one, other in pairs)
    scores = score("span-f1", gold, predicted, lang="vi")
    assert scores["span-f1"] == pytest.approx(2 * right / total if total else 0)


# --- answers


@pytest.mark.parametrize(
    ("accepted", "answer", "exact", "overlap"),
    [
        (("Hà Nội",), "hà nội.", 1, 1),
        (("thủ đô Hà Nội",), "Hà Nội", 0, 2 * 2 / (4 + 2)),
        (("Hà Nội", "thủ đô Hà Nội"), "đô Hà Nội", 0, 2 * 3 / (4 + 3)),  # the better one
        (("ba ba", "x"), "ba", 0, 2 / 3),  # a bag, not a set
        (("TP.HCM",), "TPHCM", 1, 1),  # punctuation is left out, not a border
        (("a và the",), "và", 0, 0.5),  # English articles are words here
        (("Huế",), "Vinh", 0, 0),
        ((), "", 1, 1),
        ((), "Vinh", 0, 0),
        (("Huế",), "", 0, 0),
    ],
)
def test_vietnamese_answers(accepted: tuple[str, ...], answer: str, exact: float, overlap: float) -> None:
    scores = score("answer-f1", [accepted], [answer], lang="vi")
    assert scores == {"answer-f1": pytest.approx(overlap), "exact-match": exact}


@pytest.mark.parametrize(
    ("accepted", "answer", "exact", "overlap"),
    [
        (("北京大学",), "“北京大学”。", 1, 1),
        (("北京大学",), "大学", 0, 2 * 2 / (4 + 2)),
        (("北京大学",), "北大", 0, 2 * 1 / (4 + 2)),  # the longest run, not the bag: that would be 2 of 4 + 2
        (("1984年", "1985年"), "1985年", 1, 1),
        (("1,984.5米",), "1,984.5", 0, 2 * 1 / (2 + 1)),  # a number is one piece
        (("Windows XP系统",), "windows xp", 0, 2 * 2 / (4 + 2)),
        (("Windows XP",), "WindowsXP", 0, 0),  # a space inside counts
        (("…",), "", 0, 0),  # which the script does not leave out
        (("天", "地"), "人", 0, 0),
    ],
)
def test_chinese_answers(accepted: tuple[str, ...], answer: str, exact: float, overlap: float) -> None:
    scores = score("exact-match", [accepted], [answer], lang="zh")
    assert scores == {"exact-match": exact, "answer-f1": pytest.approx(overlap)}
    assert list(scores) == ["exact-match", "answer-f1"]


def test_answers_are_averaged_over_questions() -> None:
    scores = score("answer-f1", [("Huế",), ("Hà Nội",), ("Vinh",)], ["Huế", "Hà", "Huế"], lang="vi")
    assert scores == {"answer-f1": pytest.approx((1 + 2 / 3) / 3), "exact-match": pytest.approx(1 / 3)}


@given(st.lists(st.text("ab ,.Éà北", max_size=12), min_size=1, max_size=3), st.text("ab ,.Éà北", max_size=12))
def test_transformers_has_the_same_answer_scores(accepted: list[str], answer: str) -> None:
    squad = pytest.importorskip("transformers.data.metrics.squad_metrics", reason="transformers 5 has no SQuAD metrics")
    # one letter "a" is an English article to SQuAD, and to us a word
    accepted, answer = [text.replace("a", "ă") for text in accepted], answer.replace("a", "ă")
    scores = score("answer-f1", [tuple(accepted)], [answer], lang="vi")
    assert scores["exact-match"] == max(squad.compute_exact(text, answer) for text in accepted)
    assert scores["answer-f1"] == pytest.approx(max(squad.compute_f1(text, answer) for text in accepted))


@given(st.lists(st.text("ab,.。北京 ", max_size=8), min_size=1), st.sampled_from(["vi", "zh"]))
def test_an_accepted_answer_matches(accepted: list[str], lang: str) -> None:
    scores = score("exact-match", [tuple(accepted)], [accepted[-1]], lang=lang)
    assert scores == {"exact-match": 1, "answer-f1": 1}


# --- what cannot be scored


@pytest.mark.parametrize(
    ("metric", "gold", "predicted", "message"),
    [
        ("f1", ["a"], ["a"], "unknown metric 'f1': choose one of accuracy, macro-f1"),
        ("accuracy", ["a"], [], "1 gold items, but 0 predictions"),
        ("accuracy", [], [], "nothing to score"),
        ("token-macro-f1", [[]], [[]], "nothing to score"),
        ("accuracy", ["a", None], ["a", "a"], "example 1 has no gold label"),
        ("macro-f1", [["N"], ["N", "V"]], [["N"], ["N"]], "example 1: 2 gold tags, but 1 predicted"),
    ],
)
def test_errors(metric: str, gold: list[object], predicted: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(metric, gold, predicted, lang="vi")


def test_an_unknown_language() -> None:
    with pytest.raises(ValueError, match="unknown language 'en': choose one of vi, zh"):
        score("accuracy", ["a"], ["a"], lang="en")
