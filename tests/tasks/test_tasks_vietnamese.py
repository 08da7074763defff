"""Each Vietnamese set on files of the form in which it is published, written here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tasks_helpers import fails, read, texts

from phonemic import tasks
from phonemic.tasks import (
    Answer,
    AspectExample,
    PairExample,
    QuestionExample,
    TaggedExample,
    TextExample,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, name: str, content: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def pieces(example: TaggedExample) -> list[tuple[str, str]]:
    """The labelled pieces of the text."""
    assert example.spans is not None
    return [(example.text[span.start : span.end], span.label) for span in example.spans]


VSMEC = [["", "Emotion", "Sentence"], [0, "Enjoyment", "vui quá :))"], [1, "Other", 2021], [2.0, "Fear", None]]


def test_vsmec_as_a_workbook(folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="VSMEC is published as workbooks")
    book = openpyxl.Workbook()
    for row in VSMEC:
        book.active.append(row)
    book.save(folder / "valid_nor_811.xlsx")
    expected = [("vui quá :))", "Enjoyment"), ("2021", "Other"), ("", "Fear")]
    assert read("vsmec", folder, "dev") == [TextExample(text, {"label": label}) for text, label in expected]
    assert texts("vsmec", folder) == ["vui quá :))", "2021"]
    book.active.append([3, "Joy", "vui"])
    book.save(folder / "train_nor_811.xlsx")
    fails("vsmec", folder, r"train_nor_811\.xlsx:5: Emotion 'Joy' is not a label of this set: Enjoyment, Sadness")


def test_vsmec_as_csv(folder: Path) -> None:
    write(folder, "test_nor_811.csv", '\ufeff,Emotion,Sentence\r\n0,Anger,"tức, ""quá"""\r\n')
    assert read("vsmec", folder, "test") == [TextExample('tức, "quá"', {"label": "Anger"})]
    write(folder, "test_nor_811.csv", ",Label,Sentence\n0,Anger,tức\n")
    fails("vsmec", folder, r"test_nor_811\.csv:1: no column Emotion", "test")


@pytest.mark.parametrize("name", ["train.csv", "vihsd/train.csv"])
def test_vihsd(folder: Path, name: str) -> None:
    write(folder, name, 'free_text,label_id\n"hai\ndòng",1\nhay,0\n,2\n')
    expected = [("hai\ndòng", "OFFENSIVE"), ("hay", "CLEAN"), ("", "HATE")]
    assert read("vihsd", folder) == [TextExample(text, {"label": label}) for text, label in expected]
    assert texts("vihsd", folder) == ["hai\ndòng", "hay"]
    write(folder, name, 'free_text,label_id\n"hai\ndòng",1\nhay,3\n')
    fails("vihsd", folder, r"train\.csv:4: label_id '3' is not a label of this set: 0, 1, 2")


COMMENT = "Nó ngu quá, đồ điên\u00a0 nha"


def test_vihos_by_characters(folder: Path) -> None:
    places = [*range(3, 6), *range(12, 19)]
    write(folder, "data/Span_Extraction_based_version/train.csv", f',content,index_spans\n0,"{COMMENT}","{places}"\n')
    write(folder, "data/Test_data/test.csv", ",content,index_spans\n0,hay,[]\n")
    [example] = read("vihos", folder)
    assert example.text == COMMENT
    assert pieces(example) == [("ngu", "T"), ("đồ điên", "T")]
    assert [COMMENT[start:end] for start, end in example.tokens] == ["Nó", "ngu", "quá,", "đồ", "điên", "nha"]
    assert example.tags == ("O", "B-T", "O", "B-T", "I-T", "O")
    assert read("vihos", folder, "test") == [TaggedExample("hay", (), ((0, 3),), ("O",))]
    for wrong, message in (
        ("[4, 99]", r"train\.csv:2: index_spans: no character 99, the comment has 24"),
        ("[-1]", "no character -1"),
        ("[4,", r"train\.csv:2: index_spans is not a list of integers"),
        *((wrong, r"train\.csv:2: index_spans is not a list of integers") for wrong in ("4", "[0.0, 1.5]", "[true]")),
    ):
        write(
            folder, "data/Span_Extraction_based_version/train.csv", f',content,index_spans\n0,"{COMMENT}","{wrong}"\n'
        )
        fails("vihos", folder, message)


def test_vihos_by_syllables(folder: Path) -> None:
    rows = '0,0,Nó,O,0\n1,1,đồ,B-T,0\n2,2,điên,I-T,0\n3,4,"""",O,1\n4,5,^_^,O,1\n'
    write(folder, "dev_BIO_syllable.csv", f",index,Word,Tag,sentence_id\n{rows}")
    first, second = read("vihos", folder, "dev")
    assert first.text == "Nó đồ điên"
    assert pieces(first) == [("đồ điên", "T")]
    assert first.tags == ("O", "B-T", "I-T")
    assert second == TaggedExample('" ^_^', (), ((0, 1), (2, 5)), ("O", "O"))
    write(folder, "dev_BIO_syllable.csv", f",index,Word,Tag,sentence_id\n{rows}5,6,x,B-X,1\n")
    fails("vihos", folder, r"dev_BIO_syllable\.csv:7: 'X' is not a label of this set: T", "dev")
    write(folder, "dev_BIO_syllable.csv", f",index,Word,Tag,sentence_id\n{rows}5,6,x,T,1\n")
    fails("vihos", folder, r"dev_BIO_syllable\.csv:7: 'T' is not a tag", "dev")


@pytest.mark.parametrize("name", ["Train.csv", "train.csv"])
def test_visfd(folder: Path, name: str) -> None:
    header = "index,comment,n_star,date_time,label\n"
    row = '0,"Pin trâu, máy đẹp",5,1 ngày trước,{BATTERY#Positive};{SER&ACC#Negative};{OTHERS};\n'
    write(folder, name, header + row)
    aspects = (("BATTERY", "Positive"), ("SER&ACC", "Negative"), ("OTHERS", None))
    assert read("uit-visfd", folder) == [AspectExample("Pin trâu, máy đẹp", aspects)]
    assert texts("uit-visfd", folder) == ["Pin trâu, máy đẹp"]
    for label, message in (
        ("{BATERY#Positive};", r"rain\.csv:3: '\{BATERY#Positive\};' is not a label of this set: the aspects are "),
        ("{BATTERY#Good};", r"rain\.csv:3: 'Good' is not a sentiment"),
        ("{BATTERY};", "is not a label"),
        ("{OTHERS#Positive};", "is not a label"),
        ("BATTERY#Positive", r"rain\.csv:3: label 'BATTERY#Positive' is not written"),
    ):
        write(folder, name, f"{header}{row}1,x,1,hôm qua,{label}\n")
        fails("uit-visfd", folder, message)


def test_viocd(folder: Path) -> None:
    write(folder, "val.csv", 'review,review_tokenize,label,domain\n"giao hàng, chậm",giao_hàng chậm,1,fashion\n')
    assert read("viocd", folder, "dev") == [TextExample("giao hàng, chậm", {"label": "complaint"})]
    rows = [{"review": "tốt", "label": "non-complaint", "domain": "app"}]
    for document in (rows, {"0": rows[0]}):
        write(folder, "train.json", json.dumps(document))
        assert read("viocd", folder) == [TextExample("tốt", {"label": "non-complaint"})]
    write(folder, "train.json", json.dumps([*rows, {"review": "tốt", "label": "2"}]))
    fails("viocd", folder, r"train\.json: entry 1: label '2'")


def test_victsd(folder: Path) -> None:
    header = ",Comment,Constructiveness,Toxicity,Title,Topic\n"
    write(folder, "ViCTSD_valid.csv", f"{header}3,Ý kiến hay,1,0,Tiêu đề,GiaoDuc\n")
    labels = {"constructiveness": "constructive", "toxicity": "non-toxic"}
    assert read("victsd", folder, "dev") == [TextExample("Ý kiến hay", labels)]
    assert set(tasks.get("victsd").labels) == set(labels)
    write(folder, "ViCTSD_valid.csv", f"{header}3,hay,1,0,T,G\n4,hay,1,yes,T,G\n")
    fails("victsd", folder, r"ViCTSD_valid\.csv:3: Toxicity 'yes'", "dev")


def vsfc(folder: Path, sents: str, sentiments: str, topics: str) -> None:
    write(folder, "train/sents.txt", sents)
    write(folder, "train/sentiments.txt", sentiments)
    write(folder, "train/topics.txt", topics)


def test_vsfc(folder: Path) -> None:
    vsfc(folder, "thầy dạy hay .\nphòng nóng .", "2\n0\n", "0\r\n2\r\n")
    assert read("uit-vsfc", folder) == [
        TextExample("thầy dạy hay .", {"sentiment": "positive", "topic": "lecturer"}),
        TextExample("phòng nóng .", {"sentiment": "negative", "topic": "facility"}),
    ]
    vsfc(folder, "a .\nb .\n", "2\n0\n", "0\n")
    fails("uit-vsfc", folder, r"topics\.txt:2: the file ends, but the other files of the split have this line")
    vsfc(folder, "a .\n", "2\n0\n", "0\n1\n")
    fails("uit-vsfc", folder, r"sents\.txt:2: the file ends")
    vsfc(folder, "a .\nb .\n", "2\n3\n", "0\n1\n")
    fails("uit-vsfc", folder, r"sentiments\.txt:2: sentiment '3' is not a label of this set: 0, 1, 2")
    vsfc(folder, "a .\nb .\n", "2\n1\n", "0\n\n")
    fails("uit-vsfc", folder, r"topics\.txt:2: topic '' is not a label")
    (folder / "train" / "topics.txt").unlink()
    fails("uit-vsfc", folder, r"no train/topics\.txt\. It is published at")


TREE = (
    "((S (NP-SBJ (Nn-H sinh_viên) (NONE *E*)) (VP (R đã) (Vv-H-1 học) (SBAR (Cs *0*) (S (NP (Nn *D*-1)))) "
    "(NP (Num 3) (Nt-H giờ) (LBRK () (Nr Hà_Nội) (RBRK )))) (PU .)))\n"
)


def niivtb(folder: Path, part: str, line: str) -> None:
    write(folder, f"treebank/NIIVTB-{part}-Finished/Train/Life/Train_Life_0.prd", line)


def test_niivtb(folder: Path) -> None:
    niivtb(folder, "1", TREE)
    fails("niivtb-pos", folder, r"no treebank/NIIVTB-2-Finished/Train/\*/\*\.prd\. .*scripts/merge\.py")
    niivtb(folder, "2", "((SPL (NP (Nn-H mưa)) (PU *)))\n")
    first, second = read("niivtb-pos", folder)
    assert first.text == "sinh viên đã học 3 giờ ( Hà Nội ) ."
    assert pieces(first) == [
        ("sinh viên", "Nn"), ("đã", "R"), ("học", "Vv"), ("3", "Num"), ("giờ", "Nt"), ("(", "LBRK"), ("Hà Nội", "Nr"),
        (")", "RBRK"), (".", "PU"),
    ]  # fmt: skip
    assert first.tags == tuple(label for _, label in pieces(first))
    assert pieces(second) == [("mưa", "Nn"), ("*", "PU")]
    for line, message in (
        ("((S (NP (Nn-H 2_SYLLABLE_WORD)) (PU 1_SYLLABLE_WORD)))", "numbers of syllables instead of words"),
        ("((S (NP (Nq-H nhà)) (VP (Xx đi))))", "'Xx' is not a label of this set: Sv, Nc"),
        ("((S (NP (Nn nhà)) (PU .))", "damaged, no bracketed tree"),
        ("nhà .", "damaged, no bracketed tree"),
    ):
        niivtb(folder, "1", f"{TREE}\n{line}\n")
        fails("niivtb-pos", folder, rf"Train_Life_0\.prd:3: .*{message}")


SYLLABLES = "Bệnh O\nnhân O\nHà B-LOCATION\nNội I-LOCATION\n7/3 B-DATE\n\n\nSốt B-SYMPTOM_AND_DISEASE\n. O"


def test_phoner_by_syllables(folder: Path) -> None:
    write(folder, "data/syllable/train_syllable.conll", SYLLABLES)
    first, second = read("phoner", folder)
    assert first.text == "Bệnh nhân Hà Nội 7/3"
    assert pieces(first) == [("Hà Nội", "LOCATION"), ("7/3", "DATE")]
    assert pieces(second) == [("Sốt", "SYMPTOM_AND_DISEASE")]
    sentence = {"words": ["Bệnh", "nhân", "Hà", "Nội", "7/3"], "tags": list(first.tags)}
    write(folder, "train_syllable.json", json.dumps(sentence) + "\n")
    (folder / "data" / "syllable" / "train_syllable.conll").unlink()
    assert read("phoner", folder) == [first]


def test_phoner_by_words(folder: Path) -> None:
    write(folder, "dev_word.conll", "Bệnh_nhân O\nở O\nHà_Nội B-LOCATION\n_ O\n")
    [example] = read("phoner", folder, "dev")
    assert example.text == "Bệnh nhân ở Hà Nội _"
    assert pieces(example) == [("Hà Nội", "LOCATION")]
    assert [example.text[start:end] for start, end in example.tokens] == ["Bệnh nhân", "ở", "Hà Nội", "_"]


def test_phoner_damaged(folder: Path) -> None:
    for line, message in (
        ("Hà", "1 columns, not a word and a tag"),
        ("Hà Nội B-LOCATION", "3 columns"),
        ("Hà B-PLACE", "'PLACE' is not a label of this set: AGE, DATE"),
        ("Hà X", "'X' is not a tag: O, B-label or I-label"),
        ("Hà B", "'B' is not a tag"),
    ):
        write(folder, "train_syllable.conll", f"{SYLLABLES}\n\nở O\n{line}\n")
        fails("phoner", folder, rf"train_syllable\.conll:12: {message}")
    write(folder, "test_syllable.json", '{"words": ["a", "b"], "tags": ["O"]}\n')
    fails("phoner", folder, r"test_syllable\.json:1: 2 words, but 1 tags", "test")
    write(folder, "test_syllable.json", '{"words": ["a", ""], "tags": ["O", "O"]}\n')
    fails("phoner", folder, r"test_syllable\.json:1: an empty word", "test")


VIETMED = {"words": ["đau", "đầu", "thì", "uống", "thuốc"], "labels": ["B-DISEASESYMTOM", "I-DISEASESYMTOM", "0", "0", "B-DRUGCHEMICAL"]}  # fmt: skip


def test_vietmed_as_parquet(folder: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="VietMed is published as Parquet")
    from pyarrow import parquet

    path = folder / "data" / "validation-00000-of-00001.parquet"
    path.parent.mkdir()
    parquet.write_table(pyarrow.Table.from_pylist([VIETMED | {"text": "x"}]), path)
    [example] = read("vietmed", folder, "dev")
    assert example.text == "đau đầu thì uống thuốc"
    assert pieces(example) == [("đau đầu", "DISEASESYMTOM"), ("thuốc", "DRUGCHEMICAL")]
    assert example.tags[2] == "O"
    for at in (1, 2):
        shard = pyarrow.Table.from_pylist([{"words": [f"x{at}"], "labels": ["0"]}])
        parquet.write_table(shard, folder / "data" / f"train-0000{at}-of-00002.parquet")
    assert [one.text for one in read("vietmed", folder)] == ["x1", "x2"]
    parquet.write_table(pyarrow.Table.from_pylist([VIETMED, VIETMED | {"labels": ["0"]}]), path)
    fails("vietmed", folder, r"parquet: row 1: 5 words, but 1 tags", "dev")
    parquet.write_table(pyarrow.table({"words": [["a"]]}), path)
    fails("vietmed", folder, r"parquet: no column labels", "dev")
    path.write_bytes(b"PAR1")
    fails("vietmed", folder, "damaged, or not a Parquet file", "dev")


def test_vietmed_as_json(folder: Path) -> None:
    write(folder, "train.json", json.dumps(VIETMED) + "\n")
    assert pieces(read("vietmed", folder)[0]) == [("đau đầu", "DISEASESYMTOM"), ("thuốc", "DRUGCHEMICAL")]


def test_vinli(folder: Path) -> None:
    row = {"pairID": "1", "gold_label": "other", "sentence1": "Trời mưa.", "sentence2": "Trời nắng.", "topic": "x"}
    write(folder, "UIT_ViNLI_1.0_dev.jsonl", f"{json.dumps(row)}\n{json.dumps(row | {'gold_label': '-'})}\n")
    assert read("vinli", folder, "dev") == [PairExample("Trời mưa.", "Trời nắng.", label) for label in ("other", None)]
    write(folder, "UIT_ViNLI_1.0_dev.jsonl", json.dumps(row | {"gold_label": "maybe"}))
    fails("vinli", folder, r"UIT_ViNLI_1\.0_dev\.jsonl:1: gold_label 'maybe'", "dev")


def article(*answers: str, context: str = "Ăn rau giúp khoẻ. Rau rẻ.") -> dict[str, Any]:
    placed = [{"text": answer, "answer_start": context.index(answer)} for answer in answers]
    return {
        "title": "t",
        "paragraphs": [{"context": context, "qas": [{"id": "1", "question": "Ăn gì?", "answers": placed}]}],
    }


def test_vinewsqa(folder: Path) -> None:
    found = article("rau", "Ăn rau")
    found["paragraphs"][0]["qas"].append({"id": "2", "question": "Sao?", "answers": []})
    write(
        folder, "train_ViNewsQA.json", json.dumps({"version": "1", "data": [found, article("Ngủ", context="Ngủ đủ.")]})
    )
    questions = read("vinewsqa", folder)
    context = found["paragraphs"][0]["context"]
    assert questions[0] == QuestionExample("1", context, "Ăn gì?", (Answer("rau", 3), Answer("Ăn rau", 0)))
    assert [question.id for question in questions] == ["1", "2", "1"]
    # the article once, each question, each answer
    assert texts("vinewsqa", folder) == [context, "Ăn gì?", "rau", "Ăn rau", "Sao?", "Ngủ đủ.", "Ăn gì?", "Ngủ"]


def test_vinewsqa_with_a_file_an_article(folder: Path) -> None:
    write(folder, "Dev/a.json", json.dumps(article("rau")))
    write(folder, "Dev/b.json", json.dumps(article("rẻ")))
    answers = [answer.text for question in read("vinewsqa", folder, "dev") for answer in question.answers]
    assert answers == ["rau", "rẻ"]
