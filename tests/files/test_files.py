"""Reading texts: lines, invalid UTF-8, compressed files."""

import gzip
import os
import zlib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")

from cli_helpers import (  # noqa: E402
    COMPRESS,
    INCOMPRESSIBLE,
    TEXT,
    run,
)

from phonemic import InputError, files  # noqa: E402
from phonemic.errors import printable  # noqa: E402
from phonemic.files import limited, read_texts  # noqa: E402

pytestmark = pytest.mark.usefixtures("in_tmp_path")


def texts_of(data, errors="strict", chunk=files.CHUNK):
    Path("in.txt").write_bytes(data)
    return [text for texts in read_texts("in.txt", errors=errors, chunk=chunk) for text in texts]


class TestLines:
    def test_only_newline_and_crlf_end_a_line(self):
        odd = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\rh"
        assert texts_of(f"{odd}\r\nhai\n\r\n\n\r\r\nba".encode()) == [odd, "hai", "", "", "\r", "ba"]

    @pytest.mark.parametrize("data", [b"", b"\n", b"mot", b"mot\n", b"mot\r\n", b"mot\n\n", b"\n\nmot", b"mot\r"])
    @pytest.mark.parametrize("chunk", [1, 2, 100])
    def test_ends(self, data, chunk):
        lines = data.replace(b"\r\n", b"\n").decode().split("\n")
        assert texts_of(data, chunk=chunk) == (lines if lines[-1] else lines[:-1])

    def test_byte_order_mark_only_at_the_start(self):
        assert texts_of("\ufeffmột\n\ufeffhai".encode()) == ["một", "\ufeffhai"]
        assert texts_of("\ufeff".encode()) == []

    @pytest.mark.parametrize("block", [1, 2, 3, 5, 64])
    @pytest.mark.parametrize("chunk", [1, 9, 40])
    def test_chunks_cut_no_character(self, monkeypatch, block, chunk):
        monkeypatch.setattr("phonemic.files.compressed.BLOCK", block)
        lines = ["ứ" * 7, "", "\U0001f600\u4e2d", "đường" * 9, "x"]
        assert texts_of("\r\n".join(lines).encode(), chunk=chunk) == lines

    def test_chunks_are_small(self, monkeypatch):
        monkeypatch.setattr("phonemic.files.compressed.BLOCK", 10)
        Path("in.txt").write_bytes(b"bon chu\n" * 500)
        sizes = [len(texts) for texts in read_texts("in.txt", chunk=80)]
        assert sum(sizes) == 500
        assert max(sizes) <= 12

    def test_advance_tells_every_byte(self):
        for name, data in ((name, compress(TEXT * 50)) for name, compress in COMPRESS.items()):
            Path(name).write_bytes(data)
            told = []
            assert sum(len(texts) for texts in read_texts(name, advance=told.append)) == 250
            assert sum(told) == pytest.approx(len(data))


class TestLongLines:
    @pytest.mark.parametrize("limit", [0, 1, 2, 5, 9, 10, 11, 30])
    @pytest.mark.parametrize("block", [1, 2, 3, 7, 100])
    def test_the_first_is_named(self, limit, block):
        for text in (
            b"ab\n" * 4 + b"x" * 10 + b"\nc\n" + b"y" * 11,
            b"x" * 10,
            b"",
            b"\n\n" + b"z" * 9 + b"\n",
            b"\n" * 50,
        ):
            blocks = [text[at : at + block] for at in range(0, len(text), block)]
            wrong = [at for at, line in enumerate(text.split(b"\n"), 1) if len(line) > limit]
            if wrong:
                with pytest.raises(InputError, match=rf"^in, line {wrong[0]}: is longer than {limit} bytes"):
                    list(limited(blocks, limit, "in"))
            else:
                assert b"".join(limited(blocks, limit, "in")) == text

    @pytest.mark.parametrize("name", ["in.gz", "in.bz2", "in.xz", "in.zst"])
    def test_what_unfolds_to_one_line(self, name):
        """A small file that would not fit the memory: it is refused before."""
        whole = COMPRESS[name](b"x" * (70 << 20))
        assert len(whole) < 110_000
        Path(name).write_bytes(whole)
        error = run("encode", name, "o.parquet", "--lang", "vi", status=1).stderr
        assert f"{name}, line 1: is longer than 67,108,864 bytes; if it is one text, raise --max-line" in error
        sizes = [len(block) for block in files.blocks(name)]
        assert (sum(sizes), max(sizes) <= 64 << 20) == (70 << 20, True)
        assert "is not a size" in run("encode", name, "o.parquet", "--lang", "vi", "--max-line", "x", status=2).stderr

    def test_the_option(self):
        Path("in.txt").write_text("mưa " * 100)
        assert "line 1" in run("stats", "in.txt", "--lang", "vi", "--max-line", "100", status=1).stderr
        run("stats", "in.txt", "--lang", "vi", "--max-line", "1k")


class TestLongCells:
    """A small file of Parquet may hold a string a million times."""

    VALUES = (None, "mưa", "x" * 300, "", "mưa", None, "ả" * 100)

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
    @pytest.mark.parametrize("dictionary", [True, False])
    @pytest.mark.parametrize("rows", [2, 3, 100])
    def test_they_are_refused_as_lines_are(self, kind, dictionary, rows):
        table = pa.table({"text": pa.array(self.VALUES, kind)})
        pq.write_table(table, "in.parquet", row_group_size=rows, use_dictionary=dictionary)
        told = "in.parquet, row 3: is longer than 299 bytes; if it is one text, raise --max-line"
        for command in ("encode in.parquet o.parquet", "stats in.parquet", "noise in.parquet --ratio 0 --kind typing"):
            error = run(*command.split(), "--lang", "vi", "--max-line", "299", status=1).stderr
            assert told in " ".join(error.split())
        run("encode", "in.parquet", "o.parquet", "--lang", "vi", "--max-line", "300", "--text")
        assert pq.read_table("o.parquet")["text"].to_pylist() == list(self.VALUES)

    def test_one_string_a_million_times(self):
        """10 TB, were they all there at once; of the rows that are read at a time 10 GB."""
        texts = ["mưa " * (2 << 20), "gió"]
        indices = pa.array(np.arange(1_000_000) % 1000 == 0).cast(pa.int8())
        table = pa.table({"text": pa.DictionaryArray.from_arrays(indices, texts)})
        pq.write_table(table, "in.parquet", compression="zstd", dictionary_pagesize_limit=1 << 30)
        assert Path("in.parquet").stat().st_size < 200_000
        chunks = files.read_texts("in.parquet")
        assert next(chunks) == texts[::-1]
        for _ in range(2):
            assert next(chunks) == texts[:1]
        with pytest.raises(InputError, match="row 2: is longer than 1,000 bytes"):
            next(files.read_texts("in.parquet", max_line=1000))

    def test_rows_of_ids(self):
        pq.write_table(pa.table({"ids": pa.array([[1], None, [1] * 50], pa.list_(pa.int32()))}), "in.parquet")
        error = run("decode", "in.parquet", "--lang", "vi", "--max-line", "49", status=1).stderr
        assert "in.parquet, row 3: has more than 49 positions" in error
        run("decode", "in.parquet", "--lang", "vi", "--max-line", "50")

    def test_what_the_column_is_is_told_as_ever(self):
        pq.write_table(pa.table({"text": [b"ba"], "n": [1]}), "in.parquet")
        error = run("encode", "in.parquet", "o.parquet", "--lang", "vi", status=1).stderr
        assert "column 'text' is binary, not string; the columns are: text (binary), n (int64)" in " ".join(
            error.split()
        )


class TestEscapes:
    """Contents of files move no cursor and set no title."""

    ESCAPE = "\x1b]0;owned\x07\x1b[31m\u202e\x9b"

    def test_column_names(self):
        pq.write_table(pa.table({f"a{self.ESCAPE}": ["ba"]}), "in.parquet")
        error = run("encode", "in.parquet", "o.parquet", "--lang", "vi", status=1).stderr
        assert not set(self.ESCAPE) & set(error) - set("]0;owned[31m")
        assert r"\x1b]0;owned\x07\x1b[31m\u202e\x9b" in error

    def test_two_columns_of_one_name(self):
        pq.write_table(pa.table([["a"], ["b"]], names=["text", "text"]), "in.parquet")
        for command in ("encode in.parquet o.parquet", "stats in.parquet", "prepare in.parquet out"):
            error = run(*command.split(), "--lang", "vi", status=1).stderr
            assert "in.parquet: 2 columns are named 'text'; rename all but one" in " ".join(error.split())

    def test_a_column_name_that_is_no_utf8(self):
        """A column that nobody requests."""
        pq.write_table(pa.table({"text": ["ba"], "zz": [1]}), "in.parquet", store_schema=False)
        Path("in.parquet").write_bytes(Path("in.parquet").read_bytes().replace(b"zz", b"\xe9z"))
        told = "in.parquet: damaged, or the name of a column is not UTF-8; rename that column"
        for command in ("encode in.parquet o.parquet", "stats in.parquet", "prepare in.parquet out"):
            error = run(*command.split(), "--lang", "vi", status=1).stderr
            assert told in " ".join(error.split())

    def test_metadata_that_is_no_utf8(self):
        table = pa.table({"ids": pa.array([[0]], pa.list_(pa.int32()))})
        for key, value in ((b"phonemic.lang", b"\xff"), (b"phonemic.\xff", b"vi"), (b"phonemic.fallback", b"\xff\x1b")):
            pq.write_table(table.replace_schema_metadata({b"phonemic.lang": b"vi", key: value}), "in.parquet")
            found = run("decode", "in.parquet", status=0 if key == b"phonemic.\xff" else 1)
            assert "\x1b" not in found.stderr

    def test_printable(self):
        assert printable("giếng\t银行\n e\u0301🎉") == "giếng\t银行\n e\u0301🎉"
        assert printable("\r\0\u200b\ud800") == r"\r\x00\u200b\ud800"

    def test_no_memory(self, monkeypatch):
        def none(*arguments, **options):
            raise MemoryError("no memory for the ids")

        monkeypatch.setattr("phonemic.cli.encode.writer", none)
        Path("in.txt").write_text("ba")
        assert (
            "Error: not enough memory (no memory for the ids)"
            in run("encode", "in.txt", "o.parquet", "--lang", "vi", status=1).stderr
        )


class TestInvalidUtf8:
    GOOD = ("chữ số\n" * 40).encode()

    @pytest.mark.parametrize("bad", [b"\xff", b"\xe1\xba", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80"])
    @pytest.mark.parametrize(("block", "chunk"), [(1 << 20, 8 << 20), (7, 16), (1, 1), (13, 200)])
    def test_line_and_byte(self, monkeypatch, bad, block, chunk):
        monkeypatch.setattr("phonemic.files.compressed.BLOCK", block)
        with pytest.raises(InputError) as raised:
            texts_of(self.GOOD + "đủ ".encode() + bad + b"\r\nhet\n", chunk=chunk)
        assert f"in.txt, line 41, byte {len(self.GOOD) + 6} of the file" in str(raised.value)
        assert "--errors replace" in str(raised.value)

    def test_cut_character_at_the_end(self):
        with pytest.raises(InputError, match=rf"line 41, byte {len(self.GOOD)} of"):
            texts_of(self.GOOD + b"\xe1\xbb")

    def test_byte_order_mark_counts(self):
        with pytest.raises(InputError, match=r"line 1, byte 4 of"):
            texts_of(b"\xef\xbb\xbfb\xff")

    @pytest.mark.parametrize("chunk", [1, 16, 1 << 20])
    def test_replace(self, chunk):
        data = b"ba\xffba\r\n\xe1\xba\nbon\xe1"
        assert texts_of(data, "replace", chunk) == ["ba\ufffdba", "\ufffd", "bon\ufffd"]

    @pytest.mark.parametrize("suffix", [".txt", ".gz", ".bz2", ".xz", ".zst"])
    def test_command_counts_decompressed_bytes(self, suffix, small_chunks):
        Path(f"in{suffix}").write_bytes(COMPRESS[f"in{suffix}"](self.GOOD + b"a\xffb\n" + self.GOOD))
        error = run("encode", f"in{suffix}", "out.parquet", "--lang", "vi", status=1).stderr
        assert f"in{suffix}, line 41, byte {len(self.GOOD) + 1} of the file" in error
        assert len(error.splitlines()) == 1
        assert os.listdir() == [f"in{suffix}"]
        run("encode", f"in{suffix}", "out.parquet", "--lang", "vi", "--errors", "replace", "--text")
        assert pq.read_table("out.parquet")["text"][40].as_py() == "a\ufffdb"

    def test_parquet(self):
        values = pa.array(["tốt".encode(), None, b"x\xffy"]).view(pa.string())
        pq.write_table(pa.table({"text": values}), "in.parquet")
        assert "in.parquet, row 3, byte 1" in run("encode", "in.parquet", "o.parquet", "--lang", "vi", status=1).stderr
        run("encode", "in.parquet", "o.parquet", "--lang", "vi", "--text", "--errors", "replace")
        assert pq.read_table("o.parquet")["text"].to_pylist() == ["tốt", None, "x\ufffdy"]


class TestCompressed:
    @pytest.mark.parametrize("name", ["in.gz", "in.bz2", "in.xz", "in.zst"])
    def test_members_and_padding(self, name, small_chunks):
        one, two = COMPRESS[name](b"mot\nhai"), COMPRESS[name](b" con\nba\n")
        skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" if name == "in.zst" else b""
        Path(name).write_bytes(one + skippable + bytes(8) + two + skippable + bytes(16))
        assert [text for texts in read_texts(name) for text in texts] == ["mot", "hai con", "ba"]

    @pytest.mark.parametrize("name", ["in.gz", "in.bz2", "in.xz", "in.zst"])
    @pytest.mark.parametrize("kept", [0, 0.5, 0.99])
    def test_truncated(self, name, kept):
        data = COMPRESS[name](INCOMPRESSIBLE)
        Path(name).write_bytes(data[: int(len(data) * kept)])
        error = run("encode", name, "out.parquet", "--lang", "vi", status=1).stderr
        assert error.startswith(f"Error: {name}: truncated")
        assert os.listdir() == [name]

    @pytest.mark.parametrize("name", ["in.gz", "in.bz2", "in.xz", "in.zst"])
    def test_damaged(self, name):
        data = bytearray(COMPRESS[name](INCOMPRESSIBLE))
        data[len(data) // 2] ^= 0x55
        Path(name).write_bytes(data)
        assert f"{name}: damaged" in run("encode", name, "out.parquet", "--lang", "vi", status=1).stderr
        assert os.listdir() == [name]

    @pytest.mark.parametrize("name", ["in.gz", "in.bz2", "in.xz", "in.zst"])
    def test_not_compressed_at_all(self, name):
        Path(name).write_bytes(TEXT)
        assert f"{name}: damaged" in run("stats", name, "--lang", "vi", status=1).stderr

    def test_wrong_checksum(self):
        data = bytearray(gzip.compress(TEXT))
        data[-8:-4] = (zlib.crc32(TEXT) ^ 1).to_bytes(4, "little")
        Path("in.gz").write_bytes(data)
        assert "in.gz: damaged" in run("encode", "in.gz", "out.parquet", "--lang", "vi", status=1).stderr


def test_pages_of_parquet_that_are_damaged():
    """Places in a dictionary that it does not have among them."""
    pq.write_table(pa.table({"text": ["ba", "hai", "ba"] * 9}), "in.parquet", compression="none")
    data = Path("in.parquet").read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    refused = 0
    for at in range(4, footer):
        Path("in.parquet").write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            list(read_texts("in.parquet", errors="replace"))
        except InputError as error:
            refused += "in.parquet: damaged, or not a Parquet file" in str(error)
    assert refused > 20
