"""``phonemic noise``."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from click.testing import CliRunner  # noqa: E402
from source_tree import ROOT, needs  # noqa: E402

import phonemic  # noqa: E402
from phonemic.cli import cli  # noqa: E402
from phonemic.noise.homophones import Homophones, count_characters  # noqa: E402
from phonemic.noise.misspellings import Misspellings  # noqa: E402

ZH, VI = (ROOT / "examples" / f"sentences-{lang}.txt" for lang in ("zh", "vi"))
ZH_LINES, VI_LINES = (path.read_text("utf-8").splitlines() for path in (ZH, VI))

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments, stdin=None, status=0):
    result = RUNNER.invoke(cli, ["noise", *map(str, arguments)], input=stdin)
    assert result.exit_code == status, result.output + result.stderr
    assert "Traceback" not in result.output
    return result


def lines_of(path):
    return Path(path).read_text("utf-8").splitlines()


class TestTexts:
    def test_one_ratio_to_standard_output(self):
        result = run(ZH, "--lang", "zh", "--ratio", "0.3", "--seed", 4, "--pool", "gb2312")
        noise = Homophones("gb2312", seed=4)
        assert result.stdout.splitlines() == [noise.apply(line, 0.3).text for line in ZH_LINES]
        assert "achieved" in result.stderr

    def test_a_file_for_each_ratio(self):
        result = run(VI, "--lang", "vi", "--kind", "typing", "--ratio", "0.1", "--ratio", "0.50", "-o", "n-{ratio}.txt")
        noise = Misspellings("typing")
        assert sorted(os.listdir()) == ["n-0.1.txt", "n-0.50.txt"]
        for name, ratio in (("0.1", 0.1), ("0.50", 0.5)):
            assert lines_of(f"n-{name}.txt") == [noise.apply(line, ratio).text for line in VI_LINES]
        assert "achieved" in result.stdout

    def test_options_reach_the_noise(self):
        Path("mine.tsv").write_text("朝阳\tzhao1 yang2\n", encoding="utf-8")
        Path("in.txt").write_text("朝阳世界是世界\n" * 3, encoding="utf-8")
        options = {
            "--share": "changeable", "--draw": "independent", "--match": "default", "--phrases": "mine.tsv", "--pool": "gb2312-1"
        }  # fmt: skip
        words = [word for pair in options.items() for word in pair]
        shown = run("in.txt", "--lang", "zh", "--ratio", "0.5", "--not-nested", "--same-ids", *words).stdout
        noise = Homophones(
            "gb2312-1", "default", True, phonemic.Tokenizer("zh", phrases=Path("mine.tsv")), 0, "changeable", "independent", False
        )  # fmt: skip
        assert shown == f"{noise.apply('朝阳世界是世界', 0.5).text}\n" * 3

    def test_by_row(self):
        Path("in.txt").write_text("世界是世界\n" * 30, encoding="utf-8")
        shown = run("in.txt", "--lang", "zh", "--ratio", "0.5", "--by-row").stdout.splitlines()
        noise = Homophones()
        assert shown == [noise.apply("世界是世界", 0.5, row).text for row in range(30)]
        assert len(set(shown)) > 20

    def test_counts(self):
        counts = count_characters(ZH_LINES)
        base = [ZH, "--lang", "zh", "--ratio", "0.3", "--counts", ZH, "--min-count", 2]
        often = {char: count for char, count in counts.items() if count >= 2}
        for pool, words in ((list(often), []), (often, ["--by-count"])):
            noise = Homophones(pool)
            assert run(*base, *words).stdout.splitlines() == [noise.apply(line, 0.3).text for line in ZH_LINES]

    def test_inputs_are_joined_and_rows_go_on(self):
        Path("a.gz").write_bytes(gzip.compress("世界\r\n是\n".encode()))
        pq.write_table(pa.table({"t": ["世界", None, "a\n世"]}), "b.parquet")
        inputs = ["a.gz", "b.parquet", "a.gz"]
        run(*inputs, "--column", "t", "--lang", "zh", "--ratio", "1", "-o", "o.parquet", "--changes", "c")
        made = pq.read_table("o.parquet")["t"].to_pylist()
        noise = Homophones()
        assert made == [
            text and noise.apply(text, 1).text for text in ("世界", "是", "世界", None, "a\n世", "世界", "是")
        ]
        rows = [json.loads(line)["row"] for line in lines_of("c")]
        assert rows == [0, 0, 1, 2, 2, 4, 5, 5, 6]

    def test_standard_input(self):
        assert run("-", "--lang", "zh", "--ratio", "0", stdin="世\n\n界").stdout == "世\n\n界\n"

    def test_a_null_is_an_empty_line(self):
        pq.write_table(pa.table({"text": ["世", None]}), "a.parquet")
        assert run("a.parquet", "--lang", "zh", "--ratio", "0").stdout == "世\n\n"


class TestChanges:
    def test_they_rebuild_every_output(self):
        run(VI, "--lang", "vi", "--kind", "typing", "--kind", "d-gi", "--ratio", "0.2", "--ratio", "0.6",
            "-o", "{ratio}.txt", "--changes", "changes.jsonl")  # fmt: skip
        changes = [json.loads(line) for line in lines_of("changes.jsonl")]
        assert set(changes[0]) == {"ratio", "row", "start", "end", "old", "new", "kind", "reading"}
        for ratio in (0.2, 0.6):
            texts = list(VI_LINES)
            for change in reversed([change for change in changes if change["ratio"] == ratio]):
                text = texts[change["row"]]
                assert text[change["start"] : change["end"]] == change["old"]
                texts[change["row"]] = text[: change["start"]] + change["new"] + text[change["end"] :]
            assert texts == lines_of(f"{ratio}.txt")

    def test_reading(self):
        run(ZH, "--lang", "zh", "--ratio", "1", "-o", "o.txt", "--changes", "c")
        changes = [json.loads(line) for line in lines_of("c")]
        assert {"old": "银", "reading": "yin2"}.items() <= next(c for c in changes if c["old"] == "银").items()


class TestSummary:
    def test_json(self):
        arguments = [ZH, "--lang", "zh", "--ratio", "0.075", "--ratio", "0.3", "-o", "{ratio}.txt", "--json"]
        rows = json.loads(run(*arguments).stdout)
        noise = Homophones()
        for row, ratio in zip(rows, (0.075, 0.3), strict=True):
            done = [(line, noise.apply(line, ratio)) for line in ZH_LINES]
            changed, units = sum(len(one.changes) for _, one in done), sum(one.units for _, one in done)
            assert row == {
                "ratio": ratio, "texts": len(ZH_LINES), "units": units, "changeable": sum(one.changeable for _, one in done),
                "changed": changed, "achieved": changed / units, "ids_changed": sum(noise.ids_changed(*pair) for pair in done),
            }  # fmt: skip

    def test_nothing_to_change(self):
        Path("in.txt").write_text("abc\n", encoding="utf-8")
        rows = json.loads(run("in.txt", "--lang", "zh", "--ratio", "0.3", "-o", "o.txt", "--json").stdout)
        assert [rows[0][name] for name in ("texts", "units", "achieved")] == [1, 0, 0.0]


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--lang", "zh"], "--ratio"),
            (["--lang", "zh", "--ratio", "7.5"], "7.5 % is 0.075"),
            (["--lang", "zh", "--ratio", "nan"], "is not a share"),
            (["--lang", "zh", "--ratio", "7.5%"], "is not a share"),
            (["--lang", "zh", "--ratio", "0.1", "--ratio", "0.10", "-o", "{ratio}"], "twice"),
            (["--lang", "zh", "--ratio", "0.1", "--ratio", "0.2"], "{ratio}"),
            (["--lang", "zh", "--ratio", "0.1", "--ratio", "0.2", "-o", "o.txt"], "{ratio}"),
            (["--lang", "zh", "--ratio", "0.1", "-o", "o.gz"], "compress it afterwards"),
            (["--lang", "zh", "--ratio", "0.1", "-o", "o", "--changes", "o"], "both"),
            (["--lang", "zh", "--ratio", "0.1", "--kind", "telex"], "--kind does not apply to zh"),
            (["--lang", "vi", "--ratio", "0.1", "--kind", "telex", "--same-ids"], "--same-ids does not apply to vi"),
            (["--lang", "vi", "--ratio", "0.1"], "choose"),
            (["--lang", "zh", "--ratio", "0.1", "--by-count"], "need --counts"),
            (["--lang", "vi", "--ratio", "0.1", "--kind", "typo"], "typo"),
            (["--lang", "vi", "--ratio", "0.1", "--kind", "telex", "--word-joiner", "ab"], "word_joiner"),
        ],
    )
    def test_usage(self, arguments, said):
        error = run(ZH, *arguments, status=2).stderr
        assert error.startswith("Usage: ")
        assert said in re.sub(r"\s+", " ", error)
        assert os.listdir() == []

    def test_counts_that_leave_nothing(self):
        Path("empty.txt").write_text("abc\n", encoding="utf-8")
        error = run(ZH, "--lang", "zh", "--ratio", "0.1", "--counts", "empty.txt", status=2).stderr
        assert "no Han character" in re.sub(r"\s+", " ", error)

    def test_nothing_half_written(self):
        Path("bad.txt").write_bytes("世界\n".encode() * 5 + b"\xff\n")
        Path("0.1.txt").write_text("old\n", encoding="utf-8")
        arguments = [
            "bad.txt",
            "--lang",
            "zh",
            "--ratio",
            "0.1",
            "--ratio",
            "0.2",
            "-o",
            "{ratio}.txt",
            "--changes",
            "c",
            "--force",
        ]
        assert "line 6" in run(*arguments, status=1).stderr
        assert sorted(os.listdir()) == ["0.1.txt", "bad.txt"]
        assert Path("0.1.txt").read_text("utf-8") == "old\n"
        assert "no such" in run("none.txt", *arguments[1:], status=1).stderr.lower()
        assert sorted(os.listdir()) == ["0.1.txt", "bad.txt"]

    def test_a_line_break_in_a_text(self):
        pq.write_table(pa.table({"text": ["a\nb"]}), "a.parquet")
        assert "write to .parquet" in run("a.parquet", "--lang", "zh", "--ratio", "0", "-o", "o.txt", status=1).stderr
        assert os.listdir() == ["a.parquet"]

    @pytest.mark.skipif(os.name != "posix", reason="signals")
    def test_termination_leaves_nothing(self):
        command = [sys.executable, "-m", "phonemic.cli", "noise", "-", "--lang", "zh", "--ratio", "0.1", "-o", "o.txt"]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            process.stdin.write("世界\n".encode())
            process.stdin.flush()
            while not list(Path().glob("o.txt.*.partial")):
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 128 + signal.SIGTERM
        assert os.listdir() == []


class TestDocs:
    TEXT = (ROOT / "docs" / "how-to" / "noise.md").read_text("utf-8")

    def test_python_gives_what_the_comments_say(self):
        names, compared = {}, 0
        for line in "\n".join(re.findall(r"```python\n(.*?)```", self.TEXT, re.DOTALL)).splitlines():
            code, _, shown = (part.strip() for part in line.partition("  # "))
            if re.match(r"['(\w]+[(']", shown) or shown.startswith(("'", "(")):
                assert repr(eval(code, names)) == shown
                compared += 1
            else:
                exec(code, names)
        assert compared == 4

    def test_commands(self):
        for line in re.findall(r"^phonemic noise (.*)$", self.TEXT, re.MULTILINE):
            run(*(word.strip("'").replace("examples/", f"{ROOT}/examples/") for word in line.split()))
        assert sorted(os.listdir()) == ["changes.jsonl", "noisy-0.075.txt", "noisy-0.15.txt"]

    @needs("docs/experiments")
    def test_the_table_is_true(self):
        """The first table of figures, measured again."""
        log = (ROOT / "docs" / "experiments" / "2026-11-23-noise-and-ids.md").read_text("utf-8")
        rows = re.findall(r"^\| (0\.\d+) \| (\d+) \| ([\d.]+) \| (\d+) \| (\d+) \| (\d+) \|$", log, re.MULTILINE)
        assert [row[0] for row in rows] == ["0.075", "0.15", "0.225", "0.3", "0.375"]
        noises = [Homophones("gb2312"), Homophones("gb2312", same_ids=True), Homophones("gb2312", "default")]
        for ratio, changed, achieved, *ids in rows:
            done = [[(line, noise.apply(line, float(ratio))) for line in ZH_LINES] for noise in noises]
            counts = [sum(len(one.changes) for _, one in lines) for lines in done]
            assert counts == [int(changed)] * 3
            assert achieved == f"{int(changed) / sum(one.units for _, one in done[0]):.4f}"
            found = [sum(noise.ids_changed(*p) for p in lines) for noise, lines in zip(noises, done, strict=True)]
            assert found == [int(count) for count in ids]


@pytest.mark.parametrize("name", ["out.txt.bz2", "out.gz", "out.jsonl", "out-{ratio}.json", "out.parquet.zst"])
def test_a_name_of_what_is_not_written_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("giếng", encoding="utf-8")
    run(
        "noise",
        "in.txt",
        "--lang",
        "vi",
        "--ratio",
        "0.5",
        "--kind",
        "wrong-tone",
        "-o",
        name,
        status=1 if "parquet" in name else 2,
    )
    assert os.listdir() == ["in.txt"]


def test_both_names_of_parquet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("giếng", encoding="utf-8")
    for name in ("a.parquet", "b.PQ"):
        run("in.txt", "--lang", "vi", "--ratio", "0.5", "--kind", "wrong-tone", "-o", name)
    assert pq.read_table("b.PQ") == pq.read_table("a.parquet")
