"""The settings of fine-tuning: read from TOML, every field checked. The grids say what each field means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phonemic.errors import InputError
from phonemic_bert import sections
from phonemic_bert.errors import SettingsError

if TYPE_CHECKING:
    from phonemic_bert.finetuning.noise import NoiseCondition

_GRIDS = sections.Presets("phonemic_bert.finetuning", "grids", "grid")

#: Names of the grids that come with the package.
GRIDS = _GRIDS.names

#: The section that holds what is otherwise for one task.
_TASKS = "tasks"


@dataclass(frozen=True)
class Grid:
    """Section [grid]."""

    learning_rate: tuple[float, ...]
    batch_size: tuple[int, ...]
    num_train_epochs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Optimization(sections.AdamW):
    """Section [optimization]."""

    bf16: bool
    dropout: float
    early_stopping_patience: int


@dataclass(frozen=True)
class Text:
    """Section [text]."""

    max_seq_length: int
    stride: int
    max_query_length: int
    max_answer_length: int
    training_noise: str
    training_noise_ratio: float
    form_dropout: float | sections.Auto
    form_noise: float | sections.Auto

    @property
    def condition(self) -> NoiseCondition | None:
        """The noise of the training set.

        Raises:
            InputError: there is no such noise or option, or it needs a file.
            OSError: the file cannot be read.
        """
        if not self.training_noise:
            return None
        from phonemic_bert.finetuning.noise import COUNTS, parse

        [condition] = parse(self.training_noise, [self.training_noise_ratio])
        if COUNTS in dict(condition.options):  # the settings tell runs apart, and hold no file
            raise InputError(f"{COUNTS} is for the noise of test sets only")
        return condition


@dataclass(frozen=True)
class Machine:
    """Section [machine]."""

    per_device_train_batch_size: int
    per_device_eval_batch_size: int
    device: str


@dataclass(frozen=True)
class GridPoint:
    """A point of the grid."""

    learning_rate: float
    batch_size: int
    epochs: int

    def as_dict(self) -> dict[str, Any]:
        """Name to value."""
        return asdict(self)


@dataclass(frozen=True)
class Settings(sections.Sections):
    """All settings; each attribute is a section of the TOML file."""

    grid: Grid
    optimization: Optimization
    text: Text
    machine: Machine

    @classmethod
    def load(cls, source: str | Path, overrides: Iterable[str] = (), task: str | None = None) -> Settings:
        """Reads a grid by its name or from a file.

        Arguments:
            source: a grid's name (``GRIDS``) or the path of a TOML file.
            overrides: ``section.field=value`` each, the value as TOML writes it. They win over the file.
            task: a dataset; what the file's ``[tasks.TASK.section]`` say wins over its sections.

        Raises:
            SettingsError: a section or field is unknown, missing or wrong; the message names it.
            OSError: there is no such file.
        """
        values = _GRIDS.read(source)
        tasks = values.pop(_TASKS, {})
        if not isinstance(tasks, dict):
            raise SettingsError(f"{source}: [{_TASKS}] must hold sections, such as [{_TASKS}.c3.text]")
        overrides = list(overrides)
        settings = cls._made(values, {}, overrides, str(source))
        for name, part in tasks.items():  # a mistake in any task's part of the file is an error for all
            made = cls._made(values, part, overrides if name == task else [], f"{source}: [{_TASKS}.{name}]")
            settings = made if name == task else settings
        return settings

    @classmethod
    def _made(cls, values: Mapping[str, Any], part: Any, overrides: list[str], where: str) -> Settings:
        if not isinstance(part, Mapping):
            raise SettingsError(f"{where} must hold sections, such as [{_TASKS}.c3.text]")
        merged = {name: dict(section) if isinstance(section, dict) else section for name, section in values.items()}
        for name, fields in part.items():
            if not isinstance(fields, Mapping) or not isinstance(merged.setdefault(name, {}), dict):
                raise SettingsError(f"{where}: {name} is not a section")
            merged[name].update(fields)
        sections.override(merged, overrides)
        return cls.of(merged, where)

    def problems(self) -> Iterable[str]:
        """The problems of values that have the right types."""
        yield from sections.limited(self, _CHOICES, _RANGES)
        for size in self.grid.batch_size:
            if size % min(size, self.machine.per_device_train_batch_size):
                yield f"grid.batch_size = {size} must be a multiple of machine.per_device_train_batch_size"
        try:
            _ = self.text.condition
        except (InputError, OSError) as error:
            yield f"text.training_noise = {self.text.training_noise!r}: {error}"

    def points(self) -> list[GridPoint]:
        """Every combination of the grid's values."""
        grid = self.grid
        return [GridPoint(*values) for values in product(grid.learning_rate, grid.batch_size, grid.num_train_epochs)]


def grid_text(name: str) -> str:
    """The TOML file of a grid that comes with the package.

    Raises:
        SettingsError: there is no such grid.
    """
    return _GRIDS.text(name)


_CHOICES = {"machine.device": ("auto", "cpu")}

_RANGES: dict[str, sections.Range] = {
    **sections.ADAMW_RANGES,
    "grid.learning_rate": (0, None),
    "grid.batch_size": (1, None),
    "grid.num_train_epochs": (1, None),
    "optimization.dropout": (0, 1),
    "optimization.early_stopping_patience": (0, None),
    "text.max_seq_length": (8, None),
    "text.stride": (0, None),
    "text.max_query_length": (1, None),
    "text.max_answer_length": (1, None),
    "text.training_noise_ratio": (0, None),
    "text.form_dropout": (0, None),
    "text.form_noise": (0, None),
    "machine.per_device_train_batch_size": (1, None),
    "machine.per_device_eval_batch_size": (1, None),
}
