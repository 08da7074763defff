"""Prepares a corpus in child processes that kill themselves at one step after another, until one comes through.

A step is what changes a folder: a file put on the disk, renamed or removed. Child k is killed before or behind its k-th.
Prints how many were killed.
"""

import functools
import os
import signal
import sys

import matplotlib.backends.backend_agg
import matplotlib.figure  # noqa: F401, imported before the forks

from phonemic import Tokenizer
from phonemic.corpus import Options, Threads, prepare

STEPS = ("fsync", "replace", "unlink", "rmdir")


def die_at(step, behind):
    left = [step]

    def counted(call):
        @functools.wraps(call)
        def counting(*args, **options):
            left[0] -= 1
            if left[0] == 0 and not behind:
                os.kill(os.getpid(), signal.SIGKILL)
            result = call(*args, **options)
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return counting

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))


def main(source, out):
    options = Options(Tokenizer("vi"), shard_bytes=1500, exact=True)
    for attempt in range(1000):
        child = os.fork()
        if child == 0:
            die_at(2 + attempt // 2, behind=bool(attempt % 2))
            prepare([source], out, options, Threads(1))
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status == 0:
            sys.stdout.write(f"{attempt}\n")
            return
        assert os.WIFSIGNALED(status), f"the child failed: {status}"


main(*sys.argv[1:])
