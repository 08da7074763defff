"""Settings in sections: dataclasses of dataclasses, read from TOML, every field checked by its type."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.resources import files
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints

from phonemic.files.writing import is_stream
from phonemic_bert.errors import SettingsError

#: The least value of a number, and what it stays below (None: no limit).
Range = tuple[float, float | None]

#: A field that may be left to the machine is ``bool | Auto``.
Auto = Literal["auto"]

_TYPES = {int: "whole number", float: "number", bool: "true or false", str: "string"}


@dataclass(frozen=True, kw_only=True)
class AdamW:
    """The fields of the optimizer in every section [optimization]; the TOML files explain them."""

    warmup_ratio: float
    weight_decay: float
    adam_beta1: float
    adam_beta2: float
    adam_epsilon: float
    max_grad_norm: float


ADAMW_RANGES: dict[str, Range] = {
    "optimization.warmup_ratio": (0, 1),
    "optimization.weight_decay": (0, None),
    "optimization.adam_beta1": (0, 1),
    "optimization.adam_beta2": (0, 1),
    "optimization.adam_epsilon": (0, None),
    "optimization.max_grad_norm": (0, None),
}


class Presets:
    """The TOML files of a package's folder.

    Arguments:
        package: the package that holds the folder.
        folder: its name.
        kind: what messages call one.
    """

    def __init__(self, package: str, folder: str, kind: str = "preset") -> None:
        self.kind = kind
        self._folder = files(package) / folder
        found = (entry.name for entry in self._folder.iterdir())
        self.names = tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))

    def text(self, name: str) -> str:
        """The TOML file of a preset.

        Raises:
            SettingsError: there is no such preset.
        """
        if name not in self.names:
            raise SettingsError(f"unknown {self.kind} {name!r}: choose one of {', '.join(self.names)}")
        return (self._folder / f"{name}.toml").read_text("utf-8")

    def read(self, source: str | Path) -> dict[str, Any]:
        """The values of a preset or of a file.

        Raises:
            SettingsError: it is neither, or not TOML.
            OSError: the file cannot be read.
        """
        try:
            return tomllib.loads(self.text(str(source)) if str(source) in self.names else self._file(Path(source)))
        except (ValueError, RecursionError) as error:  # not UTF-8, a number of thousands of digits, deep nesting
            said = "nested too deeply" if isinstance(error, RecursionError) else error
            raise SettingsError(f"{source}: not a TOML file ({said})") from error

    def _file(self, path: Path) -> str:
        if is_stream(path):
            raise SettingsError(f"{path}: is a device or a FIFO, not a file of settings")
        if not path.exists() and path.suffix != ".toml":
            known = ", ".join(self.names)
            raise SettingsError(f"{path}: neither a file nor a {self.kind}; the {self.kind}s are {known}")
        return path.read_text("utf-8")


def override(values: dict[str, Any], overrides: Iterable[str]) -> None:
    """Puts ``section.field=value`` into nested dictionaries, the value as TOML writes it, quotes left out or not.

    Raises:
        SettingsError: one is not written so.
    """
    for given in overrides:
        name, equals, value = given.partition("=")
        section, dot, field = name.strip().partition(".")
        if not equals or not dot:
            raise SettingsError(f"{given!r}: an override is section.field=value, such as optimization.max_steps=100")
        part = values.setdefault(section, {})
        if not isinstance(part, dict):
            raise SettingsError(f"{given!r}: {section} is not a section")
        part[field] = _value(value.strip())


class Sections:
    """The base of settings: a frozen dataclass whose attributes are sections, dataclasses of plain fields."""

    def problems(self) -> Iterable[str]:
        """The problems of values that have the right types."""
        return ()

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str = "settings") -> Self:
        """Checks nested dictionaries, as ``as_dict`` and TOML give them.

        Raises:
            SettingsError: a section or field is unknown, missing or wrong.
        """
        kinds = get_type_hints(cls)
        _names(values, kinds, f"{where}: ", "section")
        sections = {}
        for name, section in kinds.items():
            if not isinstance(values[name], Mapping):
                raise SettingsError(f"{where}: {name} is a section, not a field")
            sections[name] = _section(section, values[name], f"{where}: [{name}] ")
        settings = cls(**sections)
        for wrong in settings.problems():
            raise SettingsError(f"{where}: {wrong}")
        return settings

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Nested dictionaries of plain values, which :meth:`of` takes."""
        return {name: asdict(section) for name, section in vars(self).items()}


def limited(settings: Sections, choices: Mapping[str, tuple[str, ...]], ranges: Mapping[str, Range]) -> Iterable[str]:
    """The problems of values that have the right types; fields are named ``section.field``.

    Arguments:
        settings: what to look at.
        choices: the values that a string may have.
        ranges: the ones that a number, or each of several, may have.
    """
    flat = {f"{part}.{name}": value for part, items in settings.as_dict().items() for name, value in items.items()}
    for name, allowed in choices.items():
        if flat[name] not in allowed:
            yield f"{name} = {flat[name]!r}: choose one of {', '.join(map(repr, allowed))}"
    for name, (least, below) in ranges.items():
        for value in flat[name] if isinstance(flat[name], tuple) else (flat[name],):
            if value == "auto":
                continue
            if not least <= value or (below is not None and value >= below):
                limit = "" if below is None else f" and below {below:g}"
                yield f"{name} = {value!r}: this must be at least {least:g}{limit}"


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _names(values: Mapping[str, Any], known: Iterable[str], where: str, kind: str) -> None:
    known = list(known)
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise SettingsError(f"{where}unknown {kind} {name!r}: {hint}")
    for name in known:
        if name not in values:
            raise SettingsError(f"{where}{kind} {name!r} is missing; copy it from a preset")


def _section(kind: Any, values: Mapping[str, Any], where: str) -> Any:
    types = get_type_hints(kind)
    _names(values, types, where, "field")
    return kind(**{name: _field(values[name], expected, f"{where}{name}") for name, expected in types.items()})


def _field(value: Any, expected: Any, where: str) -> Any:
    if get_origin(expected) in (Union, UnionType):  # bool | Auto
        if value == "auto":
            return value
        return _field(value, get_args(expected)[0], where)
    if parts := get_args(expected):  # tuple[float, ...]: a list, or one value
        listed = value if isinstance(value, list | tuple) else [value]
        if not listed:
            raise SettingsError(f"{where} = []: this must be a {_TYPES[parts[0]]}, or a list of them")
        return tuple(_field(one, parts[0], where) for one in listed)
    if expected is float and type(value) is int:
        try:
            value = float(value)
        except OverflowError as error:
            raise SettingsError(f"{where}: this must be finite") from error
    if expected is float and isinstance(value, float) and not isfinite(value):
        raise SettingsError(f"{where} = {value!r}: this must be finite")
    if type(value) is not expected:
        raise SettingsError(f"{where} = {value!r}: this must be a {_TYPES[expected]}")
    return value
