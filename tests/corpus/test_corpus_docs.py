"""docs/how-to/prepare-a-corpus.md is true: its code runs, its options are the command's, its manifest is the one that is written."""

import re
from pathlib import Path

import pytest

from phonemic import Tokenizer
from phonemic.corpus import Options, Threads, prepare

DOCS = Path(__file__).parents[2] / "docs"
FORMATS = (DOCS / "reference" / "files.md").read_text("utf-8")
PAGE = (DOCS / "how-to" / "prepare-a-corpus.md").read_text("utf-8")


@pytest.fixture
def corpus(tmp_path, monkeypatch, lines):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("\n".join(lines("vi", 60)), "utf-8")
    return prepare(["in.txt"], "corpus-vi", Options(Tokenizer("vi")), Threads(1))


def test_code(corpus):
    pytest.importorskip("torch", reason="needs the model extra")
    names = {}
    [block] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(block, names)
    assert names["corpus"].positions == corpus["totals"]["positions"]
    assert len(names["shard"].offsets) == corpus["totals"]["rows"] + 1


def test_every_field_of_the_manifest_is_described(corpus):
    words = set(re.findall(r"`(\w+)`", FORMATS))
    fields = {*corpus, *corpus["tokenizer"], *corpus["options"], *corpus["totals"], *corpus["shards"][0]}
    fields |= set(corpus["totals"]["lines_dropped"]) | {"path", "bytes", "sha256"}
    assert {name for name in fields if not name.startswith("bytes_")} <= words | {"shards", "sources"}


def test_options_are_the_commands():
    pytest.importorskip("click", reason="needs the cli extra")
    from phonemic.cli.prepare import prepare as command

    known = {name for parameter in command.params for name in parameter.opts}
    shown = set(re.findall(r"(--[a-z]+(?:-[a-z]+)*)", PAGE))
    assert shown <= known
    assert {"--exact-duplicates", "--near-duplicates", "--keep-going", "--engine", "--tokenizer"} <= shown


def test_bands():
    from phonemic.corpus.duplicates import bands

    count, values = bands(0.8)
    assert f"at 0.8 there are {count} bands of {values} values" in PAGE
    shown = ", ".join(f"{1 - (1 - likeness**values) ** count:.0%}" for likeness in (0.6, 0.8, 0.9))
    assert shown.replace("%", " %").replace(", 98", " or 98") in PAGE
