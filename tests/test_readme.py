"""The README is true: its Python runs and gives what the comments say, and its commands succeed."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_python_gives_what_the_comments_say():
    pytest.importorskip("spacy")
    pytest.importorskip("nltk")
    names, compared = {}, 0
    for block in blocks("python"):
        for statement in ast.parse(block).body:
            source = ast.unparse(statement)
            line = block.splitlines()[statement.end_lineno - 1]
            shown = re.search(r"#\s+(['\[].*?['\]])(?:;.*)?$", line)
            if not shown:
                following = block.splitlines()[statement.end_lineno : statement.end_lineno + 1]
                shown = re.match(r"# (\[.*\])$", following[0]) if following else None
            if isinstance(statement, ast.Expr) and shown:
                assert repr(eval(source, names)) == shown[1]
                compared += 1
            else:
                exec(source, names)
    assert compared >= 10


@pytest.mark.parametrize(
    "line", [line for block in blocks("sh") for line in block.splitlines() if line[:9] == "phonemic "]
)
def test_commands(line, tmp_path):
    pytest.importorskip("click")
    words = shlex.split(line.replace("examples/", f"{ROOT}/examples/"), comments=True)
    if words[1] == "decode":
        subprocess.run([sys.executable, "-m", "phonemic.cli", "encode", f"{ROOT}/examples/sentences-vi.txt",
                        "ids.parquet", "--lang", "vi"], cwd=tmp_path, check=True)  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "phonemic.cli", *words[1:]], cwd=tmp_path, check=True, capture_output=True
    )
    assert done.stdout or (tmp_path / "ids.parquet").exists()


@pytest.mark.parametrize(
    "line", [line for block in blocks("sh") for line in block.splitlines() if line.startswith("phonemic-bert inspect")]
)
def test_a_shipped_checkpoint_is_looked_into(line):
    pytest.importorskip("torch", reason="needs the model extra")
    pytest.importorskip("transformers", reason="needs the model extra")
    words = shlex.split(line.replace("model/", f"{ROOT}/model/"))
    if not Path(words[2]).exists():
        pytest.skip("model/checkpoints is not here")
    command = [sys.executable, "-X", "utf8", "-m", "phonemic_bert.cli", *words[1:], "-k", "3"]
    shown = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    assert all(char in shown for char in words[3])
