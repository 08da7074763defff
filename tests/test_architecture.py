"""Who imports whom: no module imports one that imports it, and lower layers know nothing of higher ones."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {name: ROOT / name for name in ("phonemic", "nltk_phonemic", "spacy_phonemic")}
FOLDERS["phonemic_bert"] = ROOT / "model" / "phonemic_bert"

if not all(folder.exists() for folder in FOLDERS.values()):
    pytest.skip("needs the source tree", allow_module_level=True)

#: The layers that modules of a layer may import, besides their own.
BELOW = {
    "phonemic.lexicon": {"phonemic.characters", "phonemic.errors", "phonemic.inventory", "phonemic.mandarin",
                         "phonemic.vietnamese", "phonemic.files"},
    "phonemic.writing": {"phonemic.characters", "phonemic.encoding", "phonemic.errors", "phonemic.forms",
                         "phonemic.inventory", "phonemic.mandarin", "phonemic.vietnamese", "phonemic.lexicon",
                         "phonemic.native", "phonemic.options", "phonemic.tokenizer"},
}  # fmt: skip


def _modules() -> dict[str, Path]:
    """The modules that are not a package's ``__init__``, which only passes names on."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in folder.rglob("*.py"):
            if path.stem not in ("__init__", "__main__"):
                found[".".join((package, *path.relative_to(folder).with_suffix("").parts))] = path
    return found


MODULES = _modules()


#: The imports of the project in a Cython module or its declarations.
CYTHON = re.compile(r"^\s*(?:from\s+(phonemic[\w.]*)\s+(?:c?import)|c?import\s+(phonemic[\w.]*))", re.MULTILINE)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _names(body: list[ast.stmt], types: bool) -> set[str]:
    """Return what statements import, now or when they are called, with or without what is imported for types."""
    found: set[str] = set()
    for statement in body:
        if not types and isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test):
            continue
        if isinstance(statement, ast.If | ast.Try | ast.With | ast.FunctionDef | ast.ClassDef | ast.For | ast.While):
            parts = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
            found |= set().union(*(_names(part, types) for part in parts))
        found.update(_imported(statement))
    return found


@cache
def imports(types: bool = False) -> dict[str, set[str]]:
    """Return the imports of each module, with or without those for types."""
    return {name: _names(ast.parse(path.read_text("utf-8")).body, types) for name, path in MODULES.items()}


@pytest.mark.parametrize("types", [False, True], ids=["run", "types"])
def test_no_module_imports_one_that_imports_it(types):
    found = imports(types)
    graph = {name: {other for other in found[name] if other in MODULES and other != name} for name in found}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(MODULES) > 200  # CycleError names a circle


@cache
def cython_imports() -> dict[str, set[str]]:
    """Return the imports of each Cython module, those of its declarations (``.pxd``) as well."""
    found: dict[str, set[str]] = {}
    for path in (*FOLDERS["phonemic"].rglob("*.pyx"), *FOLDERS["phonemic"].rglob("*.pxd")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        taken = {one or other for one, other in CYTHON.findall(path.read_text("utf-8"))}
        found.setdefault(name, set()).update(taken - {name})
    return found


def test_no_circle_runs_through_cython():
    graph = {**imports(), **cython_imports()}
    assert len(cython_imports()) > 15
    assert any("phonemic.native.text" in taken for taken in cython_imports().values())
    order = TopologicalSorter({name: {other for other in found if other in graph} for name, found in graph.items()})
    assert len(list(order.static_order())) == len(graph)  # CycleError names a circle


@pytest.mark.parametrize("layer", BELOW)
def test_a_layer_imports_what_lies_below(layer):
    for name in (name for name in MODULES if name.startswith(f"{layer}.")):
        for other in (other for other in imports()[name] if other in MODULES):
            assert any(other == one or other.startswith(f"{one}.") for one in (*BELOW[layer], layer)), (name, other)


def test_only_the_build_imports_the_build():
    for name, found in imports().items():
        if not name.startswith("phonemic.compiling."):
            assert not any(other.startswith("phonemic.compiling") for other in found), name


def test_the_library_does_not_import_what_is_built_on_it():
    for name, found in imports().items():
        if name.startswith("phonemic."):
            assert not any(
                other.split(".")[0] in ("phonemic_bert", "spacy_phonemic", "nltk_phonemic") for other in found
            )
