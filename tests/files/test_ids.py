"""Ids in files and streams: each format gives back what went in, and what is damaged is named."""

import hashlib
import json
import subprocess
import tracemalloc
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("click")

from cli_helpers import command, environment, run  # noqa: E402

import phonemic  # noqa: E402
from phonemic import InputError, OtherTablesWarning, Tokenizer  # noqa: E402
from phonemic.files.ids import FORMATS, format_of, reader, writer  # noqa: E402

VI = Tokenizer("vi")
TEXTS = ["Giếng nước", None, "", "covid-19 😀", "Hà Nội"]
rows = st.lists(st.none() | st.text(st.sampled_from("giếng Hà\t3,covid😀\u0301\ud7ff"), max_size=12), max_size=6)


def lists(blocks):
    """The rows of blocks of them, as lists."""
    return [row for block in blocks for row in block.lists()]


def written(path, texts, form, tokenizer=VI, **options):
    with writer(str(path), form, tokenizer, **options) as write:
        kinds = [write(texts[:2]), write(texts[2:])] if texts else []
    return np.concatenate([*kinds, np.zeros(0, np.uint8)])


@pytest.mark.parametrize("form", [*FORMATS])
@pytest.mark.parametrize("options", [{}, {"fallback": "packed"}, {"form": True}, {"form": True, "word_joiner": "_"}])
@given(texts=rows)
def test_back_again(tmp_path_factory, form, options, texts):
    tokenizer = Tokenizer("vi", **options)
    path = tmp_path_factory.mktemp("ids") / f"ids{FORMATS[form]}"
    kinds = written(path, texts, form, tokenizer, spans=True, text=True)
    assert kinds.tolist() == tokenizer.encode_batch([text or "" for text in texts]).kinds.tolist()
    found, ids = reader(str(path), form, "vi")
    assert found == tokenizer or not texts
    assert lists(ids) == [None if text is None else tokenizer.encode(text).ids.tolist() for text in texts]


def test_json_lines_say_everything(tmp_path):
    path = tmp_path / "ids.jsonl"
    written(path, TEXTS, "jsonl", spans=True, text=True)
    for line, text in zip(path.read_text("utf-8").splitlines(), TEXTS, strict=True):
        found = json.loads(line)
        assert found["text"] == text
        assert found["lang"] == "vi"
        if text is not None:
            encoding = VI.encode(text)
            assert (found["ids"], found["spans"]) == (encoding.ids.tolist(), encoding.spans.tolist())


@pytest.mark.parametrize(
    "options", [{"lang": "vi"}, {"lang": "zh", "readings": "context", "sandhi": True}, {"lang": "zh", "form": True}]
)
def test_lines_name_the_tables_that_they_were_read_by(tmp_path, options):
    path, tokenizer = tmp_path / "ids.jsonl", Tokenizer(**options)
    written(path, ["hoa 花"], "jsonl", tokenizer)
    line = json.loads(path.read_text("utf-8"))
    folder = Path(phonemic.__file__).parent / "lexicon"
    assert line["tables"]
    for name, digest in line["tables"].items():
        assert hashlib.sha256((folder / f"tables-{name}.bin").read_bytes()).hexdigest().startswith(digest)
        path.write_text(json.dumps(line | {"tables": line["tables"] | {name: "0" * 8}}))
        with pytest.warns(OtherTablesWarning, match=rf"line 1: was saved with other tables \({name}\)"):
            found, ids = reader(str(path), "jsonl")
        assert (found, lists(ids)) == (tokenizer, [line["ids"]])
    for damaged in ([], {"zh": 5}, "0"):
        path.write_text(json.dumps(line | {"tables": damaged}))
        with pytest.raises(InputError, match="line 1: damaged"):
            reader(str(path), "jsonl")


def test_arrow_is_read_by_arrow(tmp_path):
    path = tmp_path / "ids.arrow"
    written(path, TEXTS, "arrow", spans=True)
    with pa.ipc.open_stream(path) as stream:
        table = stream.read_all()
    assert table["ids"].to_pylist()[0] == VI.encode(TEXTS[0]).ids.tolist()
    assert table.schema.metadata[b"phonemic.lang"] == b"vi"


def test_a_pipe_of_commands():
    lines = "Giếng nước\n\nHà Nội covid\n"
    for options in ([], ["--format", "arrow"]):
        encoded = subprocess.run(
            command("encode", "-", "-", "--lang", "vi", *options),
            input=lines.encode(),
            capture_output=True,
            env=environment(),
            check=True,
        ).stdout
        decoded = subprocess.run(
            command("decode", "-", *options), input=encoded, capture_output=True, env=environment(), check=True
        ).stdout
        assert decoded.decode() == "giếng nước\n\nhà nội covid\n"


def test_no_lines_are_no_rows():
    encoded = subprocess.run(
        command("encode", "-", "-", "--lang", "vi"), input=b"", capture_output=True, env=environment(), check=True
    ).stdout
    for options in ([], ["--lang", "vi"], ["--to", "pinyin"]):
        done = subprocess.run(
            command("decode", "-", *options), input=encoded, capture_output=True, env=environment(), check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 1: is not JSON"),
        ("[]", "a JSON object is expected"),
        ('{"lang": "vi"}', "ids is missing"),
        ('{"lang": "vi", "ids": "a"}', "ids is of type str"),
        ('{"lang": "vi", "ids": [1, "a"]}', "its ids are not a list of whole numbers"),
        ('{"lang": "vi", "ids": [true]}', "its ids are not a list of whole numbers"),
        ('{"lang": "vi", "ids": [1, 4294967296]}', "line 1: position 1: 4294967296 is not a packed id"),
        ('{"lang": "vi", "form": 1, "ids": []}', "form is of type int"),
        ('{"lang": "vi", "form": true, "fallback": "packed", "ids": []}', "form needs fallback='character'"),
        ('{"ids": [1]}', "does not say which language its ids are of; give --lang"),
        ('{"lang": "fr", "ids": []}', "unknown language 'fr'"),
        ('{"lang": "vi", "fallback": "byte", "ids": []}', "unknown fallback 'byte'"),
        (
            '{"lang": "vi", "ids": []}\n{"lang": "zh", "ids": []}',
            "line 2: its language, fallback, readings, sandhi, erhua or form are not",
        ),
        ('{"lang": "vi", "ids": []}\n\n', "line 2: is not JSON"),
    ],
)
def test_damaged_lines_are_named(tmp_path, line, told):
    path = tmp_path / "ids.jsonl"
    path.write_text(line)
    with pytest.raises(InputError, match=told) as error:
        lists(reader(str(path), "jsonl")[1])
    assert str(path) in str(error.value)


def test_what_the_first_line_leaves_out_is_as_given(tmp_path):
    path = tmp_path / "ids.jsonl"
    ids = Tokenizer("vi", fallback="packed").encode("covid").ids.tolist()
    path.write_text(json.dumps({"fallback": "packed", "ids": ids}) + "\n")
    found, rows = reader(str(path), "jsonl", "vi")
    assert found == Tokenizer("vi", fallback="packed")
    assert [found.decode(row) for row in lists(rows)] == ["covid"]
    path.write_text(json.dumps({"ids": []}) + "\n" + json.dumps({"fallback": "packed", "ids": ids}) + "\n")
    with pytest.raises(InputError, match="line 2: its language, fallback, readings, sandhi, erhua or form are not"):
        lists(reader(str(path), "jsonl", "vi")[1])


def test_another_language_is_refused(tmp_path):
    for form, end in FORMATS.items():
        path = tmp_path / f"ids{end}"
        written(path, TEXTS, form)
        with pytest.raises(InputError, match="its ids are of language vi, not zh"):
            reader(str(path), form, "zh")


def test_damaged_streams_are_one_error(tmp_path):
    path = tmp_path / "ids.arrow"
    written(path, TEXTS * 30, "arrow")
    data = path.read_bytes()
    refused = 0
    for at, _ in pairwise(range(0, len(data), max(1, len(data) // 60))):
        for changed in (data[:at], data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]):
            path.write_bytes(changed)
            with suppress(InputError):  # and no other, and no crash
                lists(reader(str(path), "arrow")[1])
                continue
            refused += 1
    assert refused > 20


def test_what_a_command_refuses(in_tmp_path, tmp_path):
    (tmp_path / "a.txt").write_text("giếng\n")
    assert "must end in .parquet, .arrow, .jsonl" in run("encode", "a.txt", "b.txt", "--lang", "vi", status=2).stderr
    found = run("encode", "a.txt", "-", "--format", "parquet", "--lang", "vi", status=1).stderr
    assert "Parquet cannot be written to a stream" in found
    assert "Parquet cannot be read from a stream" in run("decode", "-", "--format", "parquet", status=1).stderr
    run("encode", "a.txt", "b.any", "--format", "jsonl", "--lang", "vi")
    assert run("decode", "b.any", "--format", "jsonl").stdout == "giếng\n"
    with pytest.raises(InputError, match="must end in"):
        format_of("a.csv")


def test_rows_have_a_limit(tmp_path):
    for form, end in FORMATS.items():
        path = tmp_path / f"ids{end}"
        written(path, ["giếng " * 100], form)
        with pytest.raises(InputError, match=r"raise --max-line|--max-line raises that"):
            lists(reader(str(path), form, None, 50)[1])


class TestLongRows:
    """Equal ids, of which a file of a few hundred bytes holds a million."""

    @pytest.fixture
    def decoded(self, monkeypatch):
        """How many positions were decoded each time."""
        sizes, read = [], pq.ParquetFile.iter_batches

        def counting(self, *arguments, **options):
            for batch in read(self, *arguments, **options):
                sizes.append(len(batch.column(0).flatten()))
                yield batch

        monkeypatch.setattr(pq.ParquetFile, "iter_batches", counting)
        return sizes

    @staticmethod
    def packed(path, *groups):
        """A file, Parquet or Arrow, of groups of rows of such lengths; None is a null."""
        schema = pa.schema({"ids": pa.list_(pa.int32())}, metadata={"phonemic.lang": "vi"})
        parquet = path.suffix == ".parquet"
        options = {"compression": "zstd"} if parquet else {"options": pa.ipc.IpcWriteOptions(compression="zstd")}
        with (pq.ParquetWriter if parquet else pa.ipc.new_stream)(path, schema, **options) as file:
            for group in groups:
                file.write_table(
                    pa.table({"ids": [length if length is None else [0] * length for length in group]}, schema)
                )

    def test_few_are_decoded_at_a_time(self, tmp_path, decoded):
        path = tmp_path / "ids.parquet"
        lengths = [100_000] * 12 + [None, 0, 7]
        self.packed(path, lengths)
        assert [row if row is None else len(row) for row in lists(reader(str(path), "parquet")[1])] == lengths
        assert sum(decoded) == 1_200_007
        assert max(decoded) <= 400_000

    @pytest.mark.parametrize("form", ["parquet", "arrow"])
    def test_lists_are_made_of_few_at_a_time(self, tmp_path, form):
        path = tmp_path / f"ids{FORMATS[form]}"
        self.packed(path, [100_000] * 20)
        rows = reader(str(path), form)[1]
        tracemalloc.start()
        first = next(rows)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert first.lists() == [[0] * 100_000]
        assert peak < 4_000_000  # of all, 16 MB
        assert sum(map(len, lists(rows))) == 19 * 100_000

    @pytest.mark.parametrize(
        ("groups", "told"),
        [([[70]], "row 1"), ([[5, 60], [70], [1]], "row 3"), ([[5, 60], [60, 100]], "one of the rows 3 to 4")],
    )
    def test_what_the_footer_tells_is_refused_before_it_is_decoded(self, tmp_path, decoded, groups, told):
        path = tmp_path / "ids.parquet"
        self.packed(path, *groups)
        with pytest.raises(InputError, match=rf"ids\.parquet, {told}: has more than 64 positions; .*raise --max-line"):
            lists(reader(str(path), "parquet", None, 64)[1])
        assert sum(decoded) == sum(map(sum, groups[:1])) * (len(groups) > 1)

    def test_as_many_as_may_be(self, tmp_path):
        path = tmp_path / "ids.parquet"
        for lengths, limit in (([64] * 3, 64), ([None, 0, 0], 0), ([], 0)):
            self.packed(path, lengths)
            found = reader(str(path), "parquet", None, limit)[1]
            assert [row if row is None else len(row) for row in lists(found)] == lengths

    def test_another_column_is_not_part_of_it(self, tmp_path):
        """Though Parquet writes its name as it does that of the numbers in the lists."""
        path = tmp_path / "ids.parquet"
        cells = pa.array([[0], [0] * 3], pa.list_(pa.int32()))
        many = pa.array([[0] * 50, [0] * 60], pa.list_(pa.int32()))
        for names in (["ids", "ids.list"], ["ids.list", "ids"]):
            table = pa.table(
                [cells if name == "ids" else many for name in names], names, metadata={"phonemic.lang": "vi"}
            )
            pq.write_table(table, path)
            assert lists(reader(str(path), "parquet", None, 3)[1]) == [[0], [0] * 3]


class TestColumnNames:
    """Their errors are reported, also where nobody requests the column."""

    @staticmethod
    def table(name, names):
        cells = pa.array([[0]], pa.list_(pa.int32()))
        table = pa.table([cells] * len(names), names=names, metadata={"phonemic.lang": "vi"})
        if name.endswith(".parquet"):
            pq.write_table(table, name, store_schema=False)
            return
        with pa.OSFile(name, "w") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)

    @pytest.mark.parametrize("name", ["in.parquet", "in.arrow"])
    def test_two_of_one_name(self, in_tmp_path, name):
        self.table(name, ["ids", "n", "ids"])
        found = run("decode", name, "--lang", "vi", status=1).stderr
        assert f"{name}: 2 columns are named 'ids'; rename all but one" in found

    @pytest.mark.parametrize("name", ["in.parquet", "in.arrow"])
    def test_one_that_is_no_utf8(self, in_tmp_path, tmp_path, name):
        self.table(name, ["ids", "zz"])
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes().replace(b"zz", b"\xe9z"))
        found = run("decode", name, "--lang", "vi", status=1).stderr
        assert f"{name}: damaged, or the name of a column is not UTF-8; rename that column" in found
