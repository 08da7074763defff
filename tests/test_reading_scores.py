"""``python -m benchmarks.readings.score``: the command that measures a held-out set."""

import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import needs

pytest.importorskip("pypinyin")

from benchmarks.readings import boundaries
from benchmarks.readings.cpp import Case
from benchmarks.readings.score import errors

ROOT = Path(__file__).parents[1]


def score(folder, *more):
    command = [sys.executable, "-m", "benchmarks.readings.score", str(folder), *more]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_it_counts_what_people_say_otherwise(tmp_path):
    sentences = ["他去▁银▁行", "银▁行▁行长", "慢慢▁地▁走", "▁旅▁行"]  # pypinyin reads the third dì
    (tmp_path / "test.sent").write_text("\n".join(sentences) + "\n", "utf-8")
    (tmp_path / "test.lb").write_text("yin2\nhang2\nde5\nlu:4\n", "utf-8")  # and of the fourth both say lǚ
    done = score(tmp_path, "test", "--errors", "5")
    assert done.stdout.splitlines() == [
        "pypinyin: 50.00% of 4 right",
        "context: 75.00% of 4 right",
        "    1  旅 lv3, not lv4",
    ], done.stderr


def test_parts_that_do_not_belong_together_are_refused(tmp_path):
    (tmp_path / "dev.sent").write_text("▁银▁行\n", "utf-8")
    (tmp_path / "dev.lb").write_text("yin2\nhang2\n", "utf-8")
    done = score(tmp_path, "dev")
    assert done.returncode == 1
    assert "1 lines in dev.sent, 2 in dev.lb" in done.stderr


def test_a_reader_that_loses_its_place_is_wrong():
    case = Case("银行", 1, "hang2")
    assert errors([case, case], lambda text: ["hang2"]) == {"行 nothing, not hang2": 2}
    assert not errors([case], lambda text: ["yin2", "hang2"])


def test_marks_of_boundaries_stand_around_the_character_or_behind_it(tmp_path):
    (tmp_path / "marked.txt").write_text("# a comment\n拿[着zhe5]手[机ji1]\n\n旅[lü3]行\n", "utf-8")
    assert boundaries.cases(tmp_path / "marked.txt") == [
        Case("拿着手机", 1, "zhe5"),
        Case("拿着手机", 3, "ji1"),
        Case("旅行", 0, "lv3"),
    ]
    (tmp_path / "plain.txt").write_text("拿着手机\n", "utf-8")
    with pytest.raises(ValueError, match="line 1: no mark"):
        boundaries.cases(tmp_path / "plain.txt")


def test_wrong_readings_of_boundaries_are_told():
    assert boundaries.wrong([Case("银行", 1, "hang2"), Case("银行", 1, "xing2")], lambda text: ["yin2", "hang2"]) == [
        (Case("银行", 1, "xing2"), "hang2")
    ]


@needs("benchmarks/results")
def test_published_shares_are_those_of_todays_readings_in_context():
    """Compare those whose texts are in the repository."""
    pytest.importorskip("jieba")
    from benchmarks.readings import everyday, figures
    from benchmarks.readings.judge import context_reader
    from benchmarks.tables.readings import judged

    names, others = figures.named()
    for text, cases in (
        ("such borders in an independent writer's phrases", boundaries.cases(figures.HERE / "independent.txt")),
        ("and in another writer's phrases", boundaries.cases(figures.HERE / "unseen.txt")),
        ("everyday sentences", everyday.sentences(figures.TESTS / "everyday.txt")),
        ("family names, as names", names),
        ("the same characters, as other words", others),
    ):
        published = judged(text)
        assert published["places"] == len(cases)
        assert published["right"][figures.CONTEXT] == len(cases) - errors(cases, context_reader).total()
