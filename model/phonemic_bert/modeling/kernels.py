"""Which of torch's kernels compute attention."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch


def without_cudnn() -> AbstractContextManager[None]:
    """A context in which gradients of attention are not computed by cuDNN.

    Its kernel, which torch 2.11 and later choose by themselves on an H100 or H200 in 16 bits, gives NaN for
    gradients where a length is an odd multiple of 64, there is a mask, and all scores of a position are below about
    -89 (pytorch/pytorch#196678). `phonemic-bert-mini-zh` has such positions in its first layer.

    Without gradients, and where a model is being compiled, nothing is changed: what trains a compiled model is in this
    context itself.
    """
    return nullcontext() if torch.compiler.is_compiling() or not torch.is_grad_enabled() else _without_cudnn()


@contextmanager
def _without_cudnn() -> Iterator[None]:
    before = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)
