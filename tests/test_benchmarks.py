"""The benchmark: its ratios come from the right pairs, its limits do our work, its files hold what was measured."""

import json
import lzma
import random
import re
import shutil
import statistics
import subprocess
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import texts, timing
from benchmarks.compare import REQUIRED, REQUIRED_OF_A_SENTENCE
from benchmarks.limit_tables import mandarin_tables, phrases, vietnamese_tables
from benchmarks.limits import Limits
from benchmarks.measurements import Measurement, speed_ratio, time_ratio
from benchmarks.other_tools import OTHER_TOOLS, OtherTool, OtherToolProcess
from benchmarks.ours import work
from benchmarks.session import Session
from benchmarks.timing import ROOT, Process, ProcessError, in_turns, ratio
from benchmarks.worst_cases import inputs
from phonemic import reference

pytestmark = pytest.mark.benchmarks

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")

VIETNAMESE = [
    "Cái",
    "giếng",
    "cổ",
    "ở",
    "đầu",
    "làng,",
    "QUỐC",
    "KỲ",
    "bay:",
    "12",
    "người",
    "Việt",
    "Nam",
    "uống",
    "cà",
    "phê",
    "Starbucks",
    "(khuya",
    "rồi)",
    "nghiêng",
    "nghiêng",
]
MANDARIN = [
    "银行行长在重庆。",
    "他长大了,还没还钱!",
    "不了了之",
    "音乐和快乐?",
    "朝阳区的朝阳",
    "abc 12",
    "一行白鹭上青天",
    "都市里都是人",
]


def lines(words, joint, count=300):
    dice = random.Random(1)
    return sorted({joint.join(dice.choices(words, k=dice.randint(2, 30))) for _ in range(count)})


LINES = {"vi": lines(VIETNAMESE, " "), "zh": lines(MANDARIN, "")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of data as ``--data`` wants it."""
    root = tmp_path_factory.mktemp("data")
    for lang, rows in LINES.items():
        (root / lang / "raw").mkdir(parents=True)
        with lzma.open(root / lang / "raw" / "news.txt.xz", "wt", encoding="utf-8") as file:
            file.write("\n".join(rows + rows[:50]) + "\n\n")
    return root


@pytest.fixture(scope="module")
def session(folder, tmp_path_factory):
    made = Session(folder, tmp_path_factory.mktemp("build"), quick=True, runs=2)
    yield made
    made.close()


# ---- Texts ----


@pytest.mark.parametrize("lang", LINES)
def test_the_text_is_distinct_lines_in_a_fixed_order(lang, folder, tmp_path):
    first, second = (tmp_path / name for name in "ab")
    first.mkdir()
    second.mkdir()
    found = texts.read(texts.prepare(lang, folder, first))
    assert sorted(found) == sorted(LINES[lang])
    assert found != sorted(found)
    assert found == texts.read(texts.prepare(lang, folder, second))


def test_missing_text_says_what_it_needs(tmp_path):
    with pytest.raises(texts.MissingTextError, match="news"):
        texts.prepare("vi", tmp_path, tmp_path)


def test_streamed_blocks_hold_every_line_as_often_as_any_other():
    rows = [f"dòng {number}" for number in range(100)]
    size = texts.size_of(rows) + len(rows)
    blocks = list(texts.shuffles(rows, 3 * size, size // 4))
    assert all(blocks)
    together = [row for block in blocks for row in block]
    assert abs(texts.size_of(together) + len(together) - 3 * size) <= size // 4
    assert {together.count(row) for row in rows} <= {2, 3, 4}
    assert together[:100] != together[100:200]


def test_sentences_are_different_and_have_15_syllables(vi, zh):
    for tokenizer in (vi, zh):
        found = texts.sentences(LINES[tokenizer.lang], tokenizer.lang, 20)
        assert len(set(found)) == len(found) == 20
        assert all(len(sentence.split() if tokenizer is vi else sentence) == 15 for sentence in found)
        assert texts.in_way(texts.WAYS[0], found) == [found[0]] * 20
        assert texts.in_way(texts.WAYS[1], found) == found


def test_social_posts_are_distinct_and_mixed(tmp_path):
    (tmp_path / "zh" / "weibo_ner").mkdir(parents=True)
    (tmp_path / "zh" / "weibo_ner" / "dev").write_text("口0\tO\n腔1\tO\n\n用0\tO\n最0\tO\n大1\tO\n", encoding="utf-8")
    posts = texts.social("zh", tmp_path, 5000)
    assert len(set(posts)) == len(posts)
    assert 5000 <= texts.size_of(posts) + len(posts) < 6000
    assert all("口腔" in post or "用最大" in post for post in posts)
    assert any("http" in post for post in posts)
    assert posts == texts.social("zh", tmp_path, 5000)


@pytest.mark.parametrize("lang", LINES)
def test_worst_inputs_are_text_of_the_size_asked_for(lang, request):
    tokenizer = request.getfixturevalue(lang)
    for name, rows in inputs(lang, tokenizer, 20_000):
        assert 10_000 <= texts.size_of(rows) <= 40_000, name
        assert tokenizer.encode_batch(rows).ids.tolist() == [
            tokenizer.vocab.pack(triple) for row in rows for triple in _triples(lang, row)
        ], name


def _triples(lang, row):
    return [position.triple for position in reference.encode(row, lang)]


# ---- Timing and ratios ----


def test_contestants_take_turns_and_warm_up_does_not_count():
    order = []

    def contestant(name, taken):
        times = iter(taken)
        return lambda: order.append(name) or next(times)

    first = contestant("a", [90, 90, 1, 2, 3])
    second = contestant("b", [90, 90, 10, 20, 60])
    assert in_turns({"a": first, "b": second}, runs=3) == {"a": [1, 2, 3], "b": [10, 20, 60]}
    assert order == ["a", "b"] * 5


def test_warm_is_the_second_of_two_runs():
    taken = iter([5, 1, 7, 2])
    contestant = timing.warm(lambda: next(taken))
    assert [contestant(), contestant()] == [1, 2]


def test_a_ratio_is_the_median_of_paired_ratios_not_the_ratio_of_medians():
    slow_spell = [1.0, 1.0, 100.0, 1.0, 100.0]
    assert ratio([2 * seconds for seconds in slow_spell], slow_spell) == 2
    assert ratio([1, 2, 9], [1, 1, 3]) == 2
    with pytest.raises(ValueError, match="zip"):
        ratio([1, 2], [1])


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=1, max_size=9), st.integers(1, 50))
def test_which_way_up_a_ratio_is(pairs, factor):
    """Twice as fast is 2 in a speed ratio; twice as slow is 2 in a time ratio; sizes count in speeds."""
    ours, other = map(list, zip(*pairs, strict=True))
    fast = speed_ratio(Measurement("g", "w"), ours, factor * 1000, other, 1000)
    assert fast.value == pytest.approx(factor * statistics.median(b / a for a, b in pairs))
    assert fast.ours == pytest.approx(factor * 1e-3 / statistics.median(ours))
    slow = (
        time_ratio(Measurement("g", "w"), ours, 1000, other, 1000)
        if False
        else time_ratio(Measurement("g", "w"), ours, other, 10, 10)
    )
    assert slow.value == pytest.approx(statistics.median(a / b for a, b in pairs))


@pytest.mark.parametrize(
    ("value", "less", "verdict"),
    [(2, False, "aim met"), (1.5, False, "met"), (0.9, False, "missed"), (0.9, True, "met"), (1.1, True, "missed")],
)
def test_verdicts(value, less, verdict):
    row = Measurement("g", "w", value=value, at_least=1, aim=0.5 if less else 2, less=less)
    assert row.verdict == verdict


def test_verdicts_of_what_has_nothing_to_reach():
    assert Measurement("g", "w", value=3).verdict == ""
    assert Measurement("g", "w", at_least=3).verdict == "not measured"


def test_a_process_that_fails_or_hangs_is_an_error_with_its_reason():
    failing = Process([sys.executable, "-c", "raise SystemExit('no such table')"])
    with failing, pytest.raises(ProcessError, match="no such table"):
        failing.ask("run")
    hanging = Process([sys.executable, "-c", "import time; time.sleep(60)"], limit=0.2)
    with hanging, pytest.raises(ProcessError, match="no answer within"):
        hanging.ask("run")


def test_cpu_time_counts_work_and_not_waiting():
    import time

    assert timing.cpu(lambda: time.sleep(0.2)) < 0.1 < timing.wall(lambda: time.sleep(0.2))
    assert timing.cpu(lambda: sum(range(3_000_000))) > 0.005


# ---- Limits ----


def test_the_phrases_are_those_of_the_lexicon():
    pypinyin = pytest.importorskip("pypinyin", reason="the lexicon's source")
    known = pypinyin.constants.PHRASES_DICT
    found = dict(phrases())
    assert found.keys() == {phrase for phrase in known if len(phrase) > 1}
    assert all(len(readings) == len(phrase) for phrase, readings in found.items())


@needs_cc
@pytest.mark.parametrize("lang", LINES)
def test_the_limits_do_the_work_that_we_do(lang, session):
    language = session.language(lang)
    names = {"vi": ["E"], "zh": ["all-ucs2", "all-utf8"]}[lang]
    for name in names:
        found = work(language, language.limits.run(name))
        assert found["our_syllables"] > 1000
        assert found["limit_syllables"] == found["our_syllables"], name
        assert found["limit_id_sum"] == found["our_id_sum"], name


@needs_cc
def test_what_the_other_limits_leave_out(session):
    """F knows no syllable that touches a mark beyond ASCII; pruned may read a phrase otherwise, but no fewer characters."""
    vi, zh = session.language("vi"), session.language("zh")
    if "F" in _names(vi.limits):
        assert work(vi, vi.limits.run("F"))["limit_syllables"] == work(vi, vi.limits.run("E"))["our_syllables"]
    for name in ("pruned-ucs2", "pruned-utf8"):
        found = work(zh, zh.limits.run(name))
        assert found["limit_syllables"] == found["our_syllables"]
    size = vi.path.stat().st_size
    assert vi.limits.run("copy").positions == size // 3


def _names(limits: Limits) -> set[str]:
    return {"F"} if sys.platform == "linux" and "x86" in __import__("platform").machine() else set()


@needs_cc
def test_an_unknown_limit_is_an_error(session):
    language = session.language("vi")
    made = Limits("vi", language.path, session.folder("limits/other"))
    with made, pytest.raises(ProcessError, match="no limit is called G"):
        made.run("G")


def test_tables_of_the_limits(tmp_path):
    vietnamese_tables("Giếng nước, giếng! “Quốc”", tmp_path / "letters", tmp_path / "runs")
    runs = [line.split("\t") for line in (tmp_path / "runs").read_text(encoding="utf-8").splitlines()]
    assert {run[0] for run in runs} == {"Giếng", "nước", "giếng", "“Quốc”", "Quốc"}
    ids = {run[0]: run[1] for run in runs}
    assert ids["Giếng"] == ids["giếng"] != ids["nước"]
    assert {run[0] for run in runs if run[2] == "0"} == {"“Quốc”"}
    mandarin_tables(tmp_path / "characters", tmp_path / "phrases")
    changing = [line for line in (tmp_path / "phrases").read_text(encoding="utf-8").splitlines() if "\t1\t" in line]
    assert len(changing) == 8756


# ---- Other tools ----


def test_a_tool_runs_in_its_own_process_on_the_beginning_of_the_text(session):
    pytest.importorskip("pypinyin", reason="the tool")
    tool = next(tool for tool in OTHER_TOOLS if tool.name == "pypinyin TONE3")
    language = session.language("zh")
    with OtherToolProcess(tool, "zh", language.path, session.folder("models"), 60) as process:
        assert 0 < process.bytes <= language.bytes
        assert process.seconds() > 0
        assert process.seconds(texts.WAYS[1]) > 0


@pytest.mark.parametrize("name", ["vPhon", "no such tool"])
def test_a_tool_that_cannot_run_says_why(name, session):
    absent = next((tool for tool in OTHER_TOOLS if tool.name == name), OtherTool(name, ("vi",), name, lambda *_: None))
    with pytest.raises(ProcessError, match=r"not on PyPI|StopIteration"):
        OtherToolProcess(absent, "vi", session.language("vi").path, session.folder("models"), 60)


def test_what_is_required_is_required_of_tools_that_there_are():
    known = {(lang, tool.name) for tool in OTHER_TOOLS for lang in tool.langs}
    assert REQUIRED.keys() <= known
    assert {("vi", name) for name in REQUIRED_OF_A_SENTENCE} <= known


def test_make_bench_installs_every_tool_that_can_be_installed():
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"][
        "bench"
    ]
    listed = (ROOT / "benchmarks" / "other_tools.txt").read_text(encoding="utf-8").splitlines()
    installed = {re.split("[>=]", name)[0] for name in extra + listed}
    assert {tool.package for tool in OTHER_TOOLS} - installed == {"vPhon", "cpp-pinyin"}


# ---- The whole ----


@pytest.fixture(scope="module")
def result(folder, tmp_path_factory):
    """The results of ``python benchmarks/speed.py`` on the tiny text."""
    root = tmp_path_factory.mktemp("out")
    command = [sys.executable, "benchmarks/speed.py", "--data", folder, "--quick", "--build", root / "build"]
    command += ["--out", root / "speed.json", "--only", "limits", "spans", "forms", "start"]
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((root / "speed.json").read_text(encoding="utf-8")), done.stdout


def test_the_json_file(result):
    found, printed = result
    assert {"environment", "megabytes", "runs", "rows"} <= found.keys()
    assert {"commit", "processor", "python", "versions", "date"} <= found["environment"].keys()
    assert found["environment"]["versions"]["numpy"]
    assert {row["group"] for row in found["rows"]} >= {"Share of the limit", "Options", "Other text", "Start"}
    for record in found["rows"]:
        row = Measurement.from_dict(record)
        assert row.as_dict() == record
        assert row.what in printed
        assert (row.value is None) == (row.verdict == "not measured")
        assert row.value is not None or row.note
        assert row.value is None or all(len(seconds) >= 7 for seconds in row.runs.values())


@needs_cc
def test_the_shares_are_those_of_the_runs(result):
    rows = [Measurement.from_dict(record) for record in result[0]["rows"] if record["group"] == "Share of the limit"]
    assert {(row.what, row.against) for row in rows} >= {
        ("vi, list of str", "limit E"),
        ("zh, Arrow UTF-8", "limit all-utf8"),
    }
    for row in rows:
        pairs = zip(row.runs["other"], row.runs["ours"], strict=True)
        factor = row.details["our_bytes"] / row.details["other_bytes"]
        assert row.value == pytest.approx(factor * statistics.median(other / ours for other, ours in pairs))


def test_the_chart_has_a_bar_for_each_contestant(result, tmp_path):
    pytest.importorskip("matplotlib", reason="draws the chart")
    from benchmarks import chart

    assert chart.draw(result[0], tmp_path / "chart.svg") == bool(chart.bars(result[0], "vi"))
    drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8") if (tmp_path / "chart.svg").exists() else ""
    for lang in LINES:
        for name, _, _ in chart.bars(result[0], lang):
            assert name in drawn
