"""What the reference shows says everything: each argument, the shapes of arrays, the errors; and its links lead somewhere."""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("phonemic", "spacy_phonemic", "nltk_phonemic", "phonemic_bert")
MODULES = sorted(
    name
    for page in (ROOT / "docs" / "reference").glob("*.md")
    for name in re.findall(r"^::: ([\w.]+)$", page.read_text("utf-8"), re.MULTILINE)
)
ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?([\w.]+)`")
SECTION = re.compile(r"^(Arguments|Attributes|Returns|Yields|Raises):$", re.MULTILINE)
#: Names of array types in annotations, and what says the shape of one: (N, 3), (B,), "of any shape", "like ids" ...
ARRAYS = re.compile(r"NDArray|ArrayLike|Tensor|Floats2d")
SHAPES = re.compile(r"\([A-Za-z0-9 +*.,x]*,[A-Za-z0-9 +*., x]*\)|shape")


def load(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} needs {error.name}")


def public(module):
    """The functions and classes that a module shows: those of ``__all__``, or those that it defines."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, value in vars(module).items()
                 if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__]  # fmt: skip
    found = {name: getattr(module, name) for name in names}
    return {name: value for name, value in found.items() if inspect.isroutine(value) or inspect.isclass(value)}


def members(name, value):
    """A function, or a class with the public methods and properties that it defines."""
    yield name, value
    if inspect.isclass(value):
        for key, member in vars(value).items():
            member = getattr(member, "__func__", member)
            if not key.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                yield f"{name}.{key}", member


def ours(value):
    return getattr(value, "__module__", "").partition(".")[0] in PACKAGES


def everything(module):
    return [
        (f"{module.__name__}.{name}", member)
        for top, value in public(module).items()
        if ours(value)
        for name, member in members(top, value)
    ]


def sections(text):
    """The sections of a docstring, by name; what stands before them is ``""``."""
    parts = SECTION.split(inspect.cleandoc(text or ""))
    return {"": parts[0], **{name: textwrap.dedent(body.strip("\n")) for name, body in zip(parts[1::2], parts[2::2])}}


def entries(section):
    """``{"name": "what is said of it"}`` of a section."""
    found = re.split(r"^([\w*.\\]+)(?: \([^)]*\))?: ", section, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def parameters(value):
    function = value.__init__ if inspect.isclass(value) else value
    if isinstance(function, property) or not inspect.isfunction(function):
        return {}
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ("self", "cls") and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
