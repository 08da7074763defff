"""The commit that results are of."""

import os
import shutil
import subprocess

import pytest

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic_bert.finetuning import runs


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_the_commit_is_told_without_writing_to_the_repository(tmp_path, monkeypatch):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    source, told = tmp_path / "code.py", runs.commit.__wrapped__
    source.write_text("1")
    monkeypatch.setattr(runs.phonemic_bert, "__file__", str(source))
    assert told() is None
    for words in (["init", "-q"], ["add", "code.py"], ["commit", "-qm", "Begin"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    index = tmp_path / ".git" / "index"
    os.utime(source, (1, 1))  # as after a checkout: git looks into the file again
    before = index.stat().st_mtime_ns
    head = subprocess.run([*git, "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert told() == head.strip()
    assert index.stat().st_mtime_ns == before
    source.write_text("2")
    assert told() == f"{head.strip()}-dirty"
