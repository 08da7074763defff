"""Ids with forms in files: the text comes back from the file alone, and what other forms wrote is refused."""

import json

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("click")

from cli_helpers import run  # noqa: E402

from phonemic import InputError, SavedTokenizerError, Tokenizer  # noqa: E402
from phonemic.files.ids import FORMATS, reader, writer  # noqa: E402
from phonemic.lexicon.forms import forms  # noqa: E402

TEXTS = {"vi": ["Quốc  kỳ hÀ 😀", None, "", "sinh_viên ~"], "zh": ["银行 A，", None, "", "門\u200d_ ☃\ufe0f"]}


@pytest.mark.parametrize("form", [*FORMATS])
@pytest.mark.parametrize("joiner", [None, "_"])
@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_back_again(tmp_path, lang, joiner, form):
    tokenizer = Tokenizer(lang, form=True, word_joiner=joiner)
    path = str(tmp_path / f"ids{FORMATS[form]}")
    with writer(path, form, tokenizer) as write:
        write(TEXTS[lang])
    found, ids = reader(path, form)
    assert found == tokenizer
    rows = [row for block in ids for row in block.lists()]
    assert [None if row is None else found.decode(row) for row in rows] == TEXTS[lang]


def test_the_files_of_other_forms_are_refused(tmp_path, monkeypatch):
    tokenizer, other = Tokenizer("vi", form=True), forms("vi")._replace(checksum="00000000")
    for form, end in FORMATS.items():
        with writer(str(tmp_path / f"ids{end}"), form, tokenizer) as write:
            write(["tôi"])
    tokenizer.save(tmp_path / "tokenizer.json")
    assert json.loads((tmp_path / "tokenizer.json").read_bytes())["forms_checksum"] == forms("vi").checksum
    monkeypatch.setattr("phonemic.lexicon.forms.forms", lambda lang: other)
    for form, end in FORMATS.items():
        with pytest.raises(InputError, match="forms are not this version's"):
            reader(str(tmp_path / f"ids{end}"), form)
    with pytest.raises(SavedTokenizerError, match="forms are not this version's, so its ids say other spellings"):
        Tokenizer.load(tmp_path / "tokenizer.json")


def test_without_forms_nothing_is_written_of_them(tmp_path):
    tokenizer = Tokenizer("vi", word_joiner="_")
    for form, end in FORMATS.items():
        with writer(str(tmp_path / f"ids{end}"), form, tokenizer) as write:
            write(["tôi"])
    assert json.loads((tmp_path / "ids.jsonl").read_bytes()).keys() == {"lang", "tables", "ids"}
    assert not [key for key in pq.read_schema(tmp_path / "ids.parquet").metadata if b"form" in key or b"join" in key]
    tokenizer.save(tmp_path / "tokenizer.json")
    assert json.loads((tmp_path / "tokenizer.json").read_bytes()).keys() == {
        "format",
        "lang",
        "word_joiner",
        "vocabulary_checksum",
        "digests",
    }


def test_rows_of_two_kinds_are_refused(tmp_path):
    lines = []
    for form in (True, False):
        with writer(str(tmp_path / "ids.jsonl"), "jsonl", Tokenizer("vi", form=form)) as write:
            write(["tôi"])
        lines.append((tmp_path / "ids.jsonl").read_text("utf-8"))
    (tmp_path / "both.jsonl").write_text("".join(lines), "utf-8")
    with pytest.raises(InputError, match=r"line 2: its language, .* or form are not those of the first"):
        list(reader(str(tmp_path / "both.jsonl"), "jsonl")[1])


def test_metadata_that_no_tokenizer_has(tmp_path):
    path = tmp_path / "ids.parquet"
    with writer(str(path), "parquet", Tokenizer("vi", form=True)) as write:
        write(["tôi"])
    table = pq.read_table(path)
    for changed in (
        {b"phonemic.form": b"perhaps"},
        {b"phonemic.fallback": b"packed"},
        {b"phonemic.word_joiner": b"ab"},
    ):
        pq.write_table(table.replace_schema_metadata({**table.schema.metadata, **changed}), path)
        with pytest.raises(InputError, match="use the phonemic version that wrote it"):
            reader(str(path), "parquet")


def test_the_commands_give_text_back(tmp_path):
    (tmp_path / "in.txt").write_text("Quốc  kỳ, hÀ 😀\n\n 银行~\n", "utf-8")
    run("encode", tmp_path / "in.txt", tmp_path / "ids.parquet", "--lang", "vi", "--form")
    decoded = run("decode", tmp_path / "ids.parquet")
    assert decoded.stdout == (tmp_path / "in.txt").read_text("utf-8")
    assert run("decode", tmp_path / "ids.parquet", "--to", "spelling").stdout.startswith("quốc kì , hà �\n")
