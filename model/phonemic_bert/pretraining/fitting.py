"""Settings that are left to the machine: what "auto" stands for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from phonemic_bert.pretraining.settings import Settings

AUTO = "auto"

#: Positions that are computed at once on a CPU; more are not faster and take more memory.
_CPU_POSITIONS = 4096

#: The share of a GPU's memory that activations may take.
_SHARE = 0.5

#: About as many triples, and pairs with forms, as the longer list, Vietnamese, has; which language it is, is not known
#: yet.
_MOST_TRIPLES, _MOST_PAIRS = {"full": 24_400, "attested": 6_400}, 18_200

#: Steps from which on compiling, which takes a minute or two, gives more than it costs.
_WORTH_COMPILING = 2000


@dataclass(frozen=True)
class Computer:
    """The machine that a run computes on.

    Attributes:
        gpu: whether it is a GPU.
        memory: bytes of its memory; looked at on a GPU only.
        bf16: whether it has instructions for bfloat16.
        compiler: whether torch.compile finds what it needs.
        processes: how many share the work.
    """

    gpu: bool
    memory: int
    bf16: bool
    compiler: bool
    processes: int = 1

    @classmethod
    def here(cls, device: str = AUTO) -> Computer:
        """This machine; ``device`` as in the settings."""
        processes = int(os.environ.get("WORLD_SIZE", "1"))
        if device != "cpu" and torch.cuda.is_available():
            memory = torch.cuda.get_device_properties(0).total_memory
            return cls(True, memory, torch.cuda.is_bf16_supported(), True, processes)
        return cls(False, 0, _cpu_has_bf16(), has_compiler(), processes)


def has_compiler() -> bool:
    """Whether there is a C++ compiler, which torch.compile needs on a CPU."""
    return any(map(shutil.which, ("g++", "clang++", "cl")))


def fit(settings: Settings, computer: Computer, earlier: Mapping[str, Mapping[str, Any]] | None = None) -> Settings:
    """The settings with a value for whatever is "auto".

    Arguments:
        settings: as they were read.
        computer: what the run computes on.
        earlier: the settings of the run that is continued, whose values are kept outside [machine].
    """
    optimization, sequences, machine = settings.optimization, settings.sequences, settings.machine
    if optimization.bf16 == AUTO:
        optimization = replace(optimization, bf16=_kept(earlier, "optimization", "bf16", computer.bf16))
    if sequences.attn_implementation == AUTO:
        quickest = "eager" if optimization.bf16 and not computer.gpu else "sdpa"
        sequences = replace(sequences, attn_implementation=_kept(earlier, "sequences", "attn_implementation", quickest))
    if machine.torch_compile == AUTO:
        machine = replace(machine, torch_compile=computer.compiler and optimization.max_steps >= _WORTH_COMPILING)
    if machine.dataloader_num_workers == AUTO:
        machine = replace(machine, dataloader_num_workers=2 if computer.gpu else 0)
    if machine.per_device_train_batch_size == AUTO:
        machine = replace(machine, per_device_train_batch_size=_at_once(settings, computer))
    return replace(settings, optimization=optimization, sequences=sequences, machine=machine)


def _kept(earlier: Mapping[str, Mapping[str, Any]] | None, section: str, name: str, value: Any) -> Any:
    return value if earlier is None else earlier.get(section, {}).get(name, value)


def _at_once(settings: Settings, computer: Computer) -> int:
    """The most sequences that fit, of those numbers that divide a process's part of the batch."""
    part, length = max(settings.optimization.batch_size // computer.processes, 1), settings.sequences.max_seq_length
    positions = _CPU_POSITIONS
    if computer.gpu:
        positions = int(computer.memory * _SHARE / _bytes_per_position(settings))
    return max((size for size in range(1, part + 1) if part % size == 0 and size * length <= positions), default=1)


def _bytes_per_position(settings: Settings) -> float:
    """Bytes of activations that a position needs on the way back.

    A layer's are those of Korthikanti et al. (2022), "Reducing Activation Recomputation in Large Transformer Models",
    section 4.1, in 16 bits; those of the scores of masked positions are in 32, counted four times.
    """
    model, length = settings.model, settings.sequences.max_seq_length
    layer = 34 * model.hidden_size + 5 * model.num_attention_heads * length
    scores = _MOST_TRIPLES[model.syllable_inventory] if model.head == "joint" else 3 * 256
    if model.forms == "joint":
        scores = _MOST_PAIRS
    return model.num_hidden_layers * layer + 4 * 4 * settings.masking.mlm_probability * scores


def _cpu_has_bf16() -> bool:
    """Whether the processor has instructions for bfloat16. torch tells only by names that begin with an underscore."""
    checks = (getattr(torch.cpu, name, None) for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported"))
    return any(check is not None and check() for check in checks)
