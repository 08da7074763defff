"""Files of predictions: what is read, what is refused, and errors counted by hand."""

import json
from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")
testing = pytest.importorskip("click.testing", reason="needs click")

from phonemic.errors import InputError
from phonemic_bert.cli import cli
from phonemic_bert.finetuning.alignment import spans_of
from phonemic_bert.inspection import confusions, read_predictions
from phonemic_bert.inspection.confusions import CORRECT, match_spans
from phonemic_bert.inspection.labels import position_labels
from phonemic_bert.inspection.page import page
from phonemic_bert.inspection.predictions import PredictionRecord


@pytest.fixture
def write(tmp_path):
    def make(*rows):
        path = tmp_path / "predictions.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return str(path)

    return make


def run(*arguments, **options):
    return testing.CliRunner().invoke(cli, ["inspect", *map(str, arguments)], **options)


SPANS = [
    # Hà Nội is right; Đà Nẵng has the wrong label; Huế is cut; Sài Gòn is missed; sông is spurious.
    {
        "text": "Hà Nội Đà Nẵng xứ Huế Sài Gòn sông",
        "gold": [[0, 6, "LOC"], [7, 14, "LOC"], [15, 21, "LOC"], [22, 29, "LOC"]],
        "predicted": [[0, 6, "LOC"], [7, 14, "ORG"], [18, 21, "LOC"], [30, 34, "LOC"]],
    },
    {"text": "Lê Lợi", "gold": [[0, 6, "PER"]], "predicted": [[3, 6, "LOC"]]},
    {"text": "không", "gold": [], "predicted": []},
]


def test_span_errors_worked_by_hand(write):
    records, form = read_predictions(write(*SPANS))
    assert form == "spans"
    found = confusions(form, records)
    assert (found.texts, found.wrong_texts) == (3, 2)
    assert found.outcomes == {
        "correct": 1,
        "wrong label": 1,
        "wrong boundary": 1,
        "missed": 1,
        "spurious": 1,
        "wrong label and boundary": 1,
    }
    assert found.table == {"LOC": {"LOC": 2, "ORG": 1, "": 1}, "": {"LOC": 1}, "PER": {"LOC": 1}}
    named = {(one.outcome, one.gold, one.predicted): one.examples for one in found.frequent}
    assert named == {
        ("wrong label", "LOC", "ORG"): ((1, "Đà Nẵng"),),
        ("wrong boundary", "LOC", "LOC"): ((1, "xứ Huế → Huế"),),
        ("missed", "LOC", None): ((1, "Sài Gòn"),),
        ("spurious", None, "LOC"): ((1, "sông"),),
        ("wrong label and boundary", "PER", "LOC"): ((2, "Lê Lợi → Lợi"),),
    }


def test_labels_aspects_answers_and_tags_worked_by_hand(write):
    labels = [{"text": f"{n}", "gold": gold, "predicted": "ab"[n % 2]} for n, gold in enumerate("aabbbb")]
    found = confusions(*reversed(read_predictions(write(*labels, {"text": "x", "predicted": "a"}))))
    assert (found.form, found.texts, found.wrong_texts) == ("label", 6, 3)
    assert found.table == {"a": {"a": 1, "b": 1}, "b": {"a": 2, "b": 2}}
    assert [(one.gold, one.predicted, one.count, one.examples) for one in found.frequent] == [
        ("b", "a", 2, ((3, ""), (5, ""))),
        ("a", "b", 1, ((2, ""),)),
    ]
    aspects = {"text": "x", "gold": [["PIN", "tốt"], ["GIÁ", "xấu"], ["MÁY", None]], "predicted": [["PIN", "xấu"], ["MÁY", None], ["CAM", "tốt"]]}  # fmt: skip
    found = confusions(*reversed(read_predictions(write(aspects))))
    assert found.table == {
        "MÁY": {"MÁY": 1},
        "PIN#tốt": {"PIN#xấu": 1},
        "GIÁ#xấu": {"": 1},
        "": {"CAM#tốt": 1},
    }
    answers = [{"text": "x", "gold": ["Hà Nội", "HN"], "predicted": one} for one in ("HN ", "Huế")]
    halves = [{"text": "x", "gold": None, "predicted": "HN"}, {"text": "x", "gold": ["HN"]}, {"text": "x"}]
    for rows in (answers + halves, halves + answers):
        assert confusions(*reversed(read_predictions(write(*rows)))).texts == 2
    nothing = [{"text": "x", "gold": [], "predicted": one} for one in ("", "Huế")]
    assert confusions(*reversed(read_predictions(write(*nothing)))).outcomes == {"correct": 1, "wrong answer": 1}
    assert confusions(*reversed(read_predictions(write(*answers)))).outcomes == {"correct": 1, "wrong answer": 1}
    choices = [{"text": "x", "gold": 2, "predicted": one} for one in (2, 0, 0)]
    assert confusions(*reversed(read_predictions(write(*choices)))).table == {"2": {"2": 1, "0": 2}}
    tags = {"text": "Tôi học toán", "gold": ["P", "V", "N"], "predicted": ["P", "N", "N"]}
    found = confusions(*reversed(read_predictions(write(tags))))
    assert found.outcomes == {"correct": 2, "wrong label": 1}
    assert found.frequent[0].examples == ((1, "học"),)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON: "),
        ("[1]", r"a JSON object is expected, not \[1\]"),
        ({"gold": "a"}, "no 'text' in it"),
        ({"text": 1}, "'text' is not a string"),
        ({"text": "a", "text_b": 1}, "'text_b' is not a string"),
        ({"text": "a", "gold": {}}, r"{} is not a label, nor a list of tags, spans or aspects"),
        ({"text": "a", "gold": [[0, 2, "X"]]}, r"span \[0, 2\] is empty or outside the text of 1 characters"),
        ({"text": "a", "gold": [[0, 0, "X"]]}, r"span \[0, 0\] is empty"),
        ({"text": "a", "gold": [[0, "1", "X"]]}, r'\[0, "1"\] is not a start and an end'),
        ({"text": "a", "gold": [[0, 1, 7]]}, "label 7 is not a string"),
        ({"text": "a", "gold": "x", "predicted": [[0, 1, "X"]]}, "are of different forms"),
        ({"text": "a", "gold": ["X"], "predicted": ["X", "Y"]}, r"of different lengths: \[1, 2\]"),
        ({"text": "a", "gold": ["X"], "tokens": 3}, "'tokens' is not a list"),
        ({"text": "a", "gold": ["X"]}, "annotated with a list of tags, but line 1 with one label"),
    ],
)
def test_a_damaged_line_is_named(write, line, message):
    path = write({"text": "a", "gold": "x"}, "", line)
    with pytest.raises(InputError, match=rf"predictions.jsonl, line 3: .*{message}"):
        read_predictions(path)


spans = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 4), st.sampled_from("AB")).map(lambda s: (s[0], s[0] + s[1], s[2])),
    max_size=6,
)


@given(spans, spans)
def test_every_span_is_counted_once(gold, predicted):
    pairs = match_spans(gold, predicted)
    assert Counter(pair[1] for pair in pairs if pair[1]) == Counter(gold)
    assert Counter(pair[2] for pair in pairs if pair[2]) == Counter(predicted)
    assert sum(pair[0] == CORRECT for pair in pairs) == (Counter(gold) & Counter(predicted)).total()
    for outcome, one, other in pairs:
        if one is None or other is None:
            assert outcome == ("missed" if other is None else "spurious")
        else:
            assert max(one[0], other[0]) < min(one[1], other[1])
            assert ("label" in outcome) == (one[2] != other[2])
            assert ("boundary" in outcome) == (one[:2] != other[:2])


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["", "X", "Y"])), max_size=8))
def test_spans_survive_their_positions(pieces):
    """Pieces of some positions each, one position two characters."""
    text_spans, at = [], 0
    for length, label in pieces:
        if label:
            text_spans.append((2 * at, 2 * (at + length), label))
        at += length
    places = [(2 * one, 2 * one + 2) for one in range(at)]
    labels = position_labels("spans", text_spans, PredictionRecord(1, "x" * 2 * at), places)
    found = spans_of([label or None for label in labels], places)
    assert [(span.start, span.end, span.label) for span in found] == text_spans


def test_words_are_those_of_the_file_or_those_between_white_space():
    places = [(0, 3), (4, 7), (8, 11), (11, 12)]
    record = PredictionRecord(1, "sinh viên tốt."[0:0] + "hai ba bốn.", gold=["M", "M", "M"])
    assert position_labels("tags", record.gold, record, places) == ["M", "M", "M", ""]
    joined = PredictionRecord(1, "hai ba bốn.", gold=["A", "B"], tokens=[(0, 7), (8, 11)])
    assert position_labels("tags", joined.gold, joined, places) == ["A", "", "B", ""]
    unknown = PredictionRecord(1, "hai ba bốn.", gold=["A", "B"])
    assert position_labels("tags", unknown.gold, unknown, places) is None


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.open, self.text = Counter(), [], ""

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attributes)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


HOSTILE = '<script>alert("x")</script>&amp;\x1b'


def test_a_page_escapes_hostile_text(write, tmp_path):
    row = {"text": HOSTILE, "text_b": HOSTILE, "gold": HOSTILE, "predicted": f"{HOSTILE}'", "question": HOSTILE}
    path = write(row, row | {"predicted": HOSTILE})
    shown = run("--predictions", path, "--lang", "vi", "--html", tmp_path / "page.html")
    assert (shown.exit_code, shown.stdout) == (0, "")
    html = (tmp_path / "page.html").read_text("utf-8")
    read = Page()
    read.feed(html)
    assert not read.open
    assert "script" not in read.tags
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html
    assert f"gold: {HOSTILE[:-1]}\\x1b" in read.text
    assert "1 of them with an error" in read.text
    empty = Page()
    empty.feed(page(HOSTILE, "vi", [], None, HOSTILE))
    assert set(empty.tags) == {"html", "head", "meta", "title", "body", "div", "h1", "p"}


def test_errors_only_limit_and_json(write):
    path = write(*SPANS)
    shown = run("--predictions", path, "--lang", "vi", "--errors-only", "--limit", "1")
    assert shown.exit_code == 0, shown.output
    assert "3 texts, 2 of them with an error" in shown.output
    assert "wrong boundary" in shown.output
    assert "… and 1 more texts (--limit)" in shown.output
    assert "B-ORG ✗" in shown.output
    report = json.loads(run("--predictions", path, "--lang", "vi", "--errors-only", "--json").output)
    assert [one["line"] for one in report["examples"]] == [1, 2]
    assert report["errors"]["outcomes"]["missed"] == 1
    assert report["examples"][1]["readings"][0]["gold"] == ["B-PER", "I-PER"]
    assert report["examples"][1]["readings"][0]["predicted"] == ["", "B-LOC"]
    refused = run("--predictions", write({"text": "a"}), "--lang", "vi", "--errors-only")
    assert refused.exit_code == 1
    assert "--errors-only needs texts with a gold and a predicted annotation" in refused.output
    damaged = run("--predictions", write("{"), "--lang", "vi")
    assert damaged.exit_code == 1
    assert "predictions.jsonl, line 1: is not JSON: " in damaged.output
    assert run("--predictions", "nowhere.jsonl", "--lang", "vi").exit_code == 1


def test_many_labels_have_no_table_but_a_list(write):
    rows = [{"text": "x", "gold": f"l{n % 20}", "predicted": f"l{n % 20 if n < 20 else 0}"} for n in range(60)]
    shown = run("--predictions", write(*rows), "--lang", "zh", "--limit", "0")
    assert "gold by predicted" not in shown.output
    assert "most frequent errors" in shown.output
    assert [line.split()[0] for line in shown.output.splitlines() if "wrong label " in line and "→" not in line][
        1:
    ] == ["2"] * 19
