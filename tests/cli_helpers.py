"""The ``phonemic`` command in this process and in another; what its tests read and compare with."""

import bz2
import gzip
import lzma
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")

from click.testing import CliRunner  # noqa: E402

import phonemic  # noqa: E402
from phonemic import Tokenizer  # noqa: E402
from phonemic.cli import cli  # noqa: E402

LINES = ["Sáng nay bé ăn xôi.", "", "Mưa 30 phút, đường ngập", "  hai  dấu cách ", "quả chuối \u4e2d"]
TEXT = "".join(f"{line}\n" for line in LINES).encode()
#: The same each time: a changed byte can also make a decoder miss the end of the file, which then counts as truncated.
INCOMPRESSIBLE = random.Random(7).randbytes(5000).hex().encode()


RUNNER = CliRunner()


def run(*arguments, stdin=None, status=0):
    result = RUNNER.invoke(cli, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == status, result.output
    if status:
        assert "Traceback" not in result.output
        assert isinstance(result.exception, SystemExit)
    return result


def command(*arguments):
    return [sys.executable, "-m", "phonemic.cli", *map(str, arguments)]


def environment(**extra):
    root = str(Path(phonemic.__file__).parents[1])
    return os.environ | {"PYTHONPATH": root, "PYTHONWARNINGS": "error"} | extra


def process(*arguments, stdin=b"", **extra):
    return subprocess.run(command(*arguments), input=stdin, capture_output=True, env=environment(**extra), check=False)


def process_after(code, *arguments, stdin=b""):
    """The command in a process that runs some code first."""
    code += f"; import sys; sys.argv[1:] = {arguments!r}; from phonemic.cli import main; main()"
    whole = [sys.executable, "-c", code]
    return subprocess.run(whole, input=stdin, capture_output=True, env=environment(), check=False)


def ids(path="out.parquet"):
    return pq.read_table(path)["ids"].to_pylist()


def expected(lines, lang="vi"):
    return [None if line is None else Tokenizer(lang).encode(line).ids.tolist() for line in lines]


#: The names of files that hold data in each way, and what makes it so.
COMPRESS = {
    "in.txt": bytes,
    "in.gz": gzip.compress,
    "in.bz2": bz2.compress,
    "in.xz": lzma.compress,
    "in.zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
