"""Docstrings that the reference shows are complete: each argument, the shapes of arrays, the errors that are raised.

Exempt are the arguments that a class outside this project dictates: the ones that a method takes as the one that it
overrides does.
"""

import ast
import importlib
import inspect
import re
import sys
import textwrap
from enum import Enum
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("phonemic", "spacy_phonemic", "nltk_phonemic", "phonemic_bert")
MODULES = sorted(
    name
    for page in (ROOT / "docs" / "reference").glob("*.md")
    for name in re.findall(r"^::: ([\w.]+)$", page.read_text("utf-8"), re.MULTILINE)
)
#: Names of array types in annotations, and what says a shape: (N, 3), (B,), "of any shape".
ARRAYS = re.compile(r"NDArray|ArrayLike|Tensor|Floats2d")
SHAPES = re.compile(r"\([A-Za-z0-9 +*./x-]*,[A-Za-z0-9 +*., x/-]*\)|shape|scalar|like ``|as :")
#: Where one docstring stands for another's arguments, shapes and errors: "see :class:`Layout`", "as :meth:`ids`".
ELSEWHERE = re.compile(r"\b(see|as|like|what|those of) :|\bsee ``|the same as ``", re.IGNORECASE)


def ours(value):
    return (getattr(value, "__module__", None) or "").partition(".")[0] in PACKAGES


def public(module):
    """The functions and classes of ours that a module shows, and the public methods and properties of the classes."""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__
    ]
    for name in names:
        value = getattr(module, name)
        if name.startswith("_") or not ours(value):
            continue
        if inspect.isfunction(value):
            yield f"{module.__name__}.{name}", value, None
        elif inspect.isclass(value):
            yield f"{module.__name__}.{name}", value, None
            for key, found in vars(value).items():
                member = getattr(found, "__func__", found)
                if not key.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                    yield f"{module.__name__}.{name}.{key}", getattr(member, "fget", member), value


def described(value, owner):
    """The docstring, and the ones that it builds on: the class of a method, and the bases of a class (a dataclass's)."""
    classes = [kind for kind in (owner or value).__mro__ if ours(kind)] if owner or inspect.isclass(value) else []
    return "\n".join([inspect.getdoc(value) or "", *(kind.__doc__ or "" for kind in classes)])


def dictated(value, owner):
    """The arguments of the method of another project's class that this one overrides."""
    bases = owner.__mro__[1:] if owner else ()
    overridden = next((vars(base)[value.__name__] for base in bases if value.__name__ in vars(base)), None)
    function = getattr(overridden, "__func__", overridden)
    return set(inspect.signature(function).parameters) if inspect.isfunction(function) and not ours(function) else set()


def missing_arguments(value, doc, owner):
    function = value.__init__ if inspect.isclass(value) else value
    is_enum = inspect.isclass(value) and issubclass(value, Enum)
    if not inspect.isfunction(function) or is_enum or ELSEWHERE.search(doc):
        return []
    exempt = {"self", "cls", "args", "kwargs"} | dictated(value, owner)
    told = described(value, owner)
    return [
        name
        for name in inspect.signature(function).parameters
        if name not in exempt and name[0] != "_" and not re.search(rf"\b{re.escape(name)}\b", told)
    ]


def lacks_shape(value, doc):
    function = value.__init__ if inspect.isclass(value) else value
    if not inspect.isfunction(function) or ELSEWHERE.search(doc):
        return False
    annotations = " ".join(map(str, function.__annotations__.values()))
    return bool(ARRAYS.search(annotations)) and not SHAPES.search(doc)


def missing_errors(value, doc):
    """The errors that the function (of a class, its ``__init__``) itself raises, and that its docstring leaves out."""
    functions = [vars(value).get(name) for name in ("__init__", "__post_init__")] if inspect.isclass(value) else [value]
    raised = set()
    for function in functions:
        # A dataclass's __init__ has no source, whatever file the program that makes it names.
        written = inspect.unwrap(function) if inspect.isfunction(function) else None
        if written is None or written.__code__.co_filename != inspect.getfile(sys.modules[written.__module__]):
            continue
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
                raised.add(node.exc.func.id)
    if ELSEWHERE.search(doc) and "Raises:" not in doc:
        return []
    return sorted(name for name in raised if name[0].isupper() and name != "NotImplementedError" and name not in doc)


def wrong_with(where, value, owner):
    doc = inspect.getdoc(value) or ""
    if not doc:
        return [f"{where}: no docstring"]
    wrong = [f"{where}: does not say what {argument} is" for argument in missing_arguments(value, doc, owner)]
    wrong += [f"{where}: does not say that it raises {error}" for error in missing_errors(value, doc)]
    return wrong + ([f"{where}: does not say the shape of an array"] if lacks_shape(value, doc) else [])


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_described(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} needs {error.name}")
    try:
        found = list(public(module))
    except ImportError as error:
        pytest.skip(f"{name} needs {error.name}")
    wrong = [line for each in found for line in wrong_with(*each)]
    assert found, "nothing to look at"
    assert not wrong, "\n".join(wrong)


def test_what_is_not_described_is_found():
    def scale(rows, factor):
        """Doubles."""
        if not factor:
            raise ValueError("nothing to scale by")

    scale.__annotations__["rows"] = "NDArray[np.int32]"
    assert wrong_with("scale", scale, None) == [
        "scale: does not say what rows is",
        "scale: does not say what factor is",
        "scale: does not say that it raises ValueError",
        "scale: does not say the shape of an array",
    ]

    scale.__doc__ = "Multiplies ``rows``, int32 (N, 3), by a factor.\n\nRaises:\n    ValueError: it is 0."
    assert wrong_with("scale", scale, None) == []
