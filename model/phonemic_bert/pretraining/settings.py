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
    num_hidden_layers: int
    hidden_size: int
    num_attention_heads: int
    intermediate_size: int
    hidden_dropout_prob: float
    attention_probs_dropout_prob: float
    initializer_range: float
    backbone: str
    position_init: str
    composition: str
    head: str
    output_embeddings: str
    syllable_inventory: str
    component_scale: float
    conv_kernel_size: int
    num_bigram_buckets: int
    forms: str
    form_dropout: float
    form_noise: float
    num_form_bigram_buckets: int
    pooling: str
    tied_head: bool
    init_checkpoint: str


@dataclass(frozen=True)
class Sequences:
    """Section [sequences]."""

    max_seq_length: int
    separate_documents: bool
    attn_implementation: str


@dataclass(frozen=True)
class Masking:
    """Section [masking]."""

    mlm_probability: float
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
    max_steps: int
    batch_size: int
    learning_rate: float
    decay_ratio: float
    seed: int


@dataclass(frozen=True)
class Evaluation:
    """Section [evaluation]."""

    held_out_documents: int
    eval_steps: int
    per_device_eval_batch_size: int


@dataclass(frozen=True)
class Output:
    """Section [output]."""

    logging_steps: int
    save_steps: int
    save_total_limit: int
    tensorboard: bool


@dataclass(frozen=True)
class Machine:
    """Section [machine]."""

    per_device_train_batch_size: int | sections.Auto
    dataloader_num_workers: int | sections.Auto
    device: str
    torch_compile: bool | sections.Auto
    gradient_checkpointing: bool
    fsdp: bool
    cache_dir: str
    verify_checksums: bool


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
        if self.model.hidden_size % self.model.num_attention_heads:
            yield "model.hidden_size must be a multiple of model.num_attention_heads"
        if self.model.backbone == "modernbert" and self.model.position_init != "random":
            yield 'model.position_init must be "random": the positions of "modernbert" are rotations, not embeddings'
        if self.model.conv_kernel_size == 1 or (self.model.conv_kernel_size and self.model.conv_kernel_size % 2 == 0):
            yield "model.conv_kernel_size must be 0 or an odd number from 3"
        if self.model.form_dropout + self.model.form_noise > 1:
            yield "model.form_dropout and model.form_noise must be at most 1 together"
        if bool(self.distillation.teacher) != bool(self.distillation.corpus):
            yield "distillation.teacher and distillation.corpus belong together: give both, or neither"
        if self.distillation.teacher and self.model.head != "joint":
            yield 'distillation.teacher: only a PhonemicBERT with model.head = "joint" learns from a teacher'
        for name in ("weight", "until"):
            if getattr(self.distillation, name) > 1:
                yield f"distillation.{name} must be at most 1"
        if self.model.component_scale > 1:
            yield "model.component_scale must be at most 1"
        if self.optimization.warmup_ratio + self.optimization.decay_ratio > 1:
            yield "optimization.warmup_ratio and optimization.decay_ratio must not be more than 1 together"


def preset_text(name: str) -> str:
    """The TOML file of a preset.

    Raises:
        SettingsError: there is no such preset.
    """
    return _PRESETS.text(name)


#: The values that a string may have.
_CHOICES = {
    "model.lang": (*LANGUAGES, "any"),
    "model.position_init": ("random", "sinusoidal"),
    **{f"model.{name}": values for name, values in CHOICES.items()},
    "sequences.attn_implementation": ("auto", "sdpa", "eager", "flash_attention_2"),
    "masking.replacement": ("mask", "80/10/10"),
    "machine.device": ("auto", "cpu"),
}

_RANGES: dict[str, sections.Range] = {
    **sections.ADAMW_RANGES,
    "model.num_hidden_layers": (1, None),
    "model.hidden_size": (1, None),
    "model.num_attention_heads": (1, None),
    "model.intermediate_size": (1, None),
    "model.hidden_dropout_prob": (0, 1),
    "model.attention_probs_dropout_prob": (0, 1),
    "model.initializer_range": (0, None),
    "model.component_scale": (1e-6, None),
    "model.conv_kernel_size": (0, None),
    "model.num_bigram_buckets": (0, SIZES["num_bigram_buckets"] + 1),
    "model.form_dropout": (0, None),
    "model.form_noise": (0, None),
    "model.num_form_bigram_buckets": (0, SIZES["num_form_bigram_buckets"] + 1),
    "sequences.max_seq_length": (8, None),
    "masking.mlm_probability": (1e-9, 1),
    "distillation.weight": (0, None),
    "distillation.until": (1e-6, None),
    "optimization.max_steps": (1, None),
    "optimization.batch_size": (1, None),
    "optimization.learning_rate": (0, None),
    "optimization.decay_ratio": (0, None),
    "optimization.seed": (0, 2**32),
    "evaluation.held_out_documents": (0, None),
    "evaluation.eval_steps": (1, None),
    "evaluation.per_device_eval_batch_size": (1, None),
    "output.logging_steps": (1, None),
    "output.save_steps": (1, None),
    "output.save_total_limit": (1, None),
    "machine.per_device_train_batch_size": (1, None),
    "machine.dataloader_num_workers": (0, None),
}
