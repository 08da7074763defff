"""Corpora of ids with forms: the same lines as without, and their text from the ids alone."""

import json
from itertools import pairwise

import numpy as np
import pytest
from corpus_helpers import rows_of
from hypothesis import given
from hypothesis import strategies as st

from phonemic import InputError, Tokenizer
from phonemic.corpus import Options, Threads, open_corpus, prepare
from phonemic.corpus.lines import without_line_ends
from phonemic.forms import without_forms
from phonemic.inventory import TRIPLE
from phonemic.lexicon.forms import forms

#: Lines as they are found: line ends of both kinds, white space around, a mark of UTF-8, emoji, what is not of the language.
EXTRA = {
    "vi": [
        "  Quốc  kỳ bay hÀ 😀 ",
        "Tôi đi\tHuế ☃\ufe0f",
        "hòa bình, hoà bình, hòa bình, hoà bình",
        "",
        "только слова",
        "Tôi",
    ],
    "zh": ["银行门口 A，", "銀行門口\u3000长长", "一二三四五六七八九十，", "", "only words of English here", "你😀好"],
}


def made(folder, lang, texts, form, end="\n", **options):
    folder.mkdir()
    (folder / "in.txt").write_bytes(b"\xef\xbb\xbf" + (end.join(texts) + end).encode())
    chosen = Options(Tokenizer(lang, form=form), shard_bytes=2000, **options)
    prepare([str(folder / "in.txt")], folder / "out", chosen, Threads(1))
    return open_corpus(folder / "out")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_the_same_lines_as_without_forms(tmp_path, lines, lang, end):
    texts = lines(lang, 60) + EXTRA[lang]
    with_forms, without = (made(tmp_path / str(form), lang, texts, form, end) for form in (True, False))
    tokenizer, rows = Tokenizer(lang, form=True), rows_of(with_forms)
    assert [(without_forms(ids, lang).tolist(), size) for ids, size in rows] == rows_of(without)
    kept = [tokenizer.decode(ids) for ids, _ in rows]
    written = [text.removesuffix("\r") if end == "\n" else text for text in texts]
    assert kept == [text for text in written if text in set(kept)]
    totals, plain = (corpus.manifest["totals"] for corpus in (with_forms, without))
    for name in ("lines_kept", "lines_dropped", "bytes_kept", "bytes_dropped", "rows", "characters"):
        assert totals[name] == plain[name]
    reports = [json.loads((corpus.folder / "report.json").read_bytes()) for corpus in (with_forms, without)]
    for name in ("lines", "native_units_of_lines_read", "native_units_of_lines_kept"):
        assert reports[0][name] == reports[1][name]
    ids = np.concatenate([shard.ids for shard in with_forms])
    for slot, name in enumerate(("onset", "rime", "tone")):
        counted = np.bincount((ids & TRIPLE) >> 8 * slot & 255, minlength=256)
        symbols = tokenizer.vocab.symbols
        found = reports[0]["components"][name]
        assert all(found[symbol] == counted[symbols.index(symbol)] for symbol in found)
    assert reports[0]["kinds"].keys() == {"native", "fallback", "white space or bytes", "special"}
    assert "positions that are white space or bytes" in (with_forms.folder / "report.md").read_text("utf-8")


def test_duplicates_are_those_without_forms(tmp_path, lines):
    pytest.importorskip("rensa", reason="needs the corpus extra")
    texts = lines("vi", 80)
    texts += [text.upper() for text in texts] + [text.replace(" ", "  ") + " 😀" for text in texts] + texts[:5]
    corpora = [made(tmp_path / str(form), "vi", texts, form, exact=True, near=0.8) for form in (True, False)]
    dropped = [corpus.manifest["totals"]["lines_dropped"] for corpus in corpora]
    assert dropped[0] == dropped[1]
    assert dropped[0]["near_duplicate"] > 80
    assert [size for _, size in rows_of(corpora[0])] == [size for _, size in rows_of(corpora[1])]


def test_the_manifest_says_which_forms(tmp_path, lines, monkeypatch):
    corpus = made(tmp_path / "one", "zh", lines("zh", 5), True)
    assert corpus.tokenizer["form"] is True
    assert corpus.tokenizer["forms"] == forms("zh").checksum
    plain = made(tmp_path / "two", "zh", lines("zh", 5), False)
    assert not {"form", "forms"} & plain.tokenizer.keys()


def test_a_stopped_run_is_continued_with_the_same_option_only(tmp_path, lines, monkeypatch):
    (tmp_path / "in.txt").write_text("\n".join(lines("vi", 20)), "utf-8")
    monkeypatch.setattr("phonemic.corpus.preparation.write_report", lambda *arguments: 1 / 0)
    with pytest.raises(InputError, match="ZeroDivisionError"):
        prepare([str(tmp_path / "in.txt")], tmp_path / "out", Options(Tokenizer("vi", form=True)), Threads(1))
    with pytest.raises(InputError, match="started with another tokenizer"):
        prepare([str(tmp_path / "in.txt")], tmp_path / "out", Options(Tokenizer("vi")), Threads(1))


@given(st.lists(st.text(st.sampled_from("a\ré "), max_size=4), max_size=6), st.integers(0, 3))
def test_line_ends(texts, before):
    for end in ("\n", "\r\n", ""):
        parts = [(text + end).encode() for text in texts]
        data = np.frombuffer(b"x" * before + b"".join(parts), np.uint8)
        found, offsets = without_line_ends(data, np.cumsum([before, *map(len, parts)]))
        own = [found[start:stop].tobytes().decode() for start, stop in pairwise(offsets)]
        assert own == [text.removesuffix("\r") if end == "\n" else text for text in texts]
