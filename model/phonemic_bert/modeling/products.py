"""Products of rows with a linear layer's weights, with what follows them computed in the same pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

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
#: The least scale of a row, so that a row of zeros can be divided by it.
TINY = 1e-30


class Quantized(NamedTuple):
    """Rows in 8 bits.

    Attributes:
        values: uint8 (R, d); 128 is zero.
        scales: what 127 steps are of each row, float32 (R, 1).
    """

    values: Tensor
    scales: Tensor


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

    def read(self, rows: Tensor) -> Any:
        """Rows as the product takes them, for several products with the same ones."""
        return rows

    def __call__(self, rows: Any) -> Tensor:
        """The product with the rows, or with what :meth:`read` made of them."""
        made = functional.linear(rows, self.weight, self.bias)
        return made if self.activation is None else self.activation(made)

    def plus(self, rows: Any, other: Tensor) -> Tensor:
        """The same added to other rows."""
        return other + self(rows)

    def times(self, rows: Any, other: Tensor) -> Tensor:
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


class Packed(Product):
    """The product with weights that torch's quantization has packed, which it adds to nothing by itself."""

    def plus(self, rows: Any, other: Tensor) -> Tensor:
        """As of :class:`Product`."""
        return self(rows).add_(other)


class Half(Packed):
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


class Eight(Packed):
    """The same in 8 bits: half of the time with AVX2, less with VNNI, at errors of 2 % of a product.

    Each row of what comes has a scale of its own, so that it does not depend on the others, and so has each output's
    weights. Weights take 7 of their 8 bits: pairs of products with 8 overflow the 16 bits in which AVX2 adds them.

    Its names are those of torch's quantization by oneDNN, and :func:`has_int8` says whether they exist.

    Arguments:
        linear: the layer.
        part: which of the outputs.
        activation: what is applied to the result.
    """

    def __init__(self, linear: Any, part: slice, activation: Activation | None) -> None:
        super().__init__(linear, part, activation)
        weight = self.weight.detach()
        self.scales = weight.abs().amax(1).clamp_(min=TINY) / 63
        steps = (weight / self.scales[:, None]).round().to(torch.int8)
        self.weight = torch.ops.onednn.qlinear_prepack(steps, None)
        self.zeros = torch.zeros(len(weight), dtype=torch.int32)

    def read(self, rows: Tensor) -> Quantized:
        """As of :class:`Product`."""
        scales = torch.maximum(rows.amax(1, keepdim=True), -rows.amin(1, keepdim=True)).clamp_(min=TINY)
        # by way of int8: torch is slow to make uint8 of floats
        return Quantized((rows * (127 / scales)).round_().to(torch.int8).view(torch.uint8).bitwise_xor_(128), scales)

    def __call__(self, rows: Any) -> Tensor:
        """As of :class:`Product`."""
        given = rows if isinstance(rows, Quantized) else self.read(rows)
        weights = (self.weight, self.scales, self.zeros)
        made: Tensor = torch.ops.onednn.qlinear_pointwise(
            given.values, 1 / 127, 128, *weights, None, 1.0, 0, torch.float32, "none", [], ""
        )
        made = made.mul_(given.scales) if self.bias is None else torch.addcmul(self.bias, made, given.scales)
        return made if self.activation is None else self.activation(made)


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


def int8_product(linear: Any, rows: int, part: slice = slice(None), activation: Activation | None = None) -> Product:
    """The product in 8 bits, where the layer is nothing but its weights.

    Arguments:
        linear: the layer.
        rows: how many there are at most; whatever their number, the result of each is the same.
        part: which of the outputs.
        activation: what is applied to the result.
    """
    return (Eight if type(linear) is nn.Linear else Called)(linear, part, activation)


def _is_gelu(activation: Activation) -> bool:
    """Whether an activation of transformers is GELU itself, not one that comes near it."""
    return type(activation).__name__ == "GELUActivation" and activation.act is functional.gelu  # type: ignore[attr-defined]


def is_half(weight: Tensor) -> bool:
    """Whether weights are those of a checkpoint in half precision, which lose nothing in it."""
    return bool(torch.equal(weight.half().to(weight.dtype), weight))


def _trial(inputs: int, outputs: int) -> nn.Linear:
    """A layer to try products with, not drawn at random: a check must not change what a training run draws next."""
    linear: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs)
    with torch.no_grad():
        linear.weight.copy_(torch.linspace(-1, 1, inputs * outputs).view(outputs, inputs))
        linear.bias.fill_(0.5)
    return linear


@cache
def has_fbgemm() -> bool:
    """Whether torch has FBGEMM's products with weights in half precision for this processor: with AVX2 or AVX-512."""
    if not torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        return False
    rows, linear = torch.ones(2, 2), _trial(2, 2)
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
    rows, linear = torch.ones(2, 2), _trial(2, 2)
    try:
        with torch.no_grad():
            made = Fused(linear, slice(None), None, len(rows))
            return bool(torch.allclose(made.plus(rows, rows), rows + linear(rows)))
    except (AttributeError, RuntimeError, TypeError):  # another release of torch
        return False


@cache
def has_int8() -> bool:
    """Whether torch has oneDNN's products in 8 bits for this processor: with AVX2 or AVX-512."""
    if not has_onednn():
        return False
    rows, linear = torch.ones(2, 256), _trial(256, 2)
    try:
        with torch.no_grad():
            linear.weight.fill_(1 / 256)  # the largest sums of all
            return bool(torch.allclose(Eight(linear, slice(None), None)(rows), linear(rows), atol=1e-4))
    except (AttributeError, RuntimeError, TypeError):  # another release of torch
        return False
