"""Names with an underscore of transformers that ours replace: as few as CONTRIBUTING.md lists, and all of them there."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")
for needed in ("accelerate", "seqeval", "sklearn"):
    pytest.importorskip(needed, reason="needs the finetune extra")

from source_tree import ROOT, needs

import phonemic_bert

#: Names to which Python, not transformers, gives a meaning.
PYTHON = re.compile(r"__\w+__|_abc_impl|_is_protocol")
MAJOR = int(transformers.__version__.partition(".")[0])


def listed():
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
    table = page.partition("## What transformers does not promise")[2].partition("\n## ")[0]
    return {
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(_\w+)`", line.split("|")[1])
    }


def replaced():
    """Name -> the classes of ours that replace it."""
    found = {}
    for module in pkgutil.walk_packages(phonemic_bert.__path__, "phonemic_bert."):
        if module.name.rpartition(".")[2] != "__main__":
            importlib.import_module(module.name)
    for module in [
        each for name, each in sorted(__import__("sys").modules.items()) if name.startswith("phonemic_bert")
    ]:
        for kind in vars(module).values():
            if not inspect.isclass(kind) or not kind.__module__.startswith("phonemic_bert"):
                continue
            theirs = [base for base in kind.__mro__ if base.__module__.startswith("transformers")]
            for name in vars(kind):
                written_there = name.endswith(
                    "_cached_value"
                )  # by transformers itself, on the class that it is asked of
                own = name.startswith("_") and not PYTHON.fullmatch(name) and not written_there
                if own and any(name in vars(base) for base in theirs):
                    found.setdefault(name, set()).add(kind.__qualname__)
    return found


def test_those_of_the_table_and_no_others():
    found = replaced()
    assert set(found) <= listed(), found
    missing = listed() - set(found) - ({"_batch_encode_plus", "_update_attention_mask"} if MAJOR >= 5 else set())
    assert not missing


def test_nothing_of_theirs_is_called_beside_them():
    """``_internal_call`` and the like: keywords and methods with an underscore that are not ours."""
    root = Path(phonemic_bert.__file__).parent
    text = "\n".join(path.read_text("utf-8") for path in root.rglob("*.py"))
    called = set(re.findall(r"super\(\)\.(_\w+)\(", text)) | set(re.findall(r"\b(_[a-z]\w+)=(?!=)", text))
    assert {name for name in called if not name.startswith("__")} <= listed()


@needs(".github")
def test_the_releases_that_are_allowed_are_the_tested_ones():
    import tomllib

    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]["model"]
    assert "transformers>=4.53,<6" in wanted
    workflow = ROOT / ".github" / "workflows" / "tests.yml"
    assert 'transformers: ["5.*"]' in workflow.read_text("utf-8")
    assert 'transformers: "4.53.2"' in workflow.read_text("utf-8")
