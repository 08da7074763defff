"""``phonemic prepare``: what it prints, what it refuses, and a baseline's ids for the same lines."""

import gzip
import json
import subprocess
import sys

import pytest
from corpus_helpers import expected_rows, files_of, rows_of

pytest.importorskip("click", reason="needs the cli extra")

from click.testing import CliRunner

from phonemic import Tokenizer, baselines
from phonemic.cli import cli
from phonemic.corpus import Options, Threads, open_corpus, prepare

CHARACTERS = '''
from phonemic import baselines


@baselines.register
class CodePoints(baselines.Baseline):
    """One id a code point."""

    name = "CodePoints"
    langs = ("zh",)
    folder = "points"
    files = {"points.txt": "made here"}
    vocab_size = 0x110000

    def ids(self, texts):
        return [[ord(char) for char in text if not char.isspace()] for text in texts]
'''


def run(*words, status=0):
    result = CliRunner().invoke(cli, ["prepare", *map(str, words)])
    assert result.exit_code == status, result.output
    return result


def test_prepares_a_folder(tmp_path, lines):
    texts = lines("zh", 80)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("\n".join(texts) + "\n", "utf-8")
    (tmp_path / "in" / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps({"body": texts[0]}).encode()))
    words = [tmp_path / "in", tmp_path / "out", "--lang", "zh", "--column", "body", "--shard-size", "1k"]
    result = run(*words, "--exact-duplicates", "--min-native", "0.9", "--threads", "2")
    expected = expected_rows([*texts, texts[0]], "zh", 0.9, exact=True)
    corpus = open_corpus(tmp_path / "out", verify=True)
    assert rows_of(corpus) == expected
    assert f"{len(expected)} of 81 lines" in result.stdout
    assert f"{corpus.positions:,} positions in {len(corpus)} shards" in result.stdout
    direct = Options(Tokenizer("zh"), column="body", shard_bytes=1024, exact=True, min_native=0.9)
    prepare([str(tmp_path / "in")], tmp_path / "direct", direct, Threads(1))
    assert files_of(tmp_path / "direct") == files_of(tmp_path / "out")


def test_a_baseline_reads_the_very_same_lines(tmp_path, lines):
    texts = lines("zh", 80)
    (tmp_path / "points").mkdir()
    (tmp_path / "points" / "points.txt").write_text("any")
    (tmp_path / "points.py").write_text(CHARACTERS)
    (tmp_path / "in.txt").write_text("\n".join(texts) + "\n", "utf-8")
    run(tmp_path / "in.txt", tmp_path / "own", "--lang", "zh")
    run(tmp_path / "in.txt", tmp_path / "base", "--lang", "zh", "--tokenizer", f"{tmp_path}/points.py={tmp_path}")
    own, base = open_corpus(tmp_path / "own"), open_corpus(tmp_path / "base")
    assert [characters for _, characters in rows_of(own)] == [characters for _, characters in rows_of(base)]
    kept = [text for text in texts if expected_rows([text], "zh")]
    assert [ids for ids, _ in rows_of(base)] == [[ord(char) for char in "".join(text.split())] for text in kept]
    tokenizer = base.tokenizer
    assert tokenizer["name"] == "CodePoints"  # what the file registers: no file names a program
    assert (tokenizer["lang"], tokenizer["vocab_size"], tokenizer["filter"]) == ("zh", 0x110000, own.tokenizer)
    assert list(tokenizer["files"]) == ["points.txt"]
    report = json.loads((tmp_path / "base" / "report.json").read_bytes())
    assert report["ids_used"] == len(set("".join("".join(kept).split())))


@pytest.mark.parametrize("name", ["Character", "Subword", "SubChar-Pinyin"])
def test_the_papers_baselines(tmp_path, data, lines, name):
    pytest.importorskip("sentencepiece", reason="needs the baselines extra")
    folder = data("tokenizers")
    texts = lines("zh", 40)
    (tmp_path / "in.txt").write_text("\n".join(texts) + "\n", "utf-8")
    run(tmp_path / "in.txt", tmp_path / "out", "--lang", "zh", "--tokenizer", f"{name}={folder}")
    kept = [text.strip() for text in texts if expected_rows([text], "zh")]
    corpus = open_corpus(tmp_path / "out")
    assert [ids for ids, _ in rows_of(corpus)] == baselines.load(name, folder).encode_batch(kept)
    assert (corpus.tokenizer["name"], corpus.tokenizer["vocab_size"]) == (name, 22_675)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["in.txt", "out"], 2, "Missing option '--lang'"),
        (["in.txt", "out", "--lang", "vi", "--shard-size", "big"], 2, "'big' is not a size"),
        (["in.txt", "out", "--lang", "vi", "--shard-size", "0M"], 2, "'0M' is not a size"),
        (["in.txt", "out", "--lang", "vi", "--tokenizer", "Character"], 2, "must be NAME=FOLDER"),
        (["in.txt", "out", "--lang", "vi", "--tokenizer", "No=x"], 1, "no tokenizer is named 'No'"),
        (["in.txt", "out", "--lang", "vi", "--word-joiner", "ab"], 2, "word_joiner must be one character"),
        (["none.txt", "out", "--lang", "vi"], 1, "none.txt"),
        (["*.csv", "out", "--lang", "vi"], 1, "*.csv: no such file"),
        (["bad.txt", "out", "--lang", "vi"], 1, "bad.txt, byte 3 of the file: not UTF-8"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, words, status, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("ba\n")
    (tmp_path / "bad.txt").write_bytes(b"ba\n\xff\n")
    assert message in run(*words, status=status).output


def test_keep_going_names_what_was_passed_over(tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"ba\n\xff\n")
    (tmp_path / "good.txt").write_bytes(b"ba me\n")
    result = run(tmp_path, tmp_path / "out" / "it", "--lang", "vi", "--keep-going")
    assert "passed over from there on" in result.stderr
    assert "bad.txt, byte 3 of the file" in result.stderr
    assert "2 of 2 lines" in result.stdout


def test_it_needs_no_torch(tmp_path):
    """Nor transformers: they are as good as not installed."""
    (tmp_path / "in.txt").write_text("trời mưa to\n" * 3, "utf-8")
    code = "import sys; sys.modules.update(torch=None, transformers=None); sys.argv[0] = 'phonemic'\n"
    code += "from phonemic.cli import main; main()"
    words = ["prepare", "in.txt", "out", "--lang", "vi"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("out: 3 of 3 lines")
