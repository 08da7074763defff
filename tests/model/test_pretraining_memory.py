"""Memory that a step frees is kept for the next."""

import ctypes
import sys

import forking
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")

from phonemic_bert.pretraining.memory import keep_freed_memory


def print_faults(kept):
    """Print how many pages the system makes while 64 MB are allocated and freed twenty times."""
    import resource

    if kept and not keep_freed_memory():
        sys.exit("no mallopt")
    for _ in range(20):  # malloc sets a few freed blocks aside before it gives one of them out again
        torch.ones(1 << 24)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.ones(1 << 24)
    sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before))


def faults(kept):
    done = forking.Process(print_faults, kept).finished()
    if b"no mallopt" in done.stderr:
        pytest.skip("this C library has no mallopt")
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(not forking.AVAILABLE, reason="forks")
def test_freed_memory_is_used_again():
    assert faults(True) * 10 < faults(False)


@pytest.mark.parametrize("error", [OSError, AttributeError])
def test_another_c_library_is_left_as_it_is(monkeypatch, error):
    def missing(name):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert not keep_freed_memory()
