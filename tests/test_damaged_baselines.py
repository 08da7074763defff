"""Damaged vocabularies and codes of baselines: errors that name the file, and the line or the byte."""

import re

import pytest

from phonemic import baselines
from phonemic.baselines import BaselineError

pytest.importorskip("sentencepiece", reason="the baselines need sentencepiece")
pytest.importorskip("tokenizers", reason="the baselines need tokenizers")

from baseline_helpers import train_subchar

SOUND = {"mBERT": "[UNK]\na\n", "PhoBERT-unsegmented": "to 7\na 7\n", "Character": "[UNK]\t0\na 7\n"}


def vocabulary(name, folder):
    (folder / "bpe.codes").write_text("t o</w> 9\n", encoding="utf-8")
    return folder / ("bert_chinese_uncased_9.vocab" if name == "Character" else "vocab.txt")


@pytest.mark.parametrize("name", SOUND)
def test_vocabulary(name, tmp_path):
    file = vocabulary(name, tmp_path)
    last = SOUND[name].splitlines()[-1]
    file.write_text(SOUND[name], encoding="utf-8")
    sound = baselines.load(name, tmp_path)
    assert sound.tokens(sound.encode("a")) == ["a"]
    for content, message in (
        (SOUND[name].encode() + b"\xff\xfe", f"{file}: not UTF-8 at byte {len(SOUND[name])}"),
        (f"{SOUND[name]}{last}\n".encode(), f"{file}, line 3: 'a' is an entry already"),
        (f"{last}\n{SOUND[name]}".encode(), f"{file}, line 3: 'a' is an entry already"),
    ):
        file.write_bytes(content)
        with pytest.raises(BaselineError, match=re.escape(message)):
            baselines.load(name, tmp_path)


@pytest.mark.parametrize("name", ["Character", "PhoBERT-unsegmented"])
def test_entries_with_counts(name, tmp_path):
    file = vocabulary(name, tmp_path)
    for content, message in (
        ("", ": holds no entry"),
        ("\n \n", ": holds no entry"),
        ("a 1\nb\n", ", line 2: not"),
    ):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(BaselineError, match=re.escape(f"{file}{message}")):
            baselines.load(name, tmp_path)


@pytest.mark.parametrize(
    ("name", "file"), [("PhoBERT-unsegmented", "bpe.codes"), ("SubChar-Wubi", "chinese_to_wubi.tsv")]
)
def test_codes(name, file, tmp_path):
    folder = train_subchar(tmp_path) / "subchar"
    vocabulary(name, folder).write_text("to 7\n", encoding="utf-8")
    assert baselines.load(name, folder).encode("") == []
    (folder / file).write_bytes(b"\xff\xfe")
    with pytest.raises(BaselineError, match=rf"{file}: not UTF-8 at byte 0; take a sound copy"):
        baselines.load(name, folder)
