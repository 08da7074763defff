"""The downstream benchmark: a sweep over synthetic sets becomes a page; what is wrong is said first."""

import csv
import json

import pytest

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("sklearn", reason="needs the finetune extra")

from click.testing import CliRunner
from synthetic import SETTINGS, dataset

from phonemic_bert.finetuning.jobs import Job, Limits
from phonemic_bert.finetuning.results import Result, Results, SeedRuns
from phonemic_bert.finetuning.settings import Settings

benchmark = pytest.importorskip("benchmarks.downstream", reason="needs the source tree's benchmarks")

from benchmarks.downstream_errors import GOLD, error_tables

pytestmark = pytest.mark.benchmarks


@pytest.fixture
def tasks(tmp_path, monkeypatch):
    """Puts Vietnamese tasks of these names and options over one synthetic set into the script."""
    data = tmp_path / "data"
    data.mkdir()
    one = dataset(data)

    class Task(benchmark.Task):
        def jobs(self, folder, quick):
            assert self.tells  # what does not is run only where it is named
            return [Job(one, "label", data, None, Limits(64, 20, 30))]

    def put(**options):
        made = tuple(Task(name, 64, 30, **given) for name, given in options.items())
        monkeypatch.setattr(benchmark, "TASKS", {"zh": (), "vi": made})
        monkeypatch.setattr(benchmark, "RATIOS", (0.5,))
        monkeypatch.setattr(benchmark, "FIGURES", tmp_path)

    return put


@pytest.fixture
def short(monkeypatch):
    """Has every run trained as those of the tests are, for one epoch, with what else is given beneath the script's."""
    load = Settings.load

    def put(*more):
        small = [*(f"{name}={value}" for name, value in {**SETTINGS, "grid.num_train_epochs": 1}.items()), *more]
        monkeypatch.setattr(Settings, "load", lambda source, given, task: load("small", [*small, *given], task))

    return put


def run(tmp_path, *words):
    given = [tmp_path, "--results", tmp_path / "results", *words]
    return CliRunner().invoke(benchmark.main, [str(word) for word in given])


def test_an_unknown_task_is_refused_before_anything_runs(tmp_path):
    done = run(tmp_path, "--vi", "nowhere", "--only", "nosuch")
    assert done.exit_code == 2
    assert "choose from tnews, ocnli" in " ".join(done.output.split())
    assert not (tmp_path / "results").exists()


def test_tables_are_printed_and_kept(tmp_path, checkpoint, tasks, short):
    tasks(mood={"noise": ("without-tone",)})
    short()
    encoders = ["--vi", checkpoint(), "--vi", f"other={checkpoint()}"]
    done = run(tmp_path, *encoders, "--seeds", "2", "--keep", "figures.csv")
    assert done.exit_code == 0, done.output
    assert "4 runs, 2 seeds per cell" in " ".join(done.output.split())
    with open(tmp_path / "figures.csv", encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert {row["encoder"] for row in found} >= {"tiny-vi", "other"}
    assert len({row["table"] for row in found}) == 4  # scores, the difference from the first, robustness, errors
    assert len(list((tmp_path / "results").rglob("*.predictions.jsonl"))) == 4


def test_two_seeds_choose_the_rate_of_the_others(tmp_path, checkpoint, tasks, short):
    tasks(mood={})
    short("grid.learning_rate=[1e-9, 5e-3]")
    done = run(tmp_path, "--vi", checkpoint(), "--vi", "nowhere", "--seeds", "4")
    assert done.exit_code == 1
    assert "nowhere" in done.output
    dev = {1: {}, 2: {}, 3: {}, 4: {}}
    for path in (tmp_path / "results").rglob("*-seed-?.json"):
        found = json.loads(path.read_text("utf-8"))
        dev[found["seed"]][found["hyperparameters"]["learning_rate"]] = found["dev"][found["metric"]]
    assert dev[1].keys() == dev[2].keys() == {1e-9, 5e-3}
    best = max((1e-9, 5e-3), key=lambda rate: dev[1][rate] + dev[2][rate])
    assert dev[3].keys() == dev[4].keys() == {best}


def test_what_the_errors_are(tmp_path):
    def point(column, row, *runs):
        found = []
        for seed, records in enumerate(runs, 1):
            path = tmp_path / column[1] / row / f"key-seed-{seed}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [json.dumps({"text": "một hai ba bốn", "gold": gold, "predicted": one}) for gold, one in records]
            path.with_suffix(".predictions.jsonl").write_text("\n".join(lines), "utf-8")
            found.append(Result(path, "key", {}))
        return (column, row), SeedRuns(tuple(found))

    one, two = [0, 3, "A"], [4, 7, "A"]
    moods = [("a", "b"), ("a", "a"), ("b", "b")], [("a", "a"), ("a", "a"), ("b", "a")]
    names = [([one, two], [one]), ([two], [[4, 10, "A"], [11, 14, "B"]])]
    cells = dict(
        [point(("vi", "Mood", "", "accuracy"), "x", *moods), point(("vi", "Names", "", "span-f1"), "x", names)]
    )
    shares, spans = error_tables(Results(cells, ()))
    figures = [[(round(cell.mean, 1), cell.count) for cell in row] for row in shares.cells]
    assert shares.heading == ("encoder", "Mood")
    assert shares.names == ("x", GOLD)
    assert figures == [[(83.3, 2)], [(66.7, 1)]]
    assert spans.names == ("x",)
    assert [round(cell.mean) for cell in spans.cells[0]] == [33, 33, 0, 0, 33, 33]


@pytest.mark.parametrize("kinds", [1, 2])
def test_in_brief_one_seed_chooses_and_fewer_noises_are_tried(tmp_path, checkpoint, tasks, short, monkeypatch, kinds):
    noise = ("without-tone", "missing-diacritics", "wrong-tone")
    tasks(mood={"noise": noise, "brief": kinds})
    monkeypatch.setattr(benchmark, "BRIEF_RATIOS", (0.5,))
    short("grid.learning_rate=[1e-9, 5e-3]")
    done = run(tmp_path, "--vi", checkpoint(), "--seeds", "2", "--brief", "--set", "optimization.dropout=0.2")
    assert done.exit_code == 0, done.output
    found = [json.loads(path.read_text("utf-8")) for path in (tmp_path / "results").rglob("*-seed-?.json")]
    assert sorted(one["seed"] for one in found) == [1, 1, 2]
    assert {one["settings"]["optimization"]["dropout"] for one in found} == {0.2}
    assert [name in done.output for name in noise] == [rank < kinds for rank in range(3)]
    assert not (tmp_path / "downstream.csv").exists()


def test_a_failure_ends_neither_the_others_nor_the_status(tmp_path, checkpoint):
    done = run(tmp_path, "--vi", checkpoint(), "--only", "vihos", "--only", "ud-vtb-pos", "--keep")
    assert done.exit_code == 1
    assert "vihos" in done.output
    assert "UD VTB" in done.output


def test_training_with_noise_gives_rows_of_their_own(tmp_path, checkpoint, tasks, short):
    tasks(mood={"noise": ("without-tone",)}, silent={}, hopeless={"tells": False})
    short()
    for options in ([], ["--training-noise", "0.4"]):
        done = run(tmp_path, "--vi", checkpoint(), "--seeds", "1", "--keep", "figures.csv", *options)
        assert done.exit_code == 0, done.output
    figures = (tmp_path / "figures.csv").read_text("utf-8")
    assert "training_noise=without-tone, training_noise_ratio=0.4" in figures
    assert len(list((tmp_path / "results").rglob("*.predictions.jsonl"))) == 2
    assert isinstance(run(tmp_path, "--vi", checkpoint(), "--only", "hopeless").exception, AssertionError)
