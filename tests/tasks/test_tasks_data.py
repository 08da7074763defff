"""The readers on the published files, where PHONEMIC_DATA has them: counts, average lengths, gold annotations."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from phonemic import tasks

Data = Callable[[str], Path]

#: Examples of each split, as the authors' pages count them.
COUNTS = {
    "tnews": {"dev": 10_000},
    "afqmc": {"dev": 4_316, "test": 3_861},
    "ocnli": {"train": 10_000, "dev": 3_000},
    "cluewsc": {"train": 1_244, "dev": 304, "test": 290},
    "c3": {"train": 11_869, "dev": 3_816},
    "cmrc": {"dev": 3_219, "trial": 1_002},
    "cluener": {"train": 10_748, "dev": 1_343, "test": 1_345},
    "vihos": {"train": 8_844, "dev": 1_106, "test": 1_106},
    "uit-vsfc": {"train": 11_426, "dev": 1_583, "test": 3_166},
}


@pytest.mark.parametrize("name", COUNTS)
def test_every_example_of_every_split(name: str, data: Data) -> None:
    dataset = tasks.get(name)
    folder = data(dataset.folders[0])
    assert dataset.find(data(".")) == folder
    splits = {split: list(dataset.read(folder, split)) for split in dataset.present(folder)}
    assert {split: len(examples) for split, examples in splits.items()} == COUNTS[name]
    if dataset.kind == "classification":
        for target, labels in dataset.labels.items():
            assert {example.labels[target] for examples in splits.values() for example in examples} == set(labels)
    if dataset.kind == "sequence-labelling":
        found = {span.label for examples in splits.values() for example in examples for span in example.spans or ()}
        assert found == set(dataset.labels["label"])


def characters(texts: Iterable[str]) -> float:
    """The average length as the paper's Character baseline counts it: all but whitespace."""
    lengths = [sum(not char.isspace() for char in text) for text in texts]
    return sum(lengths) / len(lengths)


def units(texts: Iterable[str]) -> float:
    lengths = [len(text.split()) for text in texts]
    return sum(lengths) / len(lengths)


def texts(name: str, data: Data, splits: list[str] | None = None) -> list[str]:
    dataset = tasks.get(name)
    return list(dataset.texts(data(dataset.folders[0]), splits))


def test_lengths_that_equal_the_paper_s(data: Data) -> None:
    cluener = texts("cluener", data)
    assert len(cluener) == 10_748 + 1_343
    assert round(characters(cluener), 2) == 37.39
    vsfc = texts("uit-vsfc", data)
    assert len(vsfc) == 16_175
    assert round(units(vsfc), 2) == 14.23


@pytest.mark.parametrize(("name", "paper"), [("tnews", 22.24), ("afqmc", 13.35), ("ocnli", 17.82), ("cmrc", 262.02)])
def test_lengths_of_dev_within_a_hundredth_of_the_paper_s(name: str, paper: float, data: Data) -> None:
    assert characters(texts(name, data, ["dev"])) == pytest.approx(paper, rel=0.01)


def test_abstracts_of_the_corpus_behind_csl_are_as_long_as_the_paper_s(data: Data) -> None:
    folder = data("zh/csl_ydli")
    dataset = tasks.get("csl")
    assert {split: sum(1 for _ in dataset.read(folder, split)) for split in ("dev", "test")} == {
        "dev": 1000,
        "test": 1000,
    }
    assert characters(dataset.texts(folder, ["dev", "test"])) == pytest.approx(206.08, rel=0.01)


def json_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_gold_of_cluener(data: Data) -> None:
    folder = data("zh/cluener")
    total = 0
    for split in ("train", "dev"):
        rows = json_lines(folder / f"{split}.json")
        for row, example in zip(rows, tasks.get("cluener").read(folder, split), strict=True):
            assert isinstance(example, tasks.TaggedExample)
            assert example.spans is not None
            written = Counter(
                (label, name) for label, names in row["label"].items() for name, places in names.items() for _ in places
            )
            assert example.text == row["text"]
            assert Counter((span.label, example.text[span.start : span.end]) for span in example.spans) == written
            total += len(example.spans)
    assert total == 27_043


def test_gold_of_cluewsc(data: Data) -> None:
    folder = data("zh/cluewsc2020")
    for split in ("train", "dev", "test"):
        rows = json_lines(folder / f"{split}.json")
        for row, example in zip(rows, tasks.get("cluewsc").read(folder, split), strict=True):
            assert isinstance(example, tasks.CoreferenceExample)
            for span, name in ((example.candidate, "span1"), (example.pronoun, "span2")):
                assert example.text[span.start : span.end] == row["target"][f"{name}_text"]
                assert span.start == row["target"][f"{name}_index"]
            assert example.label == row.get("label")


def test_gold_of_cmrc(data: Data) -> None:
    """Every answer is where it is said to, but for 193 of the dev set whose text the passage does not hold."""
    folder = data("zh/cmrc2018")
    absent = {}
    for split in ("dev", "trial"):
        document = json.loads((folder / f"cmrc2018_{split}.json").read_text(encoding="utf-8"))
        asked = [
            (paragraph["context"], question)
            for article in document["data"]
            for paragraph in article["paragraphs"]
            for question in paragraph["qas"]
        ]
        examples = list(tasks.get("cmrc").read(folder, split))
        answers = []
        for (context, question), example in zip(asked, examples, strict=True):
            assert isinstance(example, tasks.QuestionExample)
            assert (example.id, example.context, example.question) == (question["id"], context, question["question"])
            assert [answer.text for answer in example.answers] == [answer["text"] for answer in question["answers"]]
            answers += [(context, answer) for answer in example.answers]
        for context, answer in answers:
            assert answer.start is not None or answer.text not in context
            assert answer.start is None or context[answer.start : answer.end] == answer.text
        absent[split] = (sum(answer.start is None for _, answer in answers), len(answers))
    assert absent == {"dev": (193, 9_657), "trial": (0, 1_002)}


def test_gold_of_c3(data: Data) -> None:
    folder = data("zh/c3")
    for split in ("train", "dev"):
        entries = [
            entry
            for part in "dm"
            for entry in json.loads((folder / f"c3-{part}-{split}.json").read_text(encoding="utf-8"))
        ]
        questions = [question for entry in entries for question in entry[1]]
        for question, example in zip(questions, tasks.get("c3").read(folder, split), strict=True):
            assert isinstance(example, tasks.ChoiceExample)
            assert example.answer is not None
            assert example.choices[example.answer] == question["answer"]


def test_gold_of_vihos(data: Data) -> None:
    folder = data("vi/vihos")
    for split in ("train", "dev", "test"):
        with open(folder / f"{split}_BIO_syllable.csv", encoding="utf-8", newline="") as file:
            sentences = [list(rows) for _, rows in groupby(csv.DictReader(file), lambda row: row["sentence_id"])]
        for rows, example in zip(sentences, tasks.get("vihos").read(folder, split), strict=True):
            assert isinstance(example, tasks.TaggedExample)
            assert example.spans is not None
            assert [example.text[start:end] for start, end in example.tokens] == [row["Word"] for row in rows]
            assert list(example.tags) == [row["Tag"] for row in rows]
            expected: list[list[str]] = []
            for row in rows:
                if row["Tag"] == "B-T":
                    expected.append([row["Word"]])
                elif row["Tag"] == "I-T":
                    expected[-1].append(row["Word"])
            assert [example.text[span.start : span.end] for span in example.spans] == [
                " ".join(run) for run in expected
            ]


def test_gold_of_vsfc(data: Data) -> None:
    folder = data("vi/vsfc")
    dataset = tasks.get("uit-vsfc")
    for split in ("train", "dev", "test"):
        columns = [(folder / split / f"{name}.txt").read_text().split() for name in ("sentiments", "topics")]
        found = list(dataset.read(folder, split))
        for target, numbers in zip(("sentiment", "topic"), columns, strict=True):
            names = dataset.labels[target]
            written = [
                names.index(example.labels[target]) for example in found if isinstance(example, tasks.TextExample)
            ]
            assert written == list(map(int, numbers))
