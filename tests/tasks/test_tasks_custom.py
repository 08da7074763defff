"""Users' own files as datasets, and the sets beyond the paper."""

from __future__ import annotations

import csv
import json
import pickle
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import InputError, tasks
from phonemic.tasks import Answer, Span, TextExample, conllu, custom, tagging

Data = Callable[[str], Path]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


def json_lines(path: Path, *rows: dict[str, Any]) -> Path:
    return write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def read(dataset: custom.CustomDataset, split: str = "train") -> list[Any]:
    return list(dataset.read(".", split))


def alone(kind: Any, path: Path, **options: Any) -> custom.CustomDataset:
    """A dataset whose training file is its test file as well."""
    return custom.dataset(kind, train=path, test=path, **{"lang": "vi", **options})


# --- classification


def test_csv(tmp_path: Path) -> None:
    train = write(tmp_path / "Mail" / "train.csv", '\ufeffbody,class\n"một, hai",spam\nba,ham\n' + "x,ham\n" * 18)
    test = write(tmp_path / "test.csv", "class,body\nham,bốn\n")
    dataset = custom.dataset("classification", lang="vi", train=train, test=test, text="body", label="class")
    assert (dataset.name, dataset.metric, dataset.labels) == ("mail", "macro-f1", {"label": ("ham", "spam")})
    assert read(dataset)[0] == TextExample("một, hai", {"label": "spam"})
    assert read(dataset, "test") == [TextExample("bốn", {"label": "ham"})]
    folds = dataset.folds(".", seed=1)
    assert [len(fold) for fold in folds] == [18, 2, 1]
    assert pickle.loads(pickle.dumps(dataset)).folds(".", seed=1) == folds


def test_several_targets_are_called_by_their_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "text\ttopic\tmood\na\t1\tgood\nb\t2\tbad\n")
    dataset = alone("classification", path, label=("topic", "mood"))
    assert dataset.labels == {"topic": ("1", "2"), "mood": ("bad", "good")}
    assert read(dataset)[1].labels == {"topic": "2", "mood": "bad"}


def test_labels_of_json_may_be_numbers_or_truths(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "t.jsonl", {"text": "a", "label": 1}, {"text": "b", "label": True})
    assert alone("classification", path).labels == {"label": ("1", "true")}


def test_quotes_may_be_plain(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", 'text\tlabel\n"a\tx\nb\ty\n')
    with pytest.raises(InputError, match=r"t.tsv:2: is not CSV: "):
        alone("classification", path)
    assert read(alone("classification", path, quoting=False))[0].text == '"a'


def test_without_test_the_dev_file_is_the_test_set(tmp_path: Path) -> None:
    train = write(tmp_path / "train.csv", "text,label\n" + "a,x\nb,y\n" * 10)
    dev = write(tmp_path / "dev.csv", "text,label\nc,x\n")
    dataset = custom.dataset("classification", lang="zh", train=train, dev=dev)
    assert dataset.present() == ("train", "test")
    assert [len(fold) for fold in dataset.folds(".", seed=1)] == [18, 2, 1]
    both = custom.dataset("classification", lang="zh", train=train, dev=dev, test=train)
    assert [len(fold) for fold in both.folds(".", seed=1)] == [20, 1, 20]
    with pytest.raises(ValueError, match="give a test file"):
        custom.dataset("classification", lang="zh", train=train)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text,label\na,x\nb,\n", r"t.csv:3: 'label' is empty: every example needs a label"),
        ("text,class\na,x\n", r"t.csv:1: no column label; the columns are text, class"),
        ("text,label\na,x\nb\n", r"t.csv:3: 1 fields, but the header has 2"),
        ("text,label\na,x\nb,x\n", r"t.csv: every label is 'x'; there is nothing to tell apart"),
        ("text,label\n", r"t.csv: holds no example to train on"),
    ],
)
def test_damaged_tables(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        alone("classification", write(tmp_path / "t.csv", text))


def test_invalid_utf8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"text,label\na,\xff\n")
    with pytest.raises(InputError, match=r"t.csv:2: not UTF-8"):
        alone("classification", path)


def test_a_label_that_train_lacks(tmp_path: Path) -> None:
    train = write(tmp_path / "train.csv", "text,label\na,x\nb,y\n")
    test = write(tmp_path / "test.csv", "text,label\na,x\nb,z\n")
    dataset = custom.dataset("classification", lang="vi", train=train, test=test)
    with pytest.raises(InputError, match=r"test.csv:3: label 'z' is not a label of the training file: x, y"):
        read(dataset, "test")


def test_a_wrong_label_in_json(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "t.jsonl", {"text": "a", "label": 0.5})
    with pytest.raises(InputError, match=r"t.jsonl:1: 'label' is float, not a label"):
        alone("classification", path)
    with pytest.raises(InputError, match=r"t.jsonl:1: no field 'class'; the fields are text, label"):
        alone("classification", path, label="class")


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t.csv:1: 2 columns are named 'text'; rename all but one"):
        alone("classification", write(tmp_path / "t.csv", "text,text,label\na,b,1\n"))
    path = write(tmp_path / "u.csv", "note,note,text,label\na,b,c,1\na,b,d,2\n")
    assert [one.text for one in read(alone("classification", path))] == ["c", "d"]


@pytest.mark.parametrize("name", ["t.xlsx", "T.XLSX", "t"])
def test_a_workbook_by_any_name(name: str, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs the tasks extra")
    book = openpyxl.Workbook()
    for row in (("text", "label"), ("tiếng", 1), ("Việt", 2)):
        book.active.append(row)
    book.save(tmp_path / name)
    found = read(alone("classification", tmp_path / name, file_format=None if "." in name else "xlsx"))
    assert [(one.text, one.labels) for one in found] == [("tiếng", {"label": "1"}), ("Việt", {"label": "2"})]


def test_questions_without_answers(tmp_path: Path) -> None:
    table = write(tmp_path / "q.csv", "context,question,answer\nHà Nội,q,[]\nHà Nội,q,Hà\n")
    assert [len(one.answers) for one in read(alone("question-answering", table))] == [0, 1]
    with pytest.raises(InputError, match=r"q.csv:2: the answer is empty; leave the question out, or write \[\]"):
        read(alone("question-answering", write(table, "context,question,answer\nHà Nội,q,\n")))
    lines = json_lines(
        tmp_path / "q.jsonl", {"context": "Hà Nội", "question": "q", "answer": {"text": "Hà", "answer_start": None}}
    )
    assert read(alone("question-answering", lines))[0].answers == (Answer("Hà", 0),)
    with pytest.raises(InputError, match=r"q.jsonl:1: 'question' is null"):
        read(alone("question-answering", json_lines(lines, {"context": "a", "question": None, "answer": "a"})))


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(lambda text: text.strip())


@given(rows=st.lists(st.tuples(cells, st.sampled_from(["a b", '"', "x,y", "ế"])), min_size=1))
def test_any_table_comes_back(rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("own")
    rows = [*rows, ("", "first"), ("", "second")]
    with open(folder / "t.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    json_lines(folder / "t.jsonl", *({"text": text, "label": label} for text, label in rows))
    for name in ("t.csv", "t.jsonl"):
        dataset = alone("classification", folder / name)
        assert read(dataset) == [TextExample(text, {"label": label}) for text, label in rows]
        assert dataset.labels["label"] == tuple(sorted({label for _, label in rows}))


# --- pairs, choices, questions


def test_pairs(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "premise,claim,label\na,b,0\nc,d,1\n")
    dataset = alone("sentence-pair", path, text="premise", text_b="claim", lang="zh")
    assert (dataset.metric, dataset.labels) == ("accuracy", {"label": ("0", "1")})
    assert read(dataset)[0] == tasks.PairExample("a", "b", "0")


def test_choices(tmp_path: Path) -> None:
    entry = {"context": "c", "question": "q", "choices": ["x", "y"], "answer": 1}
    path = json_lines(tmp_path / "t.jsonl", entry, entry | {"answer": "x"})
    dataset = alone("multiple-choice", path)
    assert ([example.answer for example in read(dataset)], dataset.labels) == ([1, 0], {})
    table = write(tmp_path / "t.csv", "context,question,A,B,answer\nc,q,x,y,y\nc,q,1,0,0\n")
    assert [example.answer for example in read(alone("multiple-choice", table, choices=("A", "B")))] == [1, 1]
    wrong = json_lines(tmp_path / "w.jsonl", entry | {"answer": 2})
    with pytest.raises(InputError, match=r"w.jsonl:1: answer 2 is not a choice, nor an index from 0 to 1"):
        alone("multiple-choice", wrong)


@pytest.mark.parametrize(
    "answer",
    ["b", ["b"], {"text": ["b"], "answer_start": [2]}, [{"text": "b", "answer_start": 2}], {"text": "b"}],
)
def test_questions(answer: Any, tmp_path: Path) -> None:
    path = json_lines(tmp_path / "t.jsonl", {"context": "a b", "question": "q", "answer": answer, "id": 7})
    assert read(alone("question-answering", path)) == [tasks.QuestionExample("7", "a b", "q", (Answer("b", 2),))]


def test_questions_of_squad(tmp_path: Path) -> None:
    asked = {"id": "1", "question": "q", "answers": [{"text": "b", "answer_start": 2}]}
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": "a b", "qas": [asked]}]}]}))
    dataset = alone("question-answering", path, lang="zh")
    assert (dataset.metric, read(dataset)[0].answers) == ("exact-match", (Answer("b", 2),))


# --- tagging

SPANS = (Span(0, 3, "A"), Span(4, 7, "A"), Span(8, 11, "B"))


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("IOB1", "I-A B-A I-B O"),
        ("IOB2", "B-A B-A B-B O"),
        ("BIOES", "S-A S-A S-B O"),
        ("BILOU", "U-A U-A U-B O"),
    ],
)
def test_schemes(scheme: str, tags: str, tmp_path: Path) -> None:
    lines = [f"{word} x {tag}" for word, tag in zip(("một", "hai", "bốn", "."), tags.split(), strict=True)]
    path = write(tmp_path / "t.conll", "-DOCSTART- -X- O\n\n" + "\n".join(lines) + "\n\n\n")
    dataset = alone("sequence-labelling", path)
    assert (dataset.metric, dataset.labels) == ("span-f1", {"label": ("A", "B")})
    (example,) = read(dataset)
    assert (example.text, example.spans) == ("một hai bốn .", SPANS)
    assert example.tags == ("B-A", "B-A", "B-B", "O")


def test_long_spans() -> None:
    assert tagging.iob2(["B-A", "M-A", "E-A", "I-A", "O", "B-B", "L-B"], ["x"]) == [
        "B-A",
        "I-A",
        "I-A",
        "B-A",
        "O",
        "B-B",
        "I-B",
    ]


letters = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["A", "B-C", None])), max_size=6)


@given(letters)
def test_every_scheme_says_the_same(runs: list[tuple[int, str | None]]) -> None:
    schemes: dict[str, list[str]] = {"IOB2": [], "BIOES": [], "BILOU": [], "IOB1": []}
    before = None
    for length, label in runs:
        for scheme, tags in schemes.items():
            if label is None:
                tags.extend(["O"] * length)
            elif scheme in ("BIOES", "BILOU"):
                one, last = ("S", "E") if scheme == "BIOES" else ("U", "L")
                inner = [f"I-{label}"] * (length - 2)
                tags.extend([f"{one}-{label}"] if length == 1 else [f"B-{label}", *inner, f"{last}-{label}"])
            else:
                first = "I" if scheme == "IOB1" and label != before else "B"
                tags.extend([f"{first}-{label}", *[f"I-{label}"] * (length - 1)])
        before = label
    for tags in schemes.values():
        assert tagging.iob2(tags, ["x"]) == schemes["IOB2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a B-X\nb E-Y\n", r"t.conll:2: 'E-Y' continues with no Y before it"),
        ("a B-X\nb c O\n", r"t.conll:2: 3 columns, but the lines before have 2; if it is a comment"),
        ("a\n", r"t.conll:1: 1 columns; word is column 0, tag column -1"),
        ("a O\n", r"t.conll: no word of it has a label"),
    ],
)
def test_damaged_columns(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        alone("sequence-labelling", write(tmp_path / "t.conll", text), strict=True)


def test_tags_that_are_none_for_spans(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conll", "a N\nb B-X\n")
    with pytest.raises(InputError, match=r"t.conll:1: 'N' is not a tag: O, or B-"):
        alone("sequence-labelling", path, metric="span-f1")
    dataset = alone("sequence-labelling", path)
    assert (dataset.metric, dataset.labels) == ("macro-f1", {"label": ("B-X", "N")})


def test_an_entity_that_train_lacks(tmp_path: Path) -> None:
    train = write(tmp_path / "train.conll", "a B-X\n")
    dataset = custom.dataset("sequence-labelling", lang="zh", train=train, test=write(tmp_path / "t.conll", "a B-Y\n"))
    with pytest.raises(InputError, match=r"t.conll:1: 'Y' is not a label of this set: X"):
        read(dataset, "test")


def test_columns_comments_joiners_and_chinese(tmp_path: Path) -> None:
    path = write(tmp_path / "t.txt", "# id 1\nB-PER\tx\tNguyễn_Du\nO\tx\t#\n")
    (example,) = read(alone("sequence-labelling", path, word=2, tag=0, comment="# ", joiner="_"))
    assert (example.text, example.spans) == ("Nguyễn Du #", (Span(0, 9, "PER"),))
    path = write(tmp_path / "zh.txt", "北 B-LOC\n京 I-LOC\n大 O\n")
    (example,) = read(alone("sequence-labelling", path, lang="zh"))
    assert (example.text, example.spans, example.tokens) == ("北京大", (Span(0, 2, "LOC"),), ((0, 1), (1, 2), (2, 3)))


def test_tagging_in_json_lines(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "w.jsonl", {"tokens": ["a", "b"], "ner": ["B-X", "I-X"]})
    assert read(alone("sequence-labelling", path, word="tokens", tag="ner"))[0].spans == (Span(0, 3, "X"),)
    spans = [[4, 5, "Y"], {"start": 0, "end": 3, "label": "X"}]
    path = json_lines(tmp_path / "s.jsonl", {"text": "một b", "label": spans})
    dataset = alone("sequence-labelling", path)
    assert (read(dataset)[0].spans, dataset.metric) == ((Span(0, 3, "X"), Span(4, 5, "Y")), "span-f1")
    for wrong, message in (
        ([[0, 9, "X"]], "a span from 0 to 9, but the text has 5 characters"),
        ([[0, 2, "X"], [1, 3, "Y"]], "overlap; spans may touch"),
        ([[0, 2]], r"\[0, 2\] is not a span"),
    ):
        path = json_lines(tmp_path / "s.jsonl", {"text": "một b", "label": wrong})
        with pytest.raises(InputError, match=message):
            alone("sequence-labelling", path)


CONLLU = """\
# text = Hà Nội, 2
1\tHà Nội\t_\tPROPN\tNNP\t_\t0\troot\t_\t_
1.1\tx\t_\tX\tX\t_\t0\troot\t_\t_
2\t,\t_\tPUNCT\t,\t_\t1\tpunct\t_\t_
3\t2\t_\tNUM\tCD\t_\t1\tnummod\t_\t_

1\ta\t_\tX\tFW\t_\t0\troot\t_\tSpaceAfter=No
2\tb\t_\tX\tFW\t_\t0\troot\t_\t_
3\tc\t_\tX\tFW\t_\t0\troot\t_\t_
"""


def test_conllu(tmp_path: Path) -> None:
    path = write(tmp_path / "t.conllu", CONLLU)
    dataset = alone("sequence-labelling", path)
    assert (dataset.metric, dataset.labels) == ("macro-f1", {"label": ("NUM", "PROPN", "PUNCT", "X")})
    first, second = read(dataset)
    assert (first.text, first.tokens, first.tags) == ("Hà Nội, 2", ((0, 6), (6, 7), (8, 9)), ("PROPN", "PUNCT", "NUM"))
    assert (second.text, second.tokens) == ("ab c", ((0, 1), (1, 2), (3, 4)))
    assert read(alone("sequence-labelling", path, tag="xpos"))[0].tags == ("NNP", ",", "CD")
    assert next(conllu.parse([path], None, spaced=False)).text == "Hà Nội, 2"
    write(path, CONLLU.replace("\tPROPN", "\t_"))
    with pytest.raises(InputError, match=r"t.conllu:2: the word or its part of speech is missing"):
        alone("sequence-labelling", path)
    write(path, CONLLU.replace("1.1", "1-2"))
    with pytest.raises(InputError, match=r"t.conllu:3: 1-2 is not a word's number"):
        alone("sequence-labelling", path)


@pytest.mark.parametrize("comment", ["", f"# text = {'a ' * 40_000}\n"])
def test_conllu_of_one_long_sentence(tmp_path: Path, comment: str) -> None:
    """It takes time in proportion to its words."""
    rows = "".join(f"{number}\ta\t_\tX\tFW\t_\t0\troot\t_\t_\n" for number in range(1, 40_001))
    began = time.process_time()
    [example] = conllu.parse([write(tmp_path / "t.conllu", comment + rows)])
    assert time.process_time() - began < 5
    assert (len(example.text), example.tokens[-1]) == (79_999, (79_998, 79_999))


def test_docbin(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="DocBin needs spaCy: phonemic[spacy]")
    from spacy.tokens import Doc, DocBin

    vocab = spacy.blank("xx").vocab
    doc = Doc(vocab, ["Ông", "Nguyễn", "Du", ",", "Huế"], [True, True, False, True, False])
    doc.ents = [doc.char_span(4, 13, "PER"), doc.char_span(15, 18, "LOC")]
    for token, pos in zip(doc, ["NOUN", "PROPN", "PROPN", "PUNCT", "PROPN"], strict=True):
        token.pos_ = pos
    doc.cats = {"news": 1.0, "verse": 0.0}
    other = Doc(vocab, ["thơ"])
    other[0].pos_ = "NOUN"
    other.cats = {"news": 0.0, "verse": 1.0}
    path = tmp_path / "t.spacy"
    DocBin(docs=[doc, other], store_user_data=False, attrs=["ENT_IOB", "ENT_TYPE", "POS"]).to_disk(path)
    named = alone("sequence-labelling", path)
    assert (named.metric, read(named)[0].spans) == ("span-f1", (Span(4, 13, "PER"), Span(15, 18, "LOC")))
    assert read(named)[0].tags == ("O", "B-PER", "I-PER", "O", "B-LOC")
    words = alone("sequence-labelling", path, metric="macro-f1")
    assert read(words)[0].tags == ("NOUN", "PROPN", "PROPN", "PUNCT", "PROPN")
    assert read(words)[0].text == "Ông Nguyễn Du, Huế"
    with pytest.raises(InputError, match=r"t.spacy: Doc 0: word 'Ông' has no tag"):
        alone("sequence-labelling", path, tag="tag")
    classes = alone("classification", path)
    assert [example.labels["label"] for example in read(classes)] == ["news", "verse"]
    path.write_bytes(b"no DocBin")
    with pytest.raises(InputError, match=r"t.spacy: damaged, no DocBin"):
        alone("classification", path)


# --- arguments


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("coreference", {}, "no custom dataset is of kind 'coreference': choose one of classification"),
        ("classification", {"metric": "span-f1"}, "classification has no metric 'span-f1'"),
        ("classification", {"lang": "en"}, "choose one of vi, zh"),
        ("classification", {"file_format": "xml"}, "no format is called 'xml'"),
        ("classification", {"file_format": "conll"}, "conll holds no classification; the formats that do are csv"),
        ("sequence-labelling", {}, r"t.dat: its suffix says no format; give file_format=, one of jsonl, conll"),
    ],
)
def test_wrong_arguments(kind: Any, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        alone(kind, write(tmp_path / "t.dat", "a\n"), **options)


# --- published files


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("weibo-ner", {"train": 1_350, "dev": 270, "test": 270}),
        ("vietbioner", {"train": 706, "dev": 300, "test": 700}),
        ("ud-vtb-pos", {"train": 1_400, "dev": 1_123, "test": 800}),
        ("ud-gsd-pos", {"dev": 500, "test": 500}),
        ("ud-gsdsimp-pos", {"dev": 500, "test": 500}),
    ],
)
def test_sets_beyond_the_paper(name: str, counts: dict[str, int], data: Data) -> None:
    dataset = tasks.get(name)
    assert name in tasks.beyond()
    assert name not in tasks.names()
    folder = dataset.find(data("."))
    splits = {split: list(dataset.read(folder, split)) for split in dataset.present(folder)}
    assert {split: len(examples) for split, examples in splits.items()} == counts
    examples = [example for split in splits.values() for example in split]
    unseen = {"ud-gsd-pos": {"INTJ"}, "ud-gsdsimp-pos": {"INTJ"}}.get(name, set())
    assert {span.label for example in examples for span in example.spans} | unseen == set(dataset.labels["label"])
    for example in examples:
        assert len(example.tokens) == len(example.tags)
        assert not "".join(example.text[end:start] for (_, end), (start, _) in pairwise(example.tokens)).strip()


def test_weibo_as_the_file_counts_it(data: Data) -> None:
    folder = data("zh/weibo_ner")
    lines = (folder / "weiboNER_2nd_conll.train").read_text(encoding="utf-8").splitlines()
    tags = ["O", *(line.partition("\t")[2] or "O" for line in lines)]
    strays = sum(tag[:2] == "I-" and before[2:] != tag[2:] for before, tag in pairwise(tags))
    begun = sum(tag[:2] == "B-" for tag in tags) + strays
    examples = list(tasks.get("weibo-ner").read(folder, "train"))
    assert sum(len(example.spans or ()) for example in examples) == begun
    assert "".join(example.text for example in examples) == "".join(
        line[0] + line.partition("\t")[0][1:].rstrip("0123456789") for line in lines if line
    )


def test_a_published_file_as_one_s_own(data: Data) -> None:
    folder = data("vi/vietbioner/data_supervised_learning")
    dataset = custom.dataset(
        "sequence-labelling", lang="vi", train=folder / "train.txt", dev=folder / "dev.txt", test=folder / "test.txt"
    )
    known = tasks.get("vietbioner")
    assert dataset.labels == known.labels
    for split in known.splits:
        spans = [example.spans for example in known.read(folder.parent, split)]
        assert [example.spans for example in read(dataset, split)] == spans


def test_a_field_longer_than_python_s_csv_takes(tmp_path: Path) -> None:
    text = "xin chào " * 20_000
    write(tmp_path / "long.csv", f"text,label\n{text},a\n")
    (example,) = custom.read("classification", tmp_path / "long.csv", lang="vi")
    assert example.text == text
