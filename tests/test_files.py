"""Reading texts: lines, invalid UTF-8, compressed files."""

import gzip
import os
import zlib
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")

from cli_helpers import (  # noqa: E402
    INCOMPRESSIBLE,
    TEXT,
    compressed,
    run,
)

from phonemic import InputError, files  # noqa: E402
from phonemic.files import read_texts  # noqa: E402

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
        monkeypatch.setattr(files, "_BLOCK", block)
        lines = ["ứ" * 7, "", "\U0001f600\u4e2d", "đường" * 9, "x"]
        assert texts_of("\r\n".join(lines).encode(), chunk=chunk) == lines

    def test_chunks_are_small(self, monkeypatch):
        monkeypatch.setattr(files, "_BLOCK", 10)
        Path("in.txt").write_bytes(b"bon chu\n" * 500)
        sizes = [len(texts) for texts in read_texts("in.txt", chunk=80)]
        assert sum(sizes) == 500
        assert max(sizes) <= 12

    def test_advance_tells_every_byte(self):
        for name, data in compressed(TEXT * 50).items():
            Path(name).write_bytes(data)
            told = []
            assert sum(len(texts) for texts in read_texts(name, advance=told.append)) == 250
            assert sum(told) == pytest.approx(len(data))


class TestInvalidUtf8:
    GOOD = ("chữ số\n" * 40).encode()

    @pytest.mark.parametrize("bad", [b"\xff", b"\xe1\xba", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80"])
    @pytest.mark.parametrize(("block", "chunk"), [(1 << 20, 8 << 20), (7, 16), (1, 1), (13, 200)])
    def test_line_and_byte(self, monkeypatch, bad, block, chunk):
        monkeypatch.setattr(files, "_BLOCK", block)
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

    def test_utf_16(self):
        with pytest.raises(InputError, match=r"line 1, byte 0 of"):
            texts_of("bốn".encode("utf-16"))

    @pytest.mark.parametrize("chunk", [1, 16, 1 << 20])
    def test_replace(self, chunk):
        data = b"ba\xffba\r\n\xe1\xba\nbon\xe1"
        assert texts_of(data, "replace", chunk) == ["ba\ufffdba", "\ufffd", "bon\ufffd"]

    @pytest.mark.parametrize("suffix", [".txt", ".gz", ".bz2", ".xz", ".zst"])
    def test_command_counts_decompressed_bytes(self, suffix, small_chunks):
        Path(f"in{suffix}").write_bytes(compressed(self.GOOD + b"a\xffb\n" + self.GOOD)[f"in{suffix}"])
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
        one, two = compressed(b"mot\nhai")[name], compressed(b" con\nba\n")[name]
        skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" if name == "in.zst" else b""
        Path(name).write_bytes(one + skippable + bytes(8) + two + skippable + bytes(16))
        assert [text for texts in read_texts(name) for text in texts] == ["mot", "hai con", "ba"]

    @pytest.mark.parametrize("name", ["in.gz", "in.bz2", "in.xz", "in.zst"])
    @pytest.mark.parametrize("kept", [0, 0.5, 0.99])
    def test_truncated(self, name, kept):
        data = compressed(INCOMPRESSIBLE)[name]
        Path(name).write_bytes(data[: int(len(data) * kept)])
        error = run("encode", name, "out.parquet", "--lang", "vi", status=1).stderr
        assert error.startswith(f"Error: {name}: truncated")
        assert os.listdir() == [name]

    @pytest.mark.parametrize("name", ["in.gz", "in.bz2", "in.xz", "in.zst"])
    def test_damaged(self, name):
        data = bytearray(compressed(INCOMPRESSIBLE)[name])
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
