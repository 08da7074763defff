"""Every kind of task learns a rule; rows hold what they must; answers are the best there are."""

from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("sklearn", reason="needs the finetune extra")
pytest.importorskip("seqeval", reason="needs the finetune extra")

from hypothesis import given
from hypothesis import strategies as st
from synthetic import RULES, dataset, made, settings, sweep

from phonemic import tasks
from phonemic.tasks import (
    Answer,
    AspectExample,
    ChoiceExample,
    CoreferenceExample,
    PairExample,
    QuestionExample,
    Span,
    TaggedExample,
)
from phonemic_bert.errors import RunError
from phonemic_bert.finetuning.encoders import load_encoder
from phonemic_bert.finetuning.kinds import make_kind
from phonemic_bert.finetuning.kinds.classification import mark
from phonemic_bert.finetuning.kinds.questions import best_span
from phonemic_bert.finetuning.metrics import score
from phonemic_bert.finetuning.training import predict


@pytest.fixture(scope="module")
def encoder(checkpoint):
    return load_encoder(checkpoint())


@pytest.fixture(scope="module")
def kind_of(encoder, tmp_path_factory):
    def make(kind, metric, labels=None, **text):
        folder = tmp_path_factory.mktemp("set")
        given = {} if labels is None else {"labels": labels}
        made = settings(**{f"text__{name}": value for name, value in text.items()})
        return make_kind(dataset(folder, kind, metric, **given), "label", encoder, made.text)

    return make


@pytest.mark.parametrize(("kind", "metric"), RULES)
def test_each_kind_learns_a_rule(kind, metric, checkpoint, tmp_path):
    """By chance: a half, a third and less; spans, answers and aspects near nothing."""
    outcome = sweep(tmp_path / "results", [(dataset(tmp_path, kind, metric), tmp_path)], [checkpoint()])
    assert not outcome.failures
    [result] = outcome.results
    assert result["metric"] == metric == next(iter(result["test"])) == next(iter(result["dev"]))
    assert result["test"][metric] > 0.9, result
    assert result["examples"] == {"train": 240, "dev": 40, "test": 60}
    assert result["unreachable_gold"] == 0


def untrained(kind, examples, rows):
    torch.manual_seed(0)
    model = kind.encoder.model(kind.head, max(len(kind.labels), 1)).eval()
    return predict(kind, model, rows, settings())


# --- texts


def test_one_pass_gives_every_aspect_one_value(kind_of):
    kind = kind_of("aspect-sentiment", "macro-f1")
    assert kind.labels == (
        *("PIN#none", "PIN#Positive", "PIN#Negative"),
        *("GIÁ#none", "GIÁ#Positive", "GIÁ#Negative"),
        *("OTHERS#none", "OTHERS#mentioned"),
    )
    example = AspectExample("máy", (("GIÁ", "Negative"), ("OTHERS", None)))
    [row] = kind.rows([example], train=True)
    assert row.labels == [0, 2, 1]
    output = np.zeros(8)
    output[[0, 5, 7]] = 1
    assert kind.predicted([example], [row], [output]) == [example.aspects]
    logits, labels = torch.randn(3, 8), torch.tensor([[0, 2, 1], [2, 0, 0], [1, 1, 1]])
    parts = [torch.log_softmax(logits[:, cut], -1) for cut in (slice(0, 3), slice(3, 6), slice(6, 8))]
    want = -sum(part[at, labels[at, number]] for number, part in enumerate(parts) for at in range(3)) / 9
    assert kind.loss(logits, labels) == pytest.approx(want.item(), rel=1e-5)


def test_pairs_cut_the_longer_text(kind_of, encoder):
    kind = kind_of("sentence-pair", "accuracy", max_seq_length=16)
    [row] = kind.rows([PairExample("nhà " * 40, "có hoa", "có")])
    text = encoder.tokenizer.decode(row.inputs["input_ids"])
    assert row.length == 16
    assert "có hoa" in text


def test_marks_stand_around_candidate_and_pronoun():
    example = CoreferenceExample("An chào Chi rồi nó đi", Span(8, 11, "span1"), Span(16, 18, "span2"), "true")
    assert mark(example, "[", "]", "(", ")") == "An chào [Chi] rồi (nó) đi"
    reverse = CoreferenceExample("nó là An", Span(6, 8, "span1"), Span(0, 2, "span2"), "true")
    assert mark(reverse, "[", "]", "(", ")") == "(nó) là [An]"
    touching = CoreferenceExample("小明他在", Span(0, 2, "span1"), Span(2, 3, "span2"), "true")
    assert mark(touching, "[", "]", "(", ")") == "[小明](他)在"


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_every_mark_is_a_symbol_of_its_own(lang):
    from phonemic_bert import PhonemicBertTokenizer
    from phonemic_bert.finetuning.kinds.classification import Coreference

    ids = PhonemicBertTokenizer(lang)("".join(Coreference.marks), add_special_tokens=False)["input_ids"]
    assert len(set(ids)) == 4
    assert PhonemicBertTokenizer(lang).unk_token_id not in ids


def test_a_long_text_is_cut_around_what_is_marked(kind_of, encoder):
    kind = kind_of("coreference", "accuracy", max_seq_length=32)
    text = "nhà " * 60 + "An đi và nó xem" + " hoa" * 60
    start = text.index("An")
    example = CoreferenceExample(text, Span(start, start + 2, "span1"), Span(start + 9, start + 11, "span2"), "true")
    [row] = kind.rows([example])
    assert row.length == 32
    assert "[ an ] đi và ( nó )" in encoder.tokenizer.decode(row.inputs["input_ids"])


# --- choices


def test_only_the_context_is_cut(kind_of, encoder):
    kind = kind_of("multiple-choice", "accuracy", max_seq_length=20)
    [row] = kind.rows([ChoiceExample("nhà " * 50, "hỏi gì đó", ("trả lời một", "hai"), 1)], train=True)
    texts = [encoder.tokenizer.decode(choice["input_ids"], skip_special_tokens=True) for choice in row.inputs]
    assert [text.replace("nhà ", "") for text in texts] == ["hỏi gì đó trả lời một", "hỏi gì đó hai"]
    assert [len(choice["input_ids"]) for choice in row.inputs] == [20, 20]
    with pytest.raises(RunError, match=r"take 30 positions.*rows of 20; raise text\.max_seq_length"):
        kind.rows([ChoiceExample("nhà", "hỏi " * 29, ("một",), 0)])


def test_questions_with_fewer_choices_are_as_if_alone(kind_of):
    kind = kind_of("multiple-choice", "accuracy")
    examples = [
        ChoiceExample("nhà hoa", "gì", ("một", "hai ba bốn"), 1),
        ChoiceExample("cây", "ai", ("An", "Chi", "Bình", "nó"), 2),
    ]
    rows = kind.rows(examples, train=True)
    torch.manual_seed(0)
    model = kind.encoder.model("choice").eval()
    together = predict(kind, model, rows, settings())
    alone = [predict(kind, model, [row], settings())[0] for row in rows]
    assert np.allclose(together[0][:2], alone[0], atol=1e-5)
    assert np.allclose(together[1], alone[1], atol=1e-5)
    assert kind.predicted(examples, rows, [np.array([0, 1, 9, 9]), np.array([0, 1, 9, 3])]) == [1, 2]
    batch = kind.collate(rows)
    loss = kind.loss(torch.tensor(np.stack(together)), batch["labels"])
    want = [
        torch.nn.functional.cross_entropy(torch.tensor(one), torch.tensor(row.labels))
        for one, row in zip(alone, rows, strict=True)
    ]
    assert loss.item() == pytest.approx(sum(want).item() / 2, rel=1e-4)


# --- questions


@st.composite
def scored(draw):
    """Positions in order, some of no width, with scores; and the longest answer."""
    sizes = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=9))
    offsets, at = [], 0
    for gap, width in sizes:
        offsets.append((at + gap, at + gap + width))
        at += gap + width
    values = st.floats(-20, 20, width=32)
    scores = draw(st.lists(st.tuples(values, values), min_size=len(offsets), max_size=len(offsets)))
    return (
        np.array(scores, np.float32).reshape(-1, 2),
        np.array(offsets, np.int32).reshape(-1, 2),
        draw(st.integers(1, 12)),
    )


@given(scored())
def test_the_best_span_is_the_best(case):
    scores, offsets, longest = case
    allowed = {
        (first, last): float(scores[first, 0]) + float(scores[last, 1])
        for first in range(len(offsets))
        for last in range(first, len(offsets))
        if 0 < offsets[last][1] - offsets[first][0] <= longest
    }
    score, start, end = best_span(scores, offsets, longest)
    if not allowed:
        assert (score, start, end) == (-np.inf, 0, 0)
        return
    assert score == max(allowed.values())
    assert any(
        (offsets[first][0], offsets[last][1]) == (start, end) for (first, last), one in allowed.items() if one == score
    )


def test_windows_hold_the_whole_passage_and_the_answer_is_learned_where_it_is(kind_of, encoder):
    kind = kind_of("question-answering", "exact-match", max_seq_length=24, stride=5, max_query_length=4)
    text = " ".join(f"{word} {number}" for number, word in enumerate(["hoa", "cây", "lá"] * 12))
    start = text.index("cây 19")
    example = QuestionExample("1", text, "cái gì ở đâu hôm nay", (Answer("cây 19 lá", start),))
    rows = kind.rows([example], train=True)
    assert len(rows) > 4
    assert all(row.length <= 24 for row in rows)
    found = []
    for row in rows:
        assert encoder.tokenizer.decode(row.inputs["input_ids"]).startswith("[CLS] cái gì ở đâu [SEP]")
        first, last = (at - row.window.first for at in row.labels)
        if row.labels != (0, 0):
            found.append(text[row.window.offsets[first][0] : row.window.offsets[last][1]])
    assert found
    assert set(found) == {"cây 19 lá"}
    covered = {tuple(span) for row in rows for span in row.window.offsets.tolist()}
    whole = encoder.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    assert covered == {tuple(span) for span in whole}


def test_the_best_of_all_windows_answers(kind_of):
    kind = kind_of("question-answering", "exact-match", max_seq_length=24, stride=5)
    example = QuestionExample("1", " ".join(["hoa", "cây", "lá"] * 12), "gì", (Answer("hoa", 0),))
    rows = kind.rows([example])
    outputs = [np.zeros((row.length, 2), np.float32) for row in rows]
    outputs[2][rows[2].window.first + 3] = 5
    outputs[1][0] = 50  # [CLS] is not an answer
    start, end = rows[2].window.offsets[3]
    assert kind.predicted([example], rows, outputs) == [example.context[start:end]]
    outputs[0][rows[0].window.first : rows[0].window.first + 2] = 4.9
    assert kind.predicted([example], rows, outputs) == [example.context[start:end]]


def test_what_the_passage_does_not_hold_is_not_learned_but_counts(kind_of):
    kind = kind_of("question-answering", "exact-match")
    absent = QuestionExample("1", "nhà có hoa", "gì", (Answer("mưa", None),))
    held = QuestionExample("2", "nhà có hoa", "gì", (Answer("mưa", None), Answer(" hoa", 6)))
    assert [row.example for row in kind.rows([absent, held], train=True)] == [1]
    assert len(kind.rows([absent, held])) == 2
    assert kind.gold(absent) == ("mưa",)
    assert kind.lost([absent, held]) == 0
    inside = QuestionExample("3", "nhà có hoa", "gì", (Answer("ho", 7),))
    assert kind.lost([inside, held]) == 1


def test_answers_are_not_longer_than_the_limit(kind_of):
    kind = kind_of("question-answering", "exact-match", max_answer_length=7)
    examples = made("test", RULES["question-answering", "exact-match"][0])
    rows = kind.rows(examples)
    answers = kind.predicted(examples, rows, untrained(kind, examples, rows))
    assert all(0 < len(answer) <= 7 for answer in answers)


# --- tagging


def test_labels_come_back_as_gold_through_windows(kind_of):
    """Outputs that are certain of the gold labels predict the gold annotation, over windows."""
    for kind, metric in (key for key in RULES if key[0] == "sequence-labelling"):
        tagger = kind_of(kind, metric, max_seq_length=8, stride=2)
        examples = made("test", RULES[kind, metric][0])
        rows = tagger.rows(examples, train=True)
        assert len(rows) > len(examples)
        outputs = [np.eye(len(tagger.labels))[np.maximum(row.labels, 0)] for row in rows]
        assert tagger.predicted(examples, rows, outputs) == [tagger.gold(example) for example in examples]
        assert tagger.lost(examples) == 0


def test_lost_spans_are_counted(kind_of):
    tagger = kind_of("sequence-labelling", "span-f1")
    whole = TaggedExample("An đi chơi", (Span(0, 2, "PER"),))
    half = TaggedExample("An đi chơi", (Span(0, 1, "PER"), Span(3, 5, "PER")))
    tagger.rows([whole], train=True)
    assert tagger.lost([whole, half]) == 1


def test_answers_out_of_reach_are_counted(kind_of):
    passage = "An đi chơi với Bình ở công viên gần nhà bà ngoại hôm chủ nhật vừa rồi"

    def lost(answer, **text):
        asked = QuestionExample("1", passage, "ai đi", (Answer(answer, passage.index(answer)),))
        return kind_of("question-answering", "exact-match", **text).lost([asked])

    assert lost("công viên") == lost("công viên", max_seq_length=16) == 0
    assert lost("ông viên") == 1
    assert (lost("gần nhà bà ngoại", max_answer_length=16), lost("gần nhà bà ngoại", max_answer_length=15)) == (0, 1)
    assert lost("với Bình ở công viên gần nhà bà ngoại hôm", max_seq_length=16) == 1


#: Where they lie.
REAL = {
    "cluener": "zh/cluener",
    "weibo-ner": "zh/weibo_ner",
    "cmrc": "zh/cmrc2018",
    "cluewsc": "zh/cluewsc2020",
    "vihos": "vi/vihos",
    "vietbioner": "vi/vietbioner",
    "ud-vtb-pos": "vi/ud_vtb",
}


@pytest.mark.parametrize("name", REAL)
def test_gold_of_real_sets_comes_back_through_rows(name, data, checkpoint):
    """From files to rows in windows, and back from outputs that are certain: what is not lost is gold again."""
    one, folder = tasks.get(name), data(REAL[name])
    encoder = load_encoder(checkpoint(one.lang))
    kind = make_kind(
        one, "label", encoder, settings(text__max_seq_length=60, text__stride=16, text__max_query_length=16).text
    )
    split = "dev" if "dev" in one.present(folder) else one.present(folder)[0]
    examples = [example for example in one.read(folder, split) if kind.gold(example) is not None][:500]
    rows, gold = kind.rows(examples, train=True), [kind.gold(example) for example in examples]
    if one.kind == "coreference":
        marked = encoder.tokenizer.convert_tokens_to_ids(list("[]()"))
        for row, example in zip(rows, examples, strict=True):
            ids = row.inputs["input_ids"].tolist()
            for span, marks in ((example.candidate, "[]"), (example.pronoun, "()")):
                if (
                    max(example.candidate.end, example.pronoun.end)
                    - min(example.candidate.start, example.pronoun.start)
                    > 50
                ):
                    continue  # more than a row holds
                first, last = (ids.index(encoder.tokenizer.convert_tokens_to_ids(sign)) for sign in marks)
                piece = encoder.tokenizer(example.text[span.start : span.end], add_special_tokens=False)["input_ids"]
                inner = [number for number in ids[first + 1 : last] if number not in marked]
                assert len(inner) == len(piece)
        return
    if one.kind == "question-answering":
        outputs = []
        for row in rows:
            certain = np.zeros((row.length, 2), np.float32)
            if row.labels != (0, 0):
                certain[row.labels[0], 0] = certain[row.labels[1], 1] = 9
            outputs.append(certain)
        back = kind.predicted(examples, rows, outputs)
        right = [found in answers for found, answers in zip(back, gold, strict=True)]
    else:
        outputs = [np.eye(len(kind.labels))[np.maximum(row.labels, 0)] for row in rows]
        back = kind.predicted(examples, rows, outputs)
        right = [Counter(found) == Counter(want) for found, want in zip(back, gold, strict=True)]
        assert score(one.metric, gold, gold, lang=one.lang)[one.metric] == 1
    assert len(rows) >= len(examples) == len(right) > 200
    wrong, lost = right.count(False), kind.lost(examples)
    if one.kind == "question-answering":  # another accepted answer than the one to learn may be within reach
        assert lost <= wrong < 1.1 * lost + 1 < 0.12 * len(right)
    else:
        assert wrong == lost < 0.005 * len(right)


def test_unlabelled_examples_have_no_gold(kind_of):
    assert kind_of("sequence-labelling", "span-f1").gold(TaggedExample("An", None)) is None
    assert kind_of("sequence-labelling", "macro-f1").gold(TaggedExample("An", None)) is None
    assert kind_of("question-answering", "exact-match").gold(QuestionExample("1", "a", "b", ())) is None


def test_batches_are_padded_on_the_right(kind_of, encoder):
    kind = kind_of("sentence-pair", "accuracy")
    examples = made("dev", RULES["sentence-pair", "accuracy"][0])
    rows = kind.rows(examples, train=True)
    batch = kind.collate(rows[:5])
    want = encoder.tokenizer(
        [one.text_a for one in examples[:5]], [one.text_b for one in examples[:5]], padding=True, return_tensors="pt"
    )
    assert batch.keys() == {*want, "labels"}
    assert all(torch.equal(batch[name], want[name].long()) for name in want)


def test_every_kind_of_set_has_a_class():
    from phonemic import tasks
    from phonemic_bert.finetuning.kinds import KINDS

    assert {tasks.get(name).kind for name in tasks.names()} == KINDS.keys() == {kind for kind, _ in RULES}
