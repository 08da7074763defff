"""torch.compile for training: the encoder, and the losses of the masked positions, each by itself.

The number of masked positions changes from batch to batch. Compiled as a whole, a model would be compiled for all
numbers at once, which is hardly quicker than not at all; here the positions are filled up to a multiple of
:data:`STEP`, so that a few numbers remain, each with code of its own. Evaluation is not compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from phonemic_bert.errors import SettingsError
from phonemic_bert.pretraining.fitting import has_compiler

#: Masked positions are filled up to a multiple of it: 15 % of 2,048 positions then have three numbers or four.
STEP = 64

Losses = Callable[..., Tensor]


def compile_training(model: Any) -> None:
    """Compiles a model's encoder and its ``losses``, in place; weights and their names stay as they are.

    Arguments:
        model: for masked language modelling, with ``bert`` and ``losses(hidden, labels)``.

    Raises:
        SettingsError: there is no C++ compiler, which a CPU's code needs.
    """
    if not torch.cuda.is_available() and not has_compiler():
        raise SettingsError(
            "machine.torch_compile = true needs a C++ compiler, such as g++: install one, or set it to false"
        )
    # a number of masked positions each, with a teacher and without
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 64)
    compile_encoder(model)
    model.losses = filled_up(torch.compile(model.losses, dynamic=False))


def compile_encoder(model: Any) -> None:
    """Compiles a model's encoder in place."""
    model.base_model.compile(dynamic=False)


def filled_up(losses: Losses, step: int = STEP) -> Losses:
    """``losses`` that is only asked about multiples of ``step`` positions; what is added to M is cut off again."""

    def cut(hidden: Tensor, labels: Tensor, *soft: Tensor) -> Tensor:
        count = len(labels)
        if not count:  # nothing to compile for, but the weights must have a gradient, of zeros
            with uncompiled():
                return losses(hidden, labels, *soft)
        more = -count % step
        hidden = functional.pad(hidden, (0, 0, 0, more))
        labels = torch.cat([labels, labels[-1:].expand(more)])
        return losses(hidden, labels, *(functional.pad(rows, (0, 0, 0, more)) for rows in soft))[:count]

    return cut


def uncompiled() -> Any:
    """A context in which compiled models run as they were."""
    return torch.compiler.set_stance("force_eager")
