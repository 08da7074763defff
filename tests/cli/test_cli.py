"""The ``phonemic`` command as a process, and ``show``, ``vocab`` and ``stats``."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")

from cli_helpers import (  # noqa: E402
    TEXT,
    command,
    environment,
    process,
    process_after,
    run,
)

import phonemic  # noqa: E402
import phonemic.forms  # noqa: E402
from phonemic import Tokenizer  # noqa: E402

pytestmark = pytest.mark.usefixtures("in_tmp_path")

# --- show


class TestShow:
    def test_rows(self):
        rows = run("show", "--lang", "vi", "Giếng  làng 7").stdout.splitlines()
        encoding = Tokenizer("vi").encode("Giếng làng 7")
        numbers = ["/".join(map(str, triple)) for triple in encoding.components.tolist()]
        cells = [[cell.strip() for cell in row.strip("│").split("│")] for row in rows if row.startswith("│")]
        assert cells == [
            ["Giếng", "z", "ieŋ", "˧˥", "zieŋ˧˥", numbers[0]],
            ["làng", "l", "aŋ", "˨˩", "laŋ˨˩", numbers[1]],
            ["7", "", "", "", "", numbers[2]],
        ]
        assert [name in rows[1] for name in ("text", "onset", "rime", "tone", "IPA", "ids")] == [True] * 6

    def test_arguments_are_joined(self):
        assert run("show", "--lang", "zh", "你", "好").stdout == run("show", "--lang", "zh", "你 好").stdout

    def test_stdin(self):
        from_stdin = run("show", "--lang", "vi", "-", stdin="trăng\r\nsao")
        assert from_stdin.stdout == run("show", "--lang", "vi", "trăng sao").stdout

    def test_forms_are_words(self):
        rows = run("show", "--lang", "vi", "--form", "--format", "json", "Hòa  HÀ hÀ kỳ 😀 A").stdout
        found = [(row["text"], row["form"]) for row in json.loads(rows)]
        assert found[:5] == [
            ("Hòa", "First, tone mark in the old place"),
            (" ", "space"),
            ("HÀ", "ALL, space before"),
            (" ", "space"),
            ("hÀ", "in bytes"),
        ]
        assert found[5:10] == [("hÀ", f"byte {byte}") for byte in ("C1", "A8", "C3", "80")] + [("hÀ", "end of bytes")]
        assert found[10] == ("kỳ", "lower, the other of i and y, space before")
        assert found[12:15] == [("😀", "bytes F0 9F"), ("😀", "byte 98"), ("😀", "byte 80")]
        assert found[15] == ("A", "First, space before")
        zh = run("show", "--lang", "zh", "--form", "--format", "tsv", "行，é").stdout.splitlines()
        assert [row.split("\t")[-1] for row in zh] == ["form", "rank 1", "variant 2", "variant 3"]

    def test_a_text_is_shown_once(self):
        rows = run("show", "--lang", "zh", "--form", "好😀😀").stdout.splitlines()
        cells = [row.strip("│").split("│")[0].strip() for row in rows if row.startswith("│")]
        assert cells == ["好", "😀", "", "", "😀", "", ""]
        assert "form" not in run("show", "--lang", "zh", "好").stdout
        html = Tokenizer("zh", form=True).encode("好😀😀")._repr_html_()
        assert html.count("😀") == 2
        assert "<td style='text-align:center'>rank 1</td>" in html

    def test_formats(self):
        encoding = Tokenizer("vi").encode("Giếng 7")
        rows = json.loads(run("show", "--lang", "vi", "--format", "json", "Giếng 7").stdout)
        assert [row["ids"] for row in rows] == encoding.components.tolist()
        assert [(row["start"], row["end"]) for row in rows] == [*map(tuple, encoding.spans.tolist())]
        assert (rows[0]["text"], rows[0]["ipa"], rows[1]["onset"]) == ("Giếng", "zieŋ˧˥", "")
        table = run("show", "--lang", "vi", "--format", "tsv", "Giếng 7").stdout.splitlines()
        cells = [dict(zip(table[0].split("\t"), line.split("\t"), strict=True)) for line in table[1:]]
        assert [{name: str(value) for name, value in row.items() if name != "ids"} for row in rows] == [
            {name: value for name, value in row.items() if name != "ids"} for row in cells
        ]

    def test_an_interrupt_ends_with_its_number(self, monkeypatch):
        def stop(*arguments, **options):
            raise KeyboardInterrupt

        monkeypatch.setattr("phonemic.cli.show.read_texts", stop)
        assert run("show", "--lang", "vi", "-", status=130).stderr == "interrupted\n"

    def test_strict(self):
        assert "ɔk" in run("show", "--lang", "vi", "hoc").stdout
        assert "ɔk" not in run("show", "--lang", "vi", "--strict", "hoc").stdout

    def test_word_joiner(self):
        joined = run("show", "--lang", "vi", "--word-joiner", "_", "nhà_cửa").stdout
        assert joined == run("show", "--lang", "vi", "nhà cửa").stdout

    def test_phrases(self):
        Path("mine.tsv").write_text("好行\thao3 xing2\n", encoding="utf-8")
        assert "ɕiŋ˧˥" in run("show", "--lang", "zh", "--phrases", "mine.tsv", "好行").stdout
        Path("mine.tsv").write_text("好行\thao3\n", encoding="utf-8")
        assert "mine.tsv, line 1" in run("show", "--lang", "zh", "--phrases", "mine.tsv", "好行", status=1).stderr

    def test_markup_and_control_characters_are_shown_as_they_are(self):
        shown = run("show", "--lang", "vi", "[b]", "\x1b").stdout
        assert r"\x1b" in shown
        assert "\x1b" not in shown
        assert [f"│ {char}" in shown for char in "[b]"] == [True] * 3

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--lang", "vi", "--word-joiner", "ab", "ba"],
            ["--lang", "vi", "--phrases", "mine.tsv", "ba"],
            ["--lang", "en", "ba"],
            ["--lang", "vi"],
            ["ba"],
        ],
    )
    def test_usage_errors(self, arguments):
        assert run("show", *arguments, status=2).stderr.startswith("Usage: ")

    def test_invalid_stdin(self):
        error = run("show", "--lang", "vi", "-", stdin=b"ba\nb\xff\n", status=1).stderr
        assert "standard input, line 2, byte 4 " in error
        assert "\\ufffd" in ascii(run("show", "--lang", "vi", "--errors", "replace", "-", stdin=b"b\xff\n").stdout)


# --- vocab, stats


def test_what_is_read_so():
    for asked in ("shì", "shi4"):
        syllable, written = run("vocab", "--lang", "zh", asked).stdout.rstrip("\n").split("\t")
        assert syllable == "shì"
        assert list(written) == phonemic.forms.characters_read("shi4")
    tones = [line.split("\t")[0] for line in run("vocab", "--lang", "zh", "shi").stdout.splitlines()]
    assert tones == ["shī", "shí", "shǐ", "shì", "shi"]
    assert run("vocab", "--lang", "zh", "de5").stdout.startswith("de\t的")
    assert run("vocab", "--lang", "zh", "biàng4", status=2).stderr.count("SYLLABLE") == 2
    assert run("vocab", "--lang", "vi", "hòa").stdout == "hoà\thoà hòa\n"
    (found,) = json.loads(run("vocab", "--lang", "vi", "--json", "kỳ").stdout)
    assert found["syllable"] == "kì"
    assert found["written"][:2] == ["kì", "kỳ"]
    assert "'xyz' is not a Vietnamese syllable" in run("vocab", "--lang", "vi", "xyz", status=2).stderr


@pytest.mark.parametrize("lang", ["vi", "zh"])
class TestVocab:
    def test_json(self, lang):
        rows = json.loads(run("vocab", "--lang", lang, "--json").stdout)
        vocab = Tokenizer(lang).vocab
        assert [row["id"] for row in rows] == list(range(len(vocab)))
        assert [row["symbol"] for row in rows] == list(vocab)
        assert all(set(row["roles"]) == vocab.roles(row["id"]) for row in rows)

    def test_table(self, lang):
        lines = run("vocab", "--lang", lang).stdout.splitlines()
        cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
        assert [row[1] for row in cells] == list(Tokenizer(lang).vocab)
        assert cells[0] == ["0", "[PAD]", "special"]


class TestStats:
    def test_worked_example(self, small_chunks):
        pq.write_table(pa.table({"text": ["Mẹ mua 2 cái", None, "", "bánh, mẹ"]}), "in.parquet")
        found = json.loads(run("stats", "in.parquet", "--lang", "vi", "--json").stdout)
        assert 0 < found.pop("renyi_efficiency") < 1
        assert found == {
            "vocab_size": 256,
            "texts": 3,
            "units": 6,
            "positions": 7,
            "fertility": 7 / 6,
            "average_input_length": 6 / 3,
            "average_length": 7 / 3,
            "occurrences": 7,
            "native_occurrences": 5,
            "token_coverage": 5 / 7,
            "types": 6,
            "native_types": 4,
            "type_coverage": 4 / 6,
            "fallback_share": 2 / 7,
            "unknown_share": 0,
            "alpha": 2.5,
        }

    def test_alpha(self):
        # m and a twice, two tones once each: p = 1/3, 1/3, 1/6, 1/6 of 112 entries
        arguments = ["stats", "-", "--lang", "zh", "--alpha", "2"]
        value = math.log(18 / 5) / math.log(112)
        found = json.loads(run(*arguments, "--json", stdin="妈 马\n").stdout)
        assert (found["alpha"], found["renyi_efficiency"]) == (2, pytest.approx(value))
        assert f"{value:.4f}" in run(*arguments, stdin="妈 马\n").stdout

    def test_nothing_is_null(self):
        found = json.loads(run("stats", "-", "--lang", "vi", "--json", stdin="").stdout)
        assert (found["texts"], found["fertility"], found["renyi_efficiency"]) == (0, None, None)
        assert "nan" in run("stats", "-", "--lang", "vi", stdin="").stdout

    @pytest.mark.parametrize("alpha", ["nan", "inf", "-1", "x"])
    def test_bad_alpha(self, alpha):
        assert "--alpha" in run("stats", "-", "--lang", "vi", "--alpha", alpha, status=2).stderr


# --- as a process


class TestProcess:
    @pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes standard input")
    @pytest.mark.parametrize(
        "words", [["encode", "-", "-"], ["decode", "-"], ["decode", "--format", "arrow", "-"], ["show", "-"]]
    )
    def test_closed_standard_input(self, words):
        told = ["sh", "-c", 'exec "$@" <&-', "sh", *command(words[0], *words[1:], "--lang", "vi")]
        done = subprocess.run(told, capture_output=True, text=True, check=False, env=environment())
        assert done.returncode == 1
        assert done.stderr == "Error: standard input is closed: give it something to read, or name a file\n"

    def test_version(self):
        assert process("--version").stdout.decode().split()[-1] == phonemic.__version__

    def test_encode_then_decode_through_pipes(self):
        assert (
            process("encode", "-", "out.parquet", "--lang", "vi", stdin="Đường làng\r\nquanh co".encode()).stderr == b""
        )
        result = process("decode", "out.parquet", PYTHONIOENCODING="ascii")
        assert result.stdout.decode() == "đường làng\nquanh co\n"

    def test_show_writes_utf8_everywhere(self):
        result = process("show", "--lang", "vi", "phở", PYTHONIOENCODING="ascii")
        assert (result.returncode, "fɘ" in result.stdout.decode()) == (0, True)

    def test_errors_are_one_line(self):
        for arguments, status in (
            (["encode", "-", "out.parquet", "--lang", "vi"], 1),
            (["encode", "none.gz", "out.parquet", "--lang", "vi"], 1),
            (["decode", "none.parquet"], 1),
        ):
            result = process(*arguments, stdin=b"\xff")
            assert result.returncode == status
            assert result.stderr.startswith(b"Error: ")
            assert result.stderr.count(b"\n") == 1
        assert process("encode", "--lang", "vi").returncode == 2

    @pytest.mark.parametrize(
        ("name", "lines"), [("show", 1), ("vocab", 1), ("decode", 1), ("decode", 20000), ("stats", 1), ("stats", 20000)]
    )
    def test_broken_pipe(self, name, lines):
        Path("in.txt").write_text("gió thổi\n" * lines, encoding="utf-8")
        run("encode", "in.txt", "in.parquet", "--lang", "vi")
        arguments = {
            "show": ["show", "--lang", "vi", "gió " * 600],
            "decode": ["decode", "in.parquet"],
            "vocab": ["vocab", "--lang", "vi", "--json"],
            "stats": ["stats", "in.txt", "--lang", "vi"],
        }[name]
        with subprocess.Popen(
            command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        ) as running:
            running.stdout.close()
            assert running.stderr.read() == b""
            running.wait()

    def test_progress_on_stderr_of_a_terminal(self):
        Path("in.txt").write_text(("mưa " * 2499 + "mưa\n") * 1600, encoding="utf-8")
        quiet = process("encode", "in.txt", "out.parquet", "--lang", "vi")
        assert (quiet.stdout, quiet.stderr) == (b"", b"")
        arguments = "encode", "in.txt", "out.parquet", "--lang", "vi", "--force"
        shown = process(*arguments, FORCE_COLOR="1", COLUMNS="100")
        assert shown.stdout == b""
        assert "20.0/20.0 MB" in shown.stderr.decode()
        assert re.search(r"\d [kMG]B/s", shown.stderr.decode())
        assert re.search(r"\d:\d\d:\d\d", shown.stderr.decode())

    @pytest.mark.parametrize(
        ("package", "arguments"),
        [
            ("click", ["--version"]),
            ("rich", ["vocab", "--lang", "vi"]),
            ("pyarrow", ["encode", "in.txt", "out.parquet", "--lang", "vi"]),
            ("pyarrow", ["decode", "in.parquet"]),
            ("zstandard", ["stats", "in.zst", "--lang", "vi"]),
        ],
    )
    def test_missing_package(self, package, arguments):
        for name in ("in.txt", "in.parquet", "in.zst"):
            Path(name).write_bytes(TEXT)
        result = process_after(f"import sys; sys.modules[{package!r}] = None", *arguments)
        assert result.returncode == 1
        error = result.stderr.decode()
        assert package in error
        assert 'pip install "phonemic[cli]"' in error
        assert error.count("\n") == 1
        assert sorted(os.listdir()) == ["in.parquet", "in.txt", "in.zst"]

    def test_only_the_command_needs_click_and_rich(self):
        code = (
            "import sys; sys.modules['click'] = sys.modules['rich'] = None; import phonemic, phonemic.metrics\n"
            "from phonemic.files import read_texts; print(list(read_texts('-')), 'pyarrow' in sys.modules)"
        )
        result = subprocess.check_output([sys.executable, "-c", code], input=b"ba\n", env=environment())
        assert result.decode().strip() == "[['ba']] False"


# --- the packed fallback


class TestPackedFallback:
    TEXT = "covid 19 bc d\nHà Nội 2024\n"

    def test_the_file_says_how_to_decode_it(self):
        Path("in.txt").write_text(self.TEXT, encoding="utf-8")
        run("encode", "in.txt", "out.parquet", "--lang", "vi", "--fallback", "packed", "--spans")
        tokenizer = Tokenizer("vi", fallback="packed")
        table = pq.read_table("out.parquet")
        assert table["ids"].to_pylist() == [tokenizer.encode(line).ids.tolist() for line in self.TEXT.splitlines()]
        assert table["spans"].to_pylist()[0][:4] == [0, 3, 3, 5]
        assert table.schema.metadata[b"phonemic.fallback"] == b"packed"
        assert run("decode", "out.parquet").stdout == "covid 19 bc d\nhà nội 2024\n"

    def test_show_and_stats(self):
        shown = run("show", "covid", "--lang", "vi", "--fallback", "packed").stdout
        assert re.search(r"│ cov +│.*\n│ id +│", shown)
        Path("in.txt").write_text(self.TEXT, encoding="utf-8")
        found = json.loads(run("stats", "in.txt", "--lang", "vi", "--fallback", "packed", "--json").stdout)
        assert (found["units"], found["positions"]) == (7, 9)
        assert run("stats", "in.txt", "--lang", "vi", "--fallback", "byte", status=2).stderr

    def test_a_file_of_a_later_version(self):
        Path("in.txt").write_text(self.TEXT, encoding="utf-8")
        run("encode", "in.txt", "out.parquet", "--lang", "vi")
        table = pq.read_table("out.parquet")
        changed = table.schema.metadata | {b"phonemic.fallback": b"byte"}
        pq.write_table(table.replace_schema_metadata(changed), "out.parquet")
        assert "unknown fallback 'byte'" in run("decode", "out.parquet", status=1).stderr


class TestDialect:
    def test_show(self):
        assert "ʔɗəwŋ͡m˨˩" in run("show", "--lang", "vi", "--dialect", "saigon", "đồng").stdout
        assert "--dialect is for Vietnamese" in run("show", "--lang", "zh", "--dialect", "hue", "行", status=2).stderr

    def test_decode(self, in_tmp_path):
        run("encode", "-", "ids.parquet", "--lang", "vi", stdin="giếng sâu\n")
        assert run("decode", "ids.parquet", "--dialect", "saigon").stdout == "jiəŋ˦˥ ʂəw˧˧\n"
        found = run("decode", "ids.parquet", "--dialect", "saigon", "--to", "spelling", status=2)
        assert "--dialect is for Vietnamese in IPA" in found.stderr
