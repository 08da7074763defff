"""JSON lines as texts: what the json module reads of them, line by line."""

import gzip
import json
from pathlib import Path

import pytest
from cli_helpers import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phonemic import InputError, Tokenizer
from phonemic.corpus import Options, Threads, open_corpus, prepare
from phonemic.files import read_lines, read_texts
from phonemic.tasks.records import json_lines

pytestmark = pytest.mark.usefixtures("in_tmp_path", "empty_figures")

VALUES = ["Tôi yêu\ntiếng Việt.", None, "", "\U0001f600 một", "\u2028x\r\n", "\ufeff"]


def texts_of(name, **options):
    return [text for texts in read_texts(name, **options) for text in texts]


def lines_of(values, escaped, end="\n"):
    return "".join(json.dumps({"id": 1, "câu": value}, ensure_ascii=escaped) + end for value in values)


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("name", ["in.jsonl", "in.NDJSON", "in.json", "in.jsonl.gz"])
@pytest.mark.parametrize("chunk", [1, 60, 10000])
def test_the_field_of_each_object(name, escaped, chunk):
    data = ("\ufeff" + lines_of(VALUES, escaped, "\r\n") + "\n  \n" + '{"id": 2}\n').encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert texts_of(name, column="câu", chunk=chunk) == [*VALUES, None]
    assert [line for lines in read_lines(name) for line in lines][-3:] == ["", "  ", '{"id": 2}']


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), min_size=1), st.booleans())
def test_any_text(values, escaped):
    Path("in.jsonl").write_text(lines_of(values, escaped), encoding="utf-8", newline="")
    assert texts_of("in.jsonl", column="câu") == values


def test_halves_of_surrogate_pairs():
    Path("in.jsonl").write_text('{"text": "\\ud83d\\ude00"}\n{"text": "a\\ud83db"}\n', "utf-8")
    with pytest.raises(InputError, match=r"in.jsonl, line 2: the field 'text' is not Unicode text"):
        texts_of("in.jsonl")
    assert texts_of("in.jsonl", errors="replace") == ["\U0001f600", "a\ufffdb"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ('{"text": "a"}\n["b"]\n', "in.jsonl, line 2: a JSON object is expected, not of type list"),
        ('{"text": "a"}\n\nb\n', "in.jsonl, line 3: is not JSON"),
        ("[" * 100_000, "in.jsonl, line 1: is not JSON"),
        ('{"text": 1}\n', "in.jsonl, line 1: the field 'text' is not a string"),
        ('{"câu": "a", "id": 1}\n', "in.jsonl, from line 1 on: no field 'text'; the first has câu, id"),
    ],
)
def test_what_is_wrong_is_named(data, told):
    Path("in.jsonl").write_text(data, "utf-8")
    error = run("encode", "in.jsonl", "out.parquet", "--lang", "vi", status=1).stderr
    assert told in error
    assert not Path("out.parquet").exists()


#: Lines of JSON lines, and their texts, or nothing where every reader refuses them.
ODD = {
    "null": None,
    "1": None,
    "[1]": None,
    '"ba"': None,
    "true": None,
    '{"text": "ba"}{"text": "me"}': None,
    '{"text": "ba"} null': None,
    '{"text": "ba"},': None,
    '{"text": ["ba"]}': None,
    '{"text": 1}': None,
    '{"text": "\\ud800"}': None,
    '{"text": "b\ta"}': None,
    "\f": None,
    "\u3000": None,
    "\ufeff{}": None,
    "{" * 9999: None,
    '{"text": ' + "1" * 5000 + "}": None,
    "{}": [],
    " \t ": [],
    '{"text": null}': [],
    '{"text": "ba", "text": "me"}': ["me"],
    '{"text": "ba", "n": "\\ud800"}': ["ba"],
    '{"text": "ba", "n": 1e400}': ["ba"],
    '{"text": "ba", "n": NaN}': ["ba"],
    ' {"text" : "b\\u0061"}\t\r': ["ba"],
}


@pytest.mark.parametrize("at", [0, 1, 30])
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: ascii(odd[:24]))
def test_every_reader_gives_the_same_answer(odd, at):
    if odd.startswith("\ufeff") and not at:
        return  # a byte order mark may begin a file
    lines = ['{"text": "me"}'] * 40
    lines.insert(at, odd)
    Path("in.jsonl").write_bytes("\n".join(lines).encode())
    corpus = Options(Tokenizer("vi"), min_native=0, shard_bytes=800)  # several chunks in several parts

    def prepared():
        prepare(["in.jsonl"], "corpus", corpus, Threads(1))
        return sum(len(shard.offsets) - 1 for shard in open_corpus("corpus"))

    def read():
        return sum(text is not None for text in texts_of("in.jsonl", chunk=100))

    def records():
        return sum(record.fields.get("text") is not None for record in json_lines(Path("in.jsonl")))

    found = ODD[odd]
    for reader in (prepared, read, records):
        if found is not None:
            assert reader() == 40 + len(found), reader
        elif reader is not records or "text" not in odd:  # a set's own fields are checked by the set
            with pytest.raises(InputError, match=r"in\.jsonl"):
                reader()


@pytest.mark.parametrize("command", [("stats",), ("encode",), ("rhymes",)])
def test_commands_read_the_field_and_not_the_line(command):
    words = ["giếng", "tiếng", "cổ"]
    Path("in.txt").write_text("".join(f"{word}\n" for word in words), "utf-8")
    Path("in.jsonl").write_text(lines_of(words, True), "utf-8")
    out = ["-"] if command == ("encode",) else []
    plain = run(*command, "in.txt", *out, "--lang", "vi").stdout
    fields = run(*command, "in.jsonl", *out, "--lang", "vi", "--column", "câu").stdout
    assert fields.replace("in.jsonl", "in.txt") == plain
    assert plain


def test_a_column_of_plain_text_is_refused():
    Path("in.csv").write_text("id,câu\n1,giếng\n", "utf-8")
    error = run("encode", "in.csv", "-", "--lang", "vi", "--column", "câu", status=2).stderr
    assert "--column câu: in.csv is read as plain text, one text per line" in error
    error = run("search", "in.csv", "--lang", "vi", "--column", "câu", "giếng", status=2).stderr
    assert "--column câu: in.csv is read as plain text" in error
    error = run("stats", "-", "--lang", "vi", "--column", "câu", status=2).stderr
    assert "--column câu: standard input is read as plain text" in error


def test_noise_reads_and_names_the_field():
    Path("in.jsonl").write_text(lines_of(["我们在银行门口等你。"], False), "utf-8")
    run("noise", "in.jsonl", "--column", "câu", "--lang", "zh", "--ratio", "0.5", "-o", "out.parquet")
    assert [len(text) for text in texts_of("out.parquet", column="câu")] == [10]
