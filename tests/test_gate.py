"""The cost of a text grows no faster than its length, on good texts and on bad ones: by counts, not by timings."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmarks

GATE = Path(__file__).parent.parent / "benchmarks" / "gate.py"


@pytest.fixture(scope="module")
def gate():
    if not shutil.which("valgrind"):
        pytest.skip("needs valgrind, which counts instructions")
    if not GATE.exists():
        pytest.skip("needs the source tree")
    pytest.importorskip("pyarrow")
    sys.path.insert(0, str(GATE.parent))
    try:
        import gate
    finally:
        sys.path.remove(str(GATE.parent))
    return gate


@pytest.fixture(scope="module")
def counts(gate):
    return gate.count()


def test_linear(gate, counts):
    assert gate.problems(counts, {}) == []
    assert all(number > 1 for ways in counts.values() for number in ways.values())


@pytest.mark.parametrize("way", ["list of str", "with spans", "Arrow"])
def test_no_text_is_much_worse_than_an_ordinary_one(counts, way):
    for case, ways in counts.items():
        assert ways[way] < 5 * counts[case[:2]][way], case


def test_growth_is_noticed(gate):
    kept = {"vi": {"half the text": 10.0, "list of str": 10.0}}
    assert gate.problems(kept, kept) == []
    assert "were 10.00" in gate.problems({"vi": {"half the text": 10.0, "list of str": 10.3}}, kept)[0]
    assert "not linear" in gate.problems({"vi": {"half the text": 10.0, "list of str": 13.0}}, {})[0]


def test_a_failed_run_is_an_error(gate):
    done = subprocess.run([sys.executable, GATE, "--run", "no-such-file"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "no-such-file" in done.stderr
