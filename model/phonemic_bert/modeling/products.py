"""Products of rows with a linear layer's weights, with what follows them computed in the same pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Activation = Callable[[Tensor], Tensor]

#: Rows of a product, so that what comes out stays in the processor's cache.
BLOCK = 512
#: Rows below which oneDNN takes longer than torch's own product does: a sentence or two.
FEW = 64
#: Weights of a product from which on half precision is faster for a few rows.
LARGE = 2**17


class Product:
    """Rows (R, d) times the weights of a linear layer, and its bias.

    Arguments:
        linear: the layer.
        part: which of the outputs.
        activation: what is applied to the result.
    """

    def __init__(self, linear: Any, part: slice, activation: Activation | None) -> None:
        self.weight = linear.weight[part]
        self.bias = None if linear.bias is None else linear.bias[part]
        self.activation = activation

    def __call__(self, rows: Tensor) -> Tensor:
        """The product with the rows."""
        made = functional.linear(rows, self.weight, self.bias)
        return made if self.activation is None else self.activation(made)

    def plus(self, rows: Tensor, other: Tensor) -> Tensor:
        """The same added to other rows."""
        return other + self(rows)

    def times(self, rows: Tensor, other: Tensor) -> Tensor:
        """The same multiplied with other rows, element by element."""
        return self(rows).mul_(other)


class Fused(Product):
    """The same by oneDNN, which adds, multiplies and applies GELU while the result is in registers.

    torch's compiler calls it so. Its names begin with an underscore, and :func:`has_onednn` says whether they exist.

    Arguments:
        linear: the layer.
        part: which of the outputs.
        activation: what is applied to the result; it can be GELU.
        block: rows of a product, for which the weights are laid out; 0: there are too few for that to be worth it.
    """

    def __init__(self, linear: Any, part: slice, activation: Activation | None, block: int = 0) -> None:
        super().__init__(linear, part, activation)
        if block:
            self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight, block)

    def __call__(self, rows: Tensor) -> Tensor:
        """As of :class:`Product`."""
        applied = "none" if self.activation is None else "gelu"
        made: Tensor = torch.ops.mkldnn._linear_pointwise(rows, self.weight, self.bias, applied, [], "none")
        return made

    def plus(self, rows: Tensor, other: Tensor) -> Tensor:
        """As of :class:`Product`."""
        made: Tensor = torch.ops.mkldnn._linear_pointwise.binary(rows, other, self.weight, self.bias, "add")
        return made

    def times(self, rows: Tensor, other: Tensor) -> Tensor:
        """As of :class:`Product`."""
        made: Tensor = torch.ops.mkldnn._linear_pointwise.binary(rows, other, self.weight, self.bias, "mul")
        return made


class Turned(Product):
    """The same with the weights laid out as a few rows read them fastest.

    Arguments:
        linear: the layer.
        part: which of the outputs.
        activation: what is applied to the result.
    """

    def __init__(self, linear: Any, part: slice, activation: Activation | None) -> None:
        super().__init__(linear, part, activation)
        self.weight = self.weight.t().contiguous()

    def __call__(self, rows: Tensor) -> Tensor:
        """As of :class:`Product`."""
        made = rows @ self.weight if self.bias is None else torch.addmm(self.bias, rows, self.weight)
        return made if self.activation is None else self.activation(made)

    def plus(self, rows: Tensor, other: Tensor) -> Tensor:
        """As of :class:`Product`."""
        if self.bias is not None or self.activation is not None:
            return super().plus(rows, other)
        return torch.addmm(other, rows, self.weight)


class Half(Product):
    """The same of weights in half precision, which a few rows read faster; sums are in float32.

    Its names are those of torch's quantization, and :func:`has_fbgemm` says whether they exist.

    Arguments:
        linear: the layer.
        part: which of the outputs.
        activation: what is applied to the result.
    """

    def __init__(self, linear: Any, part: slice, activation: Activation | None) -> None:
        super().__init__(linear, part, activation)
        self.weight = torch.ops.quantized.linear_prepack_fp16(self.weight.float().contiguous(), self.bias)

    def __call__(self, rows: Tensor) -> Tensor:
        """As of :class:`Product`."""
        made: Tensor = torch.ops.quantized.linear_dynamic_fp16(rows, self.weight)
        return made if self.activation is None else self.activation(made)

    def plus(self, rows: Tensor, other: Tensor) -> Tensor:
        """As of :class:`Product`."""
        return self(rows).add_(other)


class Called(Product):
    """The same of a layer that is more than its weights, such as an adapter's: it is called.

    Arguments:
        linear: the layer.
        part: which of the outputs.
        activation: what is applied to the result.
    """

    def __init__(self, linear: Any, part: slice, activation: Activation | None) -> None:
        self.linear, self.part, self.activation = linear, part, activation

    def __call__(self, rows: Tensor) -> Tensor:
        """As of :class:`Product`."""
        made: Tensor = self.linear(rows)[..., self.part]
        return made if self.activation is None else self.activation(made)


def product(linear: Any, rows: int, part: slice = slice(None), activation: Activation | None = None) -> Product:
    """The product with a layer's weights, as this processor computes it fastest.

    Arguments:
        linear: the layer.
        rows: how many there are in all.
        part: which of the outputs.
        activation: what is applied to the result.
    """
    if type(linear) is not nn.Linear:
        return Called(linear, part, activation)
    plain = linear.weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    if plain and rows >= FEW and has_onednn() and (activation is None or _is_gelu(activation)):
        return Fused(linear, part, activation, BLOCK if rows >= BLOCK else 0)
    return Product(linear, part, activation)


def kept_product(linear: Any, rows: int, part: slice = slice(None), activation: Activation | None = None) -> Product:
    """The same to be kept, of weights that no longer change: they are laid out, of which there is a copy then.

    Arguments:
        linear: the layer.
        rows: how many there are at most.
        part: which of the outputs.
        activation: what is applied to the result.
    """
    if type(linear) is nn.Linear and rows < FEW:
        made = Half if linear.weight[part].numel() >= LARGE and is_half(linear.weight) and has_fbgemm() else Turned
        return made(linear, part, activation)
    return product(linear, max(rows, BLOCK), part, activation)


def _is_gelu(activation: Activation) -> bool:
    """Whether an activation of transformers is GELU itself, not one that comes near it."""
    return type(activation).__name__ == "GELUActivation" and activation.act is functional.gelu  # type: ignore[attr-defined]


def is_half(weight: Tensor) -> bool:
    """Whether weights are those of a checkpoint in half precision, which lose nothing in it."""
    return bool(torch.equal(weight.half().to(weight.dtype), weight))


@cache
def has_fbgemm() -> bool:
    """Whether torch has FBGEMM's products with weights in half precision for this processor: with AVX2 or AVX-512."""
    if not torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        return False
    rows, linear = torch.ones(2, 2), nn.Linear(2, 2)
    try:
        with torch.no_grad():
            linear.weight.copy_(linear.weight.half())
            return bool(torch.allclose(Half(linear, slice(None), None)(rows), linear(rows)))
    except (AttributeError, RuntimeError):  # another release of torch, or another engine
        return False


@cache
def has_onednn() -> bool:
    """Whether torch has oneDNN's products for this processor: with AVX2 or AVX-512."""
    if not torch.backends.mkldnn.is_available() or not torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        return False
    rows, linear = torch.ones(2, 2), nn.Linear(2, 2)
    try:
        with torch.no_grad():
            made = Fused(linear, slice(None), None, len(rows))
            return bool(torch.allclose(made.plus(rows, rows), rows + linear(rows)))
    except (AttributeError, RuntimeError, TypeError):  # another release of torch
        return False
