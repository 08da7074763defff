"""Each Chinese set on files of the form in which it is published, written here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tasks_helpers import fails, read, texts

from phonemic import tasks
from phonemic.tasks import (
    Answer,
    ChoiceExample,
    CoreferenceExample,
    PairExample,
    QuestionExample,
    Span,
    TaggedExample,
    TextExample,
)

Write = Callable[[str, Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file below the folder: str as it is, a list as JSON lines, a dict as JSON; gives the folder."""

    def written(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        elif not isinstance(content, str):
            content = json.dumps(content, ensure_ascii=False, indent=1)
        path.write_text(content, encoding="utf-8")
        return tmp_path

    return written


def test_tnews(write: Write) -> None:
    row = {"label": "109", "label_desc": "news_tech", "sentence": "新手机今天上市", "keywords": "手机,上市"}
    folder = write("train.json", [row, row | {"label": 102}])
    assert read("tnews", folder) == [TextExample("新手机今天上市", {"label": label}) for label in ("109", "102")]
    assert texts("tnews", folder) == ["新手机今天上市"] * 2  # without its keywords
    write("test.json", [{"id": 0, "sentence": "明天有雨", "keywords": ""}])
    assert read("tnews", folder, "test") == [TextExample("明天有雨", {})]
    fails("tnews", write("train.json", [row, row | {"label": "105"}]), r"train\.json:2: label '105' is not a label")
    fails("tnews", write("train.json", [row, {"label": "101"}]), r"train\.json:2: no field 'sentence'")


def test_iflytek(write: Write) -> None:
    row = {"label": "118", "label_des": "其他", "sentence": "这个应用可以听歌"}
    assert read("iflytek", write("train.json", [row])) == [TextExample("这个应用可以听歌", {"label": "118"})]
    fails("iflytek", write("train.json", [row | {"label": "119"}]), r"train\.json:1: label '119'")


def test_thucnews_as_published(write: Write) -> None:
    dataset = tasks.get("thucnews")
    for number, label in enumerate(dataset.labels["label"]):
        folder = write(f"{label}/{number}.txt", f"标题{number}\n\u3000\u3000正文。\n")
    assert dataset.present(folder) == ("all",)
    found = {example.labels["label"]: example.text for example in read("thucnews", folder, "all")}
    assert found == {label: f"标题{at}\n\u3000\u3000正文。\n" for at, label in enumerate(dataset.labels["label"])}
    assert len(texts("thucnews", folder)) == 14
    fails("thucnews", folder, r"no train\.json\. .* The release is a folder a category")


def test_thucnews_with_splits_of_one_s_own(write: Write) -> None:
    folder = write("train.json", [{"title": "标题", "content": "正文。", "label": "财经"}])
    assert read("thucnews", folder) == [TextExample("标题\n正文。", {"label": "财经"})]
    fails("thucnews", write("train.json", [{"title": "", "content": "", "label": "天气"}]), "'天气' is not a label")


def test_afqmc(write: Write) -> None:
    folder = write("train.json", [{"sentence1": "怎么还款", "sentence2": "如何还钱", "label": "1"}])
    assert read("afqmc", folder) == [PairExample("怎么还款", "如何还钱", "1")]
    assert texts("afqmc", folder) == ["怎么还款", "如何还钱"]  # each member is its own text
    write("test.json", [{"id": 0, "sentence1": "甲", "sentence2": "乙"}])
    assert read("afqmc", folder, "test") == [PairExample("甲", "乙", None)]


@pytest.mark.parametrize("header", ["", "text_a\ttext_b\tlabel\n"])
def test_bq_in_columns(write: Write, header: str) -> None:
    folder = write("train.tsv", f'{header}为"何\t为什么\t1\n多少\t在哪\t0\n')
    assert read("bq", folder) == [PairExample('为"何', "为什么", "1"), PairExample("多少", "在哪", "0")]
    fails("bq", write("train.tsv", f"{header}甲\t乙\t1\n甲\t乙\t2\n"), rf"train\.tsv:{2 + bool(header)}: label '2'")
    fails("bq", write("train.tsv", f"{header}甲\t乙\n"), "2 columns, not two sentences and a label")


def test_bq_in_json(write: Write) -> None:
    folder = write("BQ_train.json", [{"gold_label": "0", "sentence1": "甲", "sentence2": "乙", "ID": "1"}])
    assert read("bq", folder) == [PairExample("甲", "乙", "0")]


def test_csl(write: Write) -> None:
    row = {"id": 1, "abst": "本文研究声调。", "keyword": ["声调", "语音"], "label": "1"}
    folder = write("train.json", [row])
    assert read("csl", folder) == [PairExample("声调，语音", "本文研究声调。", "1")]
    assert texts("csl", folder) == ["本文研究声调。"]
    fails("csl", write("train.json", [row | {"keyword": "声调"}]), r"train\.json:1: 'keyword' is str, not list")
    fails("csl", write("train.json", [row | {"keyword": [1]}]), r"train\.json:1: 'keyword' is not a list of str")


def test_csl_of_its_own_corpus(write: Write) -> None:
    folder = write("dev.tsv", 'to title\t本文"研究声调。\t声调研究\n')
    assert read("csl", folder, "dev") == [PairExample("声调研究", '本文"研究声调。', None)]
    assert texts("csl", folder) == ['本文"研究声调。']
    fails("csl", write("dev.tsv", "to title\t声调\n"), r"dev\.tsv:1: 2 columns", "dev")


def test_ocnli(write: Write) -> None:
    row = {"level": "easy", "sentence1": "他在家", "sentence2": "他出门了", "label": "contradiction", "id": 1}
    folder = write("train.10k.json", [row])
    write("dev.json", [row | {"label": "-"}])
    assert read("ocnli", folder) == [PairExample("他在家", "他出门了", "contradiction")]
    assert read("ocnli", folder, "dev") == [PairExample("他在家", "他出门了", None)]
    assert texts("ocnli", folder) == ["他在家", "他出门了"] * 2  # those without agreement count too
    write("train.50k.json", [row | {"label": "neutral"}])
    assert read("ocnli", folder)[0].label == "neutral"
    fails("ocnli", write("dev.json", [row, row | {"label": "yes"}]), r"dev\.json:2: label 'yes'", "dev")


def test_cluewsc(write: Write) -> None:
    target = {"span1_index": 0, "span1_text": "小王", "span2_index": 5, "span2_text": "他"}
    row = {"target": target, "label": "true", "text": "小王来了，他累了。"}
    folder = write("train.json", [row])
    expected = CoreferenceExample("小王来了，他累了。", Span(0, 2, "span1"), Span(5, 6, "span2"), "true")
    assert read("cluewsc", folder) == [expected]
    assert texts("cluewsc", folder) == ["小王来了，他累了。"]
    for wrong in (4, -4, 40):
        broken = row | {"target": target | {"span2_index": wrong}}
        fails("cluewsc", write("train.json", [row, broken]), rf"train\.json:2: span2 '他' .* character {wrong}")
    fails("cluewsc", write("train.json", [{"text": "他"}]), "no field 'target'")


C3 = [
    [["男：你好。", "女：请进。"], [{"question": "谁来了?", "choice": ["男的", "女的"], "answer": "男的"}], "1-1"],
]


@pytest.mark.parametrize("prefix", ["c3-", ""])
def test_c3(write: Write, prefix: str) -> None:
    question = {"question": "哪里?", "choice": ["家", "学校", "公园"], "answer": ""}
    folder = write(f"{prefix}d-train.json", json.dumps(C3, ensure_ascii=False))
    fails("c3", folder, rf"no {prefix}m-train\.json\.")
    write(f"{prefix}m-train.json", json.dumps([[["一段话。"], [question], "2-1"]], ensure_ascii=False))
    assert read("c3", folder) == [
        ChoiceExample("男：你好。\n女：请进。", "谁来了?", ("男的", "女的"), 0),
        ChoiceExample("一段话。", "哪里?", ("家", "学校", "公园"), None),
    ]
    assert texts("c3", folder) == ["谁来了?", "男的", "女的", "哪里?", "家", "学校", "公园"]


def test_c3_damaged(write: Write) -> None:
    folder = write("c3-m-train.json", "[]")
    wrong = [C3[0], [["话"], [{"question": "谁?", "choice": ["男的"], "answer": "女的"}]]]
    write("c3-d-train.json", json.dumps(wrong))
    fails("c3", folder, r"c3-d-train\.json: entry 1: the answer '女的' is not one of the choices 男的")
    for entry in ("话", ["话", []], [[1], []]):
        write("c3-d-train.json", json.dumps([entry]))
        fails("c3", folder, r"c3-d-train\.json: entry 0: no list of turns and of questions")
    write("c3-d-train.json", "{}")
    fails("c3", folder, r"c3-d-train\.json: is not a JSON list")


def cmrc(context: str, *answers: dict[str, Any]) -> dict[str, Any]:
    asked = {"id": "DEV_0_QUERY_0", "question": "谁？", "answers": list(answers)}
    paragraph = {"id": "DEV_0", "context": context, "qas": [asked, {"id": "DEV_0_QUERY_1", "question": "何时？"}]}
    return {"version": "v1.0", "data": [{"id": "DEV_0", "title": "题", "paragraphs": [paragraph]}]}


@pytest.mark.parametrize("name", ["cmrc2018_dev.json", "dev.json"])
def test_cmrc(write: Write, name: str) -> None:
    context = "李白写诗，李白喝酒。"
    right = {"text": "李白", "answer_start": 5}
    off, absent = {"text": "李白", "answer_start": 4}, {"text": "杜甫", "answer_start": -1}
    folder = write(name, cmrc(context, right, off, absent))
    answers = (Answer("李白", 5), Answer("李白", 5), Answer("杜甫", None))
    assert read("cmrc", folder, "dev") == [
        QuestionExample("DEV_0_QUERY_0", context, "谁？", answers),
        QuestionExample("DEV_0_QUERY_1", context, "何时？", ()),
    ]
    assert [answer.end for answer in answers] == [7, 7, None]
    assert texts("cmrc", folder) == [context, "谁？", context, "何时？"]  # the passage once a question


def test_cmrc_damaged(write: Write) -> None:
    for document, message in (
        ([], r"dev\.json: is not a JSON object with 'data'"),
        ({"data": None}, r"dev\.json: a list of articles is missing"),
        ({"data": [{}]}, r"dev\.json: article 0: no field 'paragraphs'"),
        ({"data": [{"paragraphs": [1]}]}, r"dev\.json: article 0: a paragraph is not a JSON object"),
        ({"data": [{"paragraphs": [{"context": "", "qas": [1]}]}]}, "article 0: question 0 is not a JSON object"),
        (cmrc("文", {"text": 1}), r"article 0, question DEV_0_QUERY_0: 'text' is int, not str"),
    ):
        fails("cmrc", write("dev.json", json.dumps(document)), message, "dev")


def test_cluener(write: Write) -> None:
    label = {"company": {"浙商银行": [[0, 3], [8, 11]]}, "name": {"叶老桂": [[5, 7]]}}
    row = {"text": "浙商银行的叶老桂浙商银行", "label": label}
    folder = write("train.json", [row])
    spans = (Span(0, 4, "company"), Span(5, 8, "name"), Span(8, 12, "company"))
    assert read("cluener", folder) == [TaggedExample(row["text"], spans)]
    write("test.json", [{"id": 0, "text": "没有标注"}])
    assert read("cluener", folder, "test") == [TaggedExample("没有标注", None)]
    for wrong, message in (
        ({"person": {"叶老桂": [[5, 7]]}}, r"train\.json:2: 'person' is not a label of this set: address, book"),
        ({"name": {"叶老桂": [[5, 8]]}}, r"train\.json:2: name '叶老桂' does not stand at characters \[5, 8\]"),
        ({"name": {"叶老桂": [["5", 7]]}}, "does not stand at characters"),
        ({"name": [[5, 7]]}, r"train\.json:2: 'name' is list, not dict"),
        ({"name": {"叶老桂": 5}}, r"train\.json:2: '叶老桂' is int, not list"),
        (
            {"company": {"商": [[True, True]]}},
            r"train\.json:2: company '商' does not stand at characters \[True, True\]",
        ),
    ):
        fails("cluener", write("train.json", [row, row | {"label": wrong}]), message)
    assert texts("cluener", write("train.json", [row])) == [row["text"]]
    write("dev.json", [{"text": "开发集", "label": {}}])
    assert texts("cluener", folder) == [row["text"], "开发集"]  # train and dev, never test
