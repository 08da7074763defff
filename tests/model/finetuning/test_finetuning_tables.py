"""Tables and plots of results: figures worked by hand, what may not be averaged, and files that are none."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="phonemic_bert needs torch: phonemic[model]")

from click.testing import CliRunner, Result
from rich.console import Console

from phonemic import InputError
from phonemic_bert.cli import cli
from phonemic_bert.finetuning import tabulation
from phonemic_bert.finetuning.results import Summary, difference, read

ROBUST = ("0.075", "0.15")


def run(
    folder: Path,
    encoder: str,
    seed: int,
    test: float,
    *,
    dev: float = 0.5,
    rate: float = 1e-4,
    key: str = "",
    **fields: Any,
) -> Path:
    """Writes a result as ``phonemic-bert finetune`` does."""
    found: dict[str, Any] = {
        "format": 1, "task": "tnews", "target": "label", "title": "TNEWS", "lang": "zh", "kind": "classification",
        "metric": "accuracy", "encoder": encoder, "encoder_kind": "phonemic", "parameters": 1_400_000, "seed": seed,
        "hyperparameters": {"learning_rate": rate},
        "settings": {"text": {"max_seq_length": 128}, "machine": {"device": "cpu"}},
        "dev": {"accuracy": dev}, "test": {"accuracy": test, "macro-f1": 0.1}, "noise": [],
    }  # fmt: skip
    found |= fields
    path = folder / found["task"] / encoder / f"{key or rate}-seed-{seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def noise(*scores: float) -> list[dict[str, Any]]:
    return [
        {
            "name": "homophones",
            "ratio": float(ratio),
            "changed": 0.07,
            "options": {"of": "gb2312"},
            "test": {"accuracy": score},
        }
        for ratio, score in zip(ROBUST, scores, strict=False)
    ]


def command(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, arguments)])


def output(*arguments: Any) -> str:
    found = command(*arguments)
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two encoders on TNEWS, one of them on a second task."""
    for seed, (ours, theirs) in enumerate([(0.50, 0.52), (0.56, 0.53), (0.53, 0.51)], 1):
        run(tmp_path, "ours", seed, ours, noise=noise(ours - 0.1, ours - 0.2))
        run(tmp_path, "theirs", seed, theirs, noise=noise(theirs - 0.2))
    run(tmp_path, "ours", 1, 0.7, task="uit-vsfc", target="topic", title="UIT-VSFC", lang="vi")
    return tmp_path


def test_markdown(folder: Path) -> None:
    # ours 50, 56, 53: mean 53, sd 3; theirs 52, 53, 51: mean 52, sd 1
    assert output(folder, "--format", "markdown").splitlines() == [
        "Vietnamese: mean ± standard deviation (seeds), times 100.",
        "",
        "| encoder | UIT-VSFC topic, accuracy |",
        "| ------- | -----------------------: |",
        "| ours    |                70.00 (1) |",
        "",
        "Chinese: mean ± standard deviation (seeds), times 100.",
        "",
        "| encoder |         TNEWS, accuracy |",
        "| ------- | ----------------------: |",
        "| ours    |    **53.00 ± 3.00 (3)** |",
        "| theirs  | <u>52.00 ± 1.00 (3)</u> |",
    ]


def test_a_missing_cell_is_a_dash_and_does_not_count(folder: Path) -> None:
    run(folder, "theirs", 1, 0.4, task="afqmc", title="AFQMC")
    ours, theirs = output(folder, "--format", "markdown").splitlines()[-2:]
    assert ours.split("|")[2].strip() == "–"
    assert theirs.split("|")[2].strip() == "**40.00 (1)**"


def test_equal_means_are_both_best(folder: Path) -> None:
    for seed, score in enumerate([0.5, 0.56, 0.53], 1):
        run(folder, "third", seed, score)
    text = output(folder, "--format", "markdown")
    assert (text.count("**53.00"), text.count("<u>52.00")) == (2, 1)


def test_latex(folder: Path) -> None:
    run(folder, "a_b & c", 1, 0.1)
    text = output(folder, "--format", "latex")
    for table in text.split("\n\n"):
        lines = table.splitlines()
        assert lines[:2] == [r"\begin{table}", r"\centering"]
        assert lines[-3:] == [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        assert (lines[4], lines[6]) == (r"\toprule", r"\midrule")
        columns = len(re.fullmatch(r"\\begin\{tabular\}\{(l r*)\}".replace(" ", ""), lines[3])[1])
        rows = [line for line in lines if line.endswith(r"\\")]
        assert all(len(re.findall(r"(?<!\\)&", row)) == columns - 1 for row in rows)
        assert table.count("{") == table.count("}")
    assert r"a\_b \& c & 10.00 (1) \\" in text
    assert r"ours & \textbf{53.00 $\pm$ 3.00 (3)} \\" in text
    assert r"theirs & \underline{52.00 $\pm$ 1.00 (3)} \\" in text
    assert not set("±–") & set(text)


def test_csv_has_all_digits(folder: Path) -> None:
    rows = list(csv.DictReader(output(folder, "--format", "csv").splitlines()))
    ours = next(row for row in rows if (row["task"], row["encoder"]) == ("TNEWS", "ours"))
    assert (float(ours["mean"]), float(ours["deviation"])) == (pytest.approx(53), pytest.approx(3))
    assert (ours["seeds"], ours["parameters"], ours["hyperparameters"]) == ("3", "1400000", "learning_rate=0.0001")
    one = next(row for row in rows if row["task"] == "UIT-VSFC")
    assert (one["target"], one["deviation"]) == ("topic", "")


def test_screen(folder: Path) -> None:
    for number in range(9):  # wider than a terminal
        run(folder, "ours", 1, 0.5, task=f"t{number}", title=f"Task {number}")
    text = output(folder)
    assert "53.00 ± 3.00 (3)" in text
    assert all(f"Task {number}, accuracy" in text for number in range(9))
    assert "…" not in text
    assert "[" not in text


def test_a_terminal_shows_the_best_in_bold(folder: Path) -> None:
    written = io.StringIO()
    tabulation.show(list(tabulation.score_tables(read(folder))), Console(file=written, force_terminal=True, width=200))
    assert "\x1b[1m53.00 ± 3.00 (3)\x1b[0m" in written.getvalue()
    assert "\x1b[4m52.00 ± 1.00 (3)\x1b[0m" in written.getvalue()


def test_a_name_is_no_formula(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib: phonemic[finetune]")
    for seed in (1, 2):
        run(tmp_path / "results", r"a$\foo{$", seed, 0.5, title=r"$\bar{$", noise=noise(0.4, 0.3))
    for more in ([], ["--robustness"]):
        output(tmp_path / "results", *more, "--plot", tmp_path / f"p{len(more)}.svg")


def test_out_and_plot(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib: phonemic[finetune]")
    assert output(folder, "--format", "markdown", "--out", folder / "t.md", "--plot", folder / "p.png") == ""
    assert "**53.00" in (folder / "t.md").read_text(encoding="utf-8")
    assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")
    output(folder, "--robustness", "--plot", folder / "r.svg")
    drawn = (folder / "r.svg").read_bytes()
    assert b"<svg" in drawn
    output(folder, "--robustness", "--plot", folder / "r.svg", "--force")
    assert (folder / "r.svg").read_bytes() == drawn
    wrong = command(folder, "--plot", folder / "p.xyz")
    assert wrong.exit_code == 1
    assert "not an image format; choose one of" in wrong.stderr


# --- choosing, and never mixing


def test_the_point_with_the_best_dev_score_is_reported(folder: Path) -> None:
    for seed in (1, 2, 3):
        run(folder, "ours", seed, 0.4, dev=0.9, rate=3e-4)
        run(folder, "ours", seed, 0.9, dev=0.1, rate=5e-4)
    cell = read(folder).cells[("zh", "TNEWS", "", "accuracy"), "ours"]
    assert cell.test == {1: 0.4, 2: 0.4, 3: 0.4}
    assert cell.first["hyperparameters"] == {"learning_rate": 3e-4}


def test_an_unfinished_point_is_not_chosen_from(folder: Path) -> None:
    run(folder, "ours", 1, 0.99, dev=0.99, rate=3e-4)
    found = command(folder, "--format", "markdown")
    assert "53.00 ± 3.00 (3)" in found.stdout
    assert "TNEWS, ours: 1 of 2 points of the grid have not all 3 seeds; left out" in found.stderr


def test_other_settings_are_another_row(folder: Path) -> None:
    for seed in (1, 2, 3):
        run(
            folder, "ours", seed, 0.2, key="x", settings={"text": {"max_seq_length": 64}, "machine": {"device": "cuda"}}
        )
    found = command(folder, "--format", "markdown")
    assert re.search(r"ours \[max_seq_length=64\] +\| +20.00 ± 0.00 \(3\)", found.stdout)
    assert re.search(r"ours \[max_seq_length=128\] +\| +\*\*53.00 ± 3.00 \(3\)", found.stdout)
    assert (
        "TNEWS: the rows were not run under the same settings: ours [max_seq_length=128] max_seq_length=128"
        in found.stderr
    )


def test_the_machine_tells_no_runs_apart(folder: Path) -> None:
    run(folder, "ours", 4, 0.53, settings={"text": {"max_seq_length": 128}, "machine": {"device": "cuda"}})
    assert "(4)" in output(folder, "--format", "markdown")


def test_other_weights_under_one_name_are_not_averaged(folder: Path) -> None:
    for seed in (1, 2, 3):
        run(folder, "ours", seed, 0.1, dev=0.1, key="other")
    found = command(folder, "--format", "markdown")
    assert "53.00 ± 3.00 (3)" in found.stdout
    assert "TNEWS, ours: the runs 0.0001, other differ in the encoder's weights, the data" in found.stderr


def test_a_copy_of_a_run_counts_once(folder: Path) -> None:
    path = run(folder, "ours", 1, 0.5)
    (folder / "copy").mkdir()
    (folder / "copy" / path.name).write_bytes(path.read_bytes())
    found = command(folder, "--format", "markdown")
    assert "(4)" not in found.stdout
    assert "is the same run" in found.stderr


scores = st.dictionaries(st.integers(1, 9), st.floats(0, 1), min_size=1, max_size=5)


@given(scores)
def test_summary(found: dict[int, float]) -> None:
    summary = Summary.of(found.values())
    assert summary.mean == pytest.approx(100 * mean(found.values()))
    assert summary.count == len(found)
    if len(found) > 1:
        assert summary.deviation == pytest.approx(100 * stdev(found.values()), abs=1e-9)
    else:
        assert summary.deviation is None


# --- differences


def test_difference_by_hand(folder: Path) -> None:
    # 50-52, 56-53, 53-51 = -2, 3, 2: mean 1, sd sqrt(7), standard error sqrt(7/3) = 1.53
    text = output(folder, "--format", "markdown", "--against", "theirs")
    assert "Chinese: difference from theirs ± its standard error (common seeds)." in text
    assert text.splitlines()[-1].endswith("| +1.00 ± 1.53 (3) |")
    assert "difference from theirs" not in text.split("Chinese:")[0]


def test_difference_takes_common_seeds_only(tmp_path: Path) -> None:
    for seed in (1, 2):
        run(tmp_path, "ours", seed, 0.5)
        run(tmp_path, "theirs", seed + 1, 0.4)
        run(tmp_path, "else", seed + 2, 0.4)
    cells = {row: point for (_, row), point in read(tmp_path).cells.items()}
    found = difference(cells["ours"], cells["theirs"])
    assert found is not None
    assert (found.mean, found.deviation, found.count) == (pytest.approx(10), None, 1)
    assert difference(cells["ours"], cells["else"]) is None


def test_an_unknown_reference(folder: Path) -> None:
    found = command(folder, "--against", "nobody")
    assert found.exit_code == 1
    assert "unknown encoder 'nobody': choose one of ours, theirs" in found.stderr


# --- robustness


def test_robustness(folder: Path) -> None:
    lines = output(folder, "--robustness", "--format", "markdown").splitlines()
    assert lines[0] == "TNEWS, accuracy, homophones (of=gb2312): mean ± standard deviation (seeds), times 100."
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert rows[0] == ["encoder", "0 %", "7.5 %", "15 %"]
    assert rows[2] == ["ours", "**53.00 ± 3.00 (3)**", "**43.00 ± 3.00 (3)**", "**33.00 ± 3.00 (3)**"]
    assert rows[3] == ["theirs", "<u>52.00 ± 1.00 (3)</u>", "<u>32.00 ± 1.00 (3)</u>", "–"]


def test_robustness_without_noise(tmp_path: Path) -> None:
    run(tmp_path, "ours", 1, 0.5)
    found = command(tmp_path, "--robustness")
    assert found.exit_code == 2
    assert "no result was tested with noise" in found.stderr


# --- files that are none


def test_foreign_files_are_named(folder: Path) -> None:
    (folder / "a.json").write_text("{", encoding="utf-8")
    (folder / "b.json").write_text("[1]", encoding="utf-8")
    (folder / "c.json").write_bytes(b"\xff")
    (folder / "predictions.jsonl").write_text("{}", encoding="utf-8")
    (folder / "models").mkdir()  # --save may lie in --results
    for name in ("config.json", "tokenizer.json"):
        (folder / "models" / name).write_text("{}", encoding="utf-8")
    run(folder, "d", 1, 0.5, format=2)
    run(folder, "e", 1, float("nan"))
    run(folder, "f", 1, 0.5, settings=None)
    run(folder, "g", 1, 0.5, noise=[{"ratio": 1}])
    for name in ("target", "lang"):
        path = run(folder, f"without-{name}", 1, 0.5)
        path.write_text(json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key != name}))
    for number, one in enumerate(({"ratio": "x"}, {"ratio": None}, {"name": 5}, {"options": 5}, {"ratio": 2})):
        run(folder, f"noise-{number}", 1, 0.5, noise=[{"name": "a", "ratio": 1, "test": {"accuracy": 0.5}} | one])
    found = command(folder, "--format", "markdown")
    assert found.exit_code == 0
    for said in (
        "a.json: left out: is not JSON: ", "b.json: left out: is not a result of phonemic-bert finetune", "c.json: left out: is not JSON: ",
        "d/0.0001-seed-1.json: left out: format 2, but this version reads 1", "a score of accuracy is missing or not a number",
        "settings is missing or of the wrong type", "noise is not a list of objects with name and ratio",
        "target is missing", "lang is missing", "a noise's name, ratio or options are of the wrong type",
    ):  # fmt: skip
        assert said in found.stderr
    assert len(found.stderr.splitlines()) == 14
    assert "53.00 ± 3.00 (3)" in found.stdout


def test_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no result of phonemic-bert finetune"):
        read(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        read(tmp_path / "none")
