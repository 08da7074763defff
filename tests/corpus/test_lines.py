"""Every format, compression and cut gives the same lines; what is wrong is named by file and byte."""

import bz2
import gzip
import json
import lzma
import os
import re
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_helpers import expected_rows
from hypothesis import given
from hypothesis import strategies as st

from phonemic import InputError, Tokenizer
from phonemic.corpus import Options, Threads, prepare
from phonemic.corpus.inputs import cut, find_sources
from phonemic.corpus.lines import read_part, whole_lines
from phonemic.corpus.tokenizing import rows_of as rows_of_lines
from phonemic.corpus.tokenizing import tokenize

zstandard = pytest.importorskip("zstandard")
VI, ZH = Tokenizer("vi"), Tokenizer("zh")
BAD = [b"\x80", b"\xff", b"\xe6\x95", b"\xc0\x80", b"\x80" * 5]


def pieces_of(path, options):
    """The chunks of each part of a file."""
    sources = find_sources([str(path)])
    return [list(read_part(part, sources, options)) for part in cut(sources, options)]


def kept_rows(path, options):
    """Ids and characters of the kept lines of each part of a file."""
    parts = []
    for chunks in pieces_of(path, options):
        parts.append([])
        for chunk in chunks:
            tokenized = tokenize(chunk, str(path), options)
            rows, _ = rows_of_lines(tokenized, tokenized.statuses, options)
            parts[-1] += zip(rows["ids"].to_pylist(), rows["characters"].to_pylist(), strict=True)
    return parts


@given(st.lists(st.binary(max_size=12), max_size=8), st.integers(1, 20))
def test_whole_lines_depend_on_the_text_alone(blocks, size):
    text = b"".join(blocks).replace(b"x", b"\n")
    whole = list(whole_lines([text] if text else [], size))
    assert b"".join(whole) == text
    assert list(whole_lines([text[at : at + 1] for at in range(len(text))], size)) == whole
    assert all(chunk.endswith(b"\n") for chunk in whole[:-1])
    assert all(len(chunk) <= size or chunk.count(b"\n") <= 1 for chunk in whole)


@given(
    st.lists(st.sampled_from(["", "a", "bc", "xin chào", "ba " * 20]), max_size=12), st.integers(1, 60), st.booleans()
)
def test_cuts_of_a_plain_file_lose_and_repeat_nothing(tmp_path_factory, texts, shard_bytes, ended):
    path = tmp_path_factory.mktemp("cut") / "in.txt"
    data = ("\n".join(texts) + ("\n" if ended else "")).encode()
    path.write_bytes(data)
    lines, read = [], 0
    for chunk in (chunk for part in pieces_of(path, Options(VI, shard_bytes=shard_bytes)) for chunk in part):
        bounds = chunk.offsets.tolist()
        assert chunk.start == sum(map(len, lines))
        lines += [chunk.data[start:stop].tobytes() for start, stop in pairwise(bounds)]
        read += chunk.read
    assert lines == data.splitlines(keepends=True)
    assert read == len(data)


def written(folder, lines):
    """The same lines in every format."""
    text = "\n".join(lines).encode()
    # Several lines are one text: lines are what is kept or dropped.
    texts = ["\n".join(lines[at : at + 3]) for at in range(0, len(lines), 3)]
    rows = [json.dumps({"n": at, "body": text, "more": {"body": 1}}) for at, text in enumerate(texts)]
    rows[1:1] = ['{"n": 1}', '{"body": null}', ""]
    objects = "\n".join(rows).encode()
    (folder / "plain.txt").write_bytes(b"\xef\xbb\xbf" + text)
    (folder / "crlf.txt").write_bytes(text.replace(b"\n", b"\r\n"))
    (folder / "text.gz").write_bytes(gzip.compress(text[:1000]) + gzip.compress(text[1000:]))
    (folder / "text.txt.bz2").write_bytes(bz2.compress(text))
    (folder / "text.xz").write_bytes(lzma.compress(text))
    (folder / "text.zst").write_bytes(zstandard.ZstdCompressor().compress(text))
    (folder / "rows.jsonl").write_bytes(objects)
    (folder / "rows.ndjson.gz").write_bytes(gzip.compress(objects))
    for name, kind in (("a", pa.string()), ("b", pa.large_string()), ("c", pa.dictionary(pa.int32(), pa.string()))):
        table = pa.table({"n": range(len(texts) + 1), "body": pa.array([None, *texts]).cast(kind)})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=7)


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_every_format_gives_the_rows_of_the_plain_program(tmp_path, lines, lang):
    texts = lines(lang, 120)
    (tmp_path / "in").mkdir()
    written(tmp_path / "in", texts)
    expected = expected_rows(texts, lang)
    assert 20 < len(expected) < 110
    for path in sorted((tmp_path / "in").iterdir()):
        for shard_bytes in (1000, 1 << 20):
            parts = kept_rows(path, Options(Tokenizer(lang), column="body", shard_bytes=shard_bytes))
            assert [row for part in parts for row in part] == expected, path
            assert (len(parts) > 1) == (shard_bytes == 1000 and path.suffix in (".txt", ".jsonl", ".parquet")), path
    assert len(list((tmp_path / "in").iterdir())) == 11


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"ba\nba\xffba\n", "a.txt, byte 5 of the file: not UTF-8"),
        ("a.gz", gzip.compress(b"ba\nba\xffba\n", mtime=0), "a.gz, byte 5 of the file: not UTF-8"),
        ("a.jsonl", b'{"text": "ba"}\n{"text": "b\xff"}', "a.jsonl, byte 26 of the file: not UTF-8"),
        ("a.jsonl", b'{"text": "ba"}\n{"text": }\n', "a.jsonl, the line at byte 15 of the file: is not JSON ("),
        ("a.jsonl", b'{"text": "ba"}\n[1]\n', "byte 15 of the file: a JSON object is expected, not of type list"),
        ("a.jsonl", b'{"text": 1}\n', "a.jsonl, the line at byte 0 of the file: the field 'text' is not a string"),
        (
            "a.jsonl",
            b'{"text": "ba"}\n{"text": "\\ud83d"}\n',
            "at byte 15 of the file: the field 'text' is not Unicode text",
        ),
        (
            "a.jsonl",
            b'{"body": "ba", "n": 1}\n{}\n',
            "no line from byte 0 on has the field 'text'; the first has body, n",
        ),
        ("a.jsonl", b'\r\n {"body": "ba"}\n', "no line from byte 0 on has the field 'text'; the first has body"),
        ("a.gz", gzip.compress(b"ba\n" * 999, mtime=0)[:-9], "a.gz: truncated"),
        ("a.xz", b"no xz", "a.xz: damaged"),
        ("a.parquet", b"PAR1 no", "a.parquet: damaged, or not a Parquet file"),
        ("a.parquet.gz", b"", "a.parquet.gz: Parquet is compressed internally"),
    ],
)
def test_damage_is_named(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message.replace("(", r"\(").replace("[", r"\[")) as caught:
        prepare([str(tmp_path / name)], tmp_path / "out", Options(VI), Threads(1))
    assert str(tmp_path) in str(caught.value)
    assert not list(tmp_path.rglob("*.parquet.partial"))


def test_parquet_without_the_column_or_with_bad_text(tmp_path):
    pq.write_table(pa.table({"body": ["ba"]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: no column 'text'; the columns are: body"):
        prepare([str(tmp_path / "a.parquet")], tmp_path / "out", Options(VI), Threads(1))
    bad = pa.array([b"tot ba", b"x\xffy"]).view(pa.string())
    pq.write_table(pa.table({"body": bad}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet, byte 1 of a line: not UTF-8"):
        prepare([str(tmp_path / "b.parquet")], tmp_path / "o2", Options(VI, column="body"), Threads(1))


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.parquet"])
def test_replace_puts_the_replacement_character(tmp_path, name):
    lines = [b"xin ch\xffo ba me", b"hai", b"ba \xe1\xba"]
    if name == "a.parquet":
        pq.write_table(pa.table({"text": pa.array(lines).view(pa.string())}), tmp_path / name)
    else:
        rows = lines if name == "a.txt" else [b'{"text": "' + line + b'"}' for line in lines]
        (tmp_path / name).write_bytes(b"\n".join(rows))
    options = Options(VI, errors="replace", min_native=0)
    texts = [line.decode("utf-8", "replace") for line in lines]
    assert kept_rows(tmp_path / name, options) == [expected_rows(texts, "vi", 0)]


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.parquet"])
def test_bytes_between_the_characters_of_phrases(tmp_path, name):
    """Mandarin is read backwards from a phrase that changes a reading: never into what is not a character."""
    words = ["数一个", "银行", "不了", "长城", "了解", "一" * 30]
    lines = [word.encode()[:at] + bad + word.encode()[at:] for word in words for bad in BAD for at in (0, 3, 5, -3)]
    if name == "a.parquet":
        pq.write_table(pa.table({"text": pa.array(lines).view(pa.string())}), tmp_path / name)
    else:
        rows = lines if name == "a.txt" else [b'{"text": "' + line + b'"}' for line in lines]
        (tmp_path / name).write_bytes(b"\n".join(rows))
    texts = [line.decode("utf-8", "replace") for line in lines]
    assert kept_rows(tmp_path / name, Options(ZH, errors="replace", min_native=0)) == [expected_rows(texts, "zh", 0)]
    with pytest.raises(InputError, match=r"a\.\w+, .*byte \d+ .*not UTF-8"):
        kept_rows(tmp_path / name, Options(ZH, min_native=0))


def test_a_link_that_leads_nowhere_and_what_is_no_file(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("ba me\n")
    (tmp_path / "in/b.txt").symlink_to(tmp_path / "gone.txt")
    os.mkfifo(tmp_path / "in/c.txt")
    assert [source.path for source in find_sources([str(tmp_path / "in")])] == [str(tmp_path / "in/a.txt")]
    with pytest.raises(OSError, match=r"b\.txt"):
        find_sources([str(tmp_path / "in/b.txt")])


@pytest.mark.parametrize("name", ["a.txt", "a.txt.zst", "a.jsonl.gz"])
def test_a_line_that_is_too_long(tmp_path, name):
    text = b"ba me\n" * 300 + b"x" * 5000 + b"\nhai\n"
    if ".jsonl" in name:
        text = b"".join(b'{"text": "%s"}\n' % line for line in text.splitlines())
    pack = {".zst": zstandard.compress, ".gz": gzip.compress}.get(Path(name).suffix, bytes)
    (tmp_path / name).write_bytes(pack(text))
    with pytest.raises(InputError, match=r"a\.\S+, line 301: is longer than 4,000 bytes; .*raise --max-line"):
        prepare([str(tmp_path / name)], tmp_path / "out", Options(VI, max_line=4000), Threads(1))
    made = prepare([str(tmp_path / name)], tmp_path / "out", Options(VI, max_line=5100), Threads(1))
    assert made["totals"]["rows"] == 301


class Counted:
    """A file that notes how many bytes each call reads."""

    def __init__(self, path, mode, sizes):
        self.file, self.sizes = open(path, mode), sizes  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def __getattr__(self, name):
        return getattr(self.file, name)

    def noted(self, found):
        self.sizes.append(len(found))
        return found

    def read(self, *size):
        return self.noted(self.file.read(*size))

    def readline(self, *size):
        return self.noted(self.file.readline(*size))


@pytest.mark.parametrize("limit", [400, 1999, 5000])
def test_a_line_over_many_pieces_is_read_once(tmp_path, monkeypatch, limit):
    """Lines in the pieces behind are still theirs; of a line that is too long no more is read than must be."""
    sizes, path = [], tmp_path / "a.txt"
    before, after = b"ba me\n" * 500, b"hai\n" * 700
    path.write_bytes(before + b"x" * 60_000 + b"\n" + after)
    monkeypatch.setattr("phonemic.corpus.lines._BLOCK", 100)
    monkeypatch.setattr("phonemic.corpus.lines.open", lambda path, mode: Counted(path, mode, sizes), raising=False)
    parts = pieces_of(path, Options(VI, shard_bytes=2000, max_line=limit, keep_going=True))
    chunks = [chunk for part in parts for chunk in part]
    assert b"".join(chunk.data.tobytes() for chunk in chunks) == before + after
    [damage] = [chunk.damage for chunk in chunks if chunk.damage]
    assert f"a.txt, from byte 2004 on, line 167: is longer than {limit:,} bytes" in damage
    assert max(sizes) <= 100
    assert sum(sizes) < 2.2 * path.stat().st_size + limit


@pytest.mark.parametrize("spare", [0, 1])
def test_a_line_that_ends_in_a_piece_behind(tmp_path, spare):
    """As long as may be, or a byte longer, wherever the file is cut."""
    data = b"ba me\n" * 3 + b"x" * 50 + b"\n" + b"hai\n" * 3
    (tmp_path / "a.txt").write_bytes(data)
    for shard_bytes in range(1, len(data) + 1):
        parts = pieces_of(tmp_path / "a.txt", Options(VI, shard_bytes=shard_bytes, max_line=50 - spare))
        chunks = [chunk for part in parts for chunk in part]
        assert sum(bool(chunk.damage) for chunk in chunks) == spare
        if not spare:
            assert b"".join(chunk.data.tobytes() for chunk in chunks) == data


def test_rows_that_share_a_character_are_each_replaced(tmp_path):
    lines = [b"ba \xe1\xba", b"\xbf me"]
    pq.write_table(pa.table({"text": pa.array(lines).view(pa.string())}), tmp_path / "a.parquet")
    texts = [line.decode("utf-8", "replace") for line in lines]
    options = Options(VI, errors="replace", min_native=0)
    assert kept_rows(tmp_path / "a.parquet", options) == [expected_rows(texts, "vi", 0)]
    with pytest.raises(InputError, match=r"a\.parquet, byte 3 of a line: not UTF-8"):
        kept_rows(tmp_path / "a.parquet", Options(VI))


def test_replace_mends_halves_of_surrogate_pairs(tmp_path):
    """As json.dumps writes them where a text was cut within an emoji; whole pairs and backslashes stay."""
    texts = ["ba \ud83d me", "ba \U0001f600 me", "ba \\ud83d me", "\ude00\ud83d ba me", "ba \ud83d\\"]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps({'text': text})}\n" for text in texts))
    mended = [re.sub("[\ud800-\udfff]", "\ufffd", text) for text in texts]
    options = Options(VI, errors="replace", min_native=0)
    assert kept_rows(tmp_path / "a.jsonl", options) == [expected_rows(mended, "vi", 0)]


def test_lines_without_the_field_are_passed_over(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "ba"}\n{"text": null}\n{"text": "me"}\n')
    assert kept_rows(tmp_path / "a.jsonl", Options(VI)) == [expected_rows(["me"], "vi")]
    (tmp_path / "a.jsonl").write_text('{"body": "ba"}\n{"text": null}\n')
    assert kept_rows(tmp_path / "a.jsonl", Options(VI)) == [[]]
    (tmp_path / "a.jsonl").write_text('{"văn bản": null}\n', "utf-8")
    assert kept_rows(tmp_path / "a.jsonl", Options(VI, column="văn bản")) == [[]]


def test_folders_globs_and_what_is_missing(tmp_path):
    for name in ("b.txt", "a.txt", ".hidden.txt", "_SUCCESS", "sub/c.jsonl", ".git/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("ba\n")

    def found(*inputs):
        return [
            source.path.removeprefix(f"{tmp_path}/") for source in find_sources([str(tmp_path / i) for i in inputs])
        ]

    assert found("") == ["a.txt", "b.txt", "sub/c.jsonl"]
    assert found("*.txt") == ["a.txt", "b.txt"]
    assert found("**/*.jsonl", "b.txt") == ["sub/c.jsonl", "b.txt"]
    with pytest.raises(InputError, match=r"\*\.csv: no such file"):
        found("*.csv")
    with pytest.raises(InputError, match=r"a\.txt: given twice"):
        found("a.txt", "*.txt")
    with pytest.raises(FileNotFoundError):
        found("nothing.txt")
    assert [source.path for source in find_sources([str(tmp_path)], but=tmp_path / "sub")] == [
        str(tmp_path / name) for name in ("a.txt", "b.txt")
    ]
    with pytest.raises(InputError, match="no such file"):
        find_sources([str(tmp_path / "**/*.jsonl")], but=tmp_path / "sub")
    assert len(find_sources([str(tmp_path / "sub/c.jsonl")], but=tmp_path / "sub")) == 1
