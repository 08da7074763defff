"""Memory that a step frees is kept for the next."""

import ctypes
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")

from phonemic_bert.pretraining.memory import keep_freed_memory

FAULTS = """
import resource, sys
import torch
from phonemic_bert.pretraining.memory import keep_freed_memory

if sys.argv[1] == "kept" and not keep_freed_memory():
    sys.exit("no mallopt")
for _ in range(20):  # malloc sets a few freed blocks aside before it gives one of them out again
    torch.ones(1 << 24)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.ones(1 << 24)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how):
    """Pages that the system makes while 64 MB are allocated and freed twenty times, in a process of its own."""
    run = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=False)
    if "no mallopt" in run.stderr:
        pytest.skip("this C library has no mallopt")
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


def test_freed_memory_is_used_again():
    assert faults("kept") * 10 < faults("plain")


@pytest.mark.parametrize("error", [OSError, AttributeError])
def test_another_c_library_is_left_as_it_is(monkeypatch, error):
    def missing(name):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert not keep_freed_memory()
