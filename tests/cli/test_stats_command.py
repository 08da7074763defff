"""``phonemic stats`` with several tokenizers and datasets, ``phonemic train-baseline``, and the benchmark's command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

pytest.importorskip("click", reason="the command needs click")
pytest.importorskip("rich", reason="the command needs rich")
pytest.importorskip("matplotlib", reason="plots need matplotlib")

from click.testing import CliRunner

from phonemic import Tokenizer, intrinsic
from phonemic.cli import cli

RUNNER = CliRunner(**{"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {})
ROOT = Path(__file__).parents[2]
TEXT = "今天天气很好，我们去公园。\n他在北京工作了3年！\n"


def run(*arguments, status=0, command=cli):
    result = RUNNER.invoke(command, [str(argument) for argument in arguments])
    assert result.exit_code == status, (result.output, result.exception)
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a text, a dataset of CLUENER's kind, one of UIT-VSFC's, and a Character vocabulary."""
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text(TEXT, encoding="utf-8")
    for name, texts in (("train", ["今天下雨", "明天"]), ("dev", ["后天 晴"])):
        Path("data/cluener").mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({"text": text, "label": {}}, ensure_ascii=False) for text in texts)
        Path(f"data/cluener/{name}.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for split in ("train", "dev", "test"):
        sub = Path("data/vi/vsfc") / split
        sub.mkdir(parents=True)
        sub.joinpath("sents.txt").write_text("thầy dạy hay .\nslide đẹp\n", encoding="utf-8")
        for other in ("sentiments", "topics"):
            sub.joinpath(f"{other}.txt").write_text("2\n0\n")
    run("train-baseline", "Character", "tokenizers", "in.txt", "--vocab-size", 30)
    return tmp_path


class TestStats:
    def test_json_has_a_row_for_each_tokenizer(self, folder):
        arguments = ["--tokenizer", "Character", "--tokenizer", "Phonemic", "--tokenizers", "tokenizers"]
        rows = json.loads(run("stats", "in.txt", "--lang", "zh", *arguments, "--json").stdout)
        tokenizers = intrinsic.tokenizers(["Character", "Phonemic"], "zh", "tokenizers")
        assert rows == intrinsic.measure("in.txt", "zh", [TEXT.splitlines()], tokenizers)

    def test_all(self, folder):
        arguments = ["--tokenizer", "all", "--tokenizers", "tokenizers", "--json"]
        rows = json.loads(run("stats", "in.txt", "--lang", "zh", *arguments).stdout)
        assert [row["tokenizer"] for row in rows] == ["Character", "Phonemic", "Phonemic-packed"]

    def test_table(self, folder):
        output = run("stats", "in.txt", "--lang", "vi", "--tokenizer", "Phonemic").stdout
        assert output.startswith("in.txt")
        assert re.search(r"tokenizer\s+entries\s+fertility\s+Rényi\s+input\s+length", output)
        assert re.search(r"Phonemic\s+256\s", output)

    @pytest.mark.parametrize(("flag", "form"), [("--markdown", "markdown"), ("--latex", "latex")])
    def test_text_formats(self, folder, flag, form):
        output = run("stats", "in.txt", "--lang", "vi", "--tokenizer", "Phonemic", flag).stdout
        rows = intrinsic.measure("in.txt", "vi", [TEXT.splitlines()], {"Phonemic": Tokenizer("vi")})
        assert output == intrinsic.table(rows, form) + "\n"

    def test_two_formats_are_refused(self, folder):
        refused = run("stats", "in.txt", "--lang", "vi", "--markdown", "--json", status=2)
        assert "give one of --json and --markdown" in refused.stderr

    def test_options_of_our_tokenizer(self, folder):
        Path("in.txt").write_text("covid19", encoding="utf-8")
        arguments = ["stats", "in.txt", "--lang", "vi", "--tokenizer", "Phonemic", "--json"]
        lengths = [json.loads(run(*arguments, *more).stdout)[0]["positions"] for more in ([], ["--fallback", "packed"])]
        assert lengths == [7, 3]

    def test_every_tokenizer_of_ours_has_them(self, folder):
        Path("in.txt").write_text("sinh_viên Hà_Nội ka covid", encoding="utf-8")
        own = ["stats", "in.txt", "--lang", "vi", "--word-joiner", "_", "--strict", "--json", "--tokenizer"]
        packed, character = json.loads(run(*own, "Phonemic-packed", "--tokenizer", "Phonemic").stdout)
        (expected,) = json.loads(run(*own, "Phonemic", "--fallback", "packed").stdout)
        assert packed | {"tokenizer": "Phonemic"} == expected
        assert (packed["positions"], character["positions"]) == (7, 11)

    def test_forms(self, folder):
        Path("in.txt").write_text("sinh_viên  Hà_Nội 😀 hÀ", encoding="utf-8")
        own = ["stats", "in.txt", "--lang", "vi", "--word-joiner", "_", "--json"]
        plain, written = (json.loads(run(*own, *more).stdout) for more in ([], ["--form"]))
        assert written["positions"] == len(
            Tokenizer("vi", word_joiner="_", form=True).encode(Path("in.txt").read_text())
        )
        for name in ("units", "occurrences", "native_occurrences", "token_coverage", "types", "type_coverage"):
            assert written[name] == plain[name]
        rows = json.loads(run(*own, "--form", "--tokenizer", "all").stdout)
        assert [row["tokenizer"] for row in rows] == ["Phonemic"]
        error = run(*own, "--form", "--tokenizer", "Phonemic-packed", status=2).stderr
        assert "Phonemic-packed: form needs fallback='character'" in error

    @pytest.mark.parametrize("names", [["Character"], ["Character", "Phonemic"], ["Phonemic", "Character"]])
    def test_the_word_joiner_is_that_of_the_texts(self, names, folder):
        Path("in.txt").write_text("sinh_viên Hà_Nội", encoding="utf-8")
        chosen = [word for name in names for word in ("--tokenizer", name)]
        own = ["stats", "in.txt", "--lang", "vi", "--tokenizers", "tokenizers", "--json", "--word-joiner", "_"]
        rows = json.loads(run(*own, *chosen).stdout)
        assert {row["occurrences"] for row in rows} == {4}

    def test_normal_form(self, folder):
        Path("in.txt").write_text("bé", encoding="utf-8")
        arguments = ["--tokenizer", "Character", "--tokenizers", "tokenizers", "--json"]
        found = [
            json.loads(run("stats", "in.txt", "--lang", "vi", *arguments, "--normalize", form).stdout)[0]["positions"]
            for form in ("NFC", "NFD")
        ]
        assert found == [2, 3]

    def test_task(self, folder):
        (row,) = json.loads(run("stats", "--task", "cluener", "--data", "data", "--lang", "zh", "--json").stdout)
        assert (row["dataset"], row["texts"], row["average_length"]) == ("CLUENER", 3, 9 / 3)

    def test_a_name_is_no_formula(self, folder):
        """matplotlib would read what is between two dollar signs, and end where it is none."""
        Path("a$\\foo{$.txt").write_text("今天", "utf-8")
        run("stats", "a$\\foo{$.txt", "--lang", "zh", "--plots", "plots/new")
        assert len(list(Path("plots/new").iterdir())) == 4

    def test_plots(self, folder):
        run("stats", "in.txt", "--lang", "zh", "--plots", "plots/new")
        assert {file.name for file in Path("plots/new").iterdir()} == {
            f"intrinsic-{kind}-zh.svg" for kind in ("renyi", "length", "ranks", "alpha")
        }

    @pytest.mark.parametrize(
        ("arguments", "status", "message"),
        [
            ([], 2, "give files IN..., or datasets with --task NAME --data FOLDER"),
            (["--task", "cluener"], 2, "--data"),
            (["--task", "clue", "--data", "data"], 1, "no dataset is called 'clue'"),
            (["--task", "uit-vsfc", "--data", "data"], 1, "UIT-VSFC is in language vi, not zh"),
            (["--task", "tnews", "--data", "data"], 1, "for TNEWS in it. It is published at https"),
            (["in.txt", "--tokenizer", "BERT"], 1, "no tokenizer is named 'BERT'"),
            (["in.txt", "--tokenizer", "mBERT", "--tokenizers", "tokenizers"], 1, "lacks vocab.txt, published at"),
        ],
    )
    def test_errors(self, folder, arguments, status, message):
        result = run("stats", "--lang", "zh", *arguments, status=status)
        assert message in result.stderr
        assert isinstance(result.exception, SystemExit)

    def test_progress_on_stderr_of_a_terminal(self, folder):
        arguments = [
            sys.executable,
            "-m",
            "phonemic.cli",
            "stats",
            "--task",
            "cluener",
            "--data",
            "data",
            "--lang",
            "zh",
        ]
        environment = os.environ | {"PYTHONWARNINGS": "error", "COLUMNS": "100"}
        quiet = subprocess.run(arguments, capture_output=True, check=True, env=environment)
        assert quiet.stderr == b""
        shown = subprocess.run(arguments, capture_output=True, check=True, env=environment | {"FORCE_COLOR": "1"})
        assert re.search(r"CLUENER.*3/\?.*texts", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.stderr.decode()))


class TestTrain:
    def test_character(self, folder):
        specials, characters = 5, len(set("".join(TEXT.split())))
        (file,) = Path("tokenizers/subchar").iterdir()
        assert file.name == f"bert_chinese_uncased_{specials + characters}.vocab"

    def test_says_what_was_made(self, folder):
        pytest.importorskip("tokenizers", reason="needs the baselines extra")
        output = run("train-baseline", "Byte-BPE", "new", "in.txt", "--vocab-size", 260).stdout
        assert output == f"Byte-BPE: 260 entries in {Path('new/byte-bpe')}\n"

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("mBERT", "cannot be trained"),
            ("Character", "already exists"),
            ("SubChar-Wubi", "lacks chinese_to_wubi.tsv"),
            ("Subword", "cannot learn 22675 entries"),
        ],
    )
    def test_errors(self, folder, name, message):
        if name in ("SubChar-Wubi", "Subword"):
            pytest.importorskip("sentencepiece", reason="needs the baselines extra")
        assert message in run("train-baseline", name, "tokenizers", "in.txt", status=1).stderr


@pytest.mark.benchmarks
class TestBenchmark:
    def test_one_command_makes_every_table(self, folder):
        from benchmarks.intrinsic import main

        arguments = ["--data", "data", "--tokenizers", "tokenizers", "--out", "out", "--nfd", "uit-vsfc"]
        result = run(*arguments, command=main)
        assert "left out: data: no folder zh/tnews" in result.stderr
        assert "left out: Dictionary: no vi/syllables" in result.stderr
        found = json.loads(Path("out/intrinsic.json").read_text(encoding="utf-8"))
        names = {(row["dataset"], row["tokenizer"]) for row in found["rows"]}
        ours = ("Phonemic", "Phonemic-packed")
        assert names == {
            ("CLUENER", "Character"),
            *(("CLUENER", name) for name in ours),
            *(("UIT-VSFC", name) for name in ours),
        }
        assert {(row["form"], row["tokenizer"]) for row in found["forms"]} == {
            (form, name) for form in ("NFC", "NFD") for name in ours
        }
        for ending in ("md", "tex"):
            text = Path(f"out/intrinsic.{ending}").read_text(encoding="utf-8")
            for title in ("Vietnamese: Fertility", "Chinese: Rényi efficiency", "Vietnamese: coverage", "NFC and NFD"):
                assert title in text
                assert title in result.stdout
        assert len(list(Path("out").glob("*.svg"))) == 9

    def test_a_tokenizer_of_your_own(self, folder):
        from benchmarks.intrinsic import main
        from phonemic.baselines.base import REGISTRY

        page = (ROOT / "docs/how-to/own-data.md").read_text(encoding="utf-8")
        Path("mine.py").write_text(page.rpartition("```python\n")[2].partition("```")[0], encoding="utf-8")
        arguments = ["--data", "data", "--tokenizers", "tokenizers", "--out", "out", "--dataset", "UIT-VSFC"]
        try:
            output = run(*arguments, "--tokenizer", "mine.py", "--tokenizer", "Phonemic", command=main).stdout
        finally:
            REGISTRY.pop("Words", None)
        assert re.search(r"dataset\s+Words\s+Phonemic\s", output)
        assert re.search(r"UIT-VSFC\s+1\.0000\s+", output)

    def test_nothing_there(self, folder):
        from benchmarks.intrinsic import main

        Path("empty").mkdir()
        result = run("--data", "empty", "--tokenizers", "tokenizers", command=main, status=1)
        assert "empty: no dataset is there" in result.stderr


@pytest.mark.benchmarks
class TestPage:
    def test_a_figure_of_the_page(self):
        from benchmarks.tables import tokenizers

        rows = [
            {"lang": "zh", "dataset": "CLUENER", "tokenizer": name, "vocab_size": 9, "renyi_efficiency": value}
            | {"average_length": 1.0, "average_input_length": 2.0}
            for name, value in (("Character", 0.25), ("Phonemic", None))
        ]
        assert tokenizers.beside({"rows": rows}, "zh", "renyi_efficiency") == [
            ["dataset", "Phonemic", "Character"],
            ["CLUENER", "-", "0.2500"],
            ["the paper", "0.6970", "0.4988"],
        ]
        assert tokenizers.beside({"rows": rows}, "zh", "average_length")[2] == [
            "the paper",
            "37.39",
            "37.39",
            "37.39",
        ]

    def test_the_papers_figures_add_up(self):
        """Its Vietnamese lengths and fertilities are two prints of the same counts, so they must agree."""
        from benchmarks.tables.tokenizers import paper

        figures = paper()
        assert len(figures) == 381
        checked = 0
        for (lang, measure, dataset, name), value in figures.items():
            if (lang, measure) == ("vi", "average_length"):
                inputs = figures["vi", "average_input_length", dataset, ""]
                assert value / inputs == pytest.approx(figures["vi", "fertility", dataset, name], rel=2e-3)
                checked += 1
        assert checked == 60

    def test_the_plots_of_the_page_are_there(self):
        from benchmarks.tables import tokenizers

        page = (ROOT / "docs" / "results" / "tokenizers.md").read_text(encoding="utf-8")
        shown = re.findall(r"/(intrinsic-[\w-]+)\.svg\)", page)
        assert sorted(shown) == sorted(tokenizers.PLOTS)
        assert all((tokenizers.IMAGES / f"{name}.svg").exists() for name in shown)


@pytest.mark.benchmarks
def test_extra_corpora(tmp_path):
    from benchmarks.corpora import CORPORA

    by_title = {corpus.title: corpus for corpus in CORPORA}
    files = {
        "vi/syllables/luong-sorted.txt": "a\n\nba\n",
        "vi/ud_vtb/x.conllu": "# sent_id = 1\n# text = Bà con vui .\n1\tBà con\t_\n\n# text = Ừ\n",
        "vi/vietbioner/a/dev.txt": "bệnh B-D\nho I-D\n\n\nkhông O\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert {title: list(corpus.read(tmp_path)) for title, corpus in by_title.items()} == {
        "Dictionary": ["a", "ba"],
        "UD VTB": ["Bà con vui .", "Ừ"],
        "VietBioNER": ["bệnh ho", "không"],
    }
