"""The settings of a pretraining run: read from TOML, every field checked. The presets say what each field means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from phonemic.inventory import LANGUAGES
from phonemic_bert import sections
from phonemic_bert.shapes import CHOICES
from phonemic_bert.untrusted import SIZES

_PRESETS = sections.Presets("phonemic_bert.pretraining", "presets")

#: Names of the presets that come with the package.
PRESETS = _PRESETS.names


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
    backbone: str
    first_positions: str
    composition: str
    head: str
    vectors: str
    syllables: str
    shared_scale: float
    neighbours: int
    bigrams: int
    forms: str
    form_dropout: float
    form_noise: float
    form_bigrams: int
    pooling: str
    tied_head: bool
    weights: str


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
class Distillation:
    """Section [distillation]."""

    teacher: str
    corpus: str
    weight: float
    until: float


@dataclass(frozen=True, kw_only=True)
class Optimization(sections.AdamW):
    """Section [optimization]."""

    bf16: bool | sections.Auto
    steps: int
    batch_size: int
    learning_rate: float
    decay: float
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

    device_batch_size: int | sections.Auto
    workers: int | sections.Auto
    device: str
    compile: bool | sections.Auto
    gradient_checkpointing: bool
    fsdp: bool
    cache: str
    verify: bool


@dataclass(frozen=True)
class Settings(sections.Sections):
    """All settings; each attribute is a section of the TOML file."""

    model: Model
    sequences: Sequences
    masking: Masking
    distillation: Distillation
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
        values = _PRESETS.read(source)
        sections.override(values, overrides)
        return cls.of(values, str(source))

    def problems(self) -> Iterable[str]:
        """The problems of values that have the right types."""
        yield from sections.limited(self, _CHOICES, _RANGES)
        if self.model.hidden_size % self.model.attention_heads:
            yield "model.hidden_size must be a multiple of model.attention_heads"
        if self.model.backbone == "modernbert" and self.model.first_positions != "random":
            yield 'model.first_positions must be "random": the positions of "modernbert" are rotations, not embeddings'
        if self.model.neighbours == 1 or (self.model.neighbours and self.model.neighbours % 2 == 0):
            yield "model.neighbours must be 0 or an odd number from 3"
        if self.model.form_dropout + self.model.form_noise > 1:
            yield "model.form_dropout and model.form_noise must be at most 1 together"
        if bool(self.distillation.teacher) != bool(self.distillation.corpus):
            yield "distillation.teacher and distillation.corpus belong together: give both, or neither"
        if self.distillation.teacher and self.model.head != "joint":
            yield 'distillation.teacher: only a PhonemicBERT with model.head = "joint" learns from a teacher'
        for name in ("weight", "until"):
            if getattr(self.distillation, name) > 1:
                yield f"distillation.{name} must be at most 1"
        if self.model.shared_scale > 1:
            yield "model.shared_scale must be at most 1"
        if self.optimization.warmup + self.optimization.decay > 1:
            yield "optimization.warmup and optimization.decay must not be more than 1 together"


def preset_text(name: str) -> str:
    """The TOML file of a preset.

    Raises:
        SettingsError: there is no such preset.
    """
    return _PRESETS.text(name)


#: The values that a string may have.
_CHOICES = {
    "model.lang": (*LANGUAGES, "any"),
    "model.first_positions": ("random", "sinusoidal"),
    **{f"model.{name}": values for name, values in CHOICES.items()},
    "sequences.attention": ("auto", "sdpa", "eager", "flash_attention_2"),
    "masking.replacement": ("mask", "80/10/10"),
    "machine.device": ("auto", "cpu"),
}

_RANGES: dict[str, sections.Range] = {
    **sections.ADAMW_RANGES,
    "model.layers": (1, None),
    "model.hidden_size": (1, None),
    "model.attention_heads": (1, None),
    "model.intermediate_size": (1, None),
    "model.dropout": (0, 1),
    "model.attention_dropout": (0, 1),
    "model.initializer_range": (0, None),
    "model.shared_scale": (1e-6, None),
    "model.neighbours": (0, None),
    "model.bigrams": (0, SIZES["bigrams"] + 1),
    "model.form_dropout": (0, None),
    "model.form_noise": (0, None),
    "model.form_bigrams": (0, SIZES["form_bigrams"] + 1),
    "sequences.length": (8, None),
    "masking.probability": (1e-9, 1),
    "distillation.weight": (0, None),
    "distillation.until": (1e-6, None),
    "optimization.steps": (1, None),
    "optimization.batch_size": (1, None),
    "optimization.learning_rate": (0, None),
    "optimization.decay": (0, None),
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
