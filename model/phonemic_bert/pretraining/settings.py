"""The settings of a pretraining run: read from TOML, every field checked. The presets say what each field means."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, get_type_hints

from phonemic.inventory import LANGUAGES
from phonemic_bert.errors import SettingsError

_FOLDER = files("phonemic_bert.pretraining") / "presets"

#: Names of the presets that come with the package.
PRESETS = tuple(sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml")))


@dataclass(frozen=True)
class Model:
    """Section [model]."""

    lang: str
    layers: int
    hidden_size: int
    attention_heads: int
    intermediate_size: int
    dropout: float
    attention_dropout: float
    initializer_range: float
    tied_head: bool


@dataclass(frozen=True)
class Sequences:
    """Section [sequences]."""

    length: int
    separate_documents: bool
    attention: str


@dataclass(frozen=True)
class Masking:
    """Section [masking]."""

    probability: float
    replacement: str


@dataclass(frozen=True)
class Optimization:
    """Section [optimization]."""

    steps: int
    batch_size: int
    learning_rate: float
    warmup: float
    weight_decay: float
    beta1: float
    beta2: float
    epsilon: float
    gradient_clip: float
    bf16: bool
    seed: int


@dataclass(frozen=True)
class Evaluation:
    """Section [evaluation]."""

    held_out_documents: int
    every: int
    batch_size: int


@dataclass(frozen=True)
class Output:
    """Section [output]."""

    log_every: int
    save_every: int
    keep: int
    tensorboard: bool


@dataclass(frozen=True)
class Machine:
    """Section [machine]."""

    device_batch_size: int
    workers: int
    device: str
    compile: bool
    gradient_checkpointing: bool
    fsdp: bool
    cache: str
    verify: bool


@dataclass(frozen=True)
class Settings:
    """All settings; each attribute is a section of the TOML file."""

    model: Model
    sequences: Sequences
    masking: Masking
    optimization: Optimization
    evaluation: Evaluation
    output: Output
    machine: Machine

    @classmethod
    def load(cls, source: str | Path, overrides: Iterable[str] = ()) -> Settings:
        """Reads a preset or a file.

        Arguments:
            source: a preset's name (``PRESETS``) or the path of a TOML file.
            overrides: ``section.field=value`` each, the value as TOML writes it; quotes around a string may be left
                out. They win over the file.

        Raises:
            SettingsError: a section or field is unknown, missing or wrong; the message names it.
            OSError: there is no such file.
        """
        text = preset_text(str(source)) if str(source) in PRESETS else _read(source)
        try:
            values: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"{source}: no TOML file ({error})") from error
        for override in overrides:
            name, equals, value = override.partition("=")
            section, dot, field = name.strip().partition(".")
            if not equals or not dot:
                raise SettingsError(f"{override!r}: an override is section.field=value, as optimization.steps=100")
            part = values.setdefault(section, {})
            if not isinstance(part, dict):
                raise SettingsError(f"{override!r}: {section} is no section")
            part[field] = _value(value.strip())
        return cls.of(values, str(source))

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str = "settings") -> Settings:
        """Checks nested dictionaries, as ``asdict`` and TOML give them.

        Raises:
            SettingsError: a section or field is unknown, missing or wrong.
        """
        kinds = get_type_hints(cls)
        _names(values, kinds, f"{where}: ", "section")
        sections = {}
        for name, kind in kinds.items():
            if not isinstance(values[name], Mapping):
                raise SettingsError(f"{where}: {name} is a section, not a field")
            sections[name] = _section(kind, values[name], f"{where}: [{name}] ")
        settings = cls(**sections)
        for wrong in _problems(settings):
            raise SettingsError(f"{where}: {wrong}")
        return settings

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Nested dictionaries of plain values, which :meth:`of` takes."""
        return asdict(self)


def preset_text(name: str) -> str:
    """The TOML file of a preset.

    Raises:
        SettingsError: there is no such preset.
    """
    if name not in PRESETS:
        raise SettingsError(f"unknown preset {name!r}: choose one of {', '.join(PRESETS)}")
    return (_FOLDER / f"{name}.toml").read_text("utf-8")


def _read(source: str | Path) -> str:
    path = Path(source)
    if not path.exists() and path.suffix != ".toml":
        raise SettingsError(f"{source}: neither a file nor a preset; the presets are {', '.join(PRESETS)}")
    return path.read_text("utf-8")


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
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
    checked = {}
    for name, expected in types.items():
        value = values[name]
        if expected is float and type(value) is int:
            value = float(value)
        if expected is float and isinstance(value, float) and not isfinite(value):
            raise SettingsError(f"{where}{name} = {value!r}: this must be finite")
        if type(value) is not expected:
            raise SettingsError(f"{where}{name} = {value!r}: this must be a {_TYPES[expected]}")
        checked[name] = value
    return kind(**checked)


_TYPES = {int: "whole number", float: "number", bool: "true or false", str: "string"}

#: The values that a string may have.
_CHOICES = {
    "model.lang": (*LANGUAGES, "any"),
    "sequences.attention": ("sdpa", "flash_attention_2"),
    "masking.replacement": ("mask", "80/10/10"),
    "machine.device": ("auto", "cpu"),
}

#: The least value of a number, and what it stays below (None: no limit).
_RANGES: dict[str, tuple[float, float | None]] = {
    "model.layers": (1, None),
    "model.hidden_size": (1, None),
    "model.attention_heads": (1, None),
    "model.intermediate_size": (1, None),
    "model.dropout": (0, 1),
    "model.attention_dropout": (0, 1),
    "model.initializer_range": (0, None),
    "sequences.length": (8, None),
    "masking.probability": (1e-9, 1),
    "optimization.steps": (1, None),
    "optimization.batch_size": (1, None),
    "optimization.learning_rate": (0, None),
    "optimization.warmup": (0, 1),
    "optimization.weight_decay": (0, None),
    "optimization.beta1": (0, 1),
    "optimization.beta2": (0, 1),
    "optimization.epsilon": (0, None),
    "optimization.gradient_clip": (0, None),
    "optimization.seed": (0, 2**32),
    "evaluation.held_out_documents": (0, None),
    "evaluation.every": (1, None),
    "evaluation.batch_size": (1, None),
    "output.log_every": (1, None),
    "output.save_every": (1, None),
    "output.keep": (1, None),
    "machine.device_batch_size": (1, None),
    "machine.workers": (0, None),
}


def _problems(settings: Settings) -> Iterable[str]:
    """What is wrong with values that have the right types."""
    flat = {f"{part.name}.{name}": value for part in fields(settings) for name, value in _items(settings, part.name)}
    for name, choices in _CHOICES.items():
        if flat[name] not in choices:
            yield f"{name} = {flat[name]!r}: choose one of {', '.join(map(repr, choices))}"
    for name, (least, below) in _RANGES.items():
        if not least <= flat[name] or (below is not None and flat[name] >= below):
            limit = "" if below is None else f" and below {below:g}"
            yield f"{name} = {flat[name]!r}: this must be at least {least:g}{limit}"
    if settings.model.hidden_size % settings.model.attention_heads:
        yield "model.hidden_size must be a multiple of model.attention_heads"


def _items(settings: Settings, section: str) -> Iterable[tuple[str, Any]]:
    return asdict(getattr(settings, section)).items()
