"""``phonemic encode`` and ``phonemic decode``."""

import hashlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")

from cli_helpers import (  # noqa: E402
    COMPRESS,
    LINES,
    TEXT,
    command,
    environment,
    expected,
    ids,
    process,
    process_after,
    run,
)

import phonemic  # noqa: E402
import phonemic.forms  # noqa: E402
from phonemic import Tokenizer, files  # noqa: E402

pytestmark = pytest.mark.usefixtures("in_tmp_path")

# --- encode


class TestEncode:
    @pytest.mark.parametrize("name", ["in.txt", "in.gz", "in.bz2", "in.xz", "in.zst", "in.parquet", "-"])
    def test_every_input_gives_the_same_ids(self, name):
        if name == "in.parquet":
            pq.write_table(pa.table({"text": LINES}), name)
        elif name != "-":
            Path(name).write_bytes(COMPRESS[name](TEXT))
        run("encode", name, "out.parquet", "--lang", "vi", stdin=TEXT)
        assert ids() == expected(LINES)

    @pytest.mark.parametrize("threads", [1, 3])
    def test_many_chunks_and_threads(self, small_chunks, threads):
        Path("in.txt").write_bytes(TEXT * 20)
        run("encode", "in.txt", "out.parquet", "--lang", "vi", "--threads", threads)
        assert ids() == expected(LINES * 20)
        assert pq.ParquetFile("out.parquet").num_row_groups > 20

    def test_inputs_follow_one_another(self):
        Path("a.txt").write_bytes("chó".encode())
        Path("b.txt").write_bytes("mèo\n".encode())
        run("encode", "a.txt", "-", "b.txt", "out.parquet", "--lang", "vi", stdin="gà\nvịt\n")
        assert ids() == expected(["chó", "gà", "vịt", "mèo"])

    def test_schema(self):
        run("encode", "-", "out.parquet", "--lang", "zh", stdin="你好\n")
        schema = pq.read_schema("out.parquet")
        assert schema.names == ["ids"]
        assert schema.field("ids").type.value_type == pa.int32()
        lexicon = Path(phonemic.__file__).parent / "lexicon" / "tables-zh.bin"
        assert schema.metadata == {
            b"phonemic.version": phonemic.__version__.encode(),
            b"phonemic.lang": b"zh",
            b"phonemic.vocabulary_checksum": Tokenizer("zh").vocab.checksum.encode(),
            b"phonemic.fallback": b"character",
            b"phonemic.reading.context": b"pypinyin",
            b"phonemic.digest.zh": hashlib.sha256(lexicon.read_bytes()).hexdigest().encode(),
        }

    def test_spans_and_text(self):
        run("encode", "-", "out.parquet", "--lang", "vi", "--spans", "--text", stdin=TEXT)
        table = pq.read_table("out.parquet")
        assert table.column_names == ["ids", "spans", "text"]
        assert table["text"].to_pylist() == LINES
        tokenizer = Tokenizer("vi")
        assert table["spans"].to_pylist() == [tokenizer.encode(line).spans.ravel().tolist() for line in LINES]

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
    def test_parquet_column_and_nulls(self, kind, small_chunks):
        rows = ["lá cây", None, "", "hoa", None, "lá cây"]
        pq.write_table(pa.table({"id": range(6), "câu": pa.array(rows).cast(kind)}), "in.parquet")
        run("encode", "in.parquet", "out.parquet", "--lang", "vi", "--column", "câu", "--spans", "--text")
        table = pq.read_table("out.parquet")
        assert table["ids"].to_pylist() == expected(rows)
        assert table["text"].to_pylist() == rows
        assert [row is None for row in table["spans"].to_pylist()] == [row is None for row in rows]

    def test_a_column_of_nothing_but_nulls(self):
        pq.write_table(pa.table({"text": pa.nulls(3)}), "in.parquet")
        run("encode", "in.parquet", "out.parquet", "--lang", "vi", "--text")
        assert pq.read_table("out.parquet").to_pydict() == {"ids": [None] * 3, "text": [None] * 3}
        run("noise", "in.parquet", "--ratio", "1", "--kind", "typing", "--lang", "vi", "-o", "noisy.parquet")
        assert pq.read_table("noisy.parquet")["text"].to_pylist() == [None] * 3

    def test_column_errors_name_the_columns(self):
        pq.write_table(pa.table({"id": [1], "câu": ["hoa"]}), "in.parquet")
        missing = run("encode", "in.parquet", "out.parquet", "--lang", "vi", status=1).stderr
        assert missing == "Error: in.parquet: no column 'text'; the columns are: id (int64), câu (string)\n"
        number = run("encode", "in.parquet", "out.parquet", "--lang", "vi", "--column", "id", status=1).stderr
        assert number.startswith("Error: in.parquet: column 'id' is int64, not string; the columns are: ")
        assert os.listdir() == ["in.parquet"]

    def test_no_parquet_inside(self):
        Path("in.parquet").write_bytes(TEXT)
        assert "in.parquet: damaged, or no" in run("encode", "in.parquet", "o.parquet", "--lang", "vi", status=1).stderr

    @pytest.mark.parametrize("rows", [[], [None], [""]])
    def test_nothing_to_encode(self, rows):
        pq.write_table(pa.table({"text": pa.array(rows, pa.string())}), "in.parquet")
        run("encode", "in.parquet", "out.parquet", "--lang", "vi")
        assert ids() == [[] if row == "" else row for row in rows]

    def test_options_reach_the_tokenizer(self):
        run("encode", "-", "out.parquet", "--lang", "vi", "--strict", "--word-joiner", "_", stdin="tap_ví\n")
        assert ids() == [Tokenizer("vi", strict=True, word_joiner="_").encode("tap_ví").ids.tolist()]
        assert ids() != expected(["tap_ví"])

    def test_output_must_be_named_parquet(self):
        Path("a.txt").write_text("giữ nguyên", encoding="utf-8")
        assert "must end in .parquet" in run("encode", "-", "a.txt", "--lang", "vi", status=2).stderr
        assert Path("a.txt").read_text(encoding="utf-8") == "giữ nguyên"

    def test_an_arrow_stream_that_is_read_as_lines_is_told(self):
        stream = process("encode", "-", "-", "--format", "arrow", "--lang", "vi", stdin="giếng".encode()).stdout
        done = process("decode", "-", stdin=stream)
        assert done.returncode == 1
        assert "an Arrow stream of ids needs --format arrow" in done.stderr.decode()
        assert process("decode", "-", "--format", "arrow", stdin=stream).stdout.decode() == "giếng\n"

    @pytest.mark.parametrize(
        ("name", "out"), [("none.txt", "out.parquet"), ("-", "none/out.parquet"), (".", "out.parquet")]
    )
    def test_system_errors_name_the_file(self, name, out):
        error = run("encode", name, out, "--lang", "vi", status=1).stderr
        assert error.startswith(("Error: none", "Error: ."))
        assert len(error.splitlines()) == 1
        assert os.listdir() == []


class TestReplacing:
    def test_success_replaces_an_older_output(self):
        Path("out.parquet").write_bytes(b"older")
        run("encode", "-", "out.parquet", "--lang", "vi", "--force", stdin="mới\n")
        assert ids() == expected(["mới"])
        assert os.listdir() == ["out.parquet"]

    def test_failure_keeps_an_older_output(self, small_chunks):
        Path("out.parquet").write_bytes(b"older")
        text = TEXT * 20 + b"\xff\n" + TEXT
        assert "UTF-8" in run("encode", "-", "out.parquet", "--lang", "vi", "--force", stdin=text, status=1).stderr
        assert Path("out.parquet").read_bytes() == b"older"
        assert os.listdir() == ["out.parquet"]

    @pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
    def test_termination_leaves_nothing(self):
        arguments = command("encode", "-", "out.parquet", "--lang", "vi")
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as running:
            running.stdin.write(b"".join(os.urandom(50).hex().encode() + b"\n" for _ in range(files.CHUNK // 50)))
            running.stdin.flush()
            while not any(path.stat().st_size for path in Path().glob("out.parquet.*.partial")):
                assert running.poll() is None
                time.sleep(0.01)
            running.send_signal(signal.SIGTERM)
            assert running.wait() == 128 + signal.SIGTERM
            assert running.stderr.read() == b""
        assert os.listdir() == []

    @pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs a limit on file sizes")
    def test_full_disk_names_the_output(self):
        result = process_after(
            "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))",
            *("encode", "-", "out.parquet", "--lang", "vi", "--text"),
            stdin=os.urandom(40000).hex().encode(),
        )
        assert result.returncode == 1
        assert result.stderr.decode().splitlines() == ["Error: out.parquet: File too large"]
        assert os.listdir() == []


# --- decode


class TestDecode:
    def encoded(self, lines, lang="vi"):
        run("encode", "-", "in.parquet", "--lang", lang, stdin="".join(f"{line}\n" for line in lines))

    def test_round_trip(self, small_chunks):
        lines = ["nghiêng quyển giềng", "", "khuỷu tay 12 giờ , wifi", "mùa xuân"] * 5
        self.encoded(lines)
        run("decode", "in.parquet", "-o", "back.txt")
        assert Path("back.txt").read_bytes().decode() == "".join(f"{line}\n" for line in lines)
        run("encode", "back.txt", "again.parquet", "--lang", "vi")
        assert ids("again.parquet") == ids("in.parquet")

    def test_styles_and_ipa(self):
        self.encoded(["hoà bình"])
        assert run("decode", "in.parquet").stdout == "hoà bình\n"
        assert run("decode", "in.parquet", "--style", "old").stdout == "hòa bình\n"
        assert run("decode", "in.parquet", "--to", "ipa").stdout == "hu̯a˨˩ biɲ˨˩\n"

    def test_pinyin(self):
        self.encoded(["你好吗"], "zh")
        assert run("decode", "in.parquet").stdout == "nǐ hǎo ma\n"
        assert run("decode", "in.parquet", "--to", "pinyin", "--lang", "zh").stdout == "nǐ hǎo ma\n"

    @pytest.mark.parametrize(
        ("to", "written"), [("numbers", "ni3 hao3 ma5"), ("zhuyin", "ㄋㄧˇ ㄏㄠˇ ˙ㄇㄚ"), ("ipa", "ni˨˩˦ xau˨˩˦ ma")]
    )
    def test_other_notations(self, to, written):
        self.encoded(["你好吗"], "zh")
        assert run("decode", "in.parquet", "--to", to).stdout == f"{written}\n"

    def test_null_is_an_empty_line(self):
        pq.write_table(pa.table({"text": ["cá", None, "tôm"]}), "t.parquet")
        run("encode", "t.parquet", "in.parquet", "--lang", "vi")
        assert run("decode", "in.parquet").stdout == "cá\n\ntôm\n"

    @pytest.mark.parametrize(("lang", "to"), [("vi", "pinyin"), ("zh", "spelling")])
    def test_target_of_another_language(self, lang, to):
        self.encoded(["ba"], lang)
        assert f"--to {to} does not apply to {lang}" in run("decode", "in.parquet", "--to", to, status=2).stderr

    def test_another_language(self):
        self.encoded(["ba"])
        assert "of language vi, not zh" in run("decode", "in.parquet", "--lang", "zh", status=1).stderr

    def test_without_metadata_it_needs_the_language(self):
        for kind in (pa.list_(pa.int32()), pa.large_list(pa.int64())):
            pq.write_table(pa.table({"ids": pa.array(expected(["bà nội"]), kind)}), "in.parquet")
            assert "give --lang" in run("decode", "in.parquet", status=1).stderr
            assert run("decode", "in.parquet", "--lang", "vi").stdout == "bà nội\n"

    def test_metadata_of_others_is_passed_over(self):
        self.encoded(["ba"])
        table = pq.read_table("in.parquet")
        pq.write_table(table.replace_schema_metadata(table.schema.metadata | {b"other": b"\xff"}), "in.parquet")
        assert run("decode", "in.parquet").stdout == "ba\n"

    def test_another_vocabulary(self):
        self.encoded(["ba"])
        table = pq.read_table("in.parquet")
        changed = table.schema.metadata | {b"phonemic.vocabulary_checksum": b"0" * 64, b"phonemic.version": b"9.8"}
        pq.write_table(table.replace_schema_metadata(changed), "in.parquet")
        error = run("decode", "in.parquet", status=1).stderr
        assert "vocabulary is not this version's; phonemic 9.8 wrote it" in error

    @pytest.mark.parametrize("wrong", [0xFFFFFF, -1, 112, None])
    def test_bad_id_names_the_row(self, wrong):
        pq.write_table(pa.table({"ids": pa.array([[0], [7 * 0x010101, wrong]], pa.list_(pa.int32()))}), "in.parquet")
        Path("out.txt").write_bytes(b"older")
        error = run("decode", "in.parquet", "--lang", "zh", "-o", "out.txt", "--force", status=1).stderr
        assert error.startswith("Error: in.parquet, row 2: ")
        assert Path("out.txt").read_bytes() == b"older"
        assert sorted(os.listdir()) == ["in.parquet", "out.txt"]

    def test_column_of_another_type(self):
        pq.write_table(pa.table({"ids": ["text"]}), "in.parquet")
        error = run("decode", "in.parquet", "--lang", "vi", status=1).stderr
        assert "column 'ids' is string, not list of integers" in error


class TestForms:
    """Ids that say how they are written give the lines back."""

    LINES = ("Quốc kỳ bay,  hoà bình HÀ NỘI", "", "hÀ 😀 nga\u0303\u200d\t“银行”", " iPhone\u00a015 ")

    @pytest.mark.parametrize("lang", ["vi", "zh"])
    @pytest.mark.parametrize("name", ["o.parquet", "o.arrow", "o.jsonl"])
    def test_the_lines_come_back(self, small_chunks, lang, name):
        text = "\n".join(self.LINES * 30) + "\n"
        run("encode", "-", name, "--lang", lang, "--form", stdin=text)
        form = ("--format", name.partition(".")[2])
        assert run("decode", name, *form).stdout == text
        plain = run("decode", name, *form, "--to", "ipa").stdout
        run("encode", "-", "p.parquet", "--lang", lang, stdin=text)
        assert plain == run("decode", "p.parquet", "--to", "ipa").stdout

    def test_a_joiner_is_told(self):
        for name in ("o.parquet", "o.jsonl"):
            run("encode", "-", name, "--lang", "vi", "--form", "--word-joiner", "_", stdin="Sinh_viên đi_học\n")
            form = ("--format", name.partition(".")[2])
            assert run("decode", name, *form).stdout == "Sinh_viên đi_học\n"
            assert run("decode", name, *form, "--to", "spelling").stdout == "sinh viên đi học\n"

    def test_the_file_says_it(self):
        run("encode", "-", "o.parquet", "--lang", "vi", "--form", stdin="cá\n")
        metadata = pq.read_schema("o.parquet").metadata
        assert metadata[b"phonemic.form"] == b"true"
        table = pq.read_table("o.parquet")
        other = table.replace_schema_metadata(metadata | {b"phonemic.forms_checksum": b"0" * 8})
        pq.write_table(other, "other.parquet")
        assert "its vi forms are not this version's" in run("decode", "other.parquet", status=1).stderr
        other = table.replace_schema_metadata(metadata | {b"phonemic.fallback": b"packed"})
        pq.write_table(other, "other.parquet")
        assert "use the phonemic version that wrote it" in run("decode", "other.parquet", status=1).stderr

    def test_wrong_ids(self):
        """A closing byte without an escape; half of a surrogate pair, which no file has."""
        half = Tokenizer("vi", form=True).encode("cá \ud800").ids.tolist()
        run("encode", "-", "o.parquet", "--lang", "vi", "--form", stdin="")
        for wrong, told, replaced in (
            ([phonemic.forms.CLOSING], "closes an escape that was not opened", ""),
            ([0x7F010101], "no position can have this form", "\ufffd"),
            (half, "half of a surrogate pair", "cá \ufffd"),
        ):
            rows = [Tokenizer("vi", form=True).encode("cá").ids.tolist()] * 3 + [[0x070707, *wrong]]
            table = pa.table({"ids": pa.array(rows, pa.list_(pa.int32()))})
            pq.write_table(table.replace_schema_metadata(pq.read_schema("o.parquet").metadata), "i.parquet")
            error = run("decode", "i.parquet", status=1).stderr
            assert error.startswith("Error: i.parquet, row 4: ")
            assert told in error
            found = run("decode", "i.parquet", "--errors", "replace").stdout.splitlines()
            assert found[:3] == ["cá"] * 3
            assert found[3].endswith(replaced)

    def test_ids_with_forms_that_nobody_told_of(self):
        rows = [Tokenizer("vi", form=True).encode("Cá").ids.tolist()]
        pq.write_table(pa.table({"ids": pa.array(rows, pa.list_(pa.int32()))}), "i.parquet")
        assert "row 1: position 0" in (error := run("decode", "i.parquet", "--lang", "vi", status=1).stderr)
        assert "has a form" in error

    def test_what_excludes_them(self):
        found = run("encode", "-", "o.parquet", "--lang", "zh", "--form", "--sandhi", stdin="a\n", status=2).stderr
        assert "form and sandhi exclude each other" in found
        assert os.listdir() == []


class TestStandardOutput:
    """A dash is standard output wherever a file is named; and what is wrong with it is said."""

    @pytest.mark.parametrize(
        "arguments",
        [
            ("transcribe", "--lang", "zh", "音乐"),
            ("noise", "in.txt", "--lang", "vi", "--ratio", "0.5", "--kind", "wrong-tone"),
            ("rhymes", "in.txt", "--lang", "vi"),
            ("decode", "ids.parquet"),
        ],
    )
    def test_a_dash(self, arguments):
        Path("in.txt").write_text("giếng\ntiếng\n", "utf-8")
        run("encode", "in.txt", "ids.parquet", "--lang", "vi")
        before = sorted(os.listdir())
        assert run(*arguments, "-o", "-").stdout == run(*arguments).stdout != ""
        assert sorted(os.listdir()) == before

    @pytest.mark.parametrize(
        "arguments",
        [
            ("transcribe", "--lang", "vi", "xin"),
            ("vocab", "--lang", "vi"),
            ("vocab", "--lang", "vi", "--json"),
            ("encode", "in.txt", "-", "--lang", "vi"),
            ("stats", "in.txt", "--lang", "vi"),
            ("search", "in.txt", "--lang", "vi", "giếng"),
        ],
    )
    def test_closed_or_full(self, arguments):
        Path("in.txt").write_text("giếng\n", "utf-8")
        done = process_after("import sys; sys.stdout = None", *arguments)
        assert done.returncode == 1
        assert done.stderr.decode().splitlines() == [
            "Error: standard output is closed: give it somewhere to go, or name a file"
        ]
        if os.path.exists("/dev/full") and arguments[0] in ("transcribe", "encode", "search"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run(
                    command(*arguments), stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
                )
            assert done.returncode == 1
            assert b"standard output" in done.stderr

    def test_a_file_is_written_without_it(self):
        Path("in.txt").write_text("giếng\n", "utf-8")
        done = process_after(
            "import sys; sys.stdout = sys.stderr = None", "encode", "in.txt", "o.parquet", "--lang", "vi"
        )
        assert done.returncode == 0
        assert pq.read_table("o.parquet").num_rows == 1
