"""``phonemic transcribe``: a text as it is read, in each form."""

import csv
import io
import json
import os
from html.parser import HTMLParser
from pathlib import Path

import pytest
from cli_helpers import run
from pypinyin import lazy_pinyin

from phonemic import Tokenizer

LINES = ["银行行长3:30在ATM机，“走吧”。", "", "重庆<b>&amp;😀"]
TEXT = "\n".join(LINES) + "\n"


class Ruby(HTMLParser):
    """The text of a page, and what is above each piece of it."""

    def __init__(self, page):
        super().__init__()
        self.base, self.above, self.ruby, self._in = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self._in.append(tag)
        if tag == "ruby":
            self.ruby.append("")
        if tag == "p":
            self.base.append("")

    def handle_endtag(self, tag):
        self._in.remove(tag)

    def handle_data(self, data):
        if "rt" in self._in:
            self.above.append(data)
        elif "p" in self._in and "rp" not in self._in:
            self.base[-1] += data
            if "ruby" in self._in:
                self.ruby[-1] += data


def test_text_and_standard_input():
    assert run("transcribe", "--lang", "zh", "银行行长", "3:30").stdout == "yín háng háng zhǎng 3:30\n"
    assert run("transcribe", "--lang", "zh", stdin=TEXT).stdout.splitlines() == [
        "yín háng háng zhǎng 3:30 zài ATM jī，“zǒu ba”。",
        "",
        "chóng qìng<b>&amp;😀",
    ]
    assert (
        run("transcribe", "--lang", "zh", "-", stdin=TEXT).stdout
        == run("transcribe", "--lang", "zh", stdin=TEXT).stdout
    )


@pytest.mark.parametrize(
    ("lang", "options", "read"),
    [
        ("zh", ["--to", "numbers"], "yin2 hang2 3"),
        ("zh", ["--to", "zhuyin"], "ㄧㄣˊ ㄏㄤˊ 3"),
        ("zh", ["--to", "ipa"], "in˧˥ xaŋ˧˥ 3"),
        ("zh", ["--to", "triples"], "[EMPTY]|in|˧˥ x|aŋ|˧˥ 3"),
        ("vi", [], "zieŋ˧˥ 3"),
        ("vi", ["--dialect", "saigon"], "jiəŋ˦˥ 3"),
        ("vi", ["--to", "spelling"], "Giếng 3"),
    ],
)
def test_notations(lang, options, read):
    text = {"vi": "Giếng 3", "zh": "银行3"}[lang]
    assert run("transcribe", "--lang", lang, *options, text).stdout == f"{read}\n"


def test_tsv():
    rows = list(
        csv.DictReader(
            io.StringIO(run("transcribe", "--lang", "zh", "--format", "tsv", "银行3").stdout), delimiter="\t"
        )
    )
    assert [row["text"] for row in rows] == ["银", "行", "3"]
    assert [row["reading"] for row in rows[:2]] == lazy_pinyin("银行", style=1)
    assert [(row["onset"], row["rime"], row["tone"]) for row in rows] == [
        ("", "in", "˧˥"),
        ("x", "aŋ", "˧˥"),
        ("", "", ""),
    ]
    assert [(row["start"], row["end"]) for row in rows] == [("0", "1"), ("1", "2"), ("2", "3")]


def test_json():
    rows = [
        json.loads(line)
        for line in run("transcribe", "--lang", "zh", "--format", "json", stdin=TEXT).stdout.splitlines()
    ]
    assert [row["text"] for row in rows] == LINES
    for row in rows:
        encoding = Tokenizer("zh").encode(row["text"])
        assert [(one["start"], one["end"]) for one in row["syllables"]] == [*map(tuple, encoding.spans.tolist())]
        assert all(row["text"][one["start"] : one["end"]] == one["text"] for one in row["syllables"])
    assert [one["pinyin"] for one in rows[0]["syllables"][:4]] == ["yín", "háng", "háng", "zhǎng"]


def test_ruby():
    page = Ruby(run("transcribe", "--lang", "zh", "--format", "ruby", stdin=TEXT).stdout)
    assert page.base == LINES
    assert "".join(page.ruby) == "银行行长在机走吧重庆"
    assert page.above == [*lazy_pinyin("银行行长", style=1), "zài", "jī", "zǒu", "ba", "chóng", "qìng"]


def test_a_page_is_one_whatever_the_text(in_tmp_path, tmp_path):
    run("transcribe", "--lang", "zh", "--format", "ruby", "-o", "poem.html", "床前\r\n疑是👨\u200d👩\x1b[31m")
    html = (tmp_path / "poem.html").read_text("utf-8")
    assert html.count("<br>") == 1
    assert "👨\u200d👩" in html
    assert "\x1b" not in html
    assert "\\x1b[31m" in html
    assert Ruby(html).above == [*lazy_pinyin("床前疑是", style=1)]
    run("transcribe", "--lang", "vi", "--format", "ruby", "-o", "damaged.html", os.fsdecode(b"gi\xff"))
    assert "\\udcff" in (tmp_path / "damaged.html").read_text("utf-8")


def test_output_file(in_tmp_path, tmp_path):
    run("transcribe", "--lang", "vi", "-o", "out.txt", "giếng")
    assert (tmp_path / "out.txt").read_text("utf-8") == "zieŋ˧˥\n"
    assert "--force" in run("transcribe", "--lang", "vi", "-o", "out.txt", "giếng", status=1).stderr


def test_what_does_not_fit():
    assert "cannot decode vi to 'pinyin'" in run("transcribe", "--lang", "vi", "--to", "pinyin", "a", status=2).stderr
    assert "dialects are Vietnamese" in run("transcribe", "--lang", "zh", "--dialect", "hue", "行", status=2).stderr
    found = run("transcribe", "--lang", "vi", "--dialect", "hue", "--to", "spelling", "a", status=2)
    assert "a dialect is written in IPA" in found.stderr
    assert "is the text Mandarin?" in run("transcribe", "--lang", "zh", "Hôm nay trời đẹp quá nhỉ").stderr


@pytest.mark.parametrize("command", [("transcribe",), ("show", "--format", "tsv")])
def test_names_of_files_are_no_text(in_tmp_path, command):
    Path("b.txt").write_text("你好\n北京\n", "utf-8")
    Path("c.jsonl").write_text('{"t": "上海"}\n', "utf-8")
    text = run(*command, "--lang", "zh", "-", stdin="你好\n北京\n").stdout
    assert run(*command, "b.txt", "--lang", "zh").stdout == text
    assert "ʂ" in run("show", "c.jsonl", "--lang", "zh", "--column", "t").stdout
    assert (
        run("transcribe", "c.jsonl", "--lang", "zh", "--column", "t").stdout
        == run("transcribe", "上海", "--lang", "zh").stdout
    )
    assert "b.txt" in run("transcribe", "b.txt", "你好", "--lang", "zh").stdout  # not both are files
    told = run("transcribe", "b.txt", "--lang", "zh", "-o", "b.txt", "--force", status=1).stderr
    assert "b.txt: is also read" in told
