"""The benchmark of text given back: what it counts on a small corpus, and that a loss would be counted."""

from __future__ import annotations

import json
import lzma

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import lossless
from phonemic import Tokenizer

pytestmark = pytest.mark.benchmarks

TEXTS = {
    "vi/raw/news.txt.xz": "Quốc kỳ bay trên đỉnh Hà Nội.\nhÀ  ok 😀\r\n",
    "vi/more/reviews.txt.xz": "Hàng đẹp ko chê đc ❤️\n",
    "zh/raw/general.txt.xz": "银行行长 A股，涨了。\n# 门口\n",
}


@pytest.fixture
def data(tmp_path):
    for name, text in TEXTS.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress(text.encode()))
    return tmp_path / "data"


def test_every_line_is_counted_and_none_is_lost(data):
    found = lossless.exactness(data)
    assert found["vi, own"]["characters"] == sum(len(text) for name, text in TEXTS.items() if name.startswith("vi"))
    assert all(row["texts that are other"] == row["ids that are other"] == 0 for row in found.values())


def test_a_loss_is_counted(monkeypatch):
    tally = lossless.Tally("vi")
    tally.plain = Tokenizer("vi", strict=True)
    monkeypatch.setattr(tally.tokenizer, "decode_batch", lambda ids, offsets: ["Quốc kì", "hoc"])
    tally.add(["Quốc kỳ", "hoc"])
    assert tally.result()["texts that are other"] == 1
    assert tally.result()["ids that are other"] == 1


def test_fuzzed_text_has_every_kind_of_character():
    text = "".join(lossless.fuzzed(np.random.default_rng(1), 5_000))
    for pool in lossless.POOLS:
        assert any(ord(char) in pool for char in text)
    found = lossless.fuzz(1_000)
    assert found.pop("twin")["other"] == 0
    assert all(row["characters"] >= 1_000 and not row["texts that are other"] for row in found.values())


def test_results(data, tmp_path, monkeypatch):
    monkeypatch.setattr(lossless, "RESULTS", tmp_path / "lossless.json")
    arguments = ["--data", str(data), "--work", str(tmp_path / "work"), "--only", "positions", "--only", "exactness"]
    done = CliRunner().invoke(lossless.main, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    rows = json.loads((tmp_path / "lossless.json").read_text("utf-8"))["positions"]["rows"]
    assert rows["zh, news, headlines and reviews"]["more positions"] > 0
    assert "vi, reviews and comments" in rows
