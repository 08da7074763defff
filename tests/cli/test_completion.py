"""The shell completes commands and options, as the page says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click", reason="needs the cli extra")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("phonemic en", ["encode"]),
        ("phonemic encode --fall", ["--fallback"]),
        ("phonemic encode --lang ", ["vi", "zh"]),
        ("phonemic-bert pret", ["pretrain"]),
    ],
)
def test_words_are_completed(words, found):
    program = words.split()[0]
    command = Path(sys.executable).parent / program
    if not command.exists():
        pytest.skip(f"{program} is not installed")
    variable = f"_{program.upper().replace('-', '_')}_COMPLETE"
    count = len(words.split(" ")) - 1
    env = {**os.environ, variable: "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    done = subprocess.run([command], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [f"plain,{word}" for word in found], done.stderr
